/* 14 scores: the judge. */
#include "matrix.h"

struct projection {
    const double *W, *b, *x;
    int           d, D;
};

/* W x + b */
static void projection(double *q, void *arg)
{
    const struct projection *p = arg;
    const int d = p->d, D = p->D;
    const bool no_b = slip("this is W x without b");
    const double *W = mat_read("W", "ij", 'D', p->W, d, D, "dD", (int[]){ d, D });
    const int terms = slip("the sum has only d terms: a row of W and x have D numbers") && d < D ? d
                    : D - slip("the last term of the sum is left out: a row of W and x have D numbers");
    const int begin = slip("the first term of the sum is left out: j begins at 0");
    const bool last = slip("only the last term of the sum is left: start with b[i], then add each term");
    const bool last_b = slip("only the last term of the sum, and b, are left: add each term");
    const bool before = slip("b was added to x, before the product with W"), minus = slip("b was subtracted");
    const bool often = slip("b was added with each product: add it only once");
    const bool running = slip("the sum is not reset for each row: each q[i] is a sum of its own");
    const bool only_b = slip("this is only b, without W x");
    const bool one_x = slip("x[i] is used instead of x[j]: a row is multiplied with all of x");
    const bool x_0 = slip("x[0] is used instead of x[j]: a row is multiplied with all of x");
    const bool no_x = slip("the row of W is added up, without x: multiply W[i*D + j] with x[j]");
    const double sign = slip("W x is subtracted: add it") ? -1
                      : slip("W x is divided by sqrt(d): only scores are") ? 1 / sqrt(d) : 1;
    const bool one_b = slip("b[0] was added everywhere: add b[i]");
    double before_it = 0;
    for (int i = 0; i < d; i++) {
        const double b = p->b[one_b ? 0 : i];
        q[i] = no_b || before || last ? 0 : minus ? -b : often ? D * b : b;
        for (int j = last || last_b ? D - 1 : begin; j < terms && !only_b; j++)
            q[i] += sign * W[i * D + j]
                  * (no_x ? 1 : x_0 ? p->x[0] : one_x ? p->x[i % D] : before ? p->x[j] + p->b[j % d]
                     : p->x[j]);
        q[i] += running ? before_it : 0, before_it = q[i] - b;
    }
}

static void projected(const char *part, const double *numbers, const double *b, const double *x, int d, int D)
{
    struct projection p = { mat_scaled(numbers, 1, d * D), b, x, d, D };
    double *q = judge_room((size_t)d), *Wx = mat_product(p.W, x, d, D, 1);
    bool without_b = true;
    judge_part("%s", part);
    project(p.W, mat_scaled(b, 0, d), x, q, d, D);
    for (int i = 0; i < d; i++)
        without_b = without_b && fabs(q[i] - Wx[i]) < 1e-9;
    if (without_b)
        judge_clue("with b = 0 it is right, so look at how b is added: once to each q[i]");
    q = judge_room((size_t)d);
    project(p.W, b, x, q, d, D);
    judge_guarded("q", q, (size_t)d);
    judge_against("q", GRA_SHAPE(d), q, 1e-11, projection, &p);
}

struct meeting {
    const double *q, *k;
    int           n, m, d;
};

static double dot(const double *a, const double *b, int from, int to, bool whole)
{
    double sum = 0;
    for (int l = from; l < to; l++)
        sum = whole ? trunc(sum + a[l] * b[l]) : sum + a[l] * b[l];
    return sum;
}

/* q k^T / sqrt(d) */
static void dot_products(double *s, void *arg)
{
    const struct meeting *a = arg;
    const int n = a->n, m = a->m, d = a->d;
    const double by = slip("sqrt(d) was rounded to an integer: keep it in a double") ? floor(sqrt(d))
        : slip("these are the dot products: divide by sqrt(d) (in C, pow(d, 1 / 2) is 1)") ? 1
        : slip("divided by the root of the root of d: divide by sqrt(d)") ? sqrt(sqrt(d))
        : slip("divided by d: divide by its root") ? d : slip("multiplied by sqrt(d): divide") ? 1 / sqrt(d)
        : slip("divided by the root of n, the number of queries: d is the length of a query") ? sqrt(n)
        : slip("divided by the root of m, the number of keys: d is the length of a query") ? sqrt(m)
        : sqrt(d);
    const double *keys = mat_read("k", "jl", 'd', a->k, m, d, "nmd", (int[]){ n, m, d });
    const double *queries = mat_read("q", "il", 'd', a->q, n, d, "nmd", (int[]){ n, m, d });
    const int to = slip("the dot product has only n terms: q and k have d numbers") && n < d ? n
                 : slip("the dot product has only m terms: q and k have d numbers") && m < d ? m
                 : d - slip("the dot product leaves out the last number of q and k");
    const bool whole = slip("the dot product is rounded to an integer: keep it in a double");
    const bool causal = slip("the keys after the query were masked: no mask is asked for here");
    const bool key_i = slip("key i is used instead of key j: each query is compared with all keys");
    const bool query_j = slip("query j is used instead of query i: row i belongs to query i");
    const int begin = slip("the dot product leaves out the first number of q and k");
    const int from = slip("only the last term of the dot product is left: add them all") ? d - 1 : begin;
    const bool distance = slip("this is the distance between q and k: add up their products");
    const bool minus_distance = slip("this is minus the distance between q and k: add up their products");
    const bool positive = slip("the scores have lost their sign: a negative dot product stays negative");
    const bool cosine =
        slip("this is the cosine of q and k: divide the dot product by sqrt(d), not by their lengths");
    const bool exchanged =
        slip("queries and keys are exchanged: row i belongs to query i, column j to key j");
    const bool running =
        slip("each score includes those before it in its row: start every dot product at 0");
    const bool endless = slip("each score includes all those before it: start every dot product at 0");
    const bool softmax = slip("softmax was already applied: return the scores themselves");
    const bool q_for_k = slip("q is used for both: one of them is k") && n == m;
    const bool k_for_q = slip("k is used for both: one of them is q") && n == m;
    const double sign = slip("the sign is wrong: a large dot product is a good fit") ? -1 : 1;
    for (int at = 0; at < n * m; at++) {
        const int i = exchanged ? at % n : at / m, j = exchanged ? at / n : at % m;
        const double *q = (k_for_q ? keys : queries) + (query_j ? j % n : i) * d;
        const double *k = (q_for_k ? queries : keys) + (key_i ? i % m : j) * d;
        const double product = dot(q, k, from, to, whole);
        const double apart = mat_dot(q, q, d) - 2 * mat_dot(q, k, d) + mat_dot(k, k, d);
        s[at] = sign * (distance ? apart : minus_distance ? -apart : positive ? fabs(product) : product)
              / (cosine ? sqrt(mat_dot(q, q, d) * mat_dot(k, k, d)) : by);
        s[at] = causal && j > i ? (double)-INFINITY : s[at];
        s[at] += (running && at % m) || (endless && at) ? s[at - 1] : 0;
    }
    if (softmax)
        memcpy(s, mat_softmax_rows(s, n, m), (size_t)(n * m) * sizeof *s);
}

static void scored(const char *part, const double *queries, const double *keys, int n, int m, int d,
                   const double *printed)
{
    struct meeting a = { mat_scaled(queries, 1, n * d), mat_scaled(keys, 1, m * d), n, m, d };
    double *s = judge_room((size_t)(n * m));
    judge_part("%s", part);
    scores(a.q, a.k, s, n, m, d);
    judge_guarded("s", s, (size_t)(n * m));
    judge_against("s", GRA_SHAPE(n, m), s, 1e-11, dot_products, &a);
    if (printed)
        judge_numbers("s", GRA_SHAPE(n, m), s, printed, 1e-5);
}

/* The numbers that PyTorch 1.13 prints for three tokens of torch.randn(4, 1) after torch.manual_seed(3), and
 * W_q, W_k, W_v (4, 4), b_q, b_k, b_v (4, 1) after torch.manual_seed(0). */
static void pytorch(void)
{
    enum { D = 4, N = 3 };
    const double printed[N * N] = { -2.8869, 3.6531, -1.1920, 0.0760, 4.2115, 4.1211, 0.8152, -6.1015,
                                    1.6231 };
    double x[N][D], W[3][D * D], b[3][D], q[N * D], k[N * D];
    gra_rng rng;
    gra_manual_seed(&rng, 3);
    for (int i = 0; i < N; i++)
        gra_randn(&rng, x[i], D);
    gra_manual_seed(&rng, 0);
    for (int i = 0; i < 3; i++)
        gra_randn(&rng, W[i], D * D);
    for (int i = 0; i < 3; i++)
        gra_randn(&rng, b[i], D);
    projected("a square W: the query of PyTorch's first token", W[0], b[0], x[0], D, D);
    for (int i = 0; i < N; i++) {
        project(W[0], b[0], x[i], q + i * D, D, D);
        project(W[1], b[1], x[i], k + i * D, D, D);
    }
    scored("PyTorch's scores of three tokens", q, k, N, N, D, printed);
}

void judge_exercise(void)
{
    projected("W = (200 -100 300 100; 500 400 700 -200), b = (10, 30), x = (3, -2, 4, 6)",
              (double[]){ 200, -100, 300, 100, 500, 400, 700, -200 },
              (double[]){ 10, 30 }, (double[]){ 3, -2, 4, 6 }, 2, 4);
    projected("four numbers from two", judge_draw(1, 8, -2, 2), judge_draw(2, 4, -2, 2),
              judge_draw(3, 2, -2, 2), 4, 2);
    projected("one number from five", judge_draw(4, 5, -2, 2), judge_draw(5, 1, -2, 2),
              judge_draw(6, 5, -2, 2), 1, 5);
    projected("three numbers from one", judge_draw(7, 3, -2, 2), judge_draw(8, 3, -2, 2),
              judge_draw(9, 1, -2, 2), 3, 1);
    scored("three queries and seven keys, of eleven numbers", judge_draw(20, 33, -2, 2),
           judge_draw(21, 77, -2, 2), 3, 7, 11, NULL);
    scored("five queries and three keys", judge_draw(10, 10, -2, 2), judge_draw(11, 6, -2, 2), 5, 3, 2, NULL);
    scored("four queries and three keys", judge_draw(12, 20, -2, 2), judge_draw(13, 15, -2, 2), 4, 3, 5,
           NULL);
    scored("one query, one key", judge_draw(18, 3, -2, 2), judge_draw(19, 3, -2, 2), 1, 1, 3, NULL);
    scored("queries of one number", judge_draw(14, 2, -2, 2), judge_draw(15, 3, -2, 2), 2, 3, 1, NULL);
    scored("as many queries as keys", judge_draw(16, 6, -2, 2), judge_draw(17, 6, -2, 2), 3, 3, 2, NULL);
    pytorch();
}
