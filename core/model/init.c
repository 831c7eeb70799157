/* init: the first values of parameters, by PyTorch's rules and from its random stream (torch.nn.init). */
#include "model.h"

static void fill_constant(const gra_init *how, gra_rng *rng, gra_tensor *p)
{
    (void)rng;
    for (size_t i = 0; i < p->size; i++)
        p->data[i] = (real)how->a;
}

static void fill_uniform(const gra_init *how, gra_rng *rng, gra_tensor *p)
{
    gra_uniform(rng, p->data, p->size, how->a, how->b);
}

static void fill_normal(const gra_init *how, gra_rng *rng, gra_tensor *p)
{
    gra_normal(rng, p->data, p->size, how->a, how->b);
}

/* fan_out (d = 0) or fan_in (d = 1) of a weight of shape (out, in, ...). Trailing dimensions, a convolution's
 * receptive field, multiply both fans. */
static double fan(const gra_tensor *p, int d)
{
    return (double)p->size / (p->shape.dim[0] * (double)p->shape.dim[1]) * p->shape.dim[d];
}

static void fill_xavier(const gra_init *how, gra_rng *rng, gra_tensor *p)
{
    (void)how;
    double k = sqrt(6 / (fan(p, 0) + fan(p, 1)));
    gra_uniform(rng, p->data, p->size, -k, k);
}

static void fill_kaiming(const gra_init *how, gra_rng *rng, gra_tensor *p)
{
    (void)how;
    gra_normal(rng, p->data, p->size, 0, sqrt(2 / fan(p, 1)));
}

static void fill_linear(const gra_init *how, gra_rng *rng, gra_tensor *p)
{
    const double k = 1 / sqrt(how->a);
    gra_uniform(rng, p->data, p->size, -k, k);
}

/* PyTorch refuses the same initialisers. */
bool gra_init_fits(const gra_init *how, gra_shape shape, char why[GRA_WHY])
{
    const bool xavier = how->fill == fill_xavier, kaiming = how->fill == fill_kaiming;
    *why = '\0';
    if ((xavier || kaiming) && shape.ndim < 2)
        snprintf(why, GRA_WHY, "got gra_init_%s for the shape %s, expected two dimensions or more: it needs "
                 "the numbers of inputs and outputs", xavier ? "xavier" : "kaiming", GRA_SHAPE_STRING(shape));
    else if (how->fill == fill_uniform && !(how->a <= how->b && isfinite((float)how->b - (float)how->a)))
        snprintf(why, GRA_WHY, "got gra_init_uniform(%g, %g), expected finite numbers, the lower one first",
                 how->a, how->b);
    else if (how->fill == fill_normal && !(how->b >= 0 && isfinite(how->a) && isfinite(how->b)))
        snprintf(why, GRA_WHY, "got gra_init_normal(%g, %g), expected finite numbers, the standard deviation "
                 "0 or more", how->a, how->b);
    else if (how->fill == fill_linear && !(how->a >= 1))
        snprintf(why, GRA_WHY, "got gra_init_linear(%g), expected 1 or more in_features", how->a);
    return !*why;
}

gra_init gra_init_zeros(void)                           { return (gra_init){ fill_constant, 0, 0, false }; }
gra_init gra_init_ones(void)                            { return (gra_init){ fill_constant, 1, 0, false }; }
gra_init gra_init_constant(double value)            { return (gra_init){ fill_constant, value, 0, false }; }
gra_init gra_init_uniform(double a, double b)           { return (gra_init){ fill_uniform, a, b, true }; }
gra_init gra_init_normal(double mean, double std)       { return (gra_init){ fill_normal, mean, std, true }; }
gra_init gra_init_xavier(void)                          { return (gra_init){ fill_xavier, 0, 0, true }; }
gra_init gra_init_kaiming(void)                         { return (gra_init){ fill_kaiming, 0, 0, true }; }
gra_init gra_init_linear(int in_features)       { return (gra_init){ fill_linear, in_features, 0, true }; }
