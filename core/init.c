/* init: the first values of parameters, by PyTorch's rules and from its random stream (torch.nn.init). */
#include "op.h"

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

/* fan_out (d = 0) or fan_in (d = 1) of a weight of shape (out, in, ...): trailing dimensions, of a
 * convolution's receptive field, multiply both. */
static double fan(const gra_tensor *p, int d)
{
    return p->shape.ndim < 2 ? (double)p->size
                            : (double)p->size / (p->shape.dim[0] * (double)p->shape.dim[1]) * p->shape.dim[d];
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

gra_init gra_init_zeros(void)                           { return (gra_init){ fill_constant, 0, 0, false }; }
gra_init gra_init_ones(void)                            { return (gra_init){ fill_constant, 1, 0, false }; }
gra_init gra_init_uniform(double a, double b)           { return (gra_init){ fill_uniform, a, b, true }; }
gra_init gra_init_normal(double mean, double std)       { return (gra_init){ fill_normal, mean, std, true }; }
gra_init gra_init_xavier(void)                          { return (gra_init){ fill_xavier, 0, 0, true }; }
gra_init gra_init_kaiming(void)                         { return (gra_init){ fill_kaiming, 0, 0, true }; }

gra_init gra_init_linear(int in_features)
{
    double k = in_features > 0 ? 1 / sqrt((double)in_features) : 0;
    return gra_init_uniform(-k, k);
}
