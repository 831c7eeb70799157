/* 03: fit a line y = a x + b to noisy points by gradient descent.
 *
 *     make && build/examples/03_line
 *
 * What you will learn: a model owns parameters, an optimiser moves them against their gradients,
 * and training is a loop: begin, forward, loss, zero_grad, backward, step. All later examples, and the GPT,
 * use this loop.
 */
#include "../core/gradus.h"
#include <math.h>

enum { POINTS = 40, STEPS = 100 };

static const double true_a = 3, true_b = -1, noise = 0.3;

/* What gradient descent should converge to: the line of least squares, by its formula. */
static void least_squares(const gra_real *x, const gra_real *y, double *a, double *b)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < POINTS; i++) {
        sx += (double)x[i];
        sy += (double)y[i];
        sxx += (double)x[i] * (double)x[i];
        sxy += (double)x[i] * (double)y[i];
    }
    *a = (POINTS * sxy - sx * sy) / (POINTS * sxx - sx * sx);
    *b = (sy - *a * sx) / POINTS;
}

static void bar(double loss)
{
    for (int i = 0; i < (int)(10 * loss) && i < 50; i++)
        putchar('#');
    putchar('\n');
}

int main(void)
{
    gra_real xs[POINTS], ys[POINTS];
    gra_rng rng;
    gra_manual_seed(&rng, 123);                                             /* torch.manual_seed(123) */
    gra_uniform(&rng, xs, POINTS, -1, 1);
    gra_randn(&rng, ys, POINTS);
    for (int i = 0; i < POINTS; i++)
        ys[i] = (gra_real)(true_a * (double)xs[i] + true_b + noise * (double)ys[i]);

    gra_tape *t = gra_open(1);
    gra_model *model = gra_model_open(t, &rng);
    gra_tensor *a = gra_param(gra_root(model), "a", gra_init_zeros(), GRA_SCALAR);
    gra_tensor *b = gra_param(gra_root(model), "b", gra_init_zeros(), GRA_SCALAR);
    gra_sgd sgd;
    gra_sgd_init(&sgd, model, NULL);
    sgd.lr = 0.2;

    printf("step       a       b    loss\n");
    for (int step = 0; step <= STEPS; step++) {
        gra_begin(t, GRA_TRAIN, &rng);                  /* forgets the previous step, x and y too */
        gra_tensor *x = gra_constant(t, xs, GRA_SHAPE(POINTS));
        gra_tensor *y = gra_constant(t, ys, GRA_SHAPE(POINTS));
        gra_tensor *line = gra_add(t, gra_mul(t, a, x), b);                 /* a and b are broadcast */
        gra_tensor *loss = gra_mse_loss(t, line, y);                        /* mean (line - y)^2 */
        if (step % 10 == 0) {
            printf("%4d %7.4f %7.4f %7.4f  ", step, (double)*a->data, (double)*b->data, gra_item(loss));
            bar(gra_item(loss));
        }
        gra_zero_grad(model);                                               /* gradients accumulate */
        gra_backward(t, loss);
        gra_sgd_step(&sgd);                                                 /* a -= lr da, b -= lr db */
    }

    if (!isfinite((double)*a->data))
        printf("\nThe loss is no longer a number: each step overshot by more. Try a smaller lr.\n");
    double best_a, best_b;
    least_squares(xs, ys, &best_a, &best_b);
    printf("\nfound          y = %.4f x %+.4f\n", (double)*a->data, (double)*b->data);
    printf("least squares  y = %.4f x %+.4f   the best line through these points\n", best_a, best_b);
    printf("truth          y = %.4f x %+.4f   the line before the noise was added\n", true_a,
           true_b);
    gra_model_close(model);
    gra_close(t);
}

/* Try: sgd.lr = 0.02. The loss falls just as surely, but 100 steps are too few to reach the best line.
 * Try: sgd.lr = 2. Every step overshoots, and by more each time: the loss becomes infinite, then nan. */
