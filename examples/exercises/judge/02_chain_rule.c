/* 02 chain_rule: the judge. */
#include "judge.h"
#include <math.h>

/* What is known when a gradient is computed: the forward, and the right gradients of later lines. */
struct given;
typedef double gradient(const struct given *g);
struct given {
    double    w, b, x, t, z, y, e, loss, de, dz;
    gradient *now;                              /* the one that is compared */
};

static double of_e(const struct given *g)
{
    return slip("this is e: the slope of e^2 is 2e") ? g->e
         : slip("this is 2: the slope of e^2 is 2e") ? 2
         : slip("divided by e: the slope of e^2 is 2e") ? 2 / g->e
         : slip("this is 2^e: the slope of e^2 is 2e") ? pow(2, g->e)
         : slip("this is 2 (y + t): the slope of e^2 is 2e, and e is y - t") ? 2 * (g->y + g->t)
         : slip("this is 2y: the slope of e^2 is 2e") ? 2 * g->y
         : slip("this is 2 e^2: the slope of e^2 is 2e") ? 2 * g->e * g->e
         : slip("this is e^2, the loss itself: expected its slope, 2e") ? g->e * g->e
         : slip("multiplied by the loss: dloss/dloss is 1") ? 2 * g->e * g->loss : g->de;
}

static double of_y(const struct given *g)
{
    return slip("this is only the slope: multiply it by de") ? 1
         : slip("the sign is wrong: e = y - t grows with y") ? -g->de
         : slip("multiplied by y: d(y - t)/dy is 1") ? g->de * g->y
         : slip("multiplied by e once more: it is already in de") ? g->de * g->e
         : slip("the slope of tanh is in dy: it belongs in dz") ? g->dz : g->de;
}

static double of_t(const struct given *g)
{
    const double de = g->de;
    return slip("the sign is wrong: e = y - t falls when t grows") ? de
         : slip("this is only the slope: multiply it by de") ? -1
         : slip("t is not a constant here: e = y - t falls when t grows") ? 0
         : slip("multiplied by t: d(y - t)/dt is -1") ? -de * g->t
         : slip("multiplied by t, and the sign is wrong: d(y - t)/dt is -1") ? de * g->t : -de;
}

static double of_z(const struct given *g)
{
    const double y = g->y, z = g->z, e = g->e, de = g->de;
    return slip("the slope of tanh(z) is 1 - tanh(z)^2: the square is missing") ? de * (1 - y)
         : slip("this uses 1 - z^2 instead of 1 - tanh(z)^2") ? de * (1 - z * z)
         : slip("this uses 1 - z instead of 1 - tanh(z)^2") ? de * (1 - z)
         : slip("tanh is applied twice: y is already tanh(z)") ? de * (1 - tanh(y) * tanh(y))
         : slip("this is only the slope: multiply it by dy") ? 1 - y * y
         : slip("y (1 - y) is the slope of the sigmoid: that of tanh is 1 - y^2") ? de * y * (1 - y)
         : slip("this uses 1 + y^2 instead of 1 - y^2") ? de * (1 + y * y)
         : slip("the sign is wrong: it should be dy (not dt) times 1 - y^2 (not y^2 - 1)") ? de * (y * y - 1)
         : slip("divided by the slope: multiply") ? de / (1 - y * y)
         : slip("this uses tanh(z) itself instead of its slope") ? de * y
         : slip("the slope is taken at dy: take it at z, where tanh was computed")
         ? de * (1 - tanh(de) * tanh(de))
         : slip("this uses 1 - dy^2 instead of 1 - y^2") ? de * (1 - de * de)
         : slip("this uses y (1 - y^2): the factor y does not belong there") ? de * y * (1 - y * y)
         : slip("this uses 1 - e^2 instead of 1 - y^2: e is y - t") ? de * (1 - e * e)
         : slip("the product is computed before the minus: put 1 - y^2 in brackets") ? de - y * y
         : slip("the product comes before the minus: put 1 - y^2 in brackets") ? 1 - y * y * de
         : slip("the slope of tanh is left out") ? de : g->dz;
}

static double of_w(const struct given *g)
{
    const double w = g->w, x = g->x, dz = g->dz;
    return slip("multiplied by w: d(w x)/dw is the other factor, x") ? dz * w
         : slip("this is only the slope: multiply it by dz") ? x
         : slip("d(w x)/dw, which is x, is left out") ? dz
         : slip("this is dy times x: the path goes through tanh, so use dz") ? g->de * x
         : slip("multiplied by all of z = w x + b: dz/dw is x") ? dz * g->z
         : slip("multiplied by w x: d(w x)/dw is x") ? dz * w * x
         : slip("multiplied by x + b: d(w x + b)/dw is x") ? dz * (x + g->b) : dz * x;
}

static double of_b(const struct given *g)
{
    return slip("multiplied by b: d(w x + b)/db is 1") ? g->dz * g->b
         : slip("this is only the slope: multiply it by dz") ? 1
         : slip("b is not a constant here: d(w x + b)/db is 1") ? 0
         : slip("multiplied by x: d(w x + b)/db is 1") ? g->dz * g->x
         : slip("this is dy: the path to b goes through tanh too, so use dz") ? g->de : g->dz;
}

static double of_x(const struct given *g)
{
    const double w = g->w, x = g->x, dz = g->dz;
    return slip("multiplied by x: d(w x)/dx is the other factor, w") ? dz * x
         : slip("this is only the slope: multiply it by dz") ? w
         : slip("d(w x)/dx, which is w, is left out") ? dz
         : slip("this is dy times w: the path goes through tanh, so use dz") ? g->de * w
         : slip("x is not a constant here: d(w x)/dx is w") ? 0
         : slip("multiplied by w x: d(w x)/dx is w") ? dz * w * x
         : slip("multiplied by w + b: d(w x + b)/dx is w") ? dz * (w + g->b) : dz * w;
}

/* A clue: is it another product, or the sum, of a gradient and a slope? */
static void products(double got, double want, const struct given *g)
{
    const struct { const char *name; double value; }
        of[] = { { "de", g->de }, { "dz", g->dz }, { "e", g->e }, { "the loss", g->loss }, { "t", g->t },
                 { "1", 1 } },
        slope[] = { { "", 1 }, { " times 2", 2 }, { " times 1/2", 0.5 }, { " times w", g->w },
                    { " times b", g->b }, { " times x", g->x }, { " times t", g->t },
                    { " times y", g->y }, { " times z", g->z }, { " times e", g->e },
                    { " times 1 - y", 1 - g->y }, { " times 1 - 2y", 1 - 2 * g->y },
                    { " times 1 - t^2", 1 - g->t * g->t }, { " times w x", g->w * g->x },
                    { " times w^2", g->w * g->w }, { " times x^2", g->x * g->x }, { " times de", g->de },
                    { " times dz", g->dz }, { " times (1 - y)^2", (1 - g->y) * (1 - g->y) },
                    { " times (1 - y^2) z", (1 - g->y * g->y) * g->z },
                    { " times y^2", g->y * g->y }, { " divided by x", 1 / g->x },
                    { " divided by w", 1 / g->w }, { " times 1 - y^2", 1 - g->y * g->y },
                    { " times 1/cosh(z), without the square", 1 / cosh(g->z) } };
    const size_t slopes = sizeof slope / sizeof *slope;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (size_t j = 0; j < slopes; j++) {
            const double p = of[i].value * slope[j].value;
            if (fabs(fabs(got) - fabs(p)) <= 1e-10)
                judge_clue("yours is %s%s%s", (got < 0) != (p < 0) ? "minus " : "", of[i].name,
                           slope[j].name);
        }
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 1; j < slopes; j++)
            if (fabs(got - (of[i].value + slope[j].value)) <= 1e-10)
                judge_clue("%s and the slope were added: multiply them", of[i].name);
    const char *const name[] = { "1", "w", "b", "x", "t", "z", "y", "e" };
    const double more[] = { 1, g->w, g->b, g->x, g->t, g->z, g->y, g->e };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (fabs(fabs(got - want) - fabs(more[i])) <= 1e-10)
            judge_clue("%s is %s: this is the right gradient without it", name[i],
                       (got - want) * more[i] > 0 ? "added" : "subtracted");
}

static void reference(double *out, void *arg)
{
    const struct given *g = arg;
    *out = g->now(g);
}

static const char *const member[] = { "z", "y", "e", "loss", "de", "dy", "dt", "dz", "dw", "db", "dx" };
enum { MEMBERS = sizeof member / sizeof *member, FORWARD = 4 };

/* The members of n after neuron(), if member k held `held` before. */
static void members(double w, double b, double x, double t, int k, double held, double *out)
{
    const double none = JUDGE_UNWRITTEN;
    double in[MEMBERS] = { none, none, none, none, none, none, none, none, none, none, none };
    in[k] = held;
    struct neuron n = { in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7], in[8], in[9], in[10] };
    neuron(w, b, x, t, &n);
    memcpy(out, (double[]){ n.z, n.y, n.e, n.loss, n.de, n.dy, n.dt, n.dz, n.dw, n.db, n.dx }, sizeof in);
}

/* Does member i depend on what a member held before? */
static void unset(double w, double b, double x, double t, int i)
{
    double out[MEMBERS], other[MEMBERS];
    members(w, b, x, t, 0, JUDGE_UNWRITTEN, out);
    for (int k = 0; k < MEMBERS; k++) {
        members(w, b, x, t, k, 1, other);
        if (k != i && memcmp(&out[i], &other[i], sizeof *out))
            judge_wrong("%s is computed from n->%s before that is set: use only what earlier lines set",
                        member[i], member[k]);
    }
}

static void one(double w, double b, double x, double t)
{
    const double z = w * x + b, y = tanh(z), e = y - t, dz = 2 * e * (1 - y * y);
    struct given g = { w, b, x, t, z, y, e, e * e, 2 * e, dz, NULL };
    double got[MEMBERS];
    judge_part("w = %g, b = %g, x = %g, t = %g", w, b, x, t);
    members(w, b, x, t, 0, JUDGE_UNWRITTEN, got);
    const double want[] = { z, y, e, e * e };
    for (int i = 0; i < FORWARD; i++)
        if (!(fabs(got[i] - want[i]) <= 1e-12))
            judge_wrong("n->%s: got %.*g, expected %.*g: the forward is given, leave it unchanged", member[i],
                        judge_digits(got[i], want[i]), got[i], judge_digits(got[i], want[i]), want[i]);
    gradient *const gradients[] = { of_e, of_y, of_t, of_z, of_w, of_b, of_x };
    for (int i = FORWARD; i < MEMBERS; i++) {
        g.now = gradients[i - FORWARD];
        unset(w, b, x, t, i);
        products(got[i], g.now(&g), &g);
        judge_against(member[i], GRA_SHAPE(1), &got[i], 1e-10, reference, &g);
    }
}

void judge_exercise(void)
{
    const double *d = judge_draw(21, 8, -1.5, 1.5);
    one(0.6, 0.35, 1.7, -0.9);
    one(-0.75, 0.45, 0.3, 1.4);
    one(d[0], d[1], d[2], d[3]);
    one(d[4], d[5], d[6], d[7]);
}
