/* 27 rms_norm: a layer of your own, made of ops that know their gradients.
 *
 * LLaMA and most models after it have RMSNorm (Zhang & Sennrich 2019) where GPT has layer norm: it does not
 * subtract the mean, and has no shift. Each row of n = dim numbers, along the last dimension of x, is divided
 * by the root of the mean of its squares:
 *
 *     y_i = x_i / sqrt(mean of x_j^2 over j + eps) weight_i               eps = 1e-6
 *
 * As in exercise 20, write it as a user of the library would: a layer is a struct that points at its
 * parameters, an init that makes them, and a forward written in ops of gradus.h, which already have a
 * backward. Optimisers and files find a parameter by its name, since init made it in a scope:
 *
 *     l->weight = gra_param(scope, "weight", gra_init_..., GRA_SHAPE(...));
 *
 * The weight starts at 1. x may have any number of dimensions, (..., dim), and y has x's shape. Useful ops:
 * gra_mul, gra_div, gra_sqrt, gra_pow, gra_add_scalar, gra_mean_dim (its keepdim leaves a dimension of size
 * 1, which broadcasts). The library's own gra_rms_norm is not allowed here.
 */
/* 27 rms_norm, solved.
 *
 * With keepdim the mean over the last dimension (-1) is (..., 1), so each row of x (..., dim) is divided by
 * its own root. The weight (dim) is stretched over all rows. Without keepdim the mean would lack the last
 * dimension. Broadcasting aligns shapes at the right, so it would refuse this shape, or worse, divide columns
 * instead of rows if x is square.
 *
 * Layer norm subtracts the mean as well. The paper found that this can be left out, with the same result in
 * training and less to compute.
 */
#include "exercises.h"

void rms_norm_init(struct rms_norm *l, gra_scope scope, int dim)
{
//| (void)scope, (void)dim;
//| l->weight = NULL;                                   /* TO DO */
    l->weight = gra_param(scope, "weight", gra_init_ones(), GRA_SHAPE(dim));
}

gra_tensor *rms_norm_forward(gra_tape *t, const struct rms_norm *l, gra_tensor *x)
{
//| (void)t, (void)l;
//| return x;                                           /* TO DO */
    gra_tensor *square = gra_mean_dim(t, gra_mul(t, x, x), -1, true);               /* (..., 1) */
    gra_tensor *root = gra_sqrt(t, gra_add_scalar(t, square, 1e-6));
    return gra_mul(t, gra_div(t, x, root), l->weight);
}
