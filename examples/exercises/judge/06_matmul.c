/* 06 matmul: the judge. All three products, y and both gradients, are sums over i, j and p of two factors. What came is
 * compared with the right sum and, if it is wrong, with all those that differ from it in one choice: a matrix, an index
 * or a row length of one of the three places, a bound of a loop, the sign, a factor too many, = for +=. */
#include "judge.h"
#include <stdarg.h>
#include <stdlib.h>

enum { MOST = 36, MISTAKES = 1800, I = 0, J = 1, P = 2, LETTERS = 3 };
enum matrix { A, B, DY, Y, ONE, MATRICES };
static const char *const matrix_name[] = { "a", "b", "dy", "y", "1" }, letter[] = "ijp", size_name[] = "mnk";

/* x[u * s + v]: u and v are the numbers of letters, s is that of a size, m, n or k. */
struct place {
    enum matrix x;
    int         u, v, s;
};
static const struct place right_place[] = { { A, I, P, 2 }, { B, P, J, 1 }, { DY, I, J, 1 }, { Y, I, J, 1 },
                                            { ONE, I, J, 1 } };

/* to (+)= factor * f[0] f[1] (times one more, if extra is not ONE), over from[] <= i, j, p < end[]. */
struct sum {
    struct place f[2], to;
    int          from[LETTERS], end[LETTERS];
    double       before, factor;
    enum matrix  extra;
    bool         stores, adds, running;         /* = for +=; f[0] + f[1]; a sum that is not begun anew */
};
struct problem {
    int           size[LETTERS];                /* m, n, k: where i, j and p end */
    const double *x[MATRICES];
    int           count[MATRICES];
};

static double value(const struct problem *q, struct place at, const int *index)
{
    const int k = index[at.u] * q->size[at.s] + index[at.v];
    return at.x == ONE ? 1 : k < q->count[at.x] ? q->x[at.x][k] : JUDGE_ANY;
}

static void compute(const struct problem *q, const struct sum *w, double *c)
{
    const int n = q->count[w->to.x];
    double running = 0;
    for (int i = 0; i < n; i++)
        c[i] = w->before;
    int at[LETTERS];
    for (at[I] = w->from[I]; at[I] < w->end[I]; at[I]++)
        for (at[J] = w->from[J]; at[J] < w->end[J]; at[J]++)
            for (at[P] = w->from[P]; at[P] < w->end[P]; at[P]++) {
                const double a = value(q, w->f[0], at), b = value(q, w->f[1], at), e = value(q, right_place[w->extra], at);
                const double term = w->factor * (w->adds ? a + b : a * b) * e;
                const int    to = at[w->to.u] * q->size[w->to.s] + at[w->to.v];
                running += term;
                if (to >= n || c[to] == JUDGE_ANY)
                    continue;
                if (a == JUDGE_ANY || b == JUDGE_ANY || e == JUDGE_ANY)
                    c[to] = JUDGE_ANY;
                else
                    c[to] = w->running ? running : (w->stores ? 0 : c[to]) + term;
            }
}

/* The mistakes so far. */
struct search {
    const struct problem *q;
    struct judge_mistake  known[MISTAKES];
    int                   n;
};

static void attempt(struct search *s, const struct sum *w, const char *format, ...)
{
    double *c = judge_room(MOST);
    char *text = malloc(200);
    va_list args;
    va_start(args, format);
    vsnprintf(text, 200, format, args);
    va_end(args);
    compute(s->q, w, c);
    s->known[s->n++] = (struct judge_mistake){ text, c };
}

/* "a_ip is a[i * k + p]" */
static const char *in_words(struct place at, const char *prefix, char *text, size_t room)
{
    const char *x = matrix_name[at.x];
    snprintf(text, room, "%s%s_%c%c is %s%s[%c * %c + %c]", prefix, x, letter[at.u], letter[at.v], prefix, x, letter[at.u],
             size_name[at.s], letter[at.v]);
    return text;
}

/* Another index or row length in one place: it was seen as `at`, but `right` is right. */
static void attempt_place(struct search *s, const struct sum *w, struct place at, struct place right, const char *prefix)
{
    char words[60];
    const char *x = matrix_name[right.x];
    in_words(right, prefix, words, sizeof words);
    if (at.u == right.u && at.v == right.v)
        attempt(s, w, "the rows of %s%s have %c numbers, not %c: %s", prefix, x, size_name[right.s], size_name[at.s], words);
    else if (at.u == right.v && at.v == right.u)
        attempt(s, w, "the indices of %s%s are exchanged: %s%s", prefix, x, words, w->to.x == A ? " (da = dy b^T)" :
                w->to.x == B ? " (db = a^T dy)" : "");
    else
        attempt(s, w, "%s%s_%c%c in place of %s%s_%c%c: %s", prefix, x, letter[at.u], letter[at.v], prefix, x,
                letter[right.u], letter[right.v], words);
}

static void attempt_places(struct search *s, const struct sum *right, const char *prefix)
{
    for (int which = 0; which < 3; which++)
        for (int k = 0; k < 27; k++) {
            struct sum w = *right;
            struct place *at = which < 2 ? &w.f[which] : &w.to;
            const struct place was = *at;
            at->s = (was.s + k) % 3;                            /* the right row length first */
            at->u = k / 3 % 3;
            at->v = k / 9;
            if (at->u != at->v)
                attempt_place(s, &w, *at, was, which < 2 ? "" : prefix);
        }
}

static void attempt_matrices(struct search *s, const struct sum *right)
{
    for (int which = 0; which < 2; which++)
        for (int x = 0; x < MATRICES; x++)
            for (int turned = 0; turned < 2; turned++) {
                struct sum w = *right;
                struct place *at = &w.f[which];
                *at = right_place[x];
                if (turned)
                    at->u = right_place[x].v, at->v = right_place[x].u, at->s = x == A ? 0 : x == B ? 2 : 0;
                attempt(s, &w, x == ONE ? "%s is left out: each term is to be multiplied by it" : "%s_%c%c is to be a factor "
                        "of each term, where %s stands", matrix_name[right->f[which].x], letter[right->f[which].u],
                        letter[right->f[which].v], matrix_name[x]);
            }
    for (int x = 0; x < ONE; x++) {
        struct sum w = *right;
        w.extra = (enum matrix)x;
        attempt(s, &w, "%s is one factor too many", matrix_name[x]);
    }
    struct sum w = *right;
    w.adds = true;
    attempt(s, &w, "%s and %s are added: multiply them", matrix_name[w.f[0].x], matrix_name[w.f[1].x]);
}

static void attempt_bounds(struct search *s, const struct sum *right)
{
    for (int l = 0; l < LETTERS; l++) {
        struct sum w = *right;
        w.from[l] = 1;
        attempt(s, &w, "the loop over %c begins at 1, not at 0", letter[l]);
        for (int k = 0; k < 5; k++) {
            w = *right;
            w.end[l] = k < 2 ? w.end[l] - 1 + 2 * k : s->q->size[k - 2];
            attempt(s, &w, "the loop over %c ends too %s: %c < %c", letter[l], w.end[l] > right->end[l] ? "late" : "early",
                    letter[l], size_name[l]);
        }
    }
}

/* got must be what `right` computes. */
static void compare(const char *name, const struct problem *q, gra_shape shape, const double *got, const struct sum *right)
{
    static struct search s;
    const bool gradient = right->to.x != Y;
    double want[MOST];
    bool same = true;
    compute(q, right, want);
    for (int i = 0; i < q->count[right->to.x]; i++)
        same = same && fabs(got[i] - want[i]) <= 1e-11;
    if (same)
        return;
    struct sum w = *right;
    s.q = q;
    w.factor = 0;
    attempt(&s, &w, gradient ? "nothing was added: is the line reached when both gradients are wanted, and when one is?"
            : "no product was added to the sum");
    w = *right, w.before = 0;
    attempt(&s, &w, "overwritten by =, or set to 0 first: accumulate with +=, for the operand may feed other ops");
    w = *right, w.stores = true;
    attempt(&s, &w, gradient ? "of all uses of a number only the last one counts: += in place of =" :
            "of the sum over p only the last term is there: sum += in place of =");
    w = *right, w.running = true;
    attempt(&s, &w, "the sum is to begin at 0 for each number of the result");
    w = *right, w.factor = -1;
    attempt(&s, &w, "the sign");
    for (int l = 0; l < LETTERS; l++) {
        w.factor = 1. / q->size[l];
        attempt(&s, &w, "divided by a size, as for a mean: wanted is the sum");
    }
    attempt_bounds(&s, right);
    attempt_places(&s, right, gradient ? "d" : "");
    attempt_matrices(&s, right);
    for (int k = 0; k < 2 * 27 * 27; k++) {             /* two wrong places: both factors, or one and the result */
        w = *right;
        struct place *one = k < 27 * 27 ? &w.f[0] : &w.f[1], *two = k < 27 * 27 ? &w.f[1] : &w.to;
        *one = (struct place){ one->x, k % 3, k / 3 % 3, k / 9 % 3 };
        *two = (struct place){ two->x, k / 27 % 3, k / 81 % 3, k / 243 % 3 };
        if (one->u != one->v && two->u != two->v)
            attempt(&s, &w, "the indices of %s and %s are wrong, both", matrix_name[one->x],
                    two == &w.to ? "of the result" : matrix_name[two->x]);
    }
    judge_numbers(name, shape, got, want, 1e-11, s.known);
    s.n = 0;
}

/* before + the sum of f g, as it is to be. */
static struct sum sum_of(const struct problem *q, enum matrix f, enum matrix g, enum matrix to, double before)
{
    struct sum s = { .f = { right_place[f], right_place[g] }, .to = right_place[to], .before = before, .factor = 1,
                     .extra = ONE };
    memcpy(s.end, q->size, sizeof s.end);
    return s;
}

static gra_tensor *run(gra_tape *t, gra_tensor *const in[2], const double *const data[2], int m, int n)
{
    gra_tensor *y = matmul(t, in[0], in[1]);
    judge_tensor(t, "y", y, GRA_SHAPE(m, n));
    judge_made_by(y, "my_matmul");
    judge_unchanged("a->data", in[0]->data, data[0], in[0]->size);
    judge_unchanged("b->data", in[1]->data, data[1], in[1]->size);
    return y;
}

/* constant: 0 or 1, the operand without a gradient; -1: none; -2: the product alone. */
static void sizes(const char *part, int m, int k, int n, double before, int constant)
{
    const double *a = judge_draw(61, MOST, 0.5, 3), *b = judge_draw(62, MOST, -2, -0.25),
                 *dy = judge_draw(63, MOST, -1, 2);
    judge_part("%s: a is (%d, %d), b is (%d, %d)", part, m, k, k, n);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *const in[2] = { (constant == 0 ? gra_constant : gra_input)(t, a, GRA_SHAPE(m, k)),
                                (constant == 1 ? gra_constant : gra_input)(t, b, GRA_SHAPE(k, n)) };
    gra_tensor *y = run(t, in, (const double *const[]){ a, b }, m, n);
    const struct problem q = { { m, n, k }, { a, b, dy, y->data, NULL }, { m * k, k * n, m * n, m * n, 0 } };
    const struct sum to_y = sum_of(&q, A, B, Y, 0), to_a = sum_of(&q, DY, B, A, before), to_b = sum_of(&q, A, DY, B, before);
    compare("y", &q, y->shape, y->data, &to_y);
    if (constant != -2) {
        judge_backward(t, y, dy, 2, in, before);
        compare("y", &q, y->shape, y->data, &to_y);
        if (constant != 0)
            compare("da", &q, in[0]->shape, in[0]->grad, &to_a);
        if (constant != 1)
            compare("db", &q, in[1]->shape, in[1]->grad, &to_b);
    }
    gra_close(t);
}

static void same_tensor(void)
{
    const double *x = judge_draw(64, 4, -2, 2), dy[4] = { 1, -0.5, 0.25, 2 };
    double want[4];
    judge_part("a and b are the same tensor, (2, 2)");
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *in = gra_input(t, x, GRA_SHAPE(2, 2));
    gra_tensor *y = run(t, (gra_tensor *const[]){ in, in }, (const double *const[]){ x, x }, 2, 2);
    judge_backward(t, y, dy, 1, &in, 0);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            want[i * 2 + j] = dy[i * 2] * x[j * 2] + dy[i * 2 + 1] * x[j * 2 + 1] +
                              x[i] * dy[j] + x[2 + i] * dy[2 + j];
    judge_numbers("the gradient, da + db", GRA_SHAPE(2, 2), in->grad, want, 1e-12, NULL);
    gra_close(t);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return matmul(t, in[0], in[1]);
}

void judge_exercise(void)
{
    sizes("the product of square matrices", 2, 2, 2, 0, -2);
    sizes("the product, rows and columns of different sizes", 2, 3, 4, 0, -2);
    sizes("gradients", 2, 2, 2, 0, -1);
    sizes("gradients, rows and columns of different sizes", 2, 3, 4, 0, -1);
    sizes("other sizes", 5, 4, 2, 0, -1);
    sizes("a row times a column", 1, 3, 1, 0, -1);
    sizes("a column times a row", 3, 1, 2, 0, -1);
    sizes("a and b feed another op, too", 3, 2, 4, 1.5, -1);
    same_tensor();
    sizes("a is a constant, so that its grad is NULL", 2, 4, 3, 0, 0);
    sizes("b is a constant, so that its grad is NULL", 2, 4, 3, 0, 1);
    judge_part("the gradient check");
    judge_gradients(GRA_GRAD, NULL, NULL, 2, (gra_check_in[]){ { .name = "a", .shape = GRA_SHAPE(2, 3) },
        { .name = "b", .shape = GRA_SHAPE(3, 4) } }, f, NULL);
}
