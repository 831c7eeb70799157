/* 07 relu: a kink, and the gradient there.
 *
 *     y = max(x, 0)
 *
 * Without a nonlinear function between them, two matrix products in a row do no more than one. ReLU is the
 * simplest such function: it passes positive numbers on and replaces the others by 0. ReLU's slope is 1 where
 * x > 0, and 0 where x < 0. At 0 there is no slope: any number from 0 to 1 would do, and the usual choice,
 * PyTorch's too, is 0. Choose 0 as well, because zeros are common: the output of another ReLU is full of
 * them.
 *
 * Write forward and backward; x has any shape and y->size numbers.
 *
 * A gradient check trips over the kink: with x - h and x + h on either side of it, the central difference
 * (exercise 01) is neither 0 nor 1, although nothing is wrong with the backward. can_be_checked(x, h), with
 * h > 0, returns whether x can be checked with this step: true if (relu(x + h) - relu(x - h)) / (2 h) is the
 * gradient that your backward has at x. Do not compute the difference: use a condition on x and h only.
 */
/* 07 relu, solved.
 *
 * The backward is a gate: dy passes where x did, and nowhere else. The condition is on x (or on y, which is
 * positive at the same places), never on dy: a negative gradient passes as well as a positive one.
 *
 * With |x| < h the two points are on both sides of 0, and the difference is (x + h) / (2h), something between
 * 0 and 1: at x = 0 it is 1/2, whatever h. From |x| = h on, both points are on one side, where relu is a
 * line, and the difference is exact. That is why gra_check draws its numbers a little away from 0.
 */
#include "exercises.h"
//{
#include <math.h>
//}

static void forward(gra_tensor *y)
{
    const double *x = y->in[0]->data;
//| (void)x;                                            /* TO DO: y->data[i] = ... */
    for (size_t i = 0; i < y->size; i++)
        y->data[i] = x[i] > 0 ? x[i] : 0;
}

static void backward(gra_tensor *y)
{
    const double *x = y->in[0]->data, *dy = y->grad;
    double *dx = y->in[0]->grad;                        /* not NULL, or backward is not called */
//| (void)x, (void)dy, (void)dx;                        /* TO DO */
    for (size_t i = 0; i < y->size; i++)
        if (x[i] > 0)
            dx[i] += dy[i];
}

/* Records the op: leave this as it is. */
gra_tensor *my_relu(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "my_relu", .forward = forward, .backward = backward };
    return gra_run(gra_result_like(t, &op, x));
}

bool can_be_checked(double x, double h)
{
//| (void)x, (void)h;
//| return false;                                       /* TO DO */
    return fabs(x) >= h;
}
