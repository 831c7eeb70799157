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
 * pairs neighbours, 2i with 2i + 1: the same idea with the numbers in another order, but parameters trained
 * for one do not work with the other.)
 *
 * Write the function for x (..., time, dim) in ops of gradus, among them gra_slice, gra_concat, gra_neg,
 * gra_mul and gra_add. The angles are constants: compute their cosines and sines with C's cos and sin, and
 * pass them to gra_constant.
 */
#include "exercises.h"

gra_tensor *rotary(gra_tape *t, gra_tensor *x)
{
    (void)t;
    return x;                                           /* TO DO */
}
