/* clamp: y = min(max(x, low), high), dx += dy where low <= x <= high, as in PyTorch. A NaN stays NaN. */
#include "../kernel.h"

struct args {
    double low, high;
};

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const struct args *a = y->args;
    const real *x = y->in[0]->data, low = (real)a->low, high = (real)a->high;
    for (size_t i = from; i < to; i++) {
        const real v = x[i] < low ? low : x[i];
        y->data[i] = v > high ? high : v;
    }
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const struct args *a = y->args;
    const real *x = y->in[0]->data, *dy = y->grad, low = (real)a->low, high = (real)a->high;
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++)
        dx[i] += x[i] >= low && x[i] <= high ? dy[i] : 0;
}

GRA_KERNEL(forward_all, forward, y, y->size, 2)
GRA_KERNEL(backward_all, backward, y, y->size, 3)

gra_tensor *gra_clamp(gra_tape *t, gra_tensor *x, double low, double high)
{
    static const gra_op op = { .name = "clamp", .forward = forward_all, .backward = backward_all,
                               .args = sizeof(struct args), .args_text = "to %g ... %g" };
    if (!(low <= high))
        return gra_fail(t, "clamp: got low %g and high %g, expected low <= high", low, high);
    gra_tensor *y = gra_result_like(t, &op, x);
    *(struct args *)y->args = (struct args){ low, high };
    return gra_run(y);
}
