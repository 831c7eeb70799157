/* div: y = a / b element by element, with broadcasting. da += dy / b, db -= dy y / b, each summed
 * over the dimensions in which its operand was stretched. */
#include "../kernel.h"

/* w is a walk (op.h) in pieces of w.n elements. A stretched operand's step is 0: one element for all i. */
static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *a = y->in[0]->data, *b = y->in[1]->data;
    for (gra_walk w = gra_walk_begin(y->shape, y->in[0]->shape, y->in[1]->shape, from, to); w.n;
         gra_walk_next(&w))
        for (size_t i = 0; i < w.n; i++)
            y->data[w.y + i] = a[w.a + i * w.step_a] / b[w.b + i * w.step_b];
}

/* Gradients are indexed like y: GRA_BROADCAST_KERNEL sums the gradient of a stretched operand. */
static void backward(gra_tensor *y, size_t from, size_t to)
{
    const real *b = y->in[1]->data, *dy = y->grad;
    real *da = y->in[0]->grad, *db = y->in[1]->grad;
    for (gra_walk w = gra_walk_begin(y->shape, y->in[0]->shape, y->in[1]->shape, from, to); w.n;
         gra_walk_next(&w)) {
        if (da)
            for (size_t i = 0; i < w.n; i++)
                da[w.y + i] += dy[w.y + i] / b[w.b + i * w.step_b];
        if (db)
            for (size_t i = 0; i < w.n; i++)
                db[w.y + i] -= dy[w.y + i] * y->data[w.y + i] / b[w.b + i * w.step_b];
    }
}

GRA_KERNEL(forward_all, forward, y, y->size, 4)
GRA_BROADCAST_KERNEL(backward_all, backward, y, 8)

gra_tensor *gra_div(gra_tape *t, gra_tensor *a, gra_tensor *b)
{
    static const gra_op op = { .name = "div", .forward = forward_all, .backward = backward_all };
    return gra_run(gra_result_broadcast(t, &op, a, b));
}
