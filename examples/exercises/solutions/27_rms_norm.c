/* 27 rms_norm, solved.
 *
 * The mean over the last dimension (-1) has keepdim, so that x (..., dim) is divided by (..., 1): each row by
 * its own root. The weight (dim) is stretched over all rows. Without keepdim the shape would be that of x
 * without its last dimension, and broadcasting, which aligns shapes at the right, would refuse it, or worse:
 * for a square x it would divide columns instead of rows.
 *
 * Layer norm subtracts the mean as well. The paper found that this can be left out, with the same result in
 * training and less to compute.
 */
#include "exercises.h"

void rms_norm_init(struct rms_norm *l, gra_scope scope, int dim)
{
    l->weight = gra_param(scope, "weight", gra_init_ones(), GRA_SHAPE(dim));
}

gra_tensor *rms_norm_forward(gra_tape *t, const struct rms_norm *l, gra_tensor *x)
{
    gra_tensor *square = gra_mean_dim(t, gra_mul(t, x, x), -1, true);               /* (..., 1) */
    gra_tensor *root = gra_sqrt(t, gra_add_scalar(t, square, 1e-6));
    return gra_mul(t, gra_div(t, x, root), l->weight);
}
