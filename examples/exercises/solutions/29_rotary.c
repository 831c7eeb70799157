/* 29 rotary, solved.
 *
 * With h = dim/2, both lines of the formula are one: y = x cos + other sin, where `other` is x with its
 * halves exchanged and the second half, which now comes first, negated: (-x_h, ..., -x_(dim-1), x_0, ...,
 * x_(h-1)). Cosines and sines have the shape (time, dim), each angle twice in a row, and broadcast over heads
 * and batch.
 *
 * Why only m - n counts: rotations by m theta and by n theta are matrices R_m and R_n, and q R_m^T R_n k = q
 * R_(n-m) k, because rotating back by m and forth by n is rotating by n - m.
 */
#include "exercises.h"
#include <math.h>

gra_tensor *rotary(gra_tape *t, gra_tensor *x)
{
    const int time = gra_dim(x, -2), dim = gra_dim(x, -1), half = dim / 2;
    double *c = gra_alloc(t, (size_t)time * (size_t)dim * sizeof *c);   /* there until the next gra_begin */
    double *s = gra_alloc(t, (size_t)time * (size_t)dim * sizeof *s);
    for (int m = 0; m < time; m++)
        for (int i = 0; i < half; i++) {
            const double theta = m / pow(10000, 2.0 * i / dim);
            c[m * dim + i] = c[m * dim + i + half] = cos(theta);
            s[m * dim + i] = s[m * dim + i + half] = sin(theta);
        }
    gra_tensor *first = gra_slice(t, x, -1, 0, half), *second = gra_slice(t, x, -1, half, dim);
    gra_tensor *other = gra_concat(t, 2, (gra_tensor *[]){ gra_neg(t, second), first }, -1);
    gra_tensor *cosine = gra_constant(t, c, GRA_SHAPE(time, dim));
    gra_tensor *sine = gra_constant(t, s, GRA_SHAPE(time, dim));
    return gra_add(t, gra_mul(t, x, cosine), gra_mul(t, other, sine));
}
