/* 15 one_head: the judge. */
#include "matrix.h"

static void weights(const char *part, const double *query, const double *keys, int m, int d)
{
    const double *q = mat_scaled(query, 1, d), *k = mat_scaled(keys, 1, m * d);
    double *a = judge_room((size_t)m), *s = mat_scores(q, k, 1, m, d, 1 / sqrt(d)), top = -INFINITY, sum = 0;
    double *e = judge_room((size_t)m), *raw = judge_room((size_t)m), *plain = judge_room((size_t)m);
    double *running = judge_room((size_t)m), *no_first = judge_room((size_t)m), *no_last = judge_room((size_t)m);
    judge_part("%s", part);
    for (int j = 0; j < m; j++)
        top = fmax(top, s[j]), sum += exp(s[j]);
    for (int j = 0; j < m; j++) {
        e[j] = exp(s[j] - top);
        raw[j] = exp(s[j]);
        plain[j] = raw[j] / sum;
        no_last[j] = s[j] - q[d - 1] * k[j * d + d - 1] / sqrt(d);
        no_first[j] = s[j] - q[0] * k[j * d] / sqrt(d);
        running[j] = s[j] + (j ? running[j - 1] : 0);
    }
    attention_weights(q, k, a, m, d);
    judge_guarded("a", a, (size_t)m);
    struct mat_reading of_k = mat_readings("k", "jl", 'd', k, m, d, "md", (int[]){ m, d });
    while (mat_misread(&of_k))
        mat_fits(&of_k, a, mat_softmax_rows(mat_scores(q, of_k.read, 1, m, d, 1 / sqrt(d)), 1, m), m);
    /* What no list holds: softmax of c times the scores; no weights at all. */
    const double c = m > 1 ? log(a[1] / a[0]) / (s[1] - s[0]) : 1, *scaled = mat_softmax_rows(mat_scaled(s, c, m), 1, m);
    const double *want = mat_softmax_rows(s, 1, m);
    bool negative = false;
    double all = 0;
    char times[100];
    snprintf(times, sizeof times, "softmax of %.6g times the scores", c);
    for (int j = 0; j < m; j++)
        negative = negative || a[j] < 0, all += a[j];
    char share[100] = "";                               /* in the right proportion, but not of sum 1 */
    bool proportional = isfinite(all) && fabs(all - 1) > 1e-9;
    for (int j = 0; j < m; j++)
        proportional = proportional && fabs(a[j] - all * want[j]) < 1e-12;
    if (proportional)
        snprintf(share, sizeof share, "they have the right proportions, but sum to %.6g: divide by the sum of all e^s", all);
    judge_numbers("a", GRA_SHAPE(m), a, want, 1e-12, JUDGE_MISTAKES(
        { "these are the scores: their softmax is wanted", s },
        { "softmax of scores that are not divided by sqrt(d)",
          mat_softmax_rows(mat_scaled(s, sqrt(d), m), 1, m) },
        { "softmax of scores that are divided by d, not by its root",
          mat_softmax_rows(mat_scaled(s, 1 / sqrt(d), m), 1, m) },
        { "softmax of scores that are divided by the root of m, the number of keys, not of d",
          mat_softmax_rows(mat_scaled(s, sqrt(d) / sqrt(m), m), 1, m) },
        { "the dot product goes on from key to key: each begins at 0", mat_softmax_rows(running, 1, m) },
        { "the sign of the scores is wrong", mat_softmax_rows(mat_scaled(s, -1, m), 1, m) },
        { "softmax is taken of the dot products, and its result divided by sqrt(d): divide before",
          mat_scaled(mat_softmax_rows(mat_scaled(s, sqrt(d), m), 1, m), 1 / sqrt(d), m) },
        { "the exponentials are not divided by their sum", e },
        { "the exponentials are not divided by their sum", raw },
        { "the scores are divided by the largest: that is no softmax", mat_scaled(s, 1 / top, m) },
        { "e^s of a large score is infinite: subtract the largest score first, as in exercise 08", plain },
        { "the dot product leaves out the first number of q and k", mat_softmax_rows(no_first, 1, m) },
        { "the dot product leaves out the last number of q and k", mat_softmax_rows(no_last, 1, m) },
        mat_reading(&of_k, want),
        { share, proportional ? mat_scaled(a, 1, m) : want },
        { times, isfinite(c) ? scaled : want },
        { "a weight is negative: e^s never is, so the exponentials are missing", negative ? a : want },
        { "the weights do not sum to 1", fabs(all - 1) > 1e-9 ? a : want }));
}

static void mixed(const char *part, const double *weight, const double *values, int m, int e)
{
    const double *a = mat_scaled(weight, 1, m), *v = mat_scaled(values, 1, m * e);
    double *y = judge_room((size_t)e), *ones = judge_room((size_t)m), *a_first = judge_room((size_t)e);
    double *first = judge_room((size_t)e), *last = judge_room((size_t)e), *one = judge_room((size_t)e);
    double *want = mat_product(a, v, 1, m, e), *first_only = judge_room((size_t)e);
    judge_part("%s", part);
    int most = 0;
    for (int j = 0; j < m; j++) {
        ones[j] = 1;
        most = a[j] > a[most] ? j : most;
    }
    for (int l = 0; l < e; l++) {
        a_first[l] = 0;
        for (int j = 0; j < m; j++)
            a_first[l] += a[l % m] * v[j * e + l];
        first_only[l] = want[0];
        one[l] = v[most * e + l];
        last[l] = a[m - 1] * v[(m - 1) * e + l];
        first[l] = v[l];
    }
    double *sum = mat_product(ones, v, 1, m, e);
    weighted_sum(a, v, y, m, e);
    judge_guarded("y", y, (size_t)e);
    struct mat_reading of_v = mat_readings("v", "jl", 'e', v, m, e, "me", (int[]){ m, e });
    while (mat_misread(&of_v))
        mat_fits(&of_v, y, mat_product(a, of_v.read, 1, m, e), e);
    judge_numbers("y", GRA_SHAPE(e), y, want, 1e-12, JUDGE_MISTAKES(
        { "the sum of all values, without the weights", sum },
        { "the mean of all values: each has a weight of its own", mat_scaled(sum, 1.0 / m, e) },
        { "the weighted sum was divided by m as well: the weights do that already, they sum to 1",
          mat_scaled(want, 1.0 / m, e) },
        { "the value of the largest weight alone: all values are wanted, each times its weight", one },
        { "the last value is left out", mat_sum(want, mat_scaled(last, -1, e), e) },
        { "the first value is left out", mat_sum(want, mat_scaled(first, -a[0], e), e) },
        { "divided by e: the weights sum to 1 as they are", mat_scaled(want, 1.0 / e, e) },
        { "only the last term: the terms are to be added up", last },
        { "the first value alone", first },
        { "a[l] was taken for a[j]: all numbers of value j have the weight a[j]", a_first },
        { "all numbers of y are the first: number l of y is a sum of v[j*e + l]", first_only },
        mat_reading(&of_v, want)));
}

static double *mix(const double *s, const double *v, int n, int m, int e)
{
    return mat_product(mat_softmax_rows(s, n, m), v, n, m, e);
}

static void head(const char *part, const double *q, const double *k, const double *v, int n, int m, int d, int e,
                 const double *printed)
{
    const bool square = n == m;
    const double root = sqrt(d);
    double *y = judge_room((size_t)(n * e)), *s = mat_scores(q, k, n, m, d, 1 / root), *want = mix(s, v, n, m, e);
    double *first = judge_room((size_t)(n * e)), *running = judge_room((size_t)(n * e)), *late = judge_room((size_t)(n * e));
    double *joint = mat_softmax_rows(s, 1, n * m), *other = judge_room((size_t)(n * e)), *shared = judge_room((size_t)(n * m));
    judge_part("%s", part);
    for (int i = 0; i < n * e; i++) {
        first[i] = want[i % e];
        running[i] = want[i] + (i >= e ? running[i - e] : 0);
        late[i] = want[i % e + (n - 1) * e];
        other[i] = want[(i + e) % (n * e)];
    }
    for (int i = 0; i < n; i++) {           /* the sum of exponentials goes on from query to query */
        double top = -INFINITY;
        for (int j = 0; j < m; j++)
            top = fmax(top, s[i * m + j]);
        for (int j = 0; j < m; j++)
            shared[i * m + j] = exp(s[i * m + j] - top);
    }
    double *late_hidden = mat_scaled(s, 1, n * m);
    for (int i = 0; i < n * m; i++)
        late_hidden[i] = i % m > i / m ? (double)-INFINITY : s[i];
    double *some = mat_scaled(s, 1, n * m), *all_but = mat_scaled(s, 1, n * m);
    for (int i = 0; i < n * m; i++) {
        some[i] = i % m < n ? s[i] : (double)-INFINITY;
        all_but[i] = i % m < m - 1 ? s[i] : (double)-INFINITY;
    }
    some = mix(some, v, n, m, e);
    all_but = m > 1 ? mix(all_but, v, n, m, e) : want;
    double *begun = judge_room((size_t)(n * m)), all = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            all += shared[i * m + j];
        for (int j = 0; j < m; j++)
            begun[i * m + j] = shared[i * m + j] / all;
    }
    one_head(q, k, v, y, n, m, d, e);
    judge_guarded("y", y, (size_t)(n * e));
    struct mat_reading of_q = mat_readings("q", "il", 'd', q, n, d, "nmde", (int[]){ n, m, d, e });
    while (mat_misread(&of_q))
        mat_fits(&of_q, y, mix(mat_scores(of_q.read, k, n, m, d, 1 / root), v, n, m, e), n * e);
    judge_numbers("y", GRA_SHAPE(n, e), y, printed ? printed : want, printed ? 2e-5 : 1e-11, JUDGE_MISTAKES(
        { "every row has the weights of query 0: row i of y belongs to query i", first },
        { "every row has the weights of the last query: row i of y belongs to query i", late },
        { "row i has the weights of query i + 1", other },
        mat_reading(&of_q, want),
        { "y adds up from query to query: begin each row at 0", running },
        { "the sum of exponentials goes on from query to query: begin it anew for each", mat_product(begun, v, n, m, e) },
        { "the weights of all queries together sum to 1: those of each query do", mat_product(joint, v, n, m, e) },
        { "the scores are multiplied by sqrt(d): divide", mix(mat_scaled(s, d, n * m), v, n, m, e) },
        { "only the first n of the m keys are heard", some },
        { "the last key is not heard", all_but },
        { "the scores are not divided by sqrt(d)", mix(mat_scaled(s, root, n * m), v, n, m, e) },
        { "the scores are divided by d, not by its root", mix(mat_scaled(s, 1 / root, n * m), v, n, m, e) },
        { "the scores are divided by sqrt(e): d, the length of q and k, is meant",
          mix(mat_scaled(s, root / sqrt(e), n * m), v, n, m, e) },
        { "the scores themselves weigh the values: softmax is missing", mat_product(s, v, n, m, e) },
        { "softmax runs over the queries of a key: it is over the keys of a query",
          mat_product(mat_softmax_columns(s, n, m), v, n, m, e) },
        { "the keys after the query were hidden: no mask is asked for here", mix(late_hidden, v, n, m, e) },
        { "the mean of all values: every weight is 1/m", mix(mat_scaled(s, 0, n * m), v, n, m, e) },
        { "keys were mixed, not values", d == e ? mix(s, k, n, m, e) : want },
        { "queries were mixed, not values", square && d == e ? mix(s, q, n, m, e) : want },
        { "values were taken for keys", d == e ? mix(mat_scores(q, v, n, m, d, 1 / root), v, n, m, e) : want },
        { "queries were taken for keys", square ? mix(mat_scores(q, q, n, n, d, 1 / root), v, n, n, e) : want },
        { "keys were taken for queries", square ? mix(mat_scores(k, k, n, n, d, 1 / root), v, n, n, e) : want },
        { "queries and keys are exchanged", square ? mix(mat_scores(k, q, n, n, d, 1 / root), v, n, n, e) : want },
        { "each value goes to y by the weights of the other tokens for it: row i is the sum over j of a_ij v_j",
          square ? mat_product(mat_transposed(mat_softmax_rows(s, n, n), n, n), v, n, n, e) : want },
        { "attention_weights and weighted_sum are right by themselves: look at what the loop hands to them for query i",
          y }));
}

/* The numbers that PyTorch 1.13 prints for the three tokens of exercise 14: torch.randn(4, 1) each after
 * torch.manual_seed(3), and W_q, W_k, W_v (4, 4), b_q, b_k, b_v (4, 1) after torch.manual_seed(0). */
static void pytorch(void)
{
    enum { D = 4, N = 3 };
    const double printed[N * D] = { 0.2117, 1.0697, -3.3355, -4.9260, 0.6486, 0.9883, -2.4109, -3.0185,
                                    0.6463, 0.8405, -1.6421, -0.0805 };
    double x[N * D], W[3][D * D], b[3][D], *qkv[3];
    gra_rng rng;
    gra_manual_seed(&rng, 3);
    for (int i = 0; i < N; i++)
        gra_randn(&rng, x + i * D, D);
    gra_manual_seed(&rng, 0);
    for (int i = 0; i < 3; i++)
        gra_randn(&rng, W[i], D * D);
    for (int i = 0; i < 3; i++) {
        gra_randn(&rng, b[i], D);
        double *columns = mat_columns_plus(mat_product(W[i], mat_transposed(x, N, D), D, D, N), b[i], D, N);
        qkv[i] = mat_transposed(columns, D, N);
    }
    head("the three tokens of exercise 14, with PyTorch's numbers", qkv[0], qkv[1], qkv[2], N, N, D, D, printed);
}

void judge_exercise(void)
{
    weights("weights of three keys", (double[]){ 1, 2, 0, -1 }, (double[]){ 1, 1, 0, 0, 0, 1, 1, 3, -1, 0, 2, 1 }, 3, 4);
    weights("weights of five keys", judge_draw(1, 3, -2, 2), judge_draw(2, 15, -2, 2), 5, 3);
    weights("the weight of one key is 1", judge_draw(3, 2, -2, 2), judge_draw(4, 2, -2, 2), 1, 2);
    weights("weights of scores of 1e4", judge_draw(5, 2, 90, 100), judge_draw(6, 6, 140, 150), 3, 2);
    weights("weights of scores of -1e4", judge_draw(5, 2, 90, 100), judge_draw(7, 6, -150, -140), 3, 2);
    mixed("three values of two numbers, weights 0.2, 0.5, 0.3", (double[]){ 0.2, 0.5, 0.3 },
          (double[]){ 1, 10, 2, 20, 4, 50 }, 3, 2);
    mixed("two values of four numbers", (double[]){ 0.125, 0.875 }, judge_draw(8, 8, -2, 2), 2, 4);
    mixed("one value", (double[]){ 1 }, judge_draw(9, 3, -2, 2), 1, 3);
    head("the whole: three queries, three keys, numbers in pairs", judge_draw(22, 6, -2, 2), judge_draw(23, 6, -2, 2),
         judge_draw(24, 6, -2, 2), 3, 3, 2, 2, NULL);
    head("three queries, five keys", judge_draw(10, 6, -2, 2), judge_draw(11, 10, -2, 2),
         judge_draw(12, 20, -2, 2), 3, 5, 2, 4, NULL);
    head("four queries, two keys", judge_draw(13, 12, -2, 2), judge_draw(14, 6, -2, 2), judge_draw(15, 2, -2, 2),
         4, 2, 3, 1, NULL);
    head("one query, one key", judge_draw(16, 2, -2, 2), judge_draw(17, 2, -2, 2), judge_draw(18, 3, -2, 2), 1, 1, 2, 3, NULL);
    head("large scores", judge_draw(19, 8, 90, 100), judge_draw(20, 12, 140, 150), judge_draw(21, 6, -2, 2), 4, 6, 2, 1, NULL);
    pytorch();
}
