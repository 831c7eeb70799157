/* add_scalar: y = x + s, dx += dy; s is a number without a gradient. */
#include "../kernel.h"

struct args {
    double s;
};

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data, s = (real)((const struct args *)y->args)->s;
    for (size_t i = from; i < to; i++)
        y->data[i] = x[i] + s;
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++)
        dx[i] += y->grad[i];
}

GRA_KERNEL(forward_all, forward, y, y->size, 1)
GRA_KERNEL(backward_all, backward, y, y->size, 1)

gra_tensor *gra_add_scalar(gra_tape *t, gra_tensor *x, double s)
{
    static const gra_op op = { .name = "add_scalar", .forward = forward_all, .backward = backward_all,
                               .args = sizeof(struct args), .args_text = "%g" };
    gra_tensor *y = gra_result_like(t, &op, x);
    *(struct args *)y->args = (struct args){ s };
    return gra_run(y);
}
