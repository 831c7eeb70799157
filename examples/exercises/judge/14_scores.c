/* 14 scores: the judge. */
#include "answer.h"

static void projection(const struct judge_call *c)
{
    project(c->in[0], c->in[1], c->in[2], c->out[0], c->size[0], c->size[1]);
}

static void dot_products(const struct judge_call *c)
{
    scores(c->in[0], c->in[1], c->out[0], c->size[0], c->size[1], c->size[2]);
}

static const struct judge_answer projected = {
    .sizes = { "i d", "j D" }, .telling = { 3, 5 }, .call = projection, .in = { "W[i,j]", "b[i]", "x[j]" },
    .out = { "q[i]" }, .lines = "q[i] = b[i] + sum(j, W[i,j] * x[j])\n" };

static const struct judge_answer scored = {
    .sizes = { "i n", "j m", "l d" }, .telling = { 3, 5, 4 }, .call = dot_products, .in = { "q[i,l]", "k[j,l]" },
    .out = { "s[i,j]" }, .lines =
        "dot[i,j] = sum(l, q[i,l] * k[j,l])                  # the dot product\n"
        "s[i,j] = dot[i,j] / sqrt(d)\n",
    .special = {
        { "this is the softmax of the scores, which comes in the next exercise",
          "s[i,j] = exp(dot[i,j] / sqrt(d)) / sum(j, exp(dot[i,j] / sqrt(d)))" },
        { "this is the cosine of the angle: a dot product is not divided by lengths",
          "s[i,j] = dot[i,j] / sqrt(sum(l, q[i,l]^2)) / sqrt(sum(l, k[j,l]^2))" },
        { "this is a distance: a score is a dot product", "dot[i,j] = sum(l, (q[i,l] - k[j,l])^2)" } } };

/* The numbers that PyTorch 1.13 prints for three tokens of torch.randn(4, 1) after torch.manual_seed(3), and
 * W_q, W_k, W_v (4, 4), b_q, b_k, b_v (4, 1) after torch.manual_seed(0). */
static void pytorch(void)
{
    enum { D = 4, N = 3 };
    const double printed[N * N] = { -2.8869, 3.6531, -1.1920, 0.0760, 4.2115, 4.1211, 0.8152, -6.1015, 1.6231 };
    double x[N][D], W[3][D * D], b[3][D], q[N * D], k[N * D], *s = judge_room(N * N);
    gra_rng rng;
    gra_manual_seed(&rng, 3);
    for (int i = 0; i < N; i++)
        gra_randn(&rng, x[i], D);
    gra_manual_seed(&rng, 0);
    for (int i = 0; i < 3; i++)
        gra_randn(&rng, W[i], D * D);
    for (int i = 0; i < 3; i++)
        gra_randn(&rng, b[i], D);
    judge_part("PyTorch's scores of three tokens");
    for (int i = 0; i < N; i++) {
        project(W[0], b[0], x[i], q + i * D, D, D);
        project(W[1], b[1], x[i], k + i * D, D, D);
    }
    scores(q, k, s, N, N, D);
    judge_numbers("s", GRA_SHAPE(N, N), s, printed, 1e-5);
}

void judge_exercise(void)
{
    static const double W[] = { 200, -100, 300, 100, 500, 400, 700, -200 }, b[] = { 10, 30 }, x[] = { 3, -2, 4, 6 };
    judge_cases(&projected, (const struct judge_case[]){
        CASE("W = (200 -100 300 100; 500 400 700 -200), b = (10, 30), x = (3, -2, 4, 6)", { 2, 4 }, .in = { W, b, x }),
        CASE("four numbers from two", { 4, 2 }), CASE("one number from five", { 1, 5 }),
        CASE("three numbers from one", { 3, 1 }), CASE("as many numbers as before", { 4, 4 }), { NULL } });
    judge_cases(&scored, (const struct judge_case[]){
        CASE("three queries and seven keys, of eleven numbers", { 3, 7, 11 }),
        CASE("five queries and three keys", { 5, 3, 2 }), CASE("four queries and three keys", { 4, 3, 5 }),
        CASE("one query, one key", { 1, 1, 3 }), CASE("queries of one number", { 2, 3, 1 }),
        CASE("as many queries as keys", { 3, 3, 2 }), { NULL } });
    pytorch();
}
