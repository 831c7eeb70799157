/* 29 rotary: positions as angles.
 *
 * Learned positions are added to the tokens once, before the first block. Rotary positions (Su et al. 2021,
 * "RoFormer"; LLaMA has them) are applied to queries and keys in every attention: the vector at position m is
 * rotated by an angle that grows with m. The score of a query at m and a key at n then depends on their
 * positions only through m - n.
 *
 * A vector of `dim` numbers (even) is split into dim/2 pairs, and each pair i is rotated by its own angle:
 *
 *     theta = m / 10000^(2i / dim),   m = 0, 1, ... (position),   i = 0, ... dim/2 - 1 (pair)
 *     y_i         = x_i cos(theta) - x_(i + dim/2) sin(theta)
 *     y_(i+dim/2) = x_(i + dim/2) cos(theta) + x_i sin(theta)
 *
 * So number i is paired with number i + dim/2, as in Hugging Face's LLaMA and in Raschka's code. (The paper
 * pairs neighbours, 2i with 2i + 1. The idea is the same, but parameters trained with one order do not work
 * with the other order.)
 *
 * Write the function for x (..., time, dim) in ops of gradus, among them gra_slice, gra_concat, gra_neg,
 * gra_mul and gra_add. The angles are constants: compute their cosines and sines with C's cos and sin, and
 * pass them to gra_constant.
 */
/* 29 rotary, solved.
 *
 * With h = dim/2, both lines of the formula are one: y = x cos + other sin, where `other` is x with its
 * halves exchanged and the second half, which now comes first, negated: (-x_h, ..., -x_(dim-1), x_0, ...,
 * x_(h-1)). Cosines and sines have the shape (time, dim), each angle twice in a row, and broadcast over heads
 * and batch.
 *
 * Why only m - n matters: the rotations by m theta and n theta are matrices R_m and R_n, and q R_m^T R_n k =
 * q R_(n-m) k, because rotating back by m and forward by n is rotating by n - m.
 */
#include "exercises.h"
//{
#include <math.h>
//}

gra_tensor *rotary(gra_tape *t, gra_tensor *x)
{
//| (void)t;
//| return x;                                           /* TO DO */
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
