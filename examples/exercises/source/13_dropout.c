/* 13 dropout: learning with parts missing.
 *
 * In training each number is set to 0 with probability p, anew in each step, so no unit can rely on
 * another (Srivastava et al. 2014). The kept numbers are scaled up, so on average y is x:
 *
 *     y_i = 0 with probability p, else x_i / (1 - p)              0 <= p < 1, in GRA_TRAIN
 *     y_i = x_i                                   in all other modes: nothing is drawn there
 *
 * gra_tape_mode(y->tape) is the mode, and gra_tape_rng(y->tape) the generator (a gra_rng *) to draw from; it
 * may be NULL where it is not needed. gra_rand(rng, u, n) fills u with n numbers, uniform in [0, 1).
 *
 * Backward passes dy through the numbers that were kept, with the same factor. So it must know which numbers
 * were kept: drawing again would keep different numbers, and y does not show which were kept (why?). y->saved
 * has room for as many numbers as y has: in forward, keep there what backward needs.
 */
/* 13 dropout, solved.
 *
 * u < p has probability p. y is x times a factor that is 0 or 1 / (1 - p), on average (1 - p) / (1 - p) = 1;
 * the derivative is that factor. y itself does not show it: where x is 0, y is 0 whether it was kept or not,
 * but a gradient flows only if it was kept. Scaling in training has the advantage that there is nothing to do
 * when the model is used: the factor is 1 then.
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
//| (void)x, (void)p;                                   /* TO DO: y->data[i] = ... for i < y->size */
    const bool train = gra_tape_mode(y->tape) == GRA_TRAIN;
    if (train)
        gra_rand(gra_tape_rng(y->tape), y->saved, y->size);
    for (size_t i = 0; i < y->size; i++) {
        y->saved[i] = !train ? 1 : y->saved[i] < p ? 0 : 1 / (1 - p);
        y->data[i] = x[i] * y->saved[i];
    }
}

static void backward(gra_tensor *y)
{
    double *dx = y->in[0]->grad;
//| (void)dx;                                           /* TO DO */
    for (size_t i = 0; i < y->size; i++)
        dx[i] += y->grad[i] * y->saved[i];
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
