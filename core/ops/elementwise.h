/* elementwise.h: ops of one input, in which each y_i is a function of x_i. Such an op is two formulas:
 *
 *     ELEMENTWISE(gra_tanh, "tanh",
 *                 y = real_tanh(x), 16,
 *                 dx += dy * (1 - y * y), 2)
 *
 * The forward computes y from x, and the backward adds to dx, from x, y and dy. All are numbers of one
 * element; a fresh dx begins as 0. After each formula comes its cost, roughly in additions (kernel.h).
 * ELEMENTWISE_BY also takes a number s, an argument without a gradient, and the text that shows s (op.h,
 * args_text). sigmoid.c is such an op written out. */
#ifndef GRADUS_ELEMENTWISE_H
#define GRADUS_ELEMENTWISE_H

#include "../kernel.h"
#include "../kern/vmath.h"

#define ELEMENTWISE(function, title, set_y, cost, add_to_dx, cost_back)                                  \
    ELEMENT_LOOPS(, set_y, cost, add_to_dx, cost_back)                                                   \
    gra_tensor *function(gra_tape *t, gra_tensor *x)                                                     \
    {                                                                                                    \
        static const gra_op op = { .name = title, .forward = forward_all, .backward = backward_all,      \
                                   .overwrites_grad = true };                                            \
        return gra_run(gra_result_like(t, &op, x));                                                      \
    }

#define ELEMENTWISE_BY(function, title, text, set_y, cost, add_to_dx, cost_back)                         \
    ELEMENT_LOOPS(const real s = (real)*(const double *)result->args; (void)s;, set_y, cost, add_to_dx,  \
                  cost_back)                                                                             \
    gra_tensor *function(gra_tape *t, gra_tensor *x, double s)                                           \
    {                                                                                                    \
        static const gra_op op = { .name = title, .forward = forward_all, .backward = backward_all,      \
                                   .args = sizeof s, .args_text = text, .overwrites_grad = true };       \
        gra_tensor *y = gra_result_like(t, &op, x);                                                      \
        *(double *)y->args = s;                                                                          \
        return gra_run(y);                                                                               \
    }

#define ELEMENT_LOOPS(begin, set_y, cost, add_to_dx, cost_back)                                          \
    static void forward(gra_tensor *result, size_t from, size_t to)                                      \
    {                                                                                                    \
        const real *in = result->in[0]->data;                                                            \
        begin                                                                                            \
        for (size_t i = from; i < to; i++) {                                                             \
            const real x = in[i];                                                                        \
            real y;                                                                                      \
            set_y;                                                                                       \
            result->data[i] = y;                                                                         \
        }                                                                                                \
    }                                                                                                    \
    static void backward(gra_tensor *result, size_t from, size_t to)                                     \
    {                                                                                                    \
        const real *in = result->in[0]->data;                                                            \
        real *grad = result->in[0]->grad;                                                                \
        const bool fresh = result->in[0]->fresh;                                                         \
        begin                                                                                            \
        for (size_t i = from; i < to; i++) {                                                             \
            const real x = in[i], y = result->data[i], dy = result->grad[i];                             \
            real dx = fresh ? 0 : grad[i];                                                               \
            (void)x, (void)y;                           /* most formulas need only one */                \
            add_to_dx;                                                                                   \
            grad[i] = dx;                                                                                \
        }                                                                                                \
    }                                                                                                    \
    GRA_KERNEL(forward_all, forward, y, y->size, cost)                                                   \
    GRA_KERNEL(backward_all, backward, y, y->size, cost_back)

#endif
