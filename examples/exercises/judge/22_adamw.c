/* 22 adamw: the judge. */
#include "judge.h"

enum { N = 5 };

struct step {
    const double       *p, *g, *m, *v;      /* before the step */
    int                 n, t;
    const struct adamw *h;
    double              new_m[N], new_v[N];
    double              first;              /* the answer's number 0: where i - 1 is read, anything */
};

/* The average of x, taken with a wrong index: true if out holds it. */
static bool wrong_index(double *out, const struct step *s, const char *name, double beta, const double *old,
                        const double *x)
{
    const bool all = slip_of("%s[0] takes up all gradients: each element has its own, %s[i]", name, name);
    const bool first = slip_of("each element uses %s[0] instead of %s[i]", name, name);
    const bool before = s->n > 1
        && slip_of("%s[i] is made of %s[i - 1]: make it of the old %s[i]", name, name, name);
    const bool first_g = slip("each element uses g[0] instead of g[i]");
    const bool g_before = s->n > 1 && slip("element i uses g[i - 1] instead of g[i]");
    const bool one = s->n > 1
        && slip("only element 0 was computed: is there a return in the loop, or no loop?");
    double sum = old[0];
    for (int i = 0; i < s->n; i++) {
        sum = beta * sum + (1 - beta) * x[i];
        const double from = first && i ? out[0] : before && i ? out[i - 1] : old[i];
        out[i] = (before || g_before) && !i ? s->first : one && i ? old[i]
               : beta * from + (1 - beta) * x[first_g ? 0 : g_before ? i - 1 : i];
    }
    for (int i = 0; i < s->n && all; i++)
        out[i] = i ? old[i] : sum;
    return all || first || before || first_g || g_before || one;
}

static void m_of(double *out, void *arg)
{
    const struct step *s = arg;
    const double b1 = s->h->beta1, b2 = s->h->beta2;
    const bool left = slip("m was not changed: store the new m for the next step");
    const bool all = slip("all of g is added: an average adds (1 - beta1) g");
    const bool exchanged = slip("beta1 and 1 - beta1 are exchanged");
    const bool beta2 = slip("m uses beta2 instead of beta1");
    const bool mm = slip("the corrected mm was stored: m itself stays uncorrected, only the step uses mm");
    const bool l2 = slip("weight decay is in the gradient (L2): AdamW keeps it out of m and v");
    const double keep = slip("the old m is missing") ? 0 : beta2 ? b2 : exchanged
        || slip("the old m is multiplied by 1 - beta1 instead of beta1") ? 1 - b1 : b1;
    const double share = all ? 1 : exchanged ? b1 : beta2
        || slip("m's gradient is multiplied by 1 - beta2 instead of 1 - beta1") ? 1 - b2 : 1 - b1;
    const double *old = slip("the old v is used instead of the old m") ? s->v : s->m;
    const double by = mm ? 1 - pow(b1, s->t) : 1, decay = l2 ? s->h->weight_decay : 0;
    const bool bare = slip("1 - beta1 g is added: (1 - beta1) g needs its parentheses");
    const bool size = slip("the absolute value of g is averaged: m averages g");
    const bool moved = wrong_index(out, s, "m", b1, s->m, s->g);
    for (int i = 0; i < s->n && !moved; i++) {
        const double g = size ? fabs(s->g[i]) : s->g[i] + decay * s->p[i];
        out[i] = left ? s->m[i] : (keep * old[i] + (bare ? 1 - b1 * g : share * g)) / by;
    }
}

static void v_of(double *out, void *arg)
{
    const struct step *s = arg;
    const double b1 = s->h->beta1, b2 = s->h->beta2;
    const bool left = slip("v was not changed: store the new v for the next step");
    const bool plain = slip("g is not squared");
    const bool all = slip("all of g^2 is added: an average adds (1 - beta2) g^2");
    const bool exchanged = slip("beta2 and 1 - beta2 are exchanged");
    const bool beta1 = slip("v uses beta1 instead of beta2");
    const bool of_m = slip("v is the average of m^2: expected that of g^2");
    const bool apart = slip("v is the average of (g - m)^2: expected that of g^2");
    const bool vv = slip("the corrected vv was stored: v itself stays uncorrected, only the step uses vv");
    const bool whole = slip("(1 - beta2) g is squared: square only g");
    const bool sum = slip("v is the sum of all squares (Adagrad): beta2 is missing");
    const bool l2 = slip("weight decay is in the gradient (L2): AdamW keeps it out of m and v");
    const double keep = slip("the old v is missing") ? 0 : sum ? 1 : exchanged ? 1 - b2 : beta1 ? b1 : b2;
    const double share = all || sum ? 1 : exchanged ? b2 : whole ? (1 - b2) * (1 - b2) : beta1
        || slip("g^2 is multiplied by 1 - beta1 instead of 1 - beta2") ? 1 - b1 : 1 - b2;
    const double *old = slip("m is used instead of the old v") ? s->new_m : s->v;
    const double by = vv ? 1 - pow(b2, s->t) : 1, decay = l2 ? s->h->weight_decay : 0;
    const bool size = slip("the absolute value of g is averaged: v averages g^2");
    const bool by_m = slip("g m is averaged: v averages g^2");
    const bool bare = slip("1 - beta2 g^2 is added: (1 - beta2) g^2 needs its parentheses");
    double squares[N];
    for (int i = 0; i < s->n; i++)
        squares[i] = s->g[i] * s->g[i];
    const bool moved = wrong_index(out, s, "v", b2, s->v, squares);
    for (int i = 0; i < s->n && !moved; i++) {
        const double m = s->new_m[i], g = of_m ? m : apart ? s->g[i] - m : s->g[i] + decay * s->p[i];
        const double g2 = plain ? g : size ? fabs(g) : by_m ? g * m : g * g;
        out[i] = left ? s->v[i] : (keep * old[i] + (bare ? 1 - b2 * g2 : share * g2)) / by;
    }
}

/* x / (1 - beta^t) */
static double corrected(double x, double beta, int t, int n, const char *m)
{
    const double power = slip_of("%s's correction has the power t - 1: it should be t", m) ? t - 1
        : slip_of("%s's correction has the power t + 1: it should be t", m) ? t + 1
        : slip_of("%s is corrected by 1 - beta without the power: it is 1 - beta^t", m) ? 1
        : slip_of("%s's correction has the power 2: it should be t", m) ? 2
        : slip_of("%s's correction has the power n: it should be t", m) ? n : t;
    const double by = slip_of("%s is divided by beta^t: divide by 1 - beta^t", m) ? pow(beta, t)
        : slip_of("%s is divided by 1 + beta^t: divide by 1 - beta^t", m) ? 1 + pow(beta, t)
        : slip_of("%s is divided by (1 - beta)^t: divide by 1 - beta^t", m) ? pow(1 - beta, t)
        : slip_of("%s is corrected by 1 - beta t: it is 1 - beta^t, a power", m) ? 1 - beta * t
        : slip_of("%s's correction uses t^beta instead of beta^t", m) ? 1 - pow(t, beta)
        : 1 - pow(beta, power);
    return slip("the averages are not corrected: they start at 0, so they are too small at first")
        || slip_of("%s is not corrected: it, too, is too small at first", m) ? x
         : slip_of("%s is multiplied by 1 - beta^t, which makes it smaller: divide", m) ? x * by
         : slip_of("%s / 1 - beta^t needs parentheses, %s / (1 - beta^t): C divides first", m, m)
         ? x - pow(beta, power) : x / by;
}

/* mm / (sqrt(vv) + eps) of the elements i of m and k of v */
static double move(const struct step *s, int i, int k)
{
    const double b1 = s->h->beta1, b2 = s->h->beta2;
    const double m = slip("the old m is used instead of the new one") ? s->m[i] : s->new_m[i];
    const double v = slip("the old v is used instead of the new one") ? s->v[k] : s->new_v[k];
    const double of_m = slip("m is corrected with beta2^t instead of beta1^t") ? b2 : b1;
    const double of_v = slip("v is corrected with beta1^t instead of beta2^t") ? b1 : b2;
    const double average = corrected(m, of_m, s->t, s->n, "m"), vv = corrected(v, of_v, s->t, s->n, "v");
    const double mm = slip("the gradient itself is used instead of its average, mm") ? s->g[i] : average;
    const double eps = slip("eps is not added to the root: it avoids 0/0") ? 0
        : slip("eps is 1e-8: use how->eps") ? 1e-8
        : slip("eps is squared: add eps itself to the root") ? s->h->eps * s->h->eps : s->h->eps;
    const double root = slip("eps is under the root: add it to the root") ? sqrt(vv + eps)
        : slip("eps was added to the root of v before the correction: add it to sqrt(vv)")
        ? (sqrt(v) + eps) / sqrt(v / vv)
        : slip("the root is missing: mm is divided by vv") ? vv + eps
        : slip("the root of v is divided by 1 - beta2^t, or v twice: expected sqrt(v / (1 - beta2^t))")
        ? sqrt(v) * vv / v + eps : sqrt(vv) + eps;
    return slip("mm / sqrt(vv) + eps needs parentheses: divide by (sqrt(vv) + eps)") ? mm / sqrt(vv) + eps
         : slip("eps is added to mm: add it to the root below") ? (mm + eps) / sqrt(vv)
         : slip("mm is multiplied by the root: divide by it") ? mm * root : mm / root;
}

static void p_of(double *out, void *arg)
{
    const struct step *s = arg;
    const double lr = slip("lr is missing") ? 1 : slip("p was not changed") ? 0 : s->h->lr;
    const double sign = slip("the step goes uphill: the minus is missing") ? -1 : 1;
    const bool all = slip("p[0] takes up all steps: each element has its own, p[i]");
    const bool first_m = slip("each element is moved by m[0] instead of m[i]");
    const bool first_v = slip("each element is divided by the root of v[0] instead of v[i]");
    const bool before = s->n > 1 && slip("element i is moved by m[i - 1]: m[i] belongs to it");
    double sum = 0;
    for (int i = 0; i < s->n; i++) {
        const double p = s->p[i], u = move(s, first_m ? 0 : before && i ? i - 1 : i, first_v ? 0 : i);
        const double root = s->new_m[i] / (1 - pow(s->h->beta1, s->t)) / u;
        const double decay = s->h->weight_decay * (slip("weight decay is not multiplied by lr") ? 1 / lr
            : slip("weight decay is missing") ? 0 : slip("the sign of weight decay is wrong: p grows") ? -1
            : slip("weight decay is inside the fraction: do not divide it by sqrt(vv)") ? 1 / root
            : slip("weight decay is multiplied by lr twice") ? lr : 1);
        const double of = slip("weight decay is taken from the new p: take it from the old p")
            ? p - lr * u : slip("weight decay is multiplied by the step: multiply it by p") ? u
            : slip("weight decay is multiplied by g: multiply it by p") ? s->g[i]
            : slip("weight decay is multiplied by m: multiply it by p") ? s->new_m[i]
            : slip("weight decay is multiplied by p[0]: multiply it by p[i]") && i ? out[0]
            : slip("weight decay is not multiplied by p") ? 1 : p;
        const double kept = slip("p is lr times the step: subtract it from the old p") ? 2 * lr * u
            : slip("the old p is lost: subtract from it") ? 0 : p;
        const double new = before && !i ? s->first : kept - lr * (sign * u + decay * of);
        sum += lr * (sign * u + decay * of);
        out[i] = isnan(new) ? 1e300 : new;              /* a nan would match any other nan */
    }
    for (int i = 0; i < s->n && all; i++)
        out[i] = s->p[i] - (i ? 0 : sum);
}

static double *draw(uint64_t seed, double low)
{
    return judge_draw(seed, N, low, 2);
}

static void step(const char *part, const double *p, const double *g, const double *m, const double *v,
                 int n, int t, const struct adamw *h)
{
    struct step s = { p, g, m, v, n, t, h, { 0 }, { 0 }, 0 };
    double *got_p = judge_room(N), *got_m = judge_room(N), *got_v = judge_room(N), moved[N];
    double u[N], g2[N], a, b;
    judge_part("%s", part);
    m_of(s.new_m, &s);
    v_of(s.new_v, &s);
    for (int i = 0; i < n; i++)
        got_p[i] = p[i], got_m[i] = m[i], got_v[i] = v[i], g2[i] = g[i] * g[i], u[i] = move(&s, i, i);
    adamw_step(got_p, g, got_m, got_v, n, t, h);
    judge_guarded("p", got_p, (size_t)n);
    judge_guarded("m", got_m, (size_t)n);
    judge_guarded("v", got_v, (size_t)n);
    for (int i = 0; i < n; i++)
        moved[i] = p[i] - got_p[i];
    if (judge_combination(got_m, m, g, (size_t)n, &a, &b))
        judge_clue("m is %.9g times the old m plus %.9g times g: expected %.9g and %.9g", a, b, h->beta1,
                   1 - h->beta1);
    s.first = got_m[0];
    judge_against("the new m", GRA_SHAPE(n), got_m, 1e-10, m_of, &s);
    if (judge_combination(got_v, v, g2, (size_t)n, &a, &b))
        judge_clue("v is %.9g times the old v plus %.9g times g^2: expected %.9g and %.9g", a, b, h->beta2,
                   1 - h->beta2);
    s.first = got_v[0];
    judge_against("the new v", GRA_SHAPE(n), got_v, 1e-10, v_of, &s);
    if (judge_combination(moved, u, p, (size_t)n, &a, &b))
        judge_clue("p went down by %.9g times mm / (sqrt(vv) + eps) and %.9g times the old p: expected %.9g "
                   "and %.9g", a, b, h->lr, h->lr * h->weight_decay);
    if (isnan(got_p[0]))
        judge_clue("NaN comes from the root of a negative number, or from 0/0: print 1 - beta1^t and "
                   "1 - beta2^t, here %.6g and %.6g, and vv", 1 - pow(h->beta1, t), 1 - pow(h->beta2, t));
    s.first = got_p[0];
    judge_against("the new p", GRA_SHAPE(n), got_p, 1e-10, p_of, &s);
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
    judge_numbers("after seven steps, p", GRA_SHAPE(3), p, want, 1e-12);
}

void judge_exercise(void)
{
    const double zero[N] = { 0 };
    const struct adamw plain = { .lr = 0.15, .beta1 = 0.9, .beta2 = 0.98, .eps = 1e-3 },
                       decay = { .lr = 0.15, .beta1 = 0.9, .beta2 = 0.98, .eps = 1e-3, .weight_decay = 0.4 },
                       all = { .lr = 0.2, .beta1 = 0.7, .beta2 = 0.95, .eps = 0.08, .weight_decay = 0.1 };
    step("step 7, no decay", draw(3, -2), draw(4, -2), draw(5, -1), draw(6, 0.2), N, 7, &plain);
    step("the first step: m and v are 0, no decay", draw(1, -2), draw(2, 0.5), zero, zero, N, 1, &plain);
    step("weight decay", draw(7, -2), draw(8, -2), draw(9, -1), draw(10, 0.2), N, 11, &decay);
    step("a large eps", draw(11, -2), draw(12, -2), draw(13, -1), draw(14, 0.2), 3, 2, &all);
    step("no gradient: p only decays", (double[]){ 2 }, zero, zero, zero, 1, 1, &decay);
    torch_run();
}
