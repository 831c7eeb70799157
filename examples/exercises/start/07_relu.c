/* 07 relu: a bend, and what a gradient is there.
 *
 *     y = max(x, 0)
 *
 * Without something that bends between them, two matrices in a row are only one matrix. ReLU is the
 * plainest bend: it lets positive numbers pass and makes others 0. Its slope is 1 where x > 0, and 0 where
 * x < 0. At 0 there is none: any number from 0 to 1 would do, and everybody takes 0, as PyTorch does. So do
 * you, for zeros do come up: the output of another ReLU is full of them.
 *
 * Write forward and backward; x has any shape and y->size numbers.
 *
 * A gradient check stumbles over the kink: with x - h and x + h on both sides of it, the central difference
 * (exercise 01) is neither 0 nor 1, although nothing is wrong with the backward. can_be_checked(x, h), with
 * h > 0, says whether x can be checked with this step: true if (relu(x + h) - relu(x - h)) / (2 h) is the
 * gradient at x that you wrote. Do not compute the difference; say it with x and h alone.
 */
#include "exercises.h"

static void forward(gra_tensor *y)
{
    const double *x = y->in[0]->data;
    (void)x;                                            /* TO DO: y->data[i] = ... */
}

static void backward(gra_tensor *y)
{
    const double *x = y->in[0]->data, *dy = y->grad;
    double *dx = y->in[0]->grad;                        /* backward is not called when nobody wants it */
    (void)x, (void)dy, (void)dx;                        /* TO DO */
}

/* Records the op: leave this as it is. */
gra_tensor *my_relu(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "my_relu", .forward = forward, .backward = backward };
    return gra_run(gra_result_like(t, &op, x));
}

bool can_be_checked(double x, double h)
{
    (void)x, (void)h;
    return false;                                       /* TO DO */
}
