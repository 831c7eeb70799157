/* wrong_op.h: ops of one or two inputs with a backward, mostly wrong, written where the op is used:
 *
 *     OP(flipped, square)
 *     {
 *         EACH dx[i] -= 2 * x[i] * dy[i];
 *     }
 *
 * defines a function for gra_check. Its op has the name "flipped" and the forward `square`; more members of
 * gra_op may follow: OP(flipped, square, .overwrites_grad = true). */
#ifndef TESTS_WRONG_OP_H
#define TESTS_WRONG_OP_H

#include "core/op.h"

#define EACH for (size_t i = 0; i < y->size; i++)

/* y_i of x and i, or of x, w and i */
#define FORWARD(name, value)                                                                             \
    static inline void name(gra_tensor *y)                                                               \
    {                                                                                                    \
        const real *x = y->in[0]->data, *w = y->nin > 1 ? y->in[1]->data : NULL;                         \
        (void)w;                                                                                         \
        EACH y->data[i] = (real)(value);                                                                 \
    }

#define OP(fn, ...)        OP_OF(fn, gra_result_like(tape, &op, in[0]), __VA_ARGS__)
#define OP_SCALAR(fn, ...) OP_OF(fn, gra_result(tape, &op, GRA_SCALAR, in[0]), __VA_ARGS__)
#define OP2(fn, ...)       /* of x and w: `arg` is w, or NULL where w is in[1] */                        \
    OP_OF(fn, gra_result(tape, &op, in[0]->shape, in[0], arg ? arg : in[1]), __VA_ARGS__)

#define IF_USED __attribute__((unused)) real *
#define BODY_OF(fn)                                                                                      \
    static void fn##_body(gra_tensor *y, IF_USED x, IF_USED w, IF_USED dx, IF_USED dw, IF_USED dy)
#define OP_OF(fn, result, ...)                                                                           \
    BODY_OF(fn);                                                                                         \
    static void fn##_backward(gra_tensor *y)                                                             \
    {                                                                                                    \
        const gra_tensor *x = y->in[0], *w = y->nin > 1 ? y->in[1] : NULL;                               \
        fn##_body(y, x->data, w ? w->data : NULL, x->grad, w ? w->grad : NULL, y->grad);                 \
    }                                                                                                    \
    static gra_tensor *fn(gra_tape *tape, gra_tensor **in, void *arg)                                    \
    {                                                                                                    \
        static const gra_op op = { .name = #fn, .backward = fn##_backward, .forward = __VA_ARGS__ };     \
        (void)arg;                                                                                       \
        return gra_run(result);                                                                          \
    }                                                                                                    \
    BODY_OF(fn)

/* y = x^2 and y = x w, and their right backwards */
FORWARD(square, x[i] * x[i])
FORWARD(product, x[i] * w[i])

static inline void right_of_square(gra_tensor *y)
{
    const gra_tensor *x = y->in[0];
    EACH if (x->grad) x->grad[i] += 2 * x->data[i] * y->grad[i];
}

static inline void right_of_product(gra_tensor *y)
{
    const gra_tensor *x = y->in[0], *w = y->in[1];
    EACH if (x->grad) x->grad[i] += w->data[i] * y->grad[i];
    EACH if (w->grad) w->grad[i] += x->data[i] * y->grad[i];
}

#endif
