/* 21 momentum: the judge. */
#include "judge.h"

enum { N = 5, SLIPS = 14 };

static const char *const slips_of_v[SLIPS] = {
    "v was left as it was: what the step finds out must be stored, or the next one does not know it",
    "the gradient counts (1 - momentum) here, as in an average (Adam's); PyTorch's SGD adds all of it",
    "lr is in v already: keep it out, and multiply by it when p moves",
    "momentum multiplies the sum of v and g: it is for the old v alone",
    "v + g: the old v does not fade, for momentum is missing",
    "v is the gradient alone: nothing is remembered of the old v",
    "the gradient is subtracted: v adds up gradients, and p moves against v",
    "v is momentum v - lr g: another book's form. Here v = momentum v + g, and p moves by - lr v",
    "momentum multiplies the gradient: it is for the old v",
    "the old v counts (1 - momentum): it is momentum v",
    "what is stored in v has lr in it: keep it out",
    "the new v is negative: v adds up gradients, and the minus stands where p moves",
    "each element uses v[0]: it is the v of its own, v[i]",
    "each element uses g[0]: it is the gradient of its own, g[i]" };

static const char *const slips_of_p[SLIPS] = {
    "p was left as it was",
    "p moved by the old v: compute the new one first",
    "p moved by the gradient alone, not by v",
    "p moved with v: uphill. The minus is missing",
    "p moved by v without lr",
    "p moved by lr (g + momentum v) with the new v: that is Nesterov's form, which looks one step ahead",
    "p moved by lr momentum v: momentum is in v already",
    "p is - lr v: the step must be taken from the old p",
    "p was moved twice",
    "p moved by lr (v + g): the gradient is in v already",
    "p moved by lr (1 - momentum) v: PyTorch's SGD does not average",
    "p moved by lr g + momentum v: that is another book's v; here lr multiplies all of the new v",
    "each element moved by v[0]: it moves by its own, v[i]",
    "p moved by lr divided by v, not times v" };

static double *draw(uint64_t seed)
{
    return judge_draw(seed, N, -2, 2);
}

static void step(const char *part, const double *p0, const double *g, const double *v0, int n, double lr,
                 double mu)
{
    double v[SLIPS + 1][N], p[SLIPS + 1][N], *got_p = judge_room(N), *got_v = judge_room(N);
    struct judge_mistake of_v[SLIPS + 2] = { 0 }, of_p[SLIPS + 2] = { 0 };
    double moved[N], a, b;
    char says[120];
    judge_part("%s", part);
    for (int i = 0; i < n; i++) {
        const double old = v0[i], new = mu * old + g[i];
        const double all_v[SLIPS] = { old, mu * old + (1 - mu) * g[i], mu * old + lr * g[i], mu * (old + g[i]),
            old + g[i], g[i], mu * old - g[i], mu * old - lr * g[i], old + mu * g[i], (1 - mu) * old + g[i],
            lr * new, -new, mu * (i ? v[SLIPS][0] : old) + g[i], mu * old + g[0] };
        const double moves[SLIPS] = { 0, lr * old, lr * g[i], -lr * new, new, lr * (g[i] + mu * new),
            lr * mu * new, p0[i] + lr * new, 2 * lr * new, lr * (new + g[i]),
            lr * (1 - mu) * new, lr * g[i] + mu * new,
            lr * (mu * v0[0] + g[0]), lr / new };
        for (int s = 0; s < SLIPS; s++)
            v[s][i] = all_v[s], p[s][i] = p0[i] - moves[s];
        v[SLIPS][i] = new, p[SLIPS][i] = p0[i] - lr * new;
        got_p[i] = p0[i], got_v[i] = old;
    }
    for (int s = 0; s < SLIPS; s++) {
        of_v[s] = (struct judge_mistake){ slips_of_v[s], v[s] };
        of_p[s] = (struct judge_mistake){ slips_of_p[s], p[s] };
    }
    momentum_step(got_p, g, got_v, n, lr, mu);
    judge_guarded("p", got_p, (size_t)n);
    judge_guarded("v", got_v, (size_t)n);
    if (judge_combination(got_v, v0, g, (size_t)n, &a, &b)) {
        snprintf(says, sizeof says, "v is %.4g times the old v plus %.4g times g: with momentum %g, "
                 "wanted %g and 1", a, b, mu, mu);
        of_v[SLIPS] = (struct judge_mistake){ says, got_v };
    }
    judge_numbers("the new v", GRA_SHAPE(n), got_v, v[SLIPS], 1e-12, of_v);
    for (int i = 0; i < n; i++)
        moved[i] = p0[i] - got_p[i];
    if (judge_combination(moved, v[SLIPS], g, (size_t)n, &a, &b)) {
        snprintf(says, sizeof says, "p went down by %.4g times the new v and %.4g times g: wanted lr = %g, "
                 "and no g", a, b, lr);
        of_p[SLIPS] = (struct judge_mistake){ says, got_p };
    }
    judge_numbers("the new p", GRA_SHAPE(n), got_p, p[SLIPS], 1e-12, of_p);
}

/* Two parameters that take turns: what an answer kept in a variable of its own would be mixed up. */
static void run(void)
{
    double *p[2] = { draw(1), draw(2) }, *v[2] = { judge_room(N), judge_room(2) };
    double want_p[2][N], want_v[2][N];
    const int n[2] = { N, 2 };
    judge_part("five steps of two parameters, lr falling");
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < n[k]; i++)
            want_p[k][i] = p[k][i], want_v[k][i] = v[k][i] = 0;
    for (int s = 0; s < 5; s++)
        for (int k = 0; k < 2; k++) {
            const double *g = draw(10 + 2 * (uint64_t)s + (uint64_t)k), lr = 0.5 / (1 + s);
            for (int i = 0; i < n[k]; i++) {
                want_v[k][i] = 0.8 * want_v[k][i] + g[i];
                want_p[k][i] -= lr * want_v[k][i];
            }
            momentum_step(p[k], g, v[k], n[k], lr, 0.8);
        }
    for (int k = 0; k < 2; k++) {
        judge_numbers("v after five steps", GRA_SHAPE(n[k]), v[k], want_v[k], 1e-12, NULL);
        judge_numbers("p after five steps", GRA_SHAPE(n[k]), p[k], want_p[k], 1e-12, NULL);
    }
}

void judge_exercise(void)
{
    const double zero[N] = { 0 };
    step("a step, with an old v", draw(5), draw(6), draw(7), N, 0.2, 0.9);
    step("the first step, where v is 0", draw(3), draw(4), zero, N, 0.2, 0.9);
    step("one number", (double[]){ 1 }, (double[]){ -3 }, (double[]){ 2 }, 1, 0.25, 0.6);
    step("momentum 0: plain descent", draw(8), draw(9), draw(20), 3, 0.3, 0);
    step("gradient 0: it rolls on", draw(21), zero, draw(22), 3, 0.3, 0.7);
    run();
}
