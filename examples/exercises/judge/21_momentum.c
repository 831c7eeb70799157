/* 21 momentum: the judge. */
#include "judge.h"

enum { N = 5 };

struct step {
    const double *p, *g, *v;                /* before the step */
    int           n;
    double        lr, mu;
    double        first;                    /* the answer's number 0: where i - 1 is read, anything */
};

static void v_of(double *out, void *arg)
{
    const struct step *s = arg;
    const double mu = s->mu, lr = s->lr;
    double first = s->v[0];
    for (int i = 0; i < s->n; i++)
        first = mu * first + s->g[i];
    for (int i = 0; i < s->n; i++) {
        const double old = s->v[i], g = s->g[i], new = mu * old + g;
        out[i] = slip("v[0] takes up all gradients: each element has a velocity of its own, v[i]")
            ? (i ? old : first)
            : slip("v was not changed: store the new v, which the next step needs") ? old
            : slip("g is multiplied by 1 - momentum, as in Adam's average: add all of it")
            ? mu * old + (1 - mu) * g
            : slip("v contains lr: keep it out, and multiply by it when p moves") ? mu * old + lr * g
            : slip("momentum multiplies the sum of v and g: it should multiply only the old v")
            ? mu * (old + g)
            : slip("this is v + g: momentum is missing, so the old v does not fade") ? old + g
            : slip("v is only the gradient: the old v is forgotten") ? g
            : slip("the gradient is subtracted: v adds up gradients, and p moves against v") ? mu * old - g
            : slip("this is momentum v - lr g, another convention: expected momentum v + g")
            ? mu * old - lr * g
            : slip("momentum multiplies the gradient: it should multiply the old v") ? old + mu * g
            : slip("the old v is multiplied by 1 - momentum: multiply it by momentum") ? (1 - mu) * old + g
            : slip("the stored v is multiplied by lr: keep lr out") ? lr * new
            : slip("the new v has the wrong sign: v adds up gradients, and p moves by -lr v") ? -new
            : slip("p is used instead of the old v") ? mu * s->p[i] + g
            : slip("momentum is added to v: multiply the old v by it") ? mu + old + g
            : slip("momentum v is multiplied by g: add g to it") ? mu * old * g
            : s->n > 1 && slip("v[i] is made of v[i - 1]: make it of the old v[i], the velocity of p[i]")
            ? (i ? mu * out[i - 1] + g : s->first)
            : s->n > 1 && slip("g[i - 1] is added to v[i]: add g[i]")
            ? (i ? mu * old + s->g[i - 1] : s->first)
            : s->n > 1 && slip("only number 0 was computed: is there a return in the loop, or no loop?")
            ? (i ? old : new)
            : slip("each element uses v[0] instead of v[i]") ? mu * (i ? out[0] : old) + g
            : slip("each element uses g[0] instead of g[i]") ? mu * old + s->g[0] : new;
    }
}

static void p_of(double *out, void *arg)
{
    const struct step *s = arg;
    const double mu = s->mu, lr = s->lr;
    double sum = 0;
    for (int i = 0; i < s->n; i++)
        sum += lr * (mu * s->v[i] + s->g[i]);
    for (int i = 0; i < s->n; i++) {
        const double old = s->v[i], g = s->g[i], v = mu * old + g;
        out[i] = s->p[i] - (slip("p was not changed") ? 0
            : slip("p[0] takes up all moves: v[i] moves p[i]") ? (i ? 0 : sum)
            : s->n > 1 && slip("p[i] moved by lr v[i - 1]: v[i] belongs to it")
            ? (i ? lr * (mu * s->v[i - 1] + s->g[i - 1]) : s->p[i] - s->first)
            : slip("p moved by lr (old v + g): the old v must be multiplied by momentum there too")
            ? lr * (old + g)
            : slip("p moved by the old v: compute the new one first") ? lr * old
            : slip("p moved only by the gradient: it should move by v") ? lr * g
            : slip("p moved uphill, with v: the minus is missing") ? -lr * v
            : slip("p moved by v without lr") ? v
            : slip("p moved by lr (g + momentum v) with the new v: this is Nesterov momentum")
            ? lr * (g + mu * v)
            : slip("p moved by lr momentum v: momentum is already in v") ? lr * mu * v
            : slip("p is -lr v: subtract lr v from the old p") ? s->p[i] + lr * v
            : slip("p is lr v: subtract lr v from the old p") ? s->p[i] - lr * v
            : slip("p was moved twice") ? 2 * lr * v
            : slip("p moved by lr (v + g): the gradient is already in v") ? lr * (v + g)
            : slip("p moved by lr (1 - momentum) v: PyTorch's SGD does not average") ? lr * (1 - mu) * v
            : slip("p moved by lr g + momentum v: here lr multiplies all of the new v") ? lr * g + mu * v
            : slip("each element moved by v[0] instead of v[i]") ? lr * (mu * s->v[0] + s->g[0])
            : slip("p moved by lr divided by v: multiply by v") ? lr / v : lr * v);
    }
}

static double *draw(uint64_t seed)
{
    return judge_draw(seed, N, -2, 2);
}

static void step(const char *part, const double *p, const double *g, const double *v,
                 int n, double lr, double mu)
{
    struct step s = { p, g, v, n, lr, mu, 0 };
    double *got_p = judge_room(N), *got_v = judge_room(N), new_v[N], moved[N], a, b;
    judge_part("%s", part);
    v_of(new_v, &s);
    for (int i = 0; i < n; i++)
        got_p[i] = p[i], got_v[i] = v[i];
    momentum_step(got_p, g, got_v, n, lr, mu);
    judge_guarded("p", got_p, (size_t)n);
    judge_guarded("v", got_v, (size_t)n);
    if (judge_combination(got_v, v, g, (size_t)n, &a, &b))
        judge_clue("v is %.9g times the old v plus %.9g times g: expected %g (momentum) and 1", a, b, mu);
    s.first = got_v[0];
    judge_against("the new v", GRA_SHAPE(n), got_v, 1e-12, v_of, &s);
    for (int i = 0; i < n; i++)
        moved[i] = p[i] - got_p[i];
    if (judge_combination(moved, new_v, g, (size_t)n, &a, &b))
        judge_clue("p went down by %.9g times the new v and %.9g times g: expected %g (lr) and 0", a, b, lr);
    s.first = got_p[0];
    judge_against("the new p", GRA_SHAPE(n), got_p, 1e-12, p_of, &s);
}

/* Two parameters in turn: an answer that kept v in a static variable would mix them up. */
static void run(void)
{
    double *p[2] = { draw(1), draw(2) }, *v[2] = { judge_room(N), judge_room(2) }, want_p[2][N], want_v[2][N];
    const int n[2] = { N, 2 };
    judge_part("five steps of two parameters, lr falling");
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < n[k]; i++)
            want_p[k][i] = p[k][i], want_v[k][i] = v[k][i] = 0;
    for (int s = 0; s < 5; s++)
        for (int k = 0; k < 2; k++) {
            const double *g = draw(10 + 2 * (uint64_t)s + (uint64_t)k), lr = 0.5 / (1 + s);
            struct step now = { want_p[k], g, want_v[k], n[k], lr, 0.8, 0 };
            p_of(want_p[k], &now);
            v_of(want_v[k], &now);
            momentum_step(p[k], g, v[k], n[k], lr, 0.8);
        }
    for (int k = 0; k < 2; k++) {
        judge_numbers("after five steps, v", GRA_SHAPE(n[k]), v[k], want_v[k], 1e-12);
        judge_numbers("after five steps, p", GRA_SHAPE(n[k]), p[k], want_p[k], 1e-12);
    }
}

void judge_exercise(void)
{
    const double zero[N] = { 0 };
    step("a step, with an old v", draw(39), draw(40), draw(41), N, 0.17, 0.9);
    step("the first step, where v is 0", draw(3), draw(4), zero, N, 0.17, 0.9);
    step("one number", (double[]){ 1 }, (double[]){ -3 }, (double[]){ 2 }, 1, 0.25, 0.6);
    step("momentum 0: plain descent", draw(8), draw(9), draw(20), 3, 0.3, 0);
    step("gradient 0: p keeps moving", draw(21), zero, draw(22), 3, 0.3, 0.7);
    run();
}
