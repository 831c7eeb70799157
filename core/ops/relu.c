/* relu: y = max(x, 0), dx += dy where x > 0. As in PyTorch a NaN stays NaN, and dy flows through it. */
#include "../kernel.h"

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data;
    for (size_t i = from; i < to; i++)
        y->data[i] = x[i] <= 0 ? 0 : x[i];
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++) {
        const real dy = y->grad[i];                     /* read in either case: no branch */
        dx[i] += y->data[i] <= 0 ? 0 : dy;
    }
}

GRA_KERNEL(forward_all, forward, y, y->size, 1)
GRA_KERNEL(backward_all, backward, y, y->size, 2)

gra_tensor *gra_relu(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "relu", .forward = forward_all, .backward = backward_all };
    return gra_run(gra_result_like(t, &op, x));
}
