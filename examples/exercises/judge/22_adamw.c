/* 22 adamw: the judge. */
#include "judge.h"

enum { N = 5, MOST = 45 };

static const char *const slips_of_m[] = {
    "m was left as it was: it is stored, for the next step",
    "all of g is added: an average adds (1 - beta1) g",
    "beta1 and 1 - beta1 are exchanged",
    "beta2 was taken for m: it is beta1's",
    "the corrected mm was stored: m itself stays uncorrected, only the move uses mm",
    "weight decay is in the gradient (L2): AdamW keeps it out of m and v, and takes it from p alone",
    "the old m is missing",
    "the factor 1 - beta1 of the gradient's share also multiplies the old m",
    "1 - beta2 was taken for the gradient's share of m: it is 1 - beta1",
    "the old v was taken for the old m", NULL };

static const char *const slips_of_v[] = {
    "v was left as it was: it is stored, for the next step",
    "g is not squared",
    "all of g^2 is added: an average adds (1 - beta2) g^2",
    "beta2 and 1 - beta2 are exchanged",
    "beta1 was taken for v: it is beta2's",
    "v is the average of m^2: it is that of g^2",
    "the corrected vv was stored: v itself stays uncorrected, only the move uses vv",
    "(1 - beta2) g is squared as a whole: only g is",
    "the old v is missing",
    "v adds up squares without forgetting (Adagrad): beta2 is missing",
    "weight decay is in the gradient (L2): AdamW keeps it out of m and v",
    "1 - beta1 was taken for the share of g^2: it is 1 - beta2", NULL };

static const char *const slips_of_p[] = {
    "p was left as it was",
    "the averages are not corrected: they began as 0, and are too small at first",
    "only v is corrected: m is too small at first as well",
    "only m is corrected: v is too small at first as well",
    "the power is t - 1, not t: t is 1 in the first step already",
    "the power is t + 1, not t: t is 1 in the first step already",
    "1 - beta t: beta is to be raised to the power t, not multiplied",
    "eps is under the root: it is added to the root",
    "eps was added to the root of v before the correction: it is added to sqrt(vv)",
    "the root is missing: mm is divided by vv",
    "weight decay is not multiplied by lr",
    "weight decay is missing",
    "weight decay makes p larger: its sign is wrong",
    "weight decay is taken from the p that has moved already: it is a part of the old p",
    "weight decay is within the fraction: it must not be divided by sqrt(vv)",
    "the step goes uphill: the minus is missing",
    "lr is missing",
    "eps is missing: it keeps 0/0 away",
    "m in place of g: the gradient itself is divided, not its average",
    "1 - beta without the power: it is 1 - beta^t",
    "1 - beta1 without the power: it is 1 - beta1^t",
    "m is multiplied by 1 - beta1^t: that makes it smaller still. It is divided",
    "both averages are corrected by beta1^t: v's is beta2^t",
    "both averages are corrected by beta2^t: m's is beta1^t",
    "the averages are multiplied by 1 - beta^t: that makes them smaller still. They are divided",
    "the root of v is divided by 1 - beta2^t: correct first, then take the root",
    "weight decay is multiplied by lr twice",
    "weight decay takes weight_decay of the move's own size: it takes a part of p",
    "the corrections are exchanged: 1 - beta1^t is m's, 1 - beta2^t is v's",
    "m's correction has the power t - 1, not t",
    "v's correction has the power t - 1, not t",
    "m's correction has the power t + 1, not t",
    "v's correction has the power t + 1, not t",
    "m is corrected by 1 - beta1 t: beta is to be raised to the power t, not multiplied",
    "v is corrected by 1 - beta2 t: beta is to be raised to the power t, not multiplied",
    "1 - beta2 without the power: it is 1 - beta2^t",
    "m's correction is t^beta1: the power is beta1^t",
    "the old m was corrected: it is the new one that moves p",
    "the old v was corrected: it is the new one that divides",
    "weight decay takes a part of g: it takes a part of p", NULL };

/* A slip that gives nan here is passed over: any other nan would fit it. */
static void to_mistakes(struct judge_mistake *to, const char *const *says, double (*numbers)[N])
{
    for (int s = 0; says[s]; s++)
        if (!isnan(numbers[s][0]))
            *to++ = (struct judge_mistake){ says[s], numbers[s] };
}

static double *draw(uint64_t seed, double low)
{
    return judge_draw(seed, N, low, 2);
}

/* Another mistake: `moved` is a x + b y, with the factors that came, where others were wanted. */
static void factors(struct judge_mistake *mistakes, const char *says, const double *got, const double *moved,
                    const double *x, const double *y, int n, double want_a, double want_b)
{
    static char text[3][160];
    static int  at;
    double a, b;
    char *to = text[at++ % 3];
    while (mistakes->says)
        mistakes++;
    if (!judge_combination(moved, x, y, (size_t)n, &a, &b))
        return;
    snprintf(to, sizeof text[0], says, a, b, want_a, want_b);
    *mistakes = (struct judge_mistake){ to, got };
}

static void step(const char *part, const double *p0, const double *g, const double *m0, const double *v0,
                 int n, int t, const struct adamw *h)
{
    double m[MOST][N], v[MOST][N], p[MOST][N], want_m[N], want_v[N], want_p[N];
    double *got_p = judge_room(N), *got_m = judge_room(N), *got_v = judge_room(N);
    struct judge_mistake of_m[MOST + 1] = { 0 }, of_v[MOST + 1] = { 0 }, of_p[MOST + 1] = { 0 };
    const double b1 = h->beta1, b2 = h->beta2, lr = h->lr, wd = h->weight_decay, eps = h->eps;
    const double u1 = 1 - pow(b1, t), u2 = 1 - pow(b2, t);
    judge_part("%s", part);
    for (int i = 0; i < n; i++) {
        const double a = m0[i], b = v0[i], d = g[i], l2 = d + wd * p0[i], old = p0[i];
        const double mi = b1 * a + (1 - b1) * d, vi = b2 * b + (1 - b2) * d * d;
        const double mm = mi / u1, root = sqrt(vi / u2), u = mm / (root + eps);
        const double in_m[] = { a, b1 * a + d, (1 - b1) * a + b1 * d, b2 * a + (1 - b2) * d, mm,
            b1 * a + (1 - b1) * l2, (1 - b1) * d, (1 - b1) * (a + d), b1 * a + (1 - b2) * d,
            b1 * b + (1 - b1) * d };
        const double in_v[] = { b, b2 * b + (1 - b2) * d, b2 * b + d * d, (1 - b2) * b + b2 * d * d,
            b1 * b + (1 - b1) * d * d, b2 * b + (1 - b2) * mi * mi, vi / u2,
            b2 * b + (1 - b2) * (1 - b2) * d * d, (1 - b2) * d * d, b + d * d, b2 * b + (1 - b2) * l2 * l2,
            b2 * b + (1 - b1) * d * d };
        const double moves[] = { 0, mi / (sqrt(vi) + eps) + wd * old, mi / (root + eps) + wd * old,
            mm / (sqrt(vi) + eps) + wd * old,
            mi / (1 - pow(b1, t - 1)) / (sqrt(vi / (1 - pow(b2, t - 1))) + eps) + wd * old,
            mi / (1 - pow(b1, t + 1)) / (sqrt(vi / (1 - pow(b2, t + 1))) + eps) + wd * old,
            mi / (1 - b1 * t) / (sqrt(vi / (1 - b2 * t)) + eps) + wd * old,
            mm / sqrt(vi / u2 + eps) + wd * old, mi * sqrt(u2) / u1 / (sqrt(vi) + eps) + wd * old,
            mm / (vi / u2 + eps) + wd * old, u + wd * old / lr, u, u - wd * old, u + wd * (old - lr * u),
            (mm + wd * old) / (root + eps), wd * old - u, u / lr + wd * old / lr, mm / root + wd * old,
            d / (root + eps) + wd * old, mi / (1 - b1) / (sqrt(vi / (1 - b2)) + eps) + wd * old,
            mi / (1 - b1) / (root + eps) + wd * old, mi * u1 / (root + eps) + wd * old,
            mm / (sqrt(vi / u1) + eps) + wd * old, mi / u2 / (root + eps) + wd * old,
            mi * u1 / (sqrt(vi * u2) + eps) + wd * old, mm / (sqrt(vi) / u2 + eps) + wd * old,
            u + lr * wd * old, u + wd * u, mi / u2 / (sqrt(vi / u1) + eps) + wd * old,
            mi / (1 - pow(b1, t - 1)) / (root + eps) + wd * old, mm / (sqrt(vi / (1 - pow(b2, t - 1))) + eps) + wd * old,
            mi / (1 - pow(b1, t + 1)) / (root + eps) + wd * old, mm / (sqrt(vi / (1 - pow(b2, t + 1))) + eps) + wd * old,
            mi / (1 - b1 * t) / (root + eps) + wd * old, mm / (sqrt(vi / (1 - b2 * t)) + eps) + wd * old,
            mm / (sqrt(vi / (1 - b2)) + eps) + wd * old, mi / (1 - pow(t, b1)) / (root + eps) + wd * old,
            a / u1 / (root + eps) + wd * old, mm / (sqrt(b / u2) + eps) + wd * old, u + wd * d };
        for (int s = 0; slips_of_m[s]; s++)
            m[s][i] = in_m[s];
        for (int s = 0; slips_of_v[s]; s++)
            v[s][i] = in_v[s];
        for (int s = 0; slips_of_p[s]; s++)
            p[s][i] = old - lr * moves[s];
        want_m[i] = mi, want_v[i] = vi, want_p[i] = old - lr * (u + wd * old);
        got_m[i] = a, got_v[i] = b, got_p[i] = old;
    }
    to_mistakes(of_m, slips_of_m, m);
    to_mistakes(of_v, slips_of_v, v);
    to_mistakes(of_p, slips_of_p, p);
    adamw_step(got_p, g, got_m, got_v, n, t, h);
    judge_guarded("p", got_p, (size_t)n);
    judge_guarded("m", got_m, (size_t)n);
    judge_guarded("v", got_v, (size_t)n);
    double moved[N], u[N], g2[N];
    for (int i = 0; i < n; i++) {
        moved[i] = p0[i] - got_p[i];
        g2[i] = g[i] * g[i];
        u[i] = want_m[i] / u1 / (sqrt(want_v[i] / u2) + eps);
    }
    factors(of_m, "m is %.4g times the old m plus %.4g times g: wanted %.4g and %.4g", got_m, got_m, m0, g, n,
            b1, 1 - b1);
    factors(of_v, "v is %.4g times the old v plus %.4g times g^2: wanted %.4g and %.4g", got_v, got_v, v0, g2, n,
            b2, 1 - b2);
    factors(of_p, "p went down by %.4g times mm / (sqrt(vv) + eps) and %.4g times the old p: wanted %.4g and "
            "%.4g", got_p, moved, u, p0, n, lr, lr * wd);
    judge_numbers("the new m", GRA_SHAPE(n), got_m, want_m, 1e-10, of_m);
    judge_numbers("the new v", GRA_SHAPE(n), got_v, want_v, 1e-10, of_v);
    judge_numbers("the new p", GRA_SHAPE(n), got_p, want_p, 1e-10, of_p);
}

/* torch.optim.AdamW in float64, p = [1, -2, 0.5], five steps with the gradient of sum(p^4) / 4, which is p^3:
 * lr 0.1, betas (0.8, 0.9), eps 1e-3, weight_decay 0.2; and then 0.05 for lr in two further steps. */
static void torch_run(void)
{
    struct adamw how = { .lr = 0.1, .beta1 = 0.8, .beta2 = 0.9, .eps = 1e-3, .weight_decay = 0.2 };
    static const double want[3] = { 0.3963886136482953, -1.2381057255499475, 0.03610922434484465 };
    double *p = judge_room(3), m[3] = { 0 }, v[3] = { 0 }, g[3];
    judge_part("seven steps: PyTorch's numbers");
    p[0] = 1, p[1] = -2, p[2] = 0.5;
    for (int t = 1; t <= 7; t++) {
        for (int i = 0; i < 3; i++)
            g[i] = p[i] * p[i] * p[i];
        how.lr = t > 5 ? 0.05 : 0.1;
        adamw_step(p, g, m, v, 3, t, &how);
    }
    judge_numbers("p after seven steps", GRA_SHAPE(3), p, want, 1e-12, NULL);
}

void judge_exercise(void)
{
    const double zero[N] = { 0 };
    const struct adamw plain = { .lr = 0.1, .beta1 = 0.9, .beta2 = 0.98, .eps = 1e-8 },
                       decay = { .lr = 0.1, .beta1 = 0.9, .beta2 = 0.98, .eps = 1e-8, .weight_decay = 0.3 },
                       all = { .lr = 0.2, .beta1 = 0.7, .beta2 = 0.95, .eps = 0.05, .weight_decay = 0.1 };
    step("step 3, no decay", draw(3, -2), draw(4, -2), draw(5, -1), draw(6, 0.2), N, 3, &plain);
    step("the first step: m and v are 0, no decay", draw(1, -2), draw(2, 0.5), zero, zero, N, 1,
         &plain);
    step("weight decay", draw(7, -2), draw(8, -2), draw(9, -1), draw(10, 0.2), N, 4, &decay);
    step("a large eps", draw(11, -2), draw(12, -2), draw(13, -1), draw(14, 0.2), 3, 2, &all);
    step("no gradient ever: p decays, and nothing else", (double[]){ 2 }, zero, zero, zero, 1, 1, &decay);
    torch_run();
}
