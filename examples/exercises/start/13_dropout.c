/* 13 dropout: learning with parts missing.
 *
 * In training each number is set to 0 with probability p, anew in each step, so that no unit can rely on
 * another (Srivastava et al. 2014). The others are scaled up, so that on average y is x:
 *
 *     y_i = 0 with probability p, else x_i / (1 - p)              0 <= p < 1, in GRA_TRAIN
 *     y_i = x_i                                   in all other modes: nothing is drawn there
 *
 * gra_tape_mode(y->tape) is the mode, and gra_tape_rng(y->tape) the generator (a gra_rng *) to draw from; it
 * may be NULL where it is not needed. gra_rand(rng, u, n) fills u with n numbers, uniform in [0, 1).
 *
 * Backward passes dy through the numbers that were kept, by the same factor. So it must know which ones they
 * were: drawing again would give others, and y does not show it (why?). y->saved has room for as many numbers
 * as y: keep there in forward what backward needs.
 */
#include "exercises.h"

struct args {
    double p;
};

static size_t saved(const gra_tensor *y)
{
    return y->size;
}

static void forward(gra_tensor *y)
{
    const double *x = y->in[0]->data, p = ((struct args *)y->args)->p;
    (void)x, (void)p;                                   /* TO DO: y->data[i] = ... for i < y->size */
}

static void backward(gra_tensor *y)
{
    double *dx = y->in[0]->grad;
    (void)dx;                                           /* TO DO */
}

/* Records the op: leave this as it is. */
gra_tensor *dropout(gra_tape *t, gra_tensor *x, double p)
{
    static const gra_op op = { .name = "my_dropout", .forward = forward, .backward = backward, .saved = saved,
                               .args = sizeof(struct args) };
    gra_tensor *y = gra_result_like(t, &op, x);
    ((struct args *)y->args)->p = p;
    return gra_run(y);
}
