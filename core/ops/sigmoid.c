/* sigmoid: y = 1 / (1 + e^-x), dx += dy y (1 - y). */
#include "../op.h"
#include "../kern/vmath.h"

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data;
    for (size_t i = from; i < to; i++)
        y->data[i] = real_sigmoid(x[i]);
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++)
        dx[i] += y->grad[i] * y->data[i] * (1 - y->data[i]);
}

/* A unit of work is an element. Its cost (the last number) is counted in additions. */
GRA_KERNEL(forward_all, forward, y, y->size, 12)
GRA_KERNEL(backward_all, backward, y, y->size, 3)

gra_tensor *gra_sigmoid(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "sigmoid", .forward = forward_all, .backward = backward_all };
    return gra_run(gra_result_like(t, &op, x));
}
