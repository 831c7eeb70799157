/* 02 chain_rule: the judge. */
#include "judge.h"
#include <math.h>

#define WRONG(says, number) { says, &(double){ number } }
#define COMPARE(name, got, want, ...)                                                                    \
    compare(name, got, want, n, (const double[]){ w, b, x, t }, (const struct judge_mistake[]){          \
            __VA_ARGS__, { NULL, NULL } })

/* What is no known mistake is looked for among products of a gradient and a slope. */
static void compare(const char *name, double got, double want, const struct neuron *n, const double *in,
                    const struct judge_mistake *known)
{
    const double de = 2 * n->e, dz = de * (1 - n->y * n->y);
    const struct { const char *name; double value; }
        gradient[] = { { "de", de }, { "dz", dz }, { "e", n->e }, { "the loss", n->loss }, { "t", in[3] }, { "1", 1 } },
        slope[] = { { "", 1 }, { " times 2", 2 }, { " times 1/2", 0.5 }, { " times w", in[0] }, { " times b", in[1] }, { " times x", in[2] },
                    { " times t", in[3] }, { " times y", n->y }, { " times z", n->z }, { " times e", n->e },
                    { " times 1 - y", 1 - n->y }, { " times 1 - 2y", 1 - 2 * n->y },
                    { " times 1 - t^2", 1 - in[3] * in[3] }, { " times (1 - y^2) z", (1 - n->y * n->y) * n->z },
                    { " times y^2", n->y * n->y }, { " divided by x", 1 / in[2] }, { " divided by w", 1 / in[0] },
                    { " times 1 - y^2", 1 - n->y * n->y }, { " times 1/cosh(z), without a square", 1 / cosh(n->z) } };
    struct judge_mistake list[40] = { { NULL, NULL } };
    char text[100] = "";
    int count = 0;
    for (; known[count].says; count++)
        list[count] = known[count];
    for (size_t i = 0; i < sizeof gradient / sizeof *gradient; i++)
        for (size_t j = 0; j < sizeof slope / sizeof *slope && !text[0]; j++) {
            const double p = gradient[i].value * slope[j].value;
            if (fabs(fabs(got) - fabs(p)) <= 1e-10)
                snprintf(text, sizeof text, "yours is %s%s%s", (got < 0) != (p < 0) ? "minus " : "", gradient[i].name,
                         slope[j].name);
        }
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 1; j < sizeof slope / sizeof *slope && !text[0]; j++)
            if (fabs(got - (gradient[i].value + slope[j].value)) <= 1e-10)
                snprintf(text, sizeof text, "%s and the slope were added: multiply them", gradient[i].name);
    if (!text[0] && fabs(fabs(got - want) - 1) <= 1e-10)
        snprintf(text, sizeof text, "the right gradient %s 1, which has no place there",
                 got > want ? "plus" : "minus");
    if (text[0])
        list[count++] = (struct judge_mistake){ text, &got };
    list[count] = (struct judge_mistake){ NULL, NULL };
    judge_number(name, got, want, 1e-10, list);
}

static void backward(const struct neuron *n, double w, double b, double x, double t)
{
    const double e = n->e, y = n->y, z = n->z, de = 2 * e, dz = de * (1 - y * y);
    COMPARE("de", n->de, de,
        WRONG("the slope of e^2 is 2e, not e", e),
        WRONG("the slope of e^2 is 2e, not 2", 2),
        WRONG("2 e^2: the slope of e^2 is 2e", 2 * e * e),
        WRONG("this is e^2, the loss itself: its slope by e is wanted", e * e),
        WRONG("the gradient of the loss by itself is 1, not the loss", 2 * e * n->loss));
    COMPARE("dy", n->dy, de,
        WRONG("the slope alone: it is to be multiplied by de", 1),
        WRONG("the sign: e = y - t grows with y", -de),
        WRONG("multiplied by y: the slope of y - t by y is 1", de * y),
        WRONG("multiplied by e once more: de is all that comes from there", de * e),
        WRONG("the slope of tanh belongs to dz, not to dy", dz));
    COMPARE("dt", n->dt, -de,
        WRONG("the sign: e = y - t falls when t grows", de),
        WRONG("the slope alone: it is to be multiplied by de", -1),
        WRONG("t is no constant here: e = y - t falls when t grows", 0),
        WRONG("multiplied by t: the slope of y - t by t is -1", -de * t),
        WRONG("multiplied by t, and the sign: the slope of y - t by t is -1", de * t));
    COMPARE("dz", n->dz, dz,
        WRONG("the slope of tanh(z) is 1 - tanh(z)^2: the square is missing", de * (1 - y)),
        WRONG("1 - z^2 in place of 1 - tanh(z)^2", de * (1 - z * z)),
        WRONG("1 - z in place of 1 - tanh(z)^2", de * (1 - z)),
        WRONG("tanh is taken twice: y is tanh(z) already", de * (1 - tanh(y) * tanh(y))),
        WRONG("the slope alone: it is to be multiplied by dy", 1 - y * y),
        WRONG("y (1 - y) is the slope of the sigmoid: that of tanh is 1 - y^2", de * y * (1 - y)),
        WRONG("1 + y^2: the sign within the slope", de * (1 + y * y)),
        WRONG("y^2 - 1: the sign of the slope", de * (y * y - 1)),
        WRONG("divided by the slope: multiply", de / (1 - y * y)),
        WRONG("tanh(z) itself in place of its slope", de * y),
        WRONG("the slope is taken at dy: take it at z, where tanh was computed",
              de * (1 - tanh(de) * tanh(de))),
        WRONG("1 - dy^2 in place of 1 - y^2", de * (1 - de * de)),
        WRONG("y (1 - y^2): there is a y too many", de * y * (1 - y * y)),
        WRONG("1 - e^2 in place of 1 - y^2: e is y - t", de * (1 - e * e)),
        WRONG("the product goes before the minus: put 1 - y^2 in brackets", de - y * y),
        WRONG("the product goes before the minus: put 1 - y^2 in brackets", 1 - y * y * de),
        WRONG("the slope of tanh is left out", de));
    COMPARE("dw", n->dw, dz * x,
        WRONG("multiplied by w: the slope of w x by w is the other factor, x", dz * w),
        WRONG("the slope alone: it is to be multiplied by dz", x),
        WRONG("the slope of w x by w, which is x, is left out", dz),
        WRONG("dy times x: the way leads through tanh, so take dz", de * x),
        WRONG("de/dw without the 2 of e^2", dz * x / 2),
        WRONG("multiplied by all of z = w x + b: the slope of z by w is x", dz * z),
        WRONG("multiplied by w x: the slope of w x by w is x", dz * w * x),
        WRONG("multiplied by x + b: the slope of w x + b by w is x", dz * (x + b)));
    COMPARE("db", n->db, dz,
        WRONG("multiplied by b: the slope of w x + b by b is 1", dz * b),
        WRONG("the slope alone: it is to be multiplied by dz", 1),
        WRONG("b is no constant here: the slope of w x + b by b is 1", 0),
        WRONG("multiplied by x: the slope of w x + b by b is 1", dz * x),
        WRONG("this is dy: the way to b leads through tanh too, so take dz", de));
    COMPARE("dx", n->dx, dz * w,
        WRONG("multiplied by x: the slope of w x by x is the other factor, w", dz * x),
        WRONG("the slope alone: it is to be multiplied by dz", w),
        WRONG("the slope of w x by x, which is w, is left out", dz),
        WRONG("dy times w: the way leads through tanh, so take dz", de * w),
        WRONG("x is no constant here: the slope of w x by x is w", 0),
        WRONG("multiplied by w x: the slope of w x by x is w", dz * w * x),
        WRONG("multiplied by w + b: the slope of w x + b by x is w", dz * (w + b)));
}

static void one(double w, double b, double x, double t)
{
    const double none = JUDGE_UNWRITTEN, y = tanh(w * x + b);
    struct neuron n = { none, none, none, none, none, none, none, none, none, none, none };
    judge_part("w = %g, b = %g, x = %g, t = %g", w, b, x, t);
    neuron(w, b, x, t, &n);
    const double got[] = { n.z, n.y, n.e, n.loss }, want[] = { w * x + b, y, y - t, (y - t) * (y - t) };
    const char *const name[] = { "z", "y", "e", "loss" };
    for (int i = 0; i < 4; i++)
        if (!(fabs(got[i] - want[i]) <= 1e-12))
            judge_wrong("n->%s is %.6g, wanted %.6g: the forward was right as it stood, leave it", name[i],
                        got[i], want[i]);
    backward(&n, w, b, x, t);
}

void judge_exercise(void)
{
    const double *d = judge_draw(21, 8, -1.5, 1.5);
    one(0.6, 0.35, 1.7, -0.8);
    one(-0.75, 0.45, 0.3, 1.4);
    one(d[0], d[1], d[2], d[3]);
    one(d[4], d[5], d[6], d[7]);
}
