/* clip: g *= min(1, max_norm / (|g| + 1e-6)), where |g| is the norm of all gradients together
 * (PyTorch's clip_grad_norm_). As there, no gradient that is not finite is hidden: NaN stays, infinity
 * becomes NaN. */
#include "group.h"

double gra_clip_grad_norm(gra_model *m, double max_norm)
{
    double sum = 0;
    for (int i = 0; i < gra_param_count(m); i++) {
        const gra_tensor *p = gra_param_at(m, i);
        sum += p->grad ? gra_sum_squared(p->grad, p->size) : 0;
    }
    const double norm = sqrt(sum), scale = max_norm / (norm + 1e-6);
    if (!(max_norm > 0) || scale >= 1)
        return norm;
    for (int i = 0; i < gra_param_count(m); i++) {
        const gra_tensor *p = gra_param_at(m, i);
        for (size_t j = 0; p->grad && j < p->size; j++)
            p->grad[j] *= (real)scale;
    }
    return norm;
}
