/* 27 rms_norm: a layer of your own, made of ops that know their gradients.
 *
 * LLaMA and most models after it have RMSNorm (Zhang & Sennrich 2019) where GPT has layer norm: it does not
 * subtract the mean, and has no shift. Each row of n = dim numbers, along the last dimension of x, is divided
 * by the root of the mean of its squares:
 *
 *     y_i = x_i / sqrt(mean of x_j^2 over j + eps) weight_i               eps = 1e-6
 *
 * As in exercise 20, write it as a user of the library would: a layer is a struct that points at its
 * parameters, an init that makes them, and a forward written in ops of gradus.h, whose backward is there
 * already. Optimisers and files find a parameter by its name, since init made it in a scope:
 *
 *     l->weight = gra_param(scope, "weight", gra_init_..., GRA_SHAPE(...));
 *
 * The weight starts at 1. x may have any number of dimensions, (..., dim), and y has x's shape. Useful ops:
 * gra_mul, gra_div, gra_sqrt, gra_pow, gra_add_scalar, gra_mean_dim (its keepdim leaves a dimension of size
 * 1, which broadcasts). The library's own gra_rms_norm is not allowed here.
 */
#include "exercises.h"

void rms_norm_init(struct rms_norm *l, gra_scope scope, int dim)
{
    (void)scope, (void)dim;
    l->weight = NULL;                                   /* TO DO */
}

gra_tensor *rms_norm_forward(gra_tape *t, const struct rms_norm *l, gra_tensor *x)
{
    (void)t, (void)l;
    return x;                                           /* TO DO */
}
