/* clip: g *= min(1, max_norm / (|g| + 1e-6)), where |g| is the norm of all gradients together
 * (PyTorch's clip_grad_norm_). As in PyTorch, gradients that are not finite remain so: NaN stays, infinity
 * becomes NaN. */
#include "group.h"

static void add(gra_chunk *s, size_t from, size_t to)
{
    double *sum = s->arg;
    sum[s->chunk] += gra_sum_squared(s->p->grad + from, to - from);
}

static void scale(gra_chunk *s, size_t from, size_t to)
{
    const double *by = s->arg;
    for (size_t i = from; i < to; i++)
        s->p->grad[i] *= (real)*by;
}

GRA_PARAM_KERNEL(add_all, add, 1)
GRA_PARAM_KERNEL(scale_all, scale, 1)

double gra_clip_grad_norm(gra_model *m, double max_norm)
{
    double chunk[GRA_CHUNKS] = { 0 }, sum = 0;
    gra_need_model(m, __func__);
    add_all(m, NULL, chunk);
    for (int i = 0; i < GRA_CHUNKS; i++)
        sum += chunk[i];
    const double norm = sqrt(sum);
    double by = max_norm / (norm + 1e-6);
    if (max_norm > 0 && !(by >= 1))
        scale_all(m, NULL, &by);
    return norm;
}
