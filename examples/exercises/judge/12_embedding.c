/* 12 embedding: the judge. */
#include "judge.h"
#include <stdlib.h>

enum { MOST = 60 };

static const int *copy_ids(const int *ids, int n)       /* of exactly n, so that the sanitizer sees a read past them */
{
    int *copy = malloc((size_t)(n ? n : 1) * sizeof *copy);
    if (!copy)
        judge_wrong("the judge is out of memory");
    return memcpy(copy, ids, (size_t)n * sizeof *copy);
}

static void ids_unchanged(const int *ids, const int *before, int n)
{
    if (memcmp(ids, before, (size_t)n * sizeof *ids))
        judge_wrong("ids were changed: they are only to be read");
}

static void forward(const char *part, int words, int dim, const int *ids, int n)
{
    judge_part("%s", part);
    enum { IN_ORDER, FIRST, NEXT, PREVIOUS, STRIDE_N, FIRST_NUMBER, ID_J, NO_STRIDE, RUNNING, COLUMN, ALL };
    const size_t size = (size_t)(n * dim), table = (size_t)(words * dim);
    const int *given = copy_ids(ids, n);
    double *w = judge_draw(121, table, -2, 2), *y = judge_room(size), want[MOST], m[ALL][MOST];
    const double *before = judge_draw(121, table, -2, 2);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < dim; j++) {
            const int at = i * dim + j;
            want[at] = w[ids[i] * dim + j];
            m[IN_ORDER][at] = w[i % words * dim + j];
            m[FIRST][at] = w[ids[0] * dim + j];
            m[NEXT][at] = w[(ids[i] + 1) % words * dim + j];
            m[PREVIOUS][at] = w[(ids[i] + words - 1) % words * dim + j];
            m[STRIDE_N][at] = w[(ids[i] * n + j) % (words * dim)];
            m[FIRST_NUMBER][at] = w[ids[i] * dim];
            m[RUNNING][at] = want[at] + (i ? m[RUNNING][at - dim] : 0);
            m[COLUMN][at] = w[(j * n + ids[i]) % (words * dim)];
            m[ID_J][at] = w[ids[j % n] * dim + j];
            m[NO_STRIDE][at] = w[(ids[i] + j) % (words * dim)];
        }
    embedding(w, given, y, n, dim);
    judge_guarded("y", y, size);
    judge_guarded("w", w, table);
    judge_unchanged("w", w, before, table);
    ids_unchanged(given, ids, n);
    judge_numbers("y", GRA_SHAPE(n, dim), y, want, 1e-12, JUDGE_MISTAKES(
        { "row i of w: wanted is that of ids[i]", m[IN_ORDER] },
        { "all rows are those of ids[0]", m[FIRST] },
        { "the row after that of the id: ids are counted from 0", m[NEXT] },
        { "the row before that of the id: ids are counted from 0", m[PREVIOUS] },
        { "w has rows of dim numbers, not of n: row k begins at w[k * dim]", m[STRIDE_N] },
        { "row k of w begins at w[k * dim], not at w[k]", m[NO_STRIDE] },
        { "the first number of a row stands in all its places", m[FIRST_NUMBER] },
        { "the id is taken by the column: wanted is ids[i]", m[ID_J] },
        { "rows are added up: row i of y is one row of w", m[RUNNING] },
        { "w is read by columns: w[k][j] is w[k * dim + j]", m[COLUMN] }));
}

static void backward(const char *part, int words, int dim, const int *ids, int n, bool fresh)
{
    judge_part("%s", part);
    enum { LOST, LAST, FIRST, ALL_LOST, IN_ORDER, TO_FIRST, MEAN, SCATTER, DY_K, STRIDE_N, DY_STRIDE, OVER_N, COUNT,
           SUBTRACTED, NO_STRIDE, FIRST_NUMBER, NO_LAST, NO_FIRST,
           ONE_COLUMN, ALL_ROWS, NONE, ONLY_FIRST, DY_0, EXCHANGED, NO_ID_0, ALL };
    const size_t size = (size_t)(n * dim), table = (size_t)(words * dim);
    const int *given = copy_ids(ids, n);
    double *dy = judge_draw(122, size, -2, 2), *dw = judge_room(table), *old = judge_draw(123, table, 1, 2);
    double want[MOST], m[ALL][MOST];
    const double *dy_before = judge_draw(122, size, -2, 2);
    for (int k = 0; k < words; k++)
        for (int j = 0; j < dim; j++) {
            const int at = k * dim + j;
            const double was = dw[at] = old[at] = fresh ? 0 : old[at];
            double sum = 0, last = 0, first = 0;
            int times = 0;
            for (int i = 0; i < n; i++)
                if (ids[i] == k) {
                    last = dy[i * dim + j];
                    first = times++ ? first : last;
                    sum += last;
                }
            want[at] = was + sum;
            m[LAST][at] = was + last;
            m[FIRST][at] = was + first;
            m[LOST][at] = times ? last : was;
            m[ALL_LOST][at] = sum;
            m[SCATTER][at] = times ? sum : was;
            m[MEAN][at] = was + (times ? sum / times : 0);
            m[OVER_N][at] = was + sum / n;
            m[SUBTRACTED][at] = was - sum;
            m[COUNT][at] = was + times;
            m[IN_ORDER][at] = was + (k < n ? dy[k * dim + j] : 0);
            m[DY_K][at] = m[STRIDE_N][at] = m[DY_STRIDE][at] = m[TO_FIRST][at] = was;
            m[NO_STRIDE][at] = m[FIRST_NUMBER][at] = m[NO_LAST][at] = m[NO_FIRST][at] = was;
            m[ONLY_FIRST][at] = j ? was : was + sum;
            m[NO_ID_0][at] = k ? was + sum : was;
            m[DY_0][at] = was + times * dy[j];
            m[ONE_COLUMN][at] = m[ALL_ROWS][at] = m[EXCHANGED][at] = was;
            m[NONE][at] = was + (times == 1 ? sum : 0);
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < dim; j++) {
            m[TO_FIRST][ids[0] * dim + j] += dy[i * dim + j];
            m[DY_K][ids[i] * dim + j] += dy[ids[i] % n * dim + j];
            m[STRIDE_N][(ids[i] * n + j) % (words * dim)] += dy[i * dim + j];
            m[DY_STRIDE][ids[i] * dim + j] += dy[(j * n + i) % (n * dim)];
            if (i < words && (size_t)(ids[i] * dim + j) < size + 8)      /* it may be of the guards of judge_room */
                m[EXCHANGED][i * dim + j] += dy[ids[i] * dim + j];
            m[NO_STRIDE][ids[i] + j] += dy[i * dim + j];
            m[FIRST_NUMBER][ids[i] * dim + j] += dy[i * dim];
            m[ONE_COLUMN][ids[i] * dim] += dy[i * dim + j];
            for (int k = 0; k < n; k++)
                m[ALL_ROWS][ids[k] * dim + j] += dy[i * dim + j];
            m[NO_LAST][ids[i] * dim + j] += i < n - 1 ? dy[i * dim + j] : 0;
            m[NO_FIRST][ids[i] * dim + j] += i ? dy[i * dim + j] : 0;
        }
    embedding_backward(given, dy, dw, n, dim);
    judge_guarded("dw", dw, table);
    judge_unchanged("dy", dy, dy_before, size);
    ids_unchanged(given, ids, n);
    judge_numbers("dw", GRA_SHAPE(words, dim), dw, want, 1e-12, JUDGE_MISTAKES(
        { fresh ? "of an id that comes several times only the last gradient is kept: each is to be added" :
          "what was in dw is overwritten: accumulate with +=, for the id may have come before, and w may have another use",
          m[LOST] },
        { "what was in dw before is lost: do not set it to 0, w may have another use", m[ALL_LOST] },
        { "what was in the rows of dw whose ids come up is lost: add to it", m[SCATTER] },
        { "of an id that comes several times only the last gradient counts: each is to be added", m[LAST] },
        { "of an id that comes several times only the first gradient counts: each is to be added", m[FIRST] },
        { "the mean over the times that an id comes: wanted is the sum", m[MEAN] },
        { "divided by n: wanted is the sum over all i with that id", m[OVER_N] },
        { "subtracted: wanted is the gradient, no step of learning", m[SUBTRACTED] },
        { "1 is added for each time that the id comes: wanted is dy", m[COUNT] },
        { "row i of dy is added to row i of dw: wanted is row ids[i]", m[IN_ORDER] },
        { "row ids[i] of dy is added to row i of dw: row i of dy belongs in row ids[i] of dw", m[EXCHANGED] },
        { "all of dy goes to the row of ids[0]", m[TO_FIRST] },
        { "dy is read at row ids[i], too: its rows are numbered by i", m[DY_K] },
        { "dw has rows of dim numbers, not of n: row k begins at dw[k * dim]", m[STRIDE_N] },
        { "dy is read by columns: dy[i][j] is dy[i * dim + j]", m[DY_STRIDE] },
        { "row k of dw begins at dw[k * dim], not at dw[k]", m[NO_STRIDE] },
        { "the first number of each row of dy is added in all places", m[FIRST_NUMBER] },
        { "all numbers of a row are added to its first: dw[k][j] gets dy[i][j]", m[ONE_COLUMN] },
        { "all of dy goes to the row of each id: row i goes to the row of ids[i] alone", m[ALL_ROWS] },
        { "only the first number of each row gets a gradient", m[ONLY_FIRST] },
        { "each id gets the first row of dy: row i of dy goes to the row of ids[i]", m[DY_0] },
        { "an id that comes several times gets nothing: each time is to be added", m[NONE] },
        { "id 0 gets no gradient: it is an id like any other", m[NO_ID_0] },
        { "the gradient of the last id is left out", m[NO_LAST] },
        { "the gradient of the first id is left out", m[NO_FIRST] }));
}

void judge_exercise(void)
{
    const int few[2] = { 3, 1 }, again[7] = { 4, 0, 4, 2, 5, 0, 4 };
    forward("two ids, a table of five rows", 5, 3, few, 2);
    forward("seven ids, some several times", 6, 4, again, 7);
    forward("rows of one number", 6, 1, again, 7);
    forward("one id, the last", 6, 5, (int[]){ 5 }, 1);
    forward("no ids", 3, 2, again, 0);
    backward("gradient of two ids", 5, 3, few, 2, true);
    backward("gradient of an id that comes twice", 4, 3, (int[]){ 2, 0, 2 }, 3, true);
    backward("gradient of seven ids", 6, 4, again, 7, true);
    backward("dw holds the gradient of another use", 6, 4, again, 7, false);
    backward("rows of one number, one id", 6, 1, (int[]){ 5 }, 1, false);
    backward("gradient of no ids", 3, 2, again, 0, false);
}
