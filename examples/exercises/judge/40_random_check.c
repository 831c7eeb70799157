/* 40 random_check: the judge. The loss that is given to an answer checks x, the state of the generator, and
 * dx at the beginning of each call. */
#include "answer.h"

/* the state with which answers begin: it holds a normal number */
static gra_rng start;
static double  normals[2 * RANDOM_MOST], draws[2 * RANDOM_MOST];    /* the numbers that come from it */

static double normal(const double *i) { return *i >= 0 && *i < 2 * RANDOM_MOST ? normals[(int)*i] : NAN; }
static double draw(const double *i)   { return *i >= 0 && *i < 2 * RANDOM_MOST ? draws[(int)*i] : NAN; }
static const struct judge_function functions[] = { { "normal", 1, normal }, { "draw", 1, draw }, { NULL, 0,
    NULL } };

static bool same_state(const gra_rng *a, const gra_rng *b)
{
    return a->at == b->at && a->has_normal == b->has_normal && (!a->has_normal || a->normal == b->normal)
        && !memcmp(a->state, b->state, sizeof a->state);
}

struct given {
    const double *x, *by;                       /* by: the factors of dx, or NULL */
    int           calls;
};

/* All but `most` numbers of x must be as they were. */
static void unchanged(const double *x, int n, const struct given *as, int most)
{
    for (int i = n - 1; i >= 0; i--)
        if (x[i] != as->x[i] && most-- == 0)
            judge_wrong("x[%d] was %.*g, and is now %.*g: restore it from a copy, before you change the next "
                        "x", i,
                        judge_digits(x[i], as->x[i]), as->x[i], judge_digits(x[i], as->x[i]), x[i]);
}

/* The loss: a sum of z_i x_i^3 with normal z. */
static double watch(const double *x, int n, gra_rng *rng, double *dx, void *arg)
{
    struct given *as = arg;
    double loss = 0, z;
    as->calls++;
    unchanged(x, n, as, 1);
    if (!same_state(rng, &start))
        judge_wrong("call %d of f did not begin with the state that *rng had at first, so it draws different "
                    "numbers: %s",
                    as->calls, rng->at == start.at ? "copy all of the struct, not some of its fields"
                    : "restore *rng before each call, from a copy of the struct");
    for (int i = 0; i < n; i++) {
        if (dx && dx[i] != 0)
            judge_wrong("f adds to dx, which was not 0 before the call: set it to 0");
        gra_randn(rng, &z, 1);
        loss += z * x[i] * x[i] * x[i];
        if (dx)
            dx[i] = as->by[i] * z * x[i] * x[i];
    }
    return loss;
}

static void call_differences(const struct judge_call *c)
{
    const int n = c->size[0];
    struct given as = { .by = c->in[2], .x = memcpy(judge_room((size_t)n), c->in[0],
                                                    (size_t)n * sizeof(double)) };
    gra_rng rng = start;
    if (as.by)
        *c->out[0] = check_random(watch, &as, c->in[0], n, *c->in[1], &rng);
    else
        same_draws_gradient(watch, &as, c->in[0], n, *c->in[1], &rng, c->out[0]);
    unchanged(c->in[0], n, &as, 0);
    if (!same_state(&rng, &start))
        judge_wrong("*rng is not as it was before: restore it after the last call of f, too");
}

static void call_noise(const struct judge_call *c)
{
    for (int k = 0; k < c->size[0]; k++)
        c->out[0][k] = dropout_noise(c->in[0][k], c->in[1][k], c->in[2][k]);
}

static gra_rng left, drawn;                     /* the state after noisy_dropout, and what it should be */
static double  bare;                            /* the loss where dx is NULL, less that with a dx */
static void call_dropout(const struct judge_call *c)
{
    double u;
    left = drawn = start;
    bare = noisy_dropout(c->in[0], c->size[0], &left, NULL, c->in[1]);
    left = start;
    bare -= *c->out[0] = noisy_dropout(c->in[0], c->size[0], &left, c->out[1], c->in[1]);
    for (int i = 0; i < c->size[0]; i++)
        gra_rand(&drawn, &u, 1);
}

#define DIFFERENCES .sizes = { "i n" }, .telling = { 5 }, .call = call_differences, .functions = functions, \
    .special = { { "this is (f(x + h) - f(x)) / h: use f(x - h) too, which is exact to h^2", \
                   "g[i] = (up[i] - normal(i) * x[i]^3) / h" } }, .lines = \
        "up[i] = normal(i) * (x[i] + h)^3                # f(x + h)\n" \
        "down[i] = normal(i) * (x[i] - h)^3              # f(x - h)\n" \
        "g[i] = (up[i] - down[i]) / (2 * h)\n"

static const struct judge_answer noise = {
    .sizes = { "k calls" }, .telling = { 5 }, .call = call_noise,
    .in = { "x[k]", "p[k] in 0.1..0.9", "h[k] in 0.1..1" }, .out = { "noise[k]" }, .lines =
        "var[k] = ((x[k] + h[k])^2 + (x[k] - h[k])^2) * p[k] / (1 - p[k])    # the variance\n"
        "noise[k] = sqrt(var[k]) / (2 * h[k])\n",
    .special = {
        { "the standard deviations were added: add the variances, then take the root",
          "var[k] = (abs(x[k] + h[k]) + abs(x[k] - h[k]))^2 * p[k] / (1 - p[k])" },
        { "this is the variance: take its root", "noise[k] = var[k] / (2 * h[k])^2" },
        { "h is missing in (x + h)^2 and (x - h)^2", "var[k] = 2 * x[k]^2 * p[k] / (1 - p[k])" } } };

static const struct judge_answer gradient = {
    DIFFERENCES, .in = { "x[i] in 0.5..2", "h in 0.001..0.002" }, .out = { "g[i]" } };
static const struct judge_answer check = {
    DIFFERENCES "a[i] = by[i] * normal(i) * x[i]^2               # f's own gradient\n"
        "error = max(i, abs(a[i] - g[i]))\n",
    .in = { "x[i] in 0.5..2", "h in 0.0001..0.0002", "by[i] in 2..4" }, .out = { "error" } };

static const struct judge_answer own = {
    .sizes = { "i n" }, .telling = { 7 }, .call = call_dropout, .functions = functions,
    .in = { "x[i]", "p in 0.3..0.6" }, .out = { "loss", "dx[i] +=" }, .lines =
        "by[i] = [draw(i) >= p] / (1 - p)\n"
        "y[i] = x[i] * by[i]\n"
        "loss = sum(i, y[i]^2 / 2)\n"
        "\n"
        "dx[i] = dx0[i] + y[i] * by[i]\n",
    .special = {
        { "the mask of the gradient is drawn anew: use the mask of the loss",
          "dx[i] = dx0[i] + x[i] * [draw(n + i) >= p] / (1 - p)^2" },
        { "a second number is drawn for dx in each round: use one number for y and dx",
          "by[i] = [draw(2 * i) >= p] / (1 - p)\n"
          "dx[i] = dx0[i] + x[i] * [draw(2 * i + 1) >= p] / (1 - p)^2" } } };

void judge_exercise(void)
{
    static const double x[] = { 1, 1, -3, 2, 0, 0.5 }, p[] = { 0.5, 0.1, 0.2, 0.75, 0.5, 0 };
    static const double h[] = { 0.01, 0.1, 0.5, 1, 0.25, 0.1 }, tiny[] = { 1.3, 1.9, 1e-7, 0.7 };
    static const double drop[] = { 1, -2, 0.5, 3, -1.5 }, zero[5], more = 0.4, less = 0.3, right[] = { 3, 3,
        3, 3 };
    static const double wrong[] = { 2.95, 0.5, 3.1, 2.8 }, first[] = { -3, 3, 2.9, 3 }, last[] = { 3, 3.1, 3,
        99 };
    gra_manual_seed(&start, 40);
    gra_randn(&start, normals, 1);
    gra_rng rng[2] = { start, start };
    for (int i = 0; i < 2 * RANDOM_MOST; i++)
        gra_randn(&rng[0], &normals[i], 1), gra_rand(&rng[1], &draws[i], 1);
    judge_case(&noise, (struct judge_case)CASE("the noise of fresh draws", { 6 }, .in = { x, p, h }));
    judge_cases(&gradient, (const struct judge_case[]){
        CASE("differences with the same draws", { 4 }, .in = { tiny }, .tolerance = 1e-9),
        CASE("differences of one number", { 1 }, .tolerance = 1e-9),
        CASE("differences of sixteen numbers", { RANDOM_MOST }, .tolerance = 1e-9), { 0 } });
    judge_cases(&check, (const struct judge_case[]){
        CASE("the check of a right gradient", { 4 }, .in = { tiny, NULL, right }, .tolerance = 1e-7),
        CASE("the check of a wrong gradient", { 4 }, .in = { tiny, NULL, wrong }, .tolerance = 1e-7),
        CASE("the check of a wrong first number", { 4 }, .in = { tiny, NULL, first }, .tolerance = 1e-7),
        CASE("the check of a wrong last number", { 4 }, .in = { tiny, NULL, last }, .tolerance = 1e-7),
        CASE("the check of sixteen numbers", { RANDOM_MOST }, .tolerance = 1e-7), { 0 } });
    for (int used = 0; used < 2; used++) {
        judge_case(&own, (struct judge_case)CASE(used ? "noisy_dropout, where dx had another use" :
                   "noisy_dropout", { 5 }, .in = { drop, used ? &less : &more }, .held = { NULL,
                       used ? NULL : zero }));
        if (!same_state(&left, &drawn))
            judge_wrong("after noisy_dropout *rng is %s", same_state(&left, &start)
                        ? "as it was: each call would have the same mask"
                        : "not where one draw for each x leaves it: draw one number for each x");
        if (fabs(bare) > 1e-12)
            judge_wrong("where dx is NULL the loss is %.6g too large: draw the same numbers then, too", bare);
    }
}
