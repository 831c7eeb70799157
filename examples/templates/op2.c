/* NAME: y = f(a, b), da += dy df/da, db += dy df/db, with broadcasting.
 *                                         NAME: the formula is still the template's: write it here */
#include "../kernel.h"                  /* op.h, and GRA_KERNEL (below) */
#include "../kern/vmath.h"              /* real_exp, real_log, real_tanh, real_sigmoid ...: fast */
#include <tgmath.h>                     /* the rest (fabs, sin ...), for float and double */

/* Computes y[i] for from <= i < to: a chunk of a large tensor, which threads share, or all of a small one. w
 * is a walk (op.h) in pieces of w.n elements; a stretched operand's step is 0: one element for all i. Cast
 * constants, (real)0.5: otherwise floats are computed in double. */
static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *a = y->in[0]->data, *b = y->in[1]->data;
    for (gra_walk w = gra_walk_begin(y->shape, y->in[0]->shape, y->in[1]->shape, from, to); w.n;
         gra_walk_next(&w))
        for (size_t i = 0; i < w.n; i++) {
            const real a_i = a[w.a + i * w.step_a], b_i = b[w.b + i * w.step_b];
            y->data[w.y + i] = (a_i + b_i) * (real)NAN; /* NAME: forward is still the template's: write it */
        }
}

/* Given dy = d(loss)/dy, computes da and db, each of which is NULL if that gradient is not needed. Both are
 * indexed as y is: GRA_BROADCAST_KERNEL sums the gradient of a stretched operand. Accumulate (+=): a may feed
 * several ops. The results of forward are in y->data[w.y + i]. */
static void backward(gra_tensor *y, size_t from, size_t to)
{
    const real *a = y->in[0]->data, *b = y->in[1]->data, *dy = y->grad;
    real *da = y->in[0]->grad, *db = y->in[1]->grad;
    for (gra_walk w = gra_walk_begin(y->shape, y->in[0]->shape, y->in[1]->shape, from, to); w.n;
         gra_walk_next(&w))
        for (size_t i = 0; i < w.n; i++) {
            const real a_i = a[w.a + i * w.step_a], b_i = b[w.b + i * w.step_b], dy_i = dy[w.y + i];
            if (da)
                da[w.y + i] += dy_i * b_i * (real)NAN;  /* NAME: da is still the template's: write it */
            if (db)
                db[w.y + i] += dy_i * a_i * (real)NAN;  /* NAME: db is still the template's: write it */
        }
}

/* GRA_KERNEL(all, f, y, n, cost) defines all(y), which runs f for all n elements, compiled for each
 * instruction set, on all threads if the tensor is large; GRA_BROADCAST_KERNEL(all, f, y, cost) does so for a
 * backward. `cost` is the rough cost of an element: + - * / count 1, exp, log and tanh 10. */
GRA_KERNEL(forward_all, forward, y, y->size, 4)
GRA_BROADCAST_KERNEL(backward_all, backward, y, 4)

gra_tensor *gra_NAME(gra_tape *t, gra_tensor *a, gra_tensor *b)
{
    static const gra_op op = { .name = "NAME", .forward = forward_all, .backward = backward_all };
    return gra_run(gra_result_broadcast(t, &op, a, b)); /* y has the shape to which a and b broadcast */
}
