/* add: y = a + b element by element, with broadcasting. da += dy, db += dy, each summed over the dimensions
 * in which its operand was stretched. */
#include "../kernel.h"

/* w is a walk (op.h) in pieces of w.n elements. A stretched operand's step is 0: one element for all i. */
static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *a = y->in[0]->data, *b = y->in[1]->data;
    for (gra_walk w = gra_walk_begin(y->shape, y->in[0]->shape, y->in[1]->shape, from, to); w.n;
         gra_walk_next(&w))
        for (size_t i = 0; i < w.n; i++)
            y->data[w.y + i] = a[w.a + i * w.step_a] + b[w.b + i * w.step_b];         /* y = a + b */
}

/* Gradients are indexed like y: GRA_BROADCAST_KERNEL sums the gradient of a stretched operand. Residual
 * additions x + f(x) are frequent, so an uninitialised (fresh) gradient is overwritten, not zeroed first. */
static void backward(gra_tensor *y, size_t from, size_t to)
{
    const real *dy = y->grad + from;
    for (int i = 0; i < 2; i++) {
        real *dx = y->in[i]->grad;                                                    /* da or db */
        if (dx && y->in[i]->fresh)
            memcpy(dx + from, dy, (to - from) * sizeof(real));
        else
            for (size_t k = 0; dx && k < to - from; k++)
                dx[from + k] += dy[k];                                                /* da += dy, db += dy */
    }
}

/* The last number is the cost of an element, roughly in additions. */
GRA_KERNEL(forward_all, forward, y, y->size, 1)
GRA_BROADCAST_KERNEL(backward_all, backward, y, 2)

gra_tensor *gra_add(gra_tape *t, gra_tensor *a, gra_tensor *b)
{
    static const gra_op op = { .name = "add", .forward = forward_all, .backward = backward_all,
                               .overwrites_grad = true, .reads_no_inputs = true, .reads_no_result = true };
    return gra_run(gra_result_broadcast(t, &op, a, b));
}
