/* sin: y = sin(x), dx += dy cos(x). x is in radians. libm computes y, accurate for large x too; the last bit
 * differs from one libm to another. */
#include "../kernel.h"
#include <tgmath.h>

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data;
    for (size_t i = from; i < to; i++)
        y->data[i] = sin(x[i]);
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data, *dy = y->grad;
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++)
        dx[i] += dy[i] * cos(x[i]);
}

GRA_KERNEL(forward_all, forward, y, y->size, 32)
GRA_KERNEL(backward_all, backward, y, y->size, 32)

gra_tensor *gra_sin(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "sin", .forward = forward_all, .backward = backward_all };
    return gra_run(gra_result_like(t, &op, x));
}
