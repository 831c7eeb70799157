/* analytic: the gradients that gra_backward leaves, in a step that the guard watches. */
#include "checking.h"

static gra_tensor *tensor_of(const gra_checking *k, int i)     /* of the latest evaluation */
{
    return i < k->nin ? k->input[i] : k->tensor[i].param;
}

/* loss + sum_i d_i x_i: x's gradient holds d when the backward of f adds to it. d is as large as the
 * gradients, so rounding spoils neither d nor the gradient in the sum. */
static gra_tensor *use_once_more(gra_checking *k, gra_tensor *loss)
{
    gra_rng own;
    gra_manual_seed(&own, 3);
    for (int i = 0; i < k->count; i++) {
        gra_checked *x = &k->tensor[i];
        double most = 0;
        for (size_t j = 0; j < x->size; j++)
            most = gra_larger(most, (double)x->fresh[j]);
        most = most > 0 && isfinite(most) ? most : 1;
        gra_uniform(&own, x->before, x->size, 0.5, 1.5);
        for (size_t j = 0; j < x->size; j++)
            x->before[j] *= (real)most;
        if (i == k->constant)
            continue;
        gra_tensor *d = gra_constant(k->tape, x->before, x->shape);
        loss = gra_add(k->tape, loss, gra_sum(k->tape, gra_mul(k->tape, tensor_of(k, i), d)));
    }
    return loss;
}

bool gra_check_backward(gra_checking *k, const real *c, bool once_more)
{
    k->known = k->finite = false;
    gra_tensor *y = gra_check_evaluate(k);
    if (!y)
        return false;
    if (y->size != k->size)
        return gra_check_fails(k, GRA_OTHER_SHAPE);
    k->finite = true;
    for (size_t j = 0; j < k->size; j++)
        k->finite &= isfinite(y->data[j]);
    for (int i = k->nin; i < k->count; i++)
        memset(k->tensor[i].grad, 0, k->tensor[i].size * sizeof(real));
    gra_tensor *loss = gra_sum(k->tape, gra_mul(k->tape, y, gra_constant(k->tape, c, k->shape)));
    k->known = loss->requires_grad;
    if (once_more)
        loss = use_once_more(k, loss);
    if (loss->requires_grad)                            /* otherwise there is nothing to compare */
        gra_backward(k->tape, loss);
    if (gra_error(k->tape))
        return gra_check_fails(k, gra_error(k->tape));
    return true;
}

const real *gra_check_grad(const gra_checking *k, int i)
{
    return tensor_of(k, i)->grad;
}

bool gra_check_analytic(gra_checking *k, bool once_more)
{
    for (int i = 0; i < k->count; i++)
        memset(k->tensor[i].before, 0, k->tensor[i].size * sizeof(real));
    gra_guard_watch(&k->guard, true);
    const bool ok = gra_check_backward(k, k->c, once_more);
    gra_guard_watch(&k->guard, false);
    gra_guard_look(&k->guard);
    for (int i = 0; ok && i < k->count; i++) {
        gra_checked *x = &k->tensor[i];
        const real *grad = gra_check_grad(k, i);
        for (size_t j = 0; j < x->size; j++)
            x->analytic[j] = grad ? grad[j] - x->before[j] : 0;
    }
    return ok;
}
