/* expression_slips: y = f(a, b) as the library computes it, with a backward that is wrong:
 *
 *     da += dy dy/da,  db += dy dy/db                 where one of the factors is not what it should be
 *
 * A table has these factors. */
#include "expression_slips.h"

/* NAME(a, b, y, p): y is the result, p the exponent of pow. */
#define FACTOR(name, value)                                                                              \
    static double name(double a, double b, double y, double p)                                           \
    {                                                                                                    \
        (void)a, (void)b, (void)y, (void)p;                                                              \
        return value;                                                                                    \
    }
FACTOR(one, 1)
FACTOR(of_a, a)
FACTOR(of_b, b)
FACTOR(of_y, y)
FACTOR(minus_y, -y)
FACTOR(inverse_b, 1 / b)
FACTOR(inverse_y, 1 / y)
FACTOR(tanh_slope, 1 - y * y)
FACTOR(no_square, 1 - y)
FACTOR(exponent_kept, p * pow(a, p))
FACTOR(no_exponent, pow(a, p - 1))
FACTOR(inverted, y > 0 ? 0 : 1)
FACTOR(sigmoid_of_a, 1 / (1 + exp(-a)))

const expression_slip expression_slip_table[] = {
    { "add", "db is left out", one, NULL, false },
    { "add", "= in place of +=", one, one, true },
    { "sub", "the sign: db += dy", one, one, false },
    { "neg", "the sign: dx += dy", one, NULL, false },
    { "mul", "db is left out", of_b, NULL, false },
    { "mul", "a and b exchanged: da += dy a, db += dy b", of_a, of_b, false },
    { "mul", "= in place of +=", of_b, of_a, true },
    { "div", "the square is forgotten: db -= dy a / b", inverse_b, minus_y, false },
    { "pow", "the exponent is not reduced: dx += dy p x^p", exponent_kept, NULL, false },
    { "pow", "the factor p is forgotten: dx += dy x^(p-1)", no_exponent, NULL, false },
    { "exp", "x in place of y: dx += dy x", of_a, NULL, false },
    { "log", "x in place of 1/x: dx += dy x", of_a, NULL, false },
    { "sqrt", "1/2 is forgotten: dx += dy / y", inverse_y, NULL, false },
    { "tanh", "the square is forgotten: dx += dy (1 - y)", no_square, NULL, false },
    { "tanh", "= in place of +=", tanh_slope, NULL, true },
    { "sigmoid", "a factor is forgotten: dx += dy y", of_y, NULL, false },
    { "relu", "the mask is inverted: dx += dy where y <= 0", inverted, NULL, false },
    { "relu", "the mask is forgotten: dx += dy", one, NULL, false },
    { "abs", "the sign of x is forgotten: dx += dy", one, NULL, false },
    { "silu", "a term is dropped: dx += dy sigmoid(x)", sigmoid_of_a, NULL, false },
    { "softmax", "the sum is dropped: dx += dy y", of_y, NULL, false },
    { NULL, NULL, NULL, NULL, false },
};

/* A copy of the library's op, and what its backward reads. */
struct broken {
    gra_op                 op;
    const expression_slip *slip;
    double                 p;
};

static void give(gra_tensor *x, size_t i, double v, bool stores)
{
    if (x->grad)
        x->grad[i] = (real)v + (stores ? 0 : x->grad[i]);
}

static void backward(gra_tensor *y)
{
    const struct broken *o = (const void *)y->op;
    const expression_slip *s = o->slip;
    gra_tensor *a = y->in[0], *b = y->nin > 1 ? y->in[1] : a;
    for (gra_walk w = gra_walk_begin(y->shape, a->shape, b->shape, 0, y->size); w.n; gra_walk_next(&w))
        for (size_t i = 0; i < w.n; i++) {
            const size_t ia = w.a + i * w.step_a, ib = w.b + i * w.step_b;
            const double va = (double)a->data[ia], vb = (double)b->data[ib], vy = (double)y->data[w.y + i],
                dy = (double)y->grad[w.y + i];
            if (s->da)
                give(a, ia, dy * s->da(va, vb, vy, o->p), s->stores);
            if (s->db)
                give(b, ib, dy * s->db(va, vb, vy, o->p), s->stores);
        }
}

bool expression_break(gra_tape *t, gra_tensor *y, const expression_slip *slip, double p)
{
    struct broken *broken;
    if (!y->op || strcmp(y->op->name, slip->op) != 0 || !(broken = gra_alloc(t, sizeof *broken)))
        return false;
    *broken = (struct broken){ *y->op, slip, p };
    broken->op.backward = backward;
    broken->op.overwrites_grad = false;
    y->op = &broken->op;
    return true;
}
