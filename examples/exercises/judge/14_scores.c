/* 14 scores: the judge. */
#include "matrix.h"

static void projected(const char *part, const double *numbers, const double *b, const double *x, int d, int D)
{
    const double *W = mat_scaled(numbers, 1, d * D);
    double *q = judge_room((size_t)d), *Wx = mat_product(W, x, d, D, 1), *want = mat_sum(Wx, b, d);
    double *one_x = judge_room((size_t)d), *one_b = judge_room((size_t)d);
    double *first_d = judge_room((size_t)d);
    judge_part("%s", part);
    for (int i = 0; i < d; i++) {
        one_x[i] = b[i];
        for (int j = 0; j < D; j++)
            one_x[i] += W[i * D + j] * x[i % D];
        one_b[i] = Wx[i] + b[0];
    }
    for (int i = 0; i < d; i++) {
        first_d[i] = b[i];
        for (int j = 0; j < D; j++)
            first_d[i] += j < d ? W[i * D + j] * x[j] : 0;
    }
    const double *zero = mat_scaled(b, 0, d);
    double *last = judge_room((size_t)d), *shifted = mat_scaled(x, 1, D), *q0 = judge_room((size_t)d);
    for (int i = 0; i < d; i++)
        last[i] = W[i * D + D - 1] * x[D - 1];
    for (int j = 0; j < D; j++)
        shifted[j] += b[j % d];
    project(W, zero, x, q0, d, D);
    bool without_b = true;
    for (int i = 0; i < d; i++)
        without_b = without_b && fabs(q0[i] - Wx[i]) < 1e-9;
    project(W, b, x, q, d, D);
    struct mat_reading of_W = mat_readings("W", "ij", 'D', W, d, D, "dD", (int[]){ d, D });
    while (mat_misread(&of_W))
        mat_fits(&of_W, q, mat_sum(mat_product(of_W.read, x, d, D, 1), b, d), d);
    judge_guarded("q", q, (size_t)d);
    judge_numbers("q", GRA_SHAPE(d), q, want, 1e-11, JUDGE_MISTAKES(
        { "W x without b", Wx },
        { "without b, and W was read by columns, not by rows", mat_product(mat_transposed(W, D, d), x, d, D, 1) },
        mat_reading(&of_W, want),
        { "the sum has d terms only: a row of W and x have D numbers", first_d },
        { "only the last term of the sum is left: begin with b[i], then add each term", last },
        { "only the last term of the sum is left", mat_sum(last, b, d) },
        { "b was added to x, before the product with W", mat_product(W, shifted, d, D, 1) },
        { "b was subtracted", mat_sum(Wx, mat_scaled(b, -1, d), d) },
        { "b was added once for each product: once in all is wanted", mat_sum(Wx, mat_scaled(b, D, d), d) },
        { "b alone, without W x", b },
        { "x[i] was taken for x[j]: a row meets all of x", one_x },
        { "b[0] was added everywhere, not b[i]", one_b },
        { "with b = 0 it is right: what is wrong is how b is added, once to each q[i]", without_b ? q : want }));
}

static void scored(const char *part, const double *queries, const double *keys_of, int n, int m, int d, const double *printed)
{
    const double *q = mat_scaled(queries, 1, n * d), *k = mat_scaled(keys_of, 1, m * d);
    const double root = sqrt(d);
    double *s = judge_room((size_t)(n * m)), *want = mat_scores(q, k, n, m, d, 1 / root);
    double *keys = mat_scores(k, q, m, n, d, 1 / root), *by_n = mat_scaled(want, root / sqrt(n), n * m);
    double *running = judge_room((size_t)(n * m)), *endless = judge_room((size_t)(n * m));
    double *all_but = judge_room((size_t)(n * m)), *positive = judge_room((size_t)(n * m));
    double *same_key = judge_room((size_t)(n * m)), *same_query = judge_room((size_t)(n * m));
    double *no_first = judge_room((size_t)(n * m)), *last = judge_room((size_t)(n * m)), *far = judge_room((size_t)(n * m));
    double *cosine = judge_room((size_t)(n * m));
    judge_part("%s", part);
    for (int i = 0; i < n * m; i++) {
        const double *qi = q + i / m * d, *kj = k + i % m * d;
        no_first[i] = want[i] - qi[0] * kj[0] / root;
        last[i] = qi[d - 1] * kj[d - 1] / root;
        far[i] = 0;
        for (int l = 0; l < d; l++)
            far[i] += (qi[l] - kj[l]) * (qi[l] - kj[l]) / root;
        same_key[i] = want[i / m * m + i / m % m];
        same_query[i] = want[i % m % n * m + i % m];
        all_but[i] = want[i] - qi[d - 1] * kj[d - 1] / root;
        positive[i] = fabs(want[i]);
        cosine[i] = want[i] / sqrt(*mat_product(qi, qi, 1, d, 1) * *mat_product(kj, kj, 1, d, 1));
        running[i] = want[i] + (i % m ? running[i - 1] : 0);
        endless[i] = want[i] + (i ? endless[i - 1] : 0);
    }
    scores(q, k, s, n, m, d);
    struct mat_reading of_q = mat_readings("q", "il", 'd', q, n, d, "nmd", (int[]){ n, m, d });
    struct mat_reading of_k = mat_readings("k", "jl", 'd', k, m, d, "nmd", (int[]){ n, m, d });
    while (mat_misread(&of_q))
        mat_fits(&of_q, s, mat_scores(of_q.read, k, n, m, d, 1 / root), n * m);
    while (mat_misread(&of_k))
        mat_fits(&of_k, s, mat_scores(q, of_k.read, n, m, d, 1 / root), n * m);
    judge_guarded("s", s, (size_t)(n * m));
    judge_numbers("s", GRA_SHAPE(n, m), s, printed ? printed : want, printed ? 1e-5 : 1e-11, JUDGE_MISTAKES(
        { "these are the dot products: divide by sqrt(d)", mat_scaled(want, root, n * m) },
        { "divided by d, not by its root", mat_scaled(want, 1 / root, n * m) },
        { "multiplied by sqrt(d): divide", mat_scaled(want, d, n * m) },
        { "divided twice by sqrt(d)", mat_scaled(want, 1 / root, n * m) },
        { "divided by the root of n, the number of queries: d, the length of a query, is wanted", by_n },
        { "divided by the root of m, the number of keys: d, the length of a query, is wanted",
          mat_scaled(want, root / sqrt(m), n * m) },
        mat_reading(&of_k, want), mat_reading(&of_q, want),
        { "the dot product leaves out the last number of q and k", all_but },
        { "key i was taken for key j: each query meets all keys", same_key },
        { "query j was taken for query i: row i belongs to query i", same_query },
        { "the dot product leaves out the first number of q and k", no_first },
        { "only the last term of the dot product is left: add them all", last },
        { "this is the distance of q and k: the sum of their products is wanted", far },
        { "this is the distance of q and k: the sum of their products is wanted", mat_scaled(far, -1, n * m) },
        { "the scores have lost their sign: a negative dot product is a bad fit", positive },
        { "divided by the lengths of q and k too: that is their cosine", cosine },
        { "divided by the lengths of q and k, not by sqrt(d): that is their cosine", mat_scaled(cosine, root, n * m) },
        { "queries and keys are exchanged: row i belongs to query i, column j to key j", keys },
        { "exchanged and not divided by sqrt(d): row i belongs to query i, column j to key j",
          mat_scaled(keys, root, n * m) },
        { "each score holds those before it in its row: every dot product begins at 0", running },
        { "each score holds all those before it: every dot product begins at 0", endless },
        { "softmax was taken already: the scores themselves are wanted", mat_softmax_rows(want, n, m) },
        { "q was taken for k", n == m ? mat_scores(q, q, n, n, d, 1 / root) : want },
        { "k was taken for q", n == m ? mat_scores(k, k, n, n, d, 1 / root) : want },
        { "the sign is wrong: a large dot product is a good fit", mat_scaled(want, -1, n * m) }));
}

/* The numbers that PyTorch 1.13 prints for three tokens of torch.randn(4, 1) after torch.manual_seed(3), and W_q, W_k,
 * W_v (4, 4), b_q, b_k, b_v (4, 1) after torch.manual_seed(0). */
static void pytorch(void)
{
    enum { D = 4, N = 3 };
    const double printed[N * N] = { -2.8869, 3.6531, -1.1920, 0.0760, 4.2115, 4.1211, 0.8152, -6.1015, 1.6231 };
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
    projected("as many as there were: the query of PyTorch's first token", W[0], b[0], x[0], D, D);
    for (int i = 0; i < N; i++) {
        project(W[0], b[0], x[i], q + i * D, D, D);
        project(W[1], b[1], x[i], k + i * D, D, D);
    }
    scored("the scores that PyTorch has for its three tokens", q, k, N, N, D, printed);
}

void judge_exercise(void)
{
    projected("W = (1 2 3; 4 6 5), b = (10, 20), x = (1, 2, -1)",
              (double[]){ 1, 2, 3, 4, 6, 5 }, (double[]){ 10, 20 }, (double[]){ 1, 2, -1 }, 2, 3);
    projected("four numbers from two", judge_draw(1, 8, -2, 2), judge_draw(2, 4, -2, 2), judge_draw(3, 2, -2, 2), 4, 2);
    projected("one number from five", judge_draw(4, 5, -2, 2), judge_draw(5, 1, -2, 2), judge_draw(6, 5, -2, 2), 1, 5);
    projected("three numbers from one", judge_draw(7, 3, -2, 2), judge_draw(8, 3, -2, 2), judge_draw(9, 1, -2, 2), 3, 1);
    scored("two queries and five keys, of four numbers", (double[]){ 1, 2, 3, 4, 0, 1, 0, -1 },
           (double[]){ 1, 0, -1, 2, 2, 2, 0, 1, 1, 1, 1, -1, 3, 0, 2, 0, -1, -2, 0, 1 }, 2, 5, 4, NULL);
    scored("three queries and two keys", judge_draw(10, 6, -2, 2), judge_draw(11, 4, -2, 2), 3, 2, 2, NULL);
    scored("four queries and three keys", judge_draw(12, 20, -2, 2), judge_draw(13, 15, -2, 2), 4, 3, 5, NULL);
    scored("one query, one key", judge_draw(18, 3, -2, 2), judge_draw(19, 3, -2, 2), 1, 1, 3, NULL);
    scored("queries of one number", judge_draw(14, 2, -2, 2), judge_draw(15, 3, -2, 2), 2, 3, 1, NULL);
    scored("as many queries as keys", judge_draw(16, 6, -2, 2), judge_draw(17, 6, -2, 2), 3, 3, 2, NULL);
    pytorch();
}
