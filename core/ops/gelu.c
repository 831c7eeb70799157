/* gelu: y = x Phi(x), where Phi(x) = (1 + erf(x / sqrt 2)) / 2 is the normal distribution
 * function (Hendrycks & Gimpel 2016). dx += dy (Phi(x) + x phi(x)), phi(x) = e^(-x^2/2) / sqrt(2 pi). */
#include "elementwise.h"

static const real half = (real)0.5, tiny = (real)1e-36;
static const real sqrt_half = (real)0.7071067811865476, rsqrt_2pi = (real)0.3989422804014327;

static inline real slope(real x, real y)
{
    const real below = x * x < tiny ? half : y / x;     /* Phi(x) = y / x, faster than erf, but not at 0 */
    const real density = rsqrt_2pi * real_exp_below_0(-half * x * x);
    return below + x * density;
}

ELEMENTWISE(gra_gelu, "gelu",
            y = x * half * (1 + real_erf(x * sqrt_half)), 24,
            dx += dy * slope(x, y), 32)
