/* 12 embedding: the judge. */
#include "judge.h"
#include <stdlib.h>

static const int *copy_ids(const int *ids,
                           int n)       /* exactly n, so that the sanitizer sees a read past the end */
{
    int *copy = malloc((size_t)(n ? n : 1) * sizeof *copy);
    if (!copy)
        judge_wrong("the judge is out of memory");
    return memcpy(copy, ids, (size_t)n * sizeof *copy);
}

static void ids_unchanged(const int *ids, const int *before, int n)
{
    if (memcmp(ids, before, (size_t)n * sizeof *ids))
        judge_wrong("ids were changed: only read them");
}

struct table {
    const int    *ids;
    const double *w, *dy, *old;                 /* old: what was in dw */
    int           words, dim, n;
    bool          fresh;                        /* old is 0 */
};

static void looked_up(double *y, void *arg)
{
    const struct table *t = arg;
    const int n = t->n, dim = t->dim, words = t->words, *ids = t->ids;
    const bool sum = slip("rows are added: row i of y is a single row of w");
    const bool no_0 = slip("the row of id 0 is not used: it is an id like any other");
    for (int at = 0; at < n * dim; at++) {
        const int i = at / dim, j = at % dim;
        const int k = slip("row i of w is used: use row ids[i]") ? i % words
            : slip("all rows are those of ids[0]") ? ids[0]
            : slip("this is the row after the id's: ids are counted from 0") ? (ids[i] + 1) % words
            : slip("this is the row before the id's: ids are counted from 0") ? (ids[i] + words - 1) % words
            : slip("the id is that of the column: use ids[i]") ? ids[j % n] : ids[i];
        const int from = slip("w is read in rows of n numbers: row k begins at w[k * dim]") ? k * n + j
            : slip("row k of w is read from w[k]: it begins at w[k * dim]") ? k + j
            : slip("each row holds only its first number, in all places") ? k * dim
            : slip("w[ids[i]] is used in all places: number j of row k is w[k * dim + j]") ? k
            : slip("each number is that after the right one in w: number j of row k is w[k * dim + j]")
            ? k * dim + j + 1
            : slip("w is read by columns: w[k][j] is w[k * dim + j]") ? j * n + k
            : slip("the indices of w are exchanged: w[k][j] is w[k * dim + j]") ? j * dim + k : k * dim + j;
        y[at] = (no_0 && ids[i] == 0 ? 0 : t->w[from % (words * dim)]) + (sum && i ? y[at - dim] : 0);
    }
}

static void forward(const char *part, int words, int dim, const int *ids, int n)
{
    judge_part("%s", part);
    const size_t size = (size_t)(n * dim), table = (size_t)(words * dim);
    const int *given = copy_ids(ids, n);
    double *w = judge_draw(121, table, -2, 2), *y = judge_room(size);
    const double *before = judge_draw(121, table, -2, 2);
    embedding(w, given, y, n, dim);
    judge_guarded("y", y, size);
    judge_guarded("w", w, table);
    judge_unchanged("w", w, before, table);
    ids_unchanged(given, ids, n);
    judge_against("y", GRA_SHAPE(n, dim), y, 1e-12, looked_up,
                  &(struct table){ .ids = ids, .w = before, .words = words, .dim = dim, .n = n });
}

static int count(const int *ids, int n, int id)
{
    int times = 0;
    for (int i = 0; i < n; i++)
        times += ids[i] == id;
    return times;
}

/* dw[ids[i]] += dy[i] */
static void gradient(double *dw, void *arg)
{
    const struct table *t = arg;
    const int n = t->n, dim = t->dim, words = t->words, *ids = t->ids;
    const double *dy = t->dy;
    const bool stored = slip(
        t->fresh
            ? "only the last gradient of a repeated id counts: add them all, with +="
            : "what was in dw is overwritten: accumulate with +=, as ids repeat, and w may have another use");
    const bool all_lost = slip("what was in dw before is lost: do not set it to 0, w may have another use");
    const bool rows_lost = slip("what these ids' rows of dw held before is lost: add to it");
    const bool last = slip("only the last gradient of a repeated id counts: add them all, with +=");
    const bool first = slip("only the first gradient of a repeated id counts: add them all");
    const bool none = slip("a repeated id gets nothing: add each time");
    const bool mean = slip("this is the mean over an id's occurrences: it should be the sum");
    const int over = slip("divided by n: it should be the sum over all i with that id") ? n : 1;
    const int sign = slip("it is subtracted: add the gradient, take no optimiser step") ? -1 : 1;
    const bool ones = slip("1 is added for each occurrence of the id: add dy");
    const bool in_order = slip("row i of dy is added to row i of dw: add it to row ids[i]");
    const bool exchanged =
        slip("row ids[i] of dy is added to row i of dw: row i of dy belongs in row ids[i] of dw");
    const bool to_first = slip("all of dy goes to the row of ids[0]");
    const bool by_id = slip("dy is read at row ids[i] too: its rows are numbered by i");
    const bool of_n = slip("dw is written in rows of n numbers: row k begins at dw[k * dim]");
    const bool dy_n = slip("dy is read in rows of n numbers: row i begins at dy[i * dim]") && n < dim;
    const bool columns = slip("dy is read by columns: dy[i][j] is dy[i * dim + j]");
    const bool no_stride = slip("row k of dw is written from dw[k]: it begins at dw[k * dim]");
    const bool first_number = slip("the first number of each row of dy is added in all places");
    const bool one_column = slip("all numbers of a row are added to its first: dw[k][j] gets dy[i][j]");
    const bool all_rows = slip("all of dy goes to the row of each id: row i goes only to the row of ids[i]");
    const bool only_first = slip("only the first number of each row gets a gradient");
    const bool after_own = slip("an id that equals the one before it gets nothing: add each time");
    const bool dy_0 = slip("each id gets the first row of dy: row i of dy goes to the row of ids[i]");
    const bool no_0 = slip("id 0 gets no gradient: it is an id like any other");
    const bool no_most = slip("the largest id gets no gradient: ids may be n and more, up to the last row");
    const bool repeated = slip("each gradient is added as often as its id occurs: add it once");
    const int off = slip("dy is added to the row after the id's: ids are counted from 0") ? 1
                  : slip("dy is added to the row before the id's: ids are counted from 0") ? words - 1 : 0;
    const bool to_0 = slip("all of dy goes to row 0: row i of dy goes to the row of ids[i]");
    const bool at_id = slip("all numbers of row i are added to dw[ids[i]]: dw[k][j] is dw[k * dim + j]");
    const bool dy_i = slip("dy[i] is added in all places: number j of row i is dy[i * dim + j]");
    const bool turned = slip("the indices of dw are exchanged: dw[k][j] is dw[k * dim + j]");
    const int column = slip("dw is written by columns: dw[k][j] is dw[k * dim + j]") ? words
                     : slip("dw is written at [j * n + k]: dw[k][j] is dw[k * dim + j]") ? n
                     : turned ? dim : 0;
    const int to = slip("only the first id gets a gradient") ? 1
                 : n - slip("the gradient of the last id is left out"),
              from = slip("the gradient of the first id is left out");
    int most = 0;
    for (int i = 0; i < n; i++)
        most = ids[i] > most ? ids[i] : most;
    for (int at = 0; at < words * dim; at++)
        dw[at] = all_lost || (rows_lost && count(ids, n, at / dim)) ? 0 : t->old[at];
    for (int i = from; i < to; i++)
        for (int j = 0; j < dim; j++) {
            const int times = count(ids, n, ids[i]), again = count(ids, i, ids[i]);
            const int row = in_order || exchanged ? i : to_first ? ids[0] : to_0 ? 0 : (ids[i] + off) % words;
            const int of = by_id ? ids[i] * dim + j : exchanged ? ids[i] * dim + j : columns
                         ? (j * n + i) % (n * dim)
                : dy_n ? i * n + j : first_number ? i * dim : dy_0 ? j : dy_i ? i : i * dim + j;
            const int place = (of_n ? row * n + j : no_stride ? row + j : at_id ? row
                               : column ? j * column + row
                               : row * dim + (one_column ? 0 : j)) % (words * dim);
            const bool skipped = row >= words || (first && again) || (none && times > 1) || (only_first && j)
                || (after_own && i && ids[i] == ids[i - 1])
                || (no_0 && ids[i] == 0) || (no_most && ids[i] == most)
                || of >= n * dim + 8;           /* it may read the guards of judge_room */
            const double d = skipped ? 0 : (ones ? 1 : dy[of]) * sign / over / (mean ? times : 1)
                           * (repeated ? times : 1);
            dw[place] = stored ? d : (last && again ? t->old[place] : dw[place]) + d;
            for (int k = 0; k < n && all_rows; k++)
                dw[ids[k] * dim + j] += k == i ? 0 : d;
        }
}

static void backward(const char *part, int words, int dim, const int *ids, int n, bool fresh)
{
    judge_part("%s", part);
    const size_t size = (size_t)(n * dim), table = (size_t)(words * dim);
    const int *given = copy_ids(ids, n);
    double *dy = judge_draw(122, size, -2, 2), *dw = judge_room(table), *old = judge_draw(123, table, 1, 2);
    const double *dy_before = judge_draw(122, size, -2, 2);
    for (size_t i = 0; i < table; i++)
        dw[i] = old[i] = fresh ? 0 : old[i];
    embedding_backward(given, dy, dw, n, dim);
    judge_guarded("dw", dw, table);
    judge_unchanged("dy", dy, dy_before, size);
    ids_unchanged(given, ids, n);
    judge_against("dw", GRA_SHAPE(words, dim), dw, 1e-12, gradient,
                  &(struct table){ ids, NULL, dy_before, old, words, dim, n, fresh });
}

void judge_exercise(void)
{
    const int few[4] = { 1, 4, 2, 3 }, again[7] = { 4, 0, 0, 4, 2, 5, 4 };
    forward("four ids, a table of seven rows", 7, 6, few, 4);
    forward("seven ids, some repeated", 6, 4, again, 7);
    forward("rows of one number", 6, 1, again, 7);
    forward("one id, the last", 6, 5, (int[]){ 5 }, 1);
    forward("no ids", 3, 2, again, 0);
    backward("gradient of four ids", 7, 6, few, 4, true);
    backward("gradient of an id that comes twice", 4, 5, (int[]){ 2, 0, 2 }, 3, true);
    backward("gradient of seven ids", 6, 4, again, 7, true);
    backward("dw holds the gradient of another use", 6, 4, again, 7, false);
    backward("rows of one number, one id", 6, 1, (int[]){ 5 }, 1, false);
    backward("gradient of no ids", 3, 2, again, 0, false);
}
