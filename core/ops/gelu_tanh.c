/* gelu_tanh: y = x (1 + tanh u) / 2 = x s(2u), with u = a (x + b x^3) and s the sigmoid; close to x Phi(x).
 * dx += dy (s(2u) + 2 x s(2u) s(-2u) du/dx), du/dx = a (1 + 3 b x^2). In this form, 1 + tanh u = 2 s(2u)
 * keeps its digits where tanh u is near -1. */
#include "elementwise.h"

static const real a = (real)0.7978845608028654, b = (real)0.044715;      /* a = sqrt(2 / pi) */

static inline real twice_u(real x) { return 2 * a * (x + b * x * x * x); }

static inline real slope(real x)
{
    const real v = twice_u(x), s = real_sigmoid(v);
    const real dv = 2 * a * (1 + 3 * b * x * x);
    return s + x * s * real_sigmoid(-v) * dv;
}

ELEMENTWISE(gra_gelu_tanh, "gelu_tanh",
            y = x * real_sigmoid(twice_u(x)), 20,
            dx += dy * slope(x), 24)
