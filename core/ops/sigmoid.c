/* sigmoid: y = 1 / (1 + e^-x), dx += dy y (1 - y). */
#include "../kernel.h"
#include "../kern/vmath.h"

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data;
    for (size_t i = from; i < to; i++)
        y->data[i] = real_sigmoid(x[i]);                        /* y = 1 / (1 + e^-x) */
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++)
        dx[i] += y->grad[i] * y->data[i] * (1 - y->data[i]);    /* dx += dy y (1 - y) */
}

/* GRA_KERNEL(forward_all, forward, y, units, cost) defines forward_all(y), which calls forward(y, from, to)
 * until all units from 0 to units - 1 are done, on several threads if that pays. Here a unit is an element,
 * and its cost, roughly in additions, decides how many threads are used. */
GRA_KERNEL(forward_all, forward, y, y->size, 12)
GRA_KERNEL(backward_all, backward, y, y->size, 3)

gra_tensor *gra_sigmoid(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "sigmoid", .forward = forward_all, .backward = backward_all };
    return gra_run(gra_result_like(t, &op, x));
}
