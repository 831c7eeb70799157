/* collect: lists the tensors whose gradients are compared. Inputs get values. During the check, parameters
 * get a copy of their values and a gradient in guarded memory. */
#include "checking.h"
#include "../model/model.h"
#include <stdlib.h>

/* A random number in the i-th of the n intervals into which [0, 1] is cut. Intervals in the lower half are
 * longer, so fewer values lie there. With equal intervals the mean would be the middle of the range, which is
 * often 0. */
static double fraction(gra_rng *g, size_t i, size_t n)
{
    double draw;
    gra_rand_f64(g, &draw, 1);
    const double u = ((double)i + 0.1 + 0.8 * draw) / (double)n;
    return u + u * (1 - u) / 2;
}

/* Shuffled values over [low, high], except for the part too near 0. No two are equal, and their mean is not
 * near 0: with a mean of 0, a backward that forgets the mean would be right, and relu, abs or max of the mean
 * would have a kink. */
static void spread(gra_rng *g, double low, double high, real *x, size_t n)
{
    if (low >= high) {
        low = -2;
        high = 2;
    }
    const double kink = 1e-3 * fmin(1, fmax(fabs(low), fabs(high)));    /* how far inputs stay away from 0 */
    const double from = fmax(low, -kink), gap = fmax(0, fmin(high, kink) - from), range = high - low - gap;
    double sum;
    do {
        sum = 0;
        for (size_t i = 0; i < n; i++) {
            const double u = fraction(g, i, n), v = low + (low + high < 0 ? 1 - u : u) * range;
            x[i] = (real)(gap > 0 && v >= from ? v + gap : v);
            sum += (double)x[i];
        }
    } while (fabs(sum) < 0.05 * range * (double)n);
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)gra_randint(g, i);
        real last = x[i - 1];
        x[i - 1] = x[j];
        x[j] = last;
    }
}

/* From now on the parameter's values, and its gradient if it has one, lie in guarded memory. */
static bool guard(gra_checking *k, gra_checked *x)
{
    gra_tensor *p = x->param;
    const size_t bytes = p->size * sizeof(real);
    x->data = gra_guard_memory(&k->guard, bytes);
    x->grad = p->grad ? gra_guard_memory(&k->guard, bytes) : NULL;
    if (!x->data || (p->grad && !x->grad))
        return false;
    x->own_data = p->data;
    x->own_grad = p->grad;
    p->data = memcpy(x->data, p->data, bytes);
    p->grad = x->grad;
    return true;
}

static bool list_inputs(gra_checking *k)
{
    for (int i = 0; i < k->nin; i++) {
        const gra_check_in *in = &k->in[i];
        gra_checked *x = &k->tensor[k->count++];
        *x = (gra_checked){ .name = in->name ? in->name : "an input", .shape = in->shape };
        if (!in->data && in->low >= in->high && (in->low != 0 || in->high != 0))
            return gra_check_fails(k, "an input's low is not below its high");
        if (!gra_shape_size(x->shape, &x->size))
            return gra_check_fails(k, "an input has a shape that no tensor can have");
    }
    return true;
}

/* Frozen parameters and buffers, which have no gradient, come after y: f may write to them. */
static bool list_params(gra_checking *k, gra_model *m)
{
    for (int i = 0; m && i < gra_saved_count(m); i++) {
        gra_tensor *p = gra_owned_at(m, i);
        gra_checked *x = p->grad ? &k->tensor[k->count++] : --k->frozen;
        *x = (gra_checked){ .name = p->name, .shape = p->shape, .size = p->size, .param = p };
        if (!guard(k, x))
            return gra_check_fails(k, "out of memory");
    }
    return true;
}

/* One block for all gradients, and for the values of the inputs. */
static bool make_room(gra_checking *k)
{
    size_t values = 0;
    for (int i = 0; i < k->count; i++)
        values += (i < k->nin ? 7 : 6) * k->tensor[i].size;
    real *v = k->values = calloc(values + 1, sizeof(real));
    for (int i = 0; v && i < k->count; i++) {
        gra_checked *x = &k->tensor[i];
        real **const all[] = { &x->analytic, &x->numeric, &x->before, &x->fresh, &x->unsure, &x->step,
                               &x->data };
        for (int j = 0; j < (i < k->nin ? 7 : 6); j++, v += x->size)
            *all[j] = v;
    }
    if (!v)
        return gra_check_fails(k, "out of memory");
    return true;
}

bool gra_check_collect(gra_checking *k, gra_model *m)
{
    const size_t nin = (size_t)k->nin, params = m ? (size_t)gra_saved_count(m) : 0;
    k->tensor = calloc(nin + params + 1, sizeof *k->tensor);
    k->input = calloc(2 * nin + 1, sizeof(gra_tensor *));
    if (!k->tensor || !k->input)
        return gra_check_fails(k, "out of memory");
    k->frozen = k->end = k->tensor + nin + params + 1;
    k->handed = k->input + k->nin;
    if (!list_inputs(k) || !list_params(k, m) || !make_room(k))
        return false;
    gra_rng own;
    gra_manual_seed(&own, 7);
    for (int i = 0; i < k->nin; i++) {
        const gra_check_in *in = &k->in[i];
        if (in->data)
            memcpy(k->tensor[i].data, in->data, k->tensor[i].size * sizeof(real));
        else
            spread(&own, in->low, in->high, k->tensor[i].data, k->tensor[i].size);
    }
    return true;
}

/* Parameters get their own values and gradients back. */
void gra_check_restore(gra_checking *k)
{
    for (gra_checked *x = k->tensor; x < k->end; x++) {
        if (!x->param)
            continue;
        x->param->data = x->own_data ? x->own_data : x->param->data;
        if (x->own_grad) {
            x->param->grad = x->own_grad;
            x->param->requires_grad = true;
        }
        gra_guard_free(x->data);
        gra_guard_free(x->grad);
    }
}
