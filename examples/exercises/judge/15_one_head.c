/* 15 one_head: the judge. */
#include "matrix.h"

struct attention {
    const double *q, *k, *a, *v;                /* q (n, d), k (m, d), a (m), v (m, e) */
    int           n, m, d, e;
    double        all, times;           /* of the answer's weights: their sum; softmax(times s) */
};

/* The weights of one query: softmax of q k^T / sqrt(d). */
static void weights(double *a, void *arg)
{
    const struct attention *h = arg;
    const int m = h->m, d = h->d;
    const bool even = slip("all weights are 1/m, as if all scores were equal: s_j is q . k_j / sqrt(d), "
                           "where k_j begins at k + j*d, and 1 / d is 0 in C");
    const bool whole = slip("the dot product is rounded to an integer: keep it in a double");
    const bool positive = slip("the scores have lost their sign: a negative dot product stays negative");
    const bool scores = slip("these are the scores: return their softmax");
    const double by = slip("sqrt(d) was rounded to an integer: keep it in a double") ? floor(sqrt(d))
        : slip("the scores are not divided by sqrt(d)") ? 1
        : slip("the scores are divided by d: divide by its root") ? d
        : slip("the scores are divided by the root of m, the number of keys: use d") ? sqrt(m) : sqrt(d);
    const bool running = slip("the dot product runs on from key to key: each starts at 0");
    const bool minus = slip("the sign of the scores is wrong");
    const bool late = slip("the softmax is divided by sqrt(d): divide the dot products, before the softmax");
    const bool apart = slip("the exponentials e^(s - largest) are not divided by their sum");
    const bool raw = slip("the exponentials are not divided by their sum");
    const bool by_top = slip("the scores are divided by the largest: that is not a softmax");
    const bool from_0 = slip("e^s of all these scores is 0, and so is their sum: what is subtracted is more "
                             "than the largest. All scores are negative here, so begin the search for the "
                             "largest at -INFINITY, or with the first score");
    const bool first_top = slip("the first score is subtracted: subtract the largest of all");
    const bool last_top = slip("the last score is subtracted: subtract the largest of all");
    const bool plain =
        slip("e^s of a large score is infinite: subtract the largest score first, as in exercise 08");
    const bool unscaled =
        slip("the largest dot product was subtracted, which is more than the largest score, so e^s of all is "
             "0: subtract the largest after the division by sqrt(d)");
    const bool so_far = slip("each weight is divided by the sum as far as it has got: finish the sum, then "
                             "divide in a loop of its own");
    const int from = slip("the dot product leaves out the first number of q and k");
    const int to = slip("the dot product has only m terms: q and k have d numbers") && m < d ? m
                 : d - slip("the dot product leaves out the last number of q and k");
    const bool last = slip("only the last term of the dot product is left: add them all");
    const int count = m - (slip("the last key is left out: there are m keys") && m > 1);
    const double *k = mat_read("k", "jl", 'd', h->k, m, d, "md", (int[]){ m, d });
    const bool share = isfinite(h->all) && fabs(h->all - 1) > 1e-5 && fabs(h->all) > 1e-5 &&
        slip_of("they have the right proportions, but sum to %.6g: divide by the sum of all "
                "e^(s - largest), with one largest for all", h->all);
    const bool times = isfinite(h->times) && fabs(h->times - 1) > 1e-6 &&
        slip_of("this is the softmax of %.6g times the scores", h->times);
    double top = -INFINITY, sum = 0, plain_sum = 0, *s = judge_room((size_t)m);
    for (int j = 0; j < m; j++) {
        double dot = 0;
        for (int l = last ? d - 1 : from; l < to; l++)
            dot = whole ? trunc(dot + h->q[l] * k[j * d + l]) : dot + h->q[l] * k[j * d + l];
        dot = even ? 0 : positive ? fabs(dot) : dot;
        s[j] = (minus ? -dot : dot) * (times ? h->times : 1) / (late ? 1 : by)
               + (running && j ? s[j - 1] : 0);
        top = j < count ? fmax(top, s[j]) : top;
    }
    top = from_0 ? fmax(top, 0) : unscaled ? top * by : first_top ? s[0] : last_top ? s[m - 1] : top;
    for (int j = 0; j < count; j++)
        sum += exp(s[j] - top), plain_sum += exp(s[j]);
    double partial = 0;
    for (int j = 0; j < m; j++) {
        partial += exp(s[j] - top);
        a[j] = j >= count ? 0 : scores ? s[j] : apart ? exp(s[j] - top) : raw ? exp(s[j])
             : by_top ? s[j] / top : plain ? exp(s[j]) / plain_sum
             : exp(s[j] - top) / (so_far ? partial : sum) / (late ? by : 1) * (share ? h->all : 1);
    }
}

static void weights_of(const char *part, const double *query, const double *keys, int m, int d)
{
    const double *q = mat_scaled(query, 1, d), *k = mat_scaled(keys, 1, m * d);
    struct attention h = { .q = q, .k = k, .m = m, .d = d };
    double *a = judge_room((size_t)m), *s = mat_scores(q, k, 1, m, d, 1 / sqrt(d));
    const double *want = mat_softmax_rows(s, 1, m);
    bool negative = false;
    judge_part("%s", part);
    attention_weights(q, k, a, m, d);
    judge_guarded("a", a, (size_t)m);
    for (int j = 0; j < m; j++)
        if (a[j] != a[j])
            judge_clue("a[%d] is nan: e^s is infinite, or the sum of all e^s is 0: is it the largest score "
                       "that is subtracted?", j);
    for (int j = 0; j < m; j++)
        negative = negative || a[j] < 0, h.all += a[j];
    h.times = m > 1 ? log(a[1] / a[0]) / (s[1] - s[0]) : 1;
    if (negative)
        judge_clue("a weight is negative: e^s never is, so is e^(s - largest) missing?");
    if (fabs(h.all - 1) > 1e-9)
        judge_clue("the weights sum to %.6g: they must sum to 1", h.all);
    for (int j = 0; j < m; j++)
        if (m > 1 && a[j] == 1 && want[j] < 0.99 && fabs(h.all - 1) < 1e-9)
            judge_wrong("a[%d] is 1 and the others are 0, as if a score were huge: are q and k read past "
                        "their ends?\nl runs from 0 to d - 1, and row j of k begins at k + j*d", j);
    const bool named = judge_slip(GRA_SHAPE(m), a, 1e-12, weights, &h);
    double *again = judge_room((size_t)m);
    for (int j = 0; j < m; j++)
        again[j] = 100 * j;
    attention_weights(q, k, again, m, d);
    for (int j = 0; j < m && !named; j++)
        if (fabs(again[j] - a[j]) > 1e-9 && a[j] != JUDGE_UNWRITTEN)
            judge_wrong("a[%d] depends on what was in a before: set it, before you add to it", j);
    judge_against("a", GRA_SHAPE(m), a, 1e-12, weights, &h);
}

/* The sum of values, each times its weight. */
static void mixture(double *y, void *arg)
{
    const struct attention *h = arg;
    const int m = h->m, e = h->e;
    const bool sum = slip("this is the sum of all values, without the weights");
    const bool no_v = slip("this is the sum of the weights, without the values");
    const bool a_0 = slip("a[0] is used for all values: value j has the weight a[j]");
    const bool few = slip("only the first e of the m values are added up");
    const bool mean = slip("this is the mean of all values: each has a weight of its own");
    const double by = slip("the weighted sum was divided by m: the weights already sum to 1") ? m
                    : slip("divided by e: the weights already sum to 1") ? e : mean ? m : 1;
    const bool one =
        slip("this is only the value of the largest weight: add up all values, each times its weight");
    const int to = m - slip("the last value is left out"), begin = slip("the first value is left out");
    const int from = slip("this is only the last term: add up the terms") ? m - 1 : begin;
    const bool first = slip("this is only the first value");
    const bool a_l = slip("a[l] is used instead of a[j]: all numbers of value j have the weight a[j]");
    const bool same = slip("all numbers of y are its first: number l of y is a sum of v[j*e + l]");
    const double *v = mat_read("v", "jl", 'e', h->v, m, e, "me", (int[]){ m, e });
    int most = 0;
    for (int j = 0; j < m; j++)
        most = h->a[j] > h->a[most] ? j : most;
    for (int l = 0; l < e; l++) {
        y[l] = one ? v[most * e + l] : first ? v[l] : 0;
        for (int j = from; j < (few && e < m ? e : to) && !one && !first; j++)
            y[l] += (sum || mean ? 1 : h->a[a_l ? l % m : a_0 ? 0 : j])
                  * (no_v ? 1 : v[j * e + (same ? 0 : l)]) / by;
    }
}

static void mixed(const char *part, const double *weight, const double *values, int m, int e)
{
    struct attention h = { .a = mat_scaled(weight, 1, m), .v = mat_scaled(values, 1, m * e), .m = m, .e = e };
    double *y = judge_room((size_t)e);
    judge_part("%s", part);
    weighted_sum(h.a, h.v, y, m, e);
    judge_guarded("y", y, (size_t)e);
    judge_against("y", GRA_SHAPE(e), y, 1e-12, mixture, &h);
}

/* softmax(q k^T / sqrt(d)) v */
static void attended(double *y, void *arg)
{
    const struct attention *h = arg;
    const int n = h->n, m = h->m, d = h->d, e = h->e;
    const bool square = n == m;
    const bool query_0 = slip("every row has the weights of query 0: row i of y belongs to query i");
    const bool query_n = slip("every row has the weights of the last query: row i of y belongs to query i");
    const bool next = slip("row i has the weights of query i + 1");
    const bool running = slip("y accumulates from query to query: start each row at 0");
    const bool shared = slip("the sum of exponentials runs on from query to query: reset it for each");
    const bool joint = slip("the weights of all queries together sum to 1: those of each query must");
    const double by = slip("the scores are multiplied by sqrt(d): divide") ? 1 / sqrt(d)
        : slip("the scores are not divided by sqrt(d)") ? 1
        : slip("the scores are divided by d: divide by its root") ? d
        : slip("the scores are divided by sqrt(e): d is the length of q and k") ? sqrt(e) : sqrt(d);
    const int keys = slip("only the first n of the m keys are used") && n < m ? n
                   : m - (slip("the last key is not used") && m > 1);
    const int mixed = slip("only the first n of the m values are mixed") && n < m ? n
                    : m - (slip("the last value is not mixed") && m > 1);
    const bool raw = slip("the scores themselves are the weights: softmax is missing");
    const bool columns =
        slip("softmax runs over the queries of a key: it should run over the keys of a query");
    const bool causal = slip("the keys after the query were masked: no mask is asked for here");
    const bool even = slip("this is the mean of all values: every weight is 1/m");
    const double *v = slip("keys were mixed: mix the values") && d == e ? h->k
        : slip("queries were mixed: mix the values") && square && d == e ? h->q : h->v;
    const double *k = slip("values are used as keys") && d == e ? h->v
        : slip("queries are used as keys") && square ? h->q : h->k;
    const double *q = slip("keys are used as queries") && square ? h->k : h->q;
    const bool exchanged = slip("queries and keys are exchanged") && square;
    const bool transposed = slip("the weights are transposed: row i is the sum over j of a_ij v_j") && square;
    q = mat_read("q", "il", 'd', q, n, d, square ? "de" : "denm", (int[]){ d, e, n, m });
    double *s = exchanged ? mat_scores(k, q, n, m, d, 1 / by) : mat_scores(q, k, n, m, d, 1 / by), so_far = 0;
    for (int i = 0; i < n * m; i++)
        s[i] = i % m >= keys || (causal && i % m > i / m) ? (double)-INFINITY : even ? 0 : s[i];
    double *a = raw ? s : columns ? mat_softmax_columns(s, n, m) : joint ? mat_softmax_rows(s, 1, n * m)
              : mat_softmax_rows(s, n, m);
    for (int i = 0; i < n && shared; i++) {     /* divide by its own sum and the previous ones */
        double most = 0;
        for (int j = 0; j < m; j++)
            most = fmax(most, a[i * m + j]);
        so_far += 1 / most;
        for (int j = 0; j < m; j++)
            a[i * m + j] /= most * so_far;
    }
    for (int i = 0; i < n * m; i++)
        a[i] = i % m < mixed ? a[i] : 0;
    const double *out = mat_product(transposed ? mat_transposed(a, n, n) : a, v, n, m, e);
    for (int i = 0; i < n * e; i++) {
        const int row = query_0 ? 0 : query_n ? n - 1 : next ? (i / e + 1) % n : i / e;
        y[i] = out[row * e + i % e] + (running && i >= e ? y[i - e] : 0);
    }
}

static void head(const char *part, const double *q, const double *k, const double *v, int n, int m, int d,
                 int e, const double *printed)
{
    struct attention h = { .q = q, .k = k, .v = v, .n = n, .m = m, .d = d, .e = e };
    double *y = judge_room((size_t)(n * e));
    judge_part("%s", part);
    one_head(q, k, v, y, n, m, d, e);
    judge_guarded("y", y, (size_t)(n * e));
    judge_clue("attention_weights and weighted_sum are right on their own: look at what one_head passes to "
               "them for query i, and at where it keeps the weights");
    judge_against("y", GRA_SHAPE(n, e), y, 1e-11, attended, &h);
    if (printed)
        judge_numbers("y", GRA_SHAPE(n, e), y, printed, 2e-5);
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
    head("the three tokens of exercise 14, with PyTorch's numbers", qkv[0], qkv[1], qkv[2], N, N, D, D,
         printed);
}

void judge_exercise(void)
{
    weights_of("weights of three keys", judge_draw(27, 11, -1, 1), judge_draw(28, 33, -2, 2), 3, 11);
    weights_of("weights of five keys", judge_draw(1, 3, -2, 2), judge_draw(2, 15, -2, 2), 5, 3);
    weights_of("the weight of one key is 1", judge_draw(3, 2, -2, 2), judge_draw(4, 2, -2, 2), 1, 2);
    weights_of("weights of scores of 300", judge_draw(25, 16, 9, 10), judge_draw(26, 64, 7, 8), 4, 16);
    weights_of("weights of scores of 1e4", judge_draw(5, 2, 90, 100),
               (double[]){ 140, 141, 150, 149, 125, 126, 131, 130 }, 4, 2);
    weights_of("weights of scores of -1e4", judge_draw(5, 2, 90, 100), judge_draw(7, 6, -150, -140), 3, 2);
    mixed("four values of two numbers, weights 0.15, 0.35, 0.4, 0.1", (double[]){ 0.15, 0.35, 0.4, 0.1 },
          (double[]){ 3, 10, -2, 60, 7, 20, 4, -50 }, 4, 2);
    mixed("two values of four numbers", (double[]){ 0.125, 0.875 }, judge_draw(8, 8, -2, 2), 2, 4);
    mixed("one value", (double[]){ 1 }, judge_draw(9, 3, -2, 2), 1, 3);
    head("the whole: three queries, three keys, numbers in pairs", judge_draw(22, 6, -2, 2),
         judge_draw(23, 6, -2, 2), judge_draw(24, 6, -2, 2), 3, 3, 2, 2, NULL);
    head("three queries, five keys", judge_draw(10, 6, -2, 2), judge_draw(11, 10, -2, 2),
         judge_draw(12, 20, -2, 2), 3, 5, 2, 4, NULL);
    head("four queries, two keys", judge_draw(13, 12, -2, 2), judge_draw(14, 6, -2, 2),
         judge_draw(15, 2, -2, 2), 4, 2, 3, 1, NULL);
    head("one query, one key", judge_draw(16, 2, -2, 2), judge_draw(17, 2, -2, 2), judge_draw(18, 3, -2, 2),
         1, 1, 2, 3, NULL);
    head("large scores", judge_draw(19, 8, 90, 100), judge_draw(20, 12, 140, 150), judge_draw(21, 6, -2, 2),
         4, 6, 2, 1, NULL);
    pytorch();
}
