/* 02: an op of your own, outside the library: swish with a learned beta (Ramachandran et al. 2017).
 *
 *     y = x s,  s = 1 / (1 + e^-(beta x))                 x of any shape, beta one number
 *     dx    += dy (s + beta x s (1 - s))
 *     dbeta += sum of dy x^2 s (1 - s)
 *
 *     make && build/examples/02_own_op
 *
 * What you will learn: an op is a forward, a backward and a function that checks its arguments;
 * gra_check reports whether the backward is right. The check compares it with differences of the
 * loss, which requires double precision: this program is compiled with -DGRADUS_DOUBLE and linked
 * with libgradus64.
 */
#include "../core/op.h"
#include <tgmath.h>                     /* exp of a real, float or double */

/* Backward needs s again, so forward saves it: as many values as y has. */
static size_t saved(const gra_tensor *y)
{
    return y->size;
}

static void forward(gra_tensor *y)
{
    const real *x = y->in[0]->data, beta = *y->in[1]->data;
    real *s = y->saved;
    for (size_t i = 0; i < y->size; i++) {
        s[i] = 1 / (1 + exp(-beta * x[i]));
        y->data[i] = x[i] * s[i];
    }
}

/* Two rules. in[i]->grad is NULL if that gradient is not needed: test it. And always accumulate (+=): x may
 * feed other ops too. */
static void backward(gra_tensor *y)
{
    const real *x = y->in[0]->data, beta = *y->in[1]->data, *s = y->saved, *dy = y->grad;
    real *dx = y->in[0]->grad, *dbeta = y->in[1]->grad;
    for (size_t i = 0; dx && i < y->size; i++)
        dx[i] += dy[i] * (s[i] + beta * x[i] * s[i] * (1 - s[i]));
    for (size_t i = 0; dbeta && i < y->size; i++)
        *dbeta += dy[i] * x[i] * x[i] * s[i] * (1 - s[i]);
}

/* The public function checks its arguments, so that forward and backward need not. */
static gra_tensor *swish(gra_tape *t, gra_tensor *x, gra_tensor *beta)
{
    static const gra_op op = { .name = "swish", .saved = saved, .forward = forward,
                               .backward = backward };
    if (GRA_BAD_INPUTS(t, "swish", x, beta))
        return gra_empty(t);
    if (beta->size != 1)
        return gra_fail(t, "swish: got beta %s, expected one number", GRA_SHAPE_OF(beta));
    return gra_run(gra_result(t, &op, x->shape, x, beta));
}

/* ---- is the backward right? ------------------------------------------------------------------- */

static gra_tensor *checked(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return swish(t, in[0], in[1]);
}

/* x is a matrix with odd sizes: some mistakes do not show with a vector, or with even sizes. */
static int check(gra_tape *t)
{
    const gra_check_in in[] = { { .name = "x", .shape = GRA_SHAPE(3, 17) }, { .name = "beta" } };
    gra_check_report report;
    int result = gra_check(t, &(gra_check_options){ .nin = 2, .in = in, .f = checked }, &report);
    printf("%s\n\n", report.text);
    return result;
}

/* ---- is it useful? -------------------------------------------------------------------------------- */

/* Which beta makes swish most like GELU? Learn it, on a thousand x from N(0, 1). GELU's authors
 * recommend 1.702 (Hendrycks & Gimpel 2016). */
static void learn(gra_tape *t)
{
    enum { POINTS = 1000, STEPS = 200 };
    gra_real points[POINTS];
    gra_rng rng;
    gra_manual_seed(&rng, 123);
    gra_randn(&rng, points, POINTS);

    gra_model *model = gra_model_open(t, &rng);
    gra_tensor *beta = gra_param(gra_root(model), "beta", gra_init_ones(), GRA_SCALAR);     /* starts at 1 */
    gra_sgd sgd;
    gra_sgd_init(&sgd, model, NULL);
    sgd.lr = 2;                                         /* a large learning rate: the gradients are small */

    printf("which beta makes x sigmoid(beta x) a GELU?\n");
    for (int step = 0; step <= STEPS; step++) {
        gra_begin(t, GRA_GRAD, NULL);
        gra_tensor *x = gra_constant(t, points, GRA_SHAPE(POINTS));
        gra_tensor *loss = gra_mse_loss(t, swish(t, x, beta), gra_gelu(t, x));
        if (step % 40 == 0)
            printf("step %3d   beta %.4f   mean squared difference %.7f\n", step, (double)*beta->data,
                   gra_item(loss));
        gra_zero_grad(model);
        gra_backward(t, loss);
        gra_sgd_step(&sgd);
    }
    gra_model_close(model);
}

int main(void)
{
    gra_tape *t = gra_open(1);
    int wrong = check(t);
    if (!wrong)
        learn(t);
    gra_close(t);
    return wrong ? 1 : 0;
}

/* Try: 1 - s * s in place of 1 - s, in one line of backward(). The check fails, and reports the factor.
 * Try: = in place of += there. The check fails: x may have other uses, and their gradients are lost. */
