/* abs: y = |x|, dx += dy sign(x), where sign(0) = 0, as in PyTorch. */
#include "../kernel.h"

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data;
    for (size_t i = from; i < to; i++)
        y->data[i] = x[i] < 0 ? -x[i] : x[i] + 0;       /* + 0 turns -0 into 0 */
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data, *dy = y->grad;
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++)
        dx[i] += dy[i] * (real)((x[i] > 0) - (x[i] < 0));
}

GRA_KERNEL(forward_all, forward, y, y->size, 1)
GRA_KERNEL(backward_all, backward, y, y->size, 3)

gra_tensor *gra_abs(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "abs", .forward = forward_all, .backward = backward_all };
    return gra_run(gra_result_like(t, &op, x));
}
