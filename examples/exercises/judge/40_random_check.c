/* 40 random_check: the judge. The losses that it gives to an answer look at each call: with which x, which
 * state of the generator, and which dx it begins. */
#include "judge.h"

enum { N = 5 };

/* What a loss is given as its arg: how it computes, and what it has seen. */
struct watched {
    random_loss  *f;
    void         *arg;
    const double *x;                            /* as the answer was given it */
    gra_rng       rng;
    int           n, calls, gradients;
    char          found[200];                   /* what was wrong first; "": nothing */
};

static bool same_state(const gra_rng *a, const gra_rng *b)
{
    return a->at == b->at && a->has_normal == b->has_normal && (!a->has_normal || a->normal == b->normal)
        && !memcmp(a->state, b->state, sizeof a->state);
}

static double watch(const double *x, int n, gra_rng *rng, double *dx, void *arg)
{
    struct watched *w = arg;
    int moved = 0, dirty = 0;
    for (int i = 0; i < n; i++) {
        moved += x[i] != w->x[i];
        dirty += dx && dx[i] != 0;
    }
    w->calls++, w->gradients += dx != NULL;
    if (!w->found[0] && moved > 1)
        snprintf(w->found, sizeof w->found, "in call %d of f %d numbers of x are changed: restore x[i] "
                                            "before the next is changed", w->calls, moved);
    if (!w->found[0] && dirty)
        snprintf(w->found, sizeof w->found, "f adds to dx, which was not 0 before the call: set it to 0");
    if (!w->found[0] && !same_state(rng, &w->rng))
        snprintf(w->found, sizeof w->found,
                 "call %d of f%s began with another state than *rng had at first, "
                 "so it draws other numbers: %s",
                 w->calls, dx ? ", with dx," : "",
                 rng->at == w->rng.at && rng->has_normal != w->rng.has_normal
                     ? "copy all of the struct, not some of its fields"
                     : "restore *rng before each call, from a copy of the struct");
    return w->f(x, n, rng, dx, w->arg);
}

/* ---- losses ------------------------------------------------------------------------------------------ */

/* A sum of c_i x_i^3 with random c. arg: NULL, or what the first four dx wrongly have for the factor 3. */
static double cubes(const double *x, int n, gra_rng *rng, double *dx, void *arg)
{
    double loss = 0, c;
    for (int i = 0; i < n; i++) {
        gra_rand(rng, &c, 1);
        loss += c * x[i] * x[i] * x[i];
        if (dx)
            dx[i] += (!arg || i > 3 ? 3 : ((const double *)arg)[i]) * c * x[i] * x[i];
    }
    return loss;
}

/* One normal number: the generator keeps a second one for the next call. */
static double normal(const double *x, int n, gra_rng *rng, double *dx, void *arg)
{
    double z, loss = 0;
    (void)arg;
    gra_randn(rng, &z, 1);
    for (int i = 0; i < n; i++) {
        loss += sin(z + x[i]);
        if (dx)
            dx[i] += cos(z + x[i]);
    }
    return loss;
}

/* gra_dropout, on a tape. */
static double taped(const double *x, int n, gra_rng *rng, double *dx, void *arg)
{
    gra_tape *t = arg;
    gra_begin(t, GRA_TRAIN, rng);
    gra_tensor *in = gra_input(t, x, GRA_SHAPE(n)), *y = gra_dropout(t, in, 0.4);
    gra_tensor *loss = gra_sum(t, gra_mul(t, y, y));
    if (dx)
        gra_backward(t, loss);
    for (int i = 0; i < n && dx; i++)
        dx[i] += gra_grad(in)[i];
    return gra_item(loss);
}

/* ---- references -------------------------------------------------------------------------------------- */

struct given {
    random_loss  *f;
    void         *arg;
    const double *x, *before;
    gra_rng       rng;
    int           n;
    double        h, p;
};

static double called(const struct given *g, int i, double by, double *dx)
{
    double x[RANDOM_MOST];
    gra_rng rng = g->rng;
    memcpy(x, g->x, (size_t)g->n * sizeof *x);
    x[i] += by;
    return g->f(x, g->n, &rng, dx, g->arg);
}

static void differences(double *out, void *arg)
{
    const struct given *g = arg;
    const bool one_sided = slip("this is (f(x + h) - f(x)) / h: use f(x - h) too, which is exact to h^2");
    const bool at_x = slip("the second call is at x: it should be at x - h, 2h below x + h");
    const bool by_h = slip("divided by h: x + h and x - h are 2h apart"), not = slip("not divided by 2h");
    const bool times = slip("multiplied by h: in C, / 2 * h multiplies");
    const bool turned = slip("the sign is wrong: it is f(x + h) - f(x - h)");
    for (int i = 0; i < g->n; i++) {
        const double up = called(g, i, g->h, NULL), down = called(g, i, one_sided || at_x ? 0 : -g->h, NULL);
        const double by = not ? 1 : times ? 2 / g->h : by_h || one_sided ? g->h : 2 * g->h;
        out[i] = (turned ? down - up : up - down) / by;
    }
}

static void worst(double *out, void *arg)
{
    const struct given *g = arg;
    double a[RANDOM_MOST] = { 0 }, d[RANDOM_MOST], sum = 0, largest = 0, most = 0;
    differences(d, arg);
    called(g, 0, 0, a);
    int at = 0;
    const bool plain = slip("the largest difference was taken with its sign: take the largest |a[i] - g[i]|");
    for (int i = 0; i < g->n; i++) {
        const double off = plain ? a[i] - d[i] : fabs(a[i] - d[i]);
        sum += off, largest = fmax(largest, fabs(d[i])), at = off > most ? i : at,
            most = fmax(most, off);
    }
    out[0] = slip("this is the sum: take the largest") ? sum : slip("this is the mean: take the largest")
           ? sum / g->n
        : slip("this is relative to the largest gradient: |a[i] - g[i]| itself is asked for") ? most / largest
        : slip("this is relative to g[i]: |a[i] - g[i]| itself is asked for") ? most / fabs(d[at])
        : slip("this is squared: take |a[i] - g[i]|") ? most * most
        : slip("only the last is compared: take the largest of all") ? fabs(a[g->n - 1] - d[g->n - 1])
        : slip("only the first is compared: take the largest of all") ? fabs(a[0] - d[0]) : most;
}

static const double grid[][3] = {               /* x, p, h */
    { 1, 0.5, 0.01 }, { 1, 0.1, 0.1 }, { -3, 0.2, 0.5 }, { 2, 0.75, 1 }, { 0, 0.5, 0.25 }, { 0.5, 0, 0.1 } };
enum { GRID = sizeof grid / sizeof *grid };

static void noise(double *out, void *arg)
{
    (void)arg;
    const bool square = slip("this is the variance: the standard deviation is its root");
    const bool one = slip("only one of the two calls counts: the variances of both add up");
    const bool twice = slip("the standard deviations were added: add the variances, then take the root");
    const bool cancel = slip("the variance of y(x - h) was subtracted: that of a difference is the sum");
    const bool no_h = slip("h is missing in (x + h)^2 and (x - h)^2"), by_h = slip("divided by h: it is 2h");
    const bool raw = slip("not divided by 2h"),
               under = slip("the division by 2h is under the root: there it would be by (2h)^2");
    const bool unscaled =
        slip("p (1 - p) is the variance without the factor 1 / (1 - p): it is x^2 p / (1 - p)");
    const bool rootless = slip("the root is missing: take that of the variance, and divide it by 2h");
    const bool multiplied = slip("multiplied by h: in C, / 2 * h multiplies; write / (2 * h)");
    const bool same = slip("the variance of y(x + h) counts twice: that of y(x - h) is another");
    const bool no_p = slip("the factor p / (1 - p) is missing");
    const bool only_p = slip("1 - p is missing: the variance is x^2 p / (1 - p)");
    const bool kept = slip("p and 1 - p are exchanged: p is the probability of 0");
    for (int i = 0; i < GRID; i++) {
        const double x = grid[i][0], p = grid[i][1], h = grid[i][2];
        const double up = no_h ? x : x + h, down = no_h ? x : same ? x + h : x - h;
        const double by = no_p ? 1 : unscaled ? p * (1 - p) : only_p ? p : kept ? (1 - p) / p
                        : p / (1 - p);
        const double sum = up * up + (one ? 0 : cancel ? -down * down : down * down);
        const double root = twice ? (fabs(up) + fabs(down)) * sqrt(by) : square || rootless
                          ? sum * by : sqrt(sum * by);
        const double width = raw ? 1 : by_h ? h : square ? 4 * h * h : under ? sqrt(2 * h)
                           : multiplied ? 2 / h : 2 * h;
        out[i] = root / width;
    }
}

/* The loss, then dx. */
static void dropped(double *out, void *arg)
{
    const struct given *g = arg;
    const bool again = slip("the mask of the gradient is drawn anew: it must be that of the loss");
    const bool once = slip("the gradient lacks a factor 1 / (1 - p): y dy/dx has it twice");
    const bool bare = slip("the gradient lacks both factors 1 / (1 - p)");
    const bool mask = slip("the gradient goes to all x: where y is 0, it is 0");
    const bool whole = slip("the loss is the sum of y_i^2: of y_i^2 / 2 is asked for");
    const bool mean = slip("the loss is a mean: it is the sum of y_i^2 / 2");
    const bool cube = slip("dx has the factor 1 / (1 - p) three times: y dy/dx has it twice");
    const bool stored = slip("dx is overwritten: add to it");
    const bool kept = slip("p and 1 - p are exchanged: p is the probability of 0");
    const double keep = slip("the numbers kept are multiplied by 1 - p: divide by it") ? 1 - g->p
                      : slip("the numbers kept are divided by p: divide by 1 - p") ? 1 / g->p
                      : slip("the numbers kept are not divided by 1 - p") ? 1 : 1 / (1 - g->p);
    const bool turns = slip("a second number is drawn for dx in each round: y and dx share one number");
    double factor[2][RANDOM_MOST], u;
    gra_rng rng = g->rng;
    for (int i = 0; i < 2 * g->n; i++) {
        gra_rand(&rng, &u, 1);
        const int of_dx = turns ? i % 2 : i / g->n, at = turns ? i / 2 : i % g->n;
        factor[of_dx][at] = (kept ? u >= g->p : u < g->p) ? 0 : keep;
    }
    out[0] = 0;
    for (int i = 0; i < g->n; i++) {
        const double by = factor[again || turns][i], y = g->x[i] * factor[0][i];
        out[0] += y * y / 2 * (whole ? 2 : 1) / (mean ? g->n : 1);
        out[1 + i] = (stored ? 0 : g->before[i]) + g->x[i]
                     * (mask ? 1 / (1 - g->p) / (1 - g->p) : bare ? by > 0 : once ? by
                                             : cube ? by * by * by : by * by);
    }
}

/* ---- what the answer does ----------------------------------------------------------------------------- */

static void after(const struct watched *w, const double *x, const gra_rng *rng)
{
    for (int i = 0; i < w->n; i++)
        if (x[i] != w->x[i])
            judge_wrong("x[%d] was %.*g, and is now %.*g: restore it from a copy", i,
                        judge_digits(x[i], w->x[i]), w->x[i], judge_digits(x[i], w->x[i]), x[i]);
    if (w->found[0])
        judge_wrong("%s", w->found);
    if (!same_state(rng, &w->rng))
        judge_wrong("*rng is not as it was before: restore it after the last call of f, too");
}

/* n numbers for x. One number is so small that x - h + h is not x. */
static double *given_x(int n)
{
    double *x = judge_draw(40, (size_t)n, 0.5, 2);
    if (n > 2)
        x[2] = 1e-7;
    return x;
}

static void numeric(const char *part, random_loss *f, void *arg, int n, bool check)
{
    double *x = given_x(n), *g = judge_room((size_t)n), z, error = -1;
    struct watched w = { .f = f, .arg = arg, .x = given_x(n), .n = n };
    struct given given = { .f = f, .arg = arg, .x = w.x, .n = n, .h = check ? 1e-4 : 1e-3 };
    judge_part("%s", part);
    gra_manual_seed(&w.rng, 40);
    gra_rand(&w.rng, &z, 1);
    if (f == normal)
        gra_randn(&w.rng, &z, 1);
    given.rng = w.rng;
    gra_rng rng = w.rng;
    if (check)
        error = check_random(watch, &w, x, n, given.h, &rng);
    else
        same_draws_gradient(watch, &w, x, n, given.h, &rng, g);
    if (w.calls < 2 * n && w.calls)
        judge_clue("f was called %d times: %d numbers need two calls each", w.calls, n);
    if (w.calls == 0)
        judge_wrong("f was never called");
    if (check && !w.gradients)
        judge_wrong("f was never called with a dx: its own gradient is what is to be checked");
    after(&w, x, &rng);
    if (!check) {
        judge_guarded("g", g, (size_t)n);
        judge_against("g", GRA_SHAPE(n), g, 1e-9, differences, &given);
    } else
        judge_against("the largest error", GRA_SHAPE(1), &error, 1e-7, worst, &given);
}

static void own(const char *part, double p, bool used)
{
    double x[N] = { 1, -2, 0.5, 3, -1.5 }, before[N], got[1 + N];
    struct given g = { .x = x, .before = before, .n = N, .p = p };
    gra_manual_seed(&g.rng, 41);
    judge_part("%s", part);
    for (int i = 0; i < N; i++)
        before[i] = got[1 + i] = used ? i - 2 : 0;
    gra_rng rng = g.rng, drawn = g.rng;
    double u[N];
    got[0] = noisy_dropout(x, N, &rng, got + 1, &p);
    double want[1 + N];
    dropped(want, &g);
    if (judge_slip(GRA_SHAPE(1 + N), got, 1e-12, dropped, &g))
        judge_against("the loss, then dx", GRA_SHAPE(1 + N), got, 1e-12, dropped, &g);
    for (int i = 0; i < N; i++)
        gra_rand(&drawn, &u[i], 1);
    if (!same_state(&rng, &drawn))
        judge_clue("draw one number for each x, in order, which the loss and dx share");
    judge_clue("each x has one draw, so look at the factors 0 and 1 / (1 - p), and at the sum of y^2 / 2");
    judge_numbers("the loss", GRA_SHAPE(1), got, want, 1e-12);
    judge_clue("the loss is right, so its draws are: dx needs the same, and y dy/dx");
    judge_numbers("dx", GRA_SHAPE(N), got + 1, want + 1, 1e-12);
    if (!same_state(&rng, &drawn))
        judge_wrong("after noisy_dropout *rng is %s",
                    same_state(&rng, &g.rng) ? "as it was before: leave it where the draws have left it, or "
                                               "each call has the same mask"
                                             : "not where one draw for each x leaves it: draw one for each");
    rng = g.rng;
    const double loss = noisy_dropout(x, N, &rng, NULL, &p);
    judge_clue("without a dx, too, the same numbers are drawn");
    judge_numbers("the loss, where dx is NULL", GRA_SHAPE(1), &loss, got, 1e-12);
}

void judge_exercise(void)
{
    double deviation[GRID];
    judge_part("the noise of fresh draws");
    for (int i = 0; i < GRID; i++)
        deviation[i] = dropout_noise(grid[i][0], grid[i][1], grid[i][2]);
    judge_against("dropout_noise", GRA_SHAPE(GRID), deviation, 1e-12, noise, NULL);
    numeric("differences with the same draws", cubes, NULL, 4, false);
    numeric("differences of one number", cubes, NULL, 1, false);
    numeric("a generator that holds a normal number", normal, NULL, 3, false);
    gra_tape *t = gra_open(1);
    numeric("differences of gra_dropout", taped, t, RANDOM_MOST, false);
    numeric("the check of a right gradient", cubes, NULL, 4, true);
    numeric("the check of a wrong gradient", cubes, (double[]){ 2.95, 0.5, 3.1, 2.8 }, 4, true);
    numeric("the check of a wrong first number", cubes, (double[]){ 2, 3, 2.9, 3 }, 4, true);
    numeric("the check of a wrong last number", cubes, (double[]){ 3, 3.1, 3, 4 }, 4, true);
    numeric("the check of gra_dropout", taped, t, RANDOM_MOST, true);
    gra_close(t);
    own("noisy_dropout", 0.4, false);
    own("noisy_dropout, where dx had another use", 0.3, true);
}
