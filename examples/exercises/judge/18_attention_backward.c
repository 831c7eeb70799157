/* 18 attention_backward: the judge. What is wanted comes from the library's own tape, the mistakes from loops. */
#include "matrix.h"

struct sizes {
    int n, m, d, e;
};

struct given {
    const double *q, *k, *v, *a, *dy, *da;
};

enum slip { RIGHT, NO_DOT, ONE_ALONE, NO_FACTOR, COLUMN_DOT, WHOLE_DOT, NO_SOFTMAX, SIGN, SUM_DA, PLUS, GROWING_DOT, GROWING_DA,
            GROWING_ROW, PARTIAL_DOT, MEAN_DOT, SQUARED, READ_BY_KEYS, SUM_A, A_FOR_DA, SLIPS };

/* ds of a and da, (n, m). */
static double *ds_of(const double *a, const double *right, int n, int m, enum slip slip)
{
    double *ds = judge_room((size_t)(n * m)), *da = mat_scaled(right, 1, n * m), whole = 0, so_far = 0;
    for (int i = 0; i < n * m; i++)
        da[i] += slip == GROWING_DA && i >= m ? da[i - m] : slip == GROWING_ROW && i % m ? da[i - 1] : 0;
    for (int i = 0; i < n * m; i++)
        whole += a[i] * da[i];
    for (int i = 0; i < n * m; i++) {
        double row = 0, column = 0, sum = 0, partial = 0, other = a[i % m * n + i / m];     /* a as m rows of n */
        for (int j = 0; j < m; j++) {
            partial += j <= i % m ? a[i / m * m + j] * da[i / m * m + j] : 0;
            row += a[i / m * m + j] * da[i / m * m + j];
            sum += da[i / m * m + j];
        }
        for (int l = 0; l < n; l++)
            column += a[l * m + i % m] * da[l * m + i % m];
        so_far += i % m ? 0 : row;
        const double by[] = {
            [RIGHT] = a[i] * (da[i] - row), [NO_DOT] = a[i] * da[i], [ONE_ALONE] = a[i] * (1 - a[i]) * da[i],
            [NO_FACTOR] = da[i] - row, [COLUMN_DOT] = a[i] * (da[i] - column), [WHOLE_DOT] = a[i] * (da[i] - whole),
            [NO_SOFTMAX] = da[i], [SIGN] = a[i] * (row - da[i]), [SUM_DA] = a[i] * (da[i] - sum),
            [PLUS] = a[i] * (da[i] + row), [GROWING_DOT] = a[i] * (da[i] - so_far),
            [GROWING_DA] = a[i] * (da[i] - row), [GROWING_ROW] = a[i] * (da[i] - row),
            [PARTIAL_DOT] = a[i] * (da[i] - partial), [MEAN_DOT] = a[i] * (da[i] - row / m),
            [SQUARED] = a[i] * a[i] * (da[i] - row), [READ_BY_KEYS] = other * (da[i] - row),
            [SUM_A] = a[i] * (da[i] - 1), [A_FOR_DA] = a[i] * (a[i] - row) };
        ds[i] = by[slip];
    }
    return ds;
}

/* ds of a and da, as it stands, or transposed for dk. */
static double *with(const double *a, const double *da, struct sizes s, bool key)
{
    double *ds = ds_of(a, da, s.n, s.m, RIGHT);
    return key ? mat_transposed(ds, s.n, s.m) : ds;
}

/* before + ds other / root */
static double *added(const double *before, const double *ds, const double *other, int rows, int terms, int d, double root)
{
    return mat_sum(before, mat_scaled(mat_product(ds, other, rows, terms, d), 1 / root, rows * d), rows * d);
}

/* Compares dq (or dk) with what is wanted: sum over j of ds_ij k_j / sqrt(d). `other` is k (or q), (m, d). */
static void compare(const char *name, const char *of, const double *got, const double *want, const double *before,
                    struct given x, const double *exchange, struct sizes s, bool key)
{
    const double *a = x.a, *da = x.da, *other = key ? x.q : x.k, *self = key ? x.k : x.q;
    const double *value = !key && s.d == s.e ? x.v : NULL;
    const int rows = key ? s.m : s.n, size = rows * s.d;
    const double root = sqrt(s.d), *g = mat_sum(want, mat_scaled(before, -1, size), size);
    double *by[SLIPS], *last = mat_scaled(before, 0, size);
    char exchanged[100], sum[100], overwritten[100];
    snprintf(exchanged, sizeof exchanged, "ds was read with queries and keys exchanged (transposed)");
    snprintf(sum, sizeof sum, "%s is a sum of ds_ij %s, not of ds_ij %s", name, of, key ? "k_j" : "q_i");
    snprintf(overwritten, sizeof overwritten, "%s is overwritten: accumulate with +=", name);
    for (int i = RIGHT; i < SLIPS; i++) {
        double *ds = ds_of(a, da, s.n, s.m, (enum slip)i);
        ds = key ? mat_transposed(ds, s.n, s.m) : ds;
        by[i] = added(before, ds, other, rows, key ? s.n : s.m, s.d, root);
    }
    double *ds = ds_of(a, da, s.n, s.m, RIGHT);
    for (int i = 0; i < rows; i++)                          /* the last term of each sum */
        for (int l = 0; l < s.d; l++)
            last[i * s.d + l] = (key ? ds[(s.n - 1) * s.m + i] * other[(s.n - 1) * s.d + l]
                                     : ds[i * s.m + s.m - 1] * other[(s.m - 1) * s.d + l]) / root;
    const bool square = s.n == s.m;
    double *by_own_row = mat_scaled(before, 1, size);
    for (int j = 0; j < s.m && key && square; j++)
        for (int i = 0; i < s.n; i++)
            for (int l = 0; l < s.d; l++)
                by_own_row[j * s.d + l] += ds[i * s.m + j] * other[j * s.d + l] / root;
    const double *by_v = value ? mat_sum(before, mat_scaled(mat_product(ds, value, rows, s.m, s.d), 1 / root, size), size)
                               : NULL;
    char of_values[100], times[100], last_only[100];
    double factor;
    mat_times(got, before, g, size, &factor);
    snprintf(times, sizeof times, "what was added is everywhere %.6g times what is wanted", factor);
    snprintf(of_values, sizeof of_values, "%s is a sum of ds_ij v_j, not of ds_ij k_j", name);
    snprintf(last_only, sizeof last_only, "only the last %s was added: %s is a sum over all", key ? "query" : "key", name);
    double *in_own_row = mat_scaled(before, 1, size);         /* ds_ij k_j in dk_j; ds_ij q_i in dq_i sums to 0 */
    for (int i = 0; i < s.n * s.m && key; i++)
        for (int l = 0; l < s.d; l++)
            in_own_row[i % s.m * s.d + l] += ds[i] * self[i % s.m * s.d + l] / root;
    const int sizes[] = { s.n, s.m, s.d, s.e }, terms = key ? s.n : s.m;
    struct mat_reading of_other = mat_readings(key ? "q" : "k", key ? "il" : "jl", 'd', other, terms, s.d, "nmde", sizes);
    struct mat_reading of_v = mat_readings("v", "jl", 'e', x.v, s.m, s.e, "nmde", sizes);
    struct mat_reading of_dy = mat_readings("dy", "il", 'e', x.dy, s.n, s.e, "nmde", sizes);
    while (mat_misread(&of_other))
        mat_fits(&of_other, got, added(before, ds, of_other.read, rows, terms, s.d, root), size);
    while (mat_misread(&of_v))
        mat_fits(&of_v, got, added(before, with(a, mat_scores(x.dy, of_v.read, s.n, s.m, s.e, 1), s, key), other, rows, terms,
                                   s.d, root), size);
    while (mat_misread(&of_dy))
        mat_fits(&of_dy, got, added(before, with(a, mat_scores(of_dy.read, x.v, s.n, s.m, s.e, 1), s, key), other, rows, terms,
                                    s.d, root), size);
    const double *swapped = want, *own = want;
    if (square) {
        double *t = key ? ds : mat_transposed(ds, s.n, s.n);
        swapped = mat_sum(before, mat_scaled(mat_product(t, other, s.n, s.n, s.d), 1 / root, size), size);
        own = mat_sum(before, mat_scaled(mat_product(key ? mat_transposed(ds, s.n, s.n) : ds, self, s.n, s.n, s.d),
                                         1 / root, size), size);
    }
    judge_guarded(name, got, (size_t)size);
    judge_numbers(name, GRA_SHAPE(rows, s.d), got, want, 1e-10, JUDGE_MISTAKES(
        { overwritten, g },
        { overwritten, last },
        { key ? "nothing was added to it"
              : "nothing was added to it, or what was added is 0 in all: a row of ds sums to 0, so a sum over j of ds_ij\n"
                "with something that does not depend on j is 0", before },
        { "the factor 1 / sqrt(d) of the scores is missing", mat_sum(before, mat_scaled(g, root, size), size) },
        { "the scores were divided by sqrt(d), once: here it was done twice",
          mat_sum(before, mat_scaled(g, 1 / root, size), size) },
        { "multiplied by sqrt(d): the scores were divided by it, and so is their gradient",
          mat_sum(before, mat_scaled(g, s.d, size), size) },
        { "the sign is wrong", by[SIGN] },
        { "the softmax was left out: from da there is a step yet to ds", by[NO_SOFTMAX] },
        { "ds_ij is a_ij da_ij here: the term of the shared sum of softmax, - a_ij dot_i, is missing", by[NO_DOT] },
        { "ds_ij is a_ij (1 - a_ij) da_ij here: the other weights of the row move with s_ij too", by[ONE_ALONE] },
        { "the factor a_ij is missing in ds_ij", by[NO_FACTOR] },
        { "the shared sum of softmax was taken over queries: it runs over the keys of a query", by[COLUMN_DOT] },
        { "the shared sum of softmax is one for all queries: each query has its own, over its keys", by[WHOLE_DOT] },
        { "the shared sum of softmax grows from query to query: each query has its own, which begins at 0",
          by[GROWING_DOT] },
        { "the shared sum of softmax is used before it is complete: it needs a loop of its own", by[PARTIAL_DOT] },
        { "the shared sum of softmax was divided by m: it is no mean", by[MEAN_DOT] },
        { "the shared sum of softmax is that of a_ij da_ij, not of a_ij", by[SUM_A] },
        { "in ds_ij a_ij was taken for da_ij", by[A_FOR_DA] },
        { "a_ij is squared in ds_ij", by[SQUARED] },
        { "a was read as m rows of n: it has n rows of m, a_ij = a[i*m + j]", by[READ_BY_KEYS] },
        { "divided by sqrt(e), not by sqrt(d), which the scores were divided by",
          mat_sum(before, mat_scaled(g, root / sqrt(s.e), size), size) },
        { "da of a query begins with that of the query before: each dot product begins at 0", by[GROWING_DA] },
        { "da of a key begins with that of the key before: each dot product begins at 0", by[GROWING_ROW] },
        { "the shared sum of softmax is that of a_ij da_ij, not of da_ij", by[SUM_DA] },
        { "the shared sum of softmax is subtracted, not added", by[PLUS] },
        { exchanged, swapped },
        { sum, own }, { sum, in_own_row },
        mat_reading(&of_other, want), mat_reading(&of_v, want), mat_reading(&of_dy, want),
        { "dq and dk are exchanged", exchange ? mat_sum(before, exchange, size) : want },
        { "dk_j is a sum of ds_ij q_i over i, not of ds_ij q_j", by_own_row },
        { of_values, value ? by_v : want },
        { last_only, mat_sum(before, last, size) },
        { times, mat_times(got, before, g, size, &factor) ? got : want }));
}

/* dq, dk and dv of the library; mask (n, m) of 0 and -INFINITY, or NULL. */
static const double *oracle(const double *q, const double *k, const double *v, const double *mask, const double *dy,
                            struct sizes s, const double *grad[3])
{
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *in[3] = { gra_input(t, q, GRA_SHAPE(s.n, s.d)), gra_input(t, k, GRA_SHAPE(s.m, s.d)),
                          gra_input(t, v, GRA_SHAPE(s.m, s.e)) };
    gra_tensor *scores = gra_scale(t, gra_matmul_nt(t, in[0], in[1]), 1 / sqrt(s.d));
    if (mask)
        scores = gra_add(t, scores, gra_constant(t, mask, GRA_SHAPE(s.n, s.m)));
    gra_tensor *a = gra_softmax(t, scores, 1), *y = gra_matmul(t, a, in[2]);
    if (gra_backward(t, gra_sum(t, gra_mul(t, y, gra_constant(t, dy, GRA_SHAPE(s.n, s.e))))))
        judge_wrong("the judge's own attention failed: %s", gra_error(t));
    for (int i = 0; i < 3; i++)
        grad[i] = gra_grad(in[i]);
    return a->data;
}

static void backward(const char *part, uint64_t seed, struct sizes s, const double *mask)
{
    const int nq = s.n * s.d, nk = s.m * s.d, nv = s.m * s.e, ny = s.n * s.e, na = s.n * s.m;
    const double *q = judge_draw(seed, (size_t)nq, -2, 2), *k = judge_draw(seed + 1, (size_t)nk, -2, 2);
    const double *v = judge_draw(seed + 2, (size_t)nv, -2, 2), *dy = judge_draw(seed + 3, (size_t)ny, -2, 2), *grad[3];
    double *dq = judge_draw(seed + 4, (size_t)nq, -1, 1), *dk = judge_draw(seed + 5, (size_t)nk, -1, 1);
    double *dv = judge_draw(seed + 6, (size_t)nv, -1, 1);
    double *dq0 = mat_scaled(dq, 1, nq), *dk0 = mat_scaled(dk, 1, nk), *dv0 = mat_scaled(dv, 1, nv);
    const double *a = mat_scaled(oracle(q, k, v, mask, dy, s, grad), 1, na), *da = mat_scores(dy, v, s.n, s.m, s.e, 1);
    double *column = mat_transposed(a, s.n, s.m), *ones = mat_scaled(column, 0, na), *last = mat_scaled(dv, 0, nv);
    for (int i = 0; i < na; i++)
        ones[i] = 1;
    for (int j = 0; j < nv; j++)
        last[j] = a[(s.n - 1) * s.m + j / s.e] * dy[(s.n - 1) * s.e + j % s.e];
    judge_part("%s: dv", part);
    attention_backward(q, k, v, a, dy, dq, dk, dv, s.n, s.m, s.d, s.e);
    judge_guarded("dv", dv, (size_t)nv);
    const double *want = mat_sum(dv0, grad[2], nv), *da_t = mat_transposed(da, s.n, s.m);
    char times[100];
    double factor;
    mat_times(dv, dv0, grad[2], nv, &factor);
    snprintf(times, sizeof times, "what was added is everywhere %.6g times what is wanted", factor);
    const double *anew = mat_transposed(mat_softmax_rows(mat_scores(q, k, s.n, s.m, s.d, 1 / sqrt(s.d)), s.n, s.m), s.n, s.m);
    double *scores = mat_transposed(mat_scores(q, k, s.n, s.m, s.d, 1 / sqrt(s.d)), s.n, s.m);
    const struct given x = { q, k, v, a, dy, da };
    const int sizes[] = { s.n, s.m, s.d, s.e };
    struct mat_reading of_a = mat_readings("a", "ij", 'm', a, s.n, s.m, "nmde", sizes);
    struct mat_reading of_dy = mat_readings("dy", "il", 'e', dy, s.n, s.e, "nmde", sizes);
    while (mat_misread(&of_a))
        mat_fits(&of_a, dv, mat_sum(dv0, mat_product(mat_transposed(of_a.read, s.n, s.m), dy, s.m, s.n, s.e), nv), nv);
    while (mat_misread(&of_dy))
        mat_fits(&of_dy, dv, mat_sum(dv0, mat_product(column, of_dy.read, s.m, s.n, s.e), nv), nv);
    double *of_values = mat_scaled(dv0, 1, nv);
    for (int i = 0; i < na * s.e; i++)
        of_values[i / s.e % s.m * s.e + i % s.e] += a[i / s.e] * v[i / s.e % s.m * s.e + i % s.e];
    judge_numbers("dv", GRA_SHAPE(s.m, s.e), dv, want, 1e-10, JUDGE_MISTAKES(
        { "dv is overwritten: accumulate with +=", grad[2] },
        { "dv is overwritten by each term: accumulate with +=", last },
        { "nothing was added to it", dv0 },
        { "the weights were computed anew, without the mask that the forward had: use a",
          mat_sum(dv0, mat_product(anew, dy, s.m, s.n, s.e), nv) },
        { "the sum of dy without the weights a", mat_sum(dv0, mat_product(ones, dy, s.m, s.n, s.e), nv) },
        { "dv_j sums a_ij dy_i over the queries i: here a was read with queries and keys exchanged (transposed)",
          s.n == s.m ? mat_sum(dv0, mat_product(a, dy, s.m, s.n, s.e), nv) : want },
        { "a was read as if it had m rows of n numbers: it has n rows of m",
          mat_sum(dv0, mat_product(a, dy, s.m, s.n, s.e), nv) },
        { "divided by sqrt(d) too: that belongs to the scores, not to y = a v",
          mat_sum(dv0, mat_scaled(grad[2], 1 / sqrt(s.d), nv), nv) },
        { "the scores were taken for the weights", mat_sum(dv0, mat_product(scores, dy, s.m, s.n, s.e), nv) },
        { "the sign is wrong", mat_sum(dv0, mat_scaled(grad[2], -1, nv), nv) },
        { "dv_j sums a_ij dy_i, not a_ij v_j", of_values },
        { "dv_j sums a_ij dy_i, not da_ij dy_i", mat_sum(dv0, mat_product(da_t, dy, s.m, s.n, s.e), nv) },
        { "only the last query was added: dv is a sum over all", mat_sum(dv0, last, nv) },
        mat_reading(&of_a, want), mat_reading(&of_dy, want),
        { times, mat_times(dv, dv0, grad[2], nv, &factor) ? dv : want }));
    judge_part("%s: dq", part);
    compare("dq", "k_j", dq, mat_sum(dq0, grad[0], nq), dq0, x, s.n == s.m ? grad[1] : NULL, s, false);
    judge_part("%s: dk", part);
    compare("dk", "q_i", dk, mat_sum(dk0, grad[1], nk), dk0, x, s.n == s.m ? grad[0] : NULL, s, true);
}

/* q, k and v are one array x, and so are their gradients. */
static void shared(void)
{
    enum { N = 4, D = 3 };
    const double *x = judge_draw(50, N * D, -1, 1), *dy = judge_draw(51, N * D, -2, 2), *grad[3];
    double *dx = judge_draw(52, N * D, -1, 1), *want = mat_scaled(dx, 1, N * D);
    const double *a = oracle(x, x, x, NULL, dy, (struct sizes){ N, N, D, D }, grad);
    judge_part("x attends to x: q, k, v are one array, and dq, dk, dv are too");
    for (int i = 0; i < 3; i++)
        want = mat_sum(want, grad[i], N * D);
    attention_backward(x, x, x, a, dy, dx, dx, dx, N, N, D, D);
    judge_numbers("dx", GRA_SHAPE(N, D), dx, want, 1e-10, JUDGE_MISTAKES(
        { "what came in dx is gone: add to it, and nothing else", mat_sum(mat_sum(grad[0], grad[1], N * D), grad[2], N * D) },
        { "dq and dk were used to keep something, though they may be the same array as dv", grad[2] }));
}

void judge_exercise(void)
{
    const double masked[16] = { 0, -INFINITY, -INFINITY, -INFINITY, 0, 0, -INFINITY, -INFINITY, 0, 0, 0, -INFINITY };
    backward("three queries, four keys", 1, (struct sizes){ 3, 4, 2, 5 }, NULL);
    backward("five queries, two keys", 11, (struct sizes){ 5, 2, 4, 3 }, NULL);
    backward("as many queries as keys", 21, (struct sizes){ 3, 3, 2, 2 }, NULL);
    backward("a causal mask was there", 31, (struct sizes){ 4, 4, 3, 2 }, masked);
    backward("one query, one key, one number", 41, (struct sizes){ 1, 1, 1, 1 }, NULL);
    shared();
}
