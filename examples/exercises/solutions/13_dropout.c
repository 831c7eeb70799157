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
    for (size_t i = 0; i < y->size; i++)
        dx[i] += y->grad[i] * y->saved[i];
}

gra_tensor *dropout(gra_tape *t, gra_tensor *x, double p)
{
    static const gra_op op = { .name = "my_dropout", .forward = forward, .backward = backward, .saved = saved,
                               .args = sizeof(struct args) };
    gra_tensor *y = gra_result_like(t, &op, x);
    ((struct args *)y->args)->p = p;
    return gra_run(y);
}
