/* NAME: y = f(x), dx += dy f'(x).         NAME: the formula is still the template's: write it here */
#include "../kernel.h"                  /* op.h, and GRA_KERNEL (below) */
#include "../kern/vmath.h"              /* real_exp, real_log, real_tanh, real_sigmoid ...: fast */
#include <tgmath.h>                     /* the rest (fabs, sin ...), for float and double */

/* Computes y[i] for from <= i < to: a chunk of a large tensor, which threads share, or all of a small one.
 * Cast constants, (real)0.5: otherwise floats are computed in double. */
static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data;
    for (size_t i = from; i < to; i++)
        y->data[i] = x[i] * (real)NAN;          /* NAME: forward is still the template's: write it */
}

/* Given dy = d(loss)/dy, computes dx = d(loss)/dx. Accumulate (+=): x may feed several ops. The results of
 * forward are in y->data[i]. */
static void backward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data, *dy = y->grad;
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++)
        dx[i] += dy[i] * x[i] * (real)NAN;      /* NAME: backward is still the template's: write it */
}

/* GRA_KERNEL(all, f, y, n, cost) defines all(y), which runs f for all n units of work (here elements; for a
 * softmax, rows), compiled for each instruction set, on all threads if the tensor is large. `cost` is the
 * rough cost of a unit: + - * / count 1, exp, log and tanh 10. */
GRA_KERNEL(forward_all, forward, y, y->size, 4)
GRA_KERNEL(backward_all, backward, y, y->size, 4)

gra_tensor *gra_NAME(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "NAME", .forward = forward_all, .backward = backward_all };
    return gra_run(gra_result_like(t, &op, x));         /* y has the shape of x */
}
