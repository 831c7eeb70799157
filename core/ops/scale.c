/* scale: y = s x, dx += s dy; s is a number without a gradient. */
#include "../kernel.h"

struct args {
    double s;
};

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data, s = (real)((const struct args *)y->args)->s;
    for (size_t i = from; i < to; i++)
        y->data[i] = s * x[i];
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const real s = (real)((const struct args *)y->args)->s;
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++)
        dx[i] += s * y->grad[i];
}

GRA_KERNEL(forward_all, forward, y, y->size, 1)
GRA_KERNEL(backward_all, backward, y, y->size, 2)

gra_tensor *gra_scale(gra_tape *t, gra_tensor *x, double s)
{
    static const gra_op op = { .name = "scale", .forward = forward_all, .backward = backward_all,
                               .args = sizeof(struct args), .args_text = "by %g" };
    gra_tensor *y = gra_result_like(t, &op, x);
    *(struct args *)y->args = (struct args){ s };
    return gra_run(y);
}
