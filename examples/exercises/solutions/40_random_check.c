/* 40 random_check, solved.
 *
 * ((x + h)^2 + (x - h)^2) p / (1 - p) is the variance of the difference; its root divided by 2h grows without
 * bound as h becomes small. Averaging would need 1e10 calls for a slope of 1 with one digit, where one saved
 * state makes it exact.
 *
 * The state is copied as a whole: a generator may also hold a normal number that it has drawn but not yet
 * given out. f's own gradient needs the same state as the differences, or it belongs to another mask.
 *
 * noisy_dropout draws its mask again for the gradient. With the generator restored, the losses of the check
 * have one mask, and dx has the one that comes after it: the check is right to refuse it. The mask must be
 * kept, or the gradient computed where it is at hand. (gra_check restores the generator in this way.)
 */
#include "exercises.h"

double dropout_noise(double x, double p, double h)
{
    return sqrt(((x + h) * (x + h) + (x - h) * (x - h)) * p / (1 - p)) / (2 * h);
}

void same_draws_gradient(random_loss *f, void *arg, double *x, int n, double h, gra_rng *rng, double *g)
{
    const gra_rng saved = *rng;
    for (int i = 0; i < n; i++) {
        const double xi = x[i];
        x[i] = xi + h;
        const double up = f(x, n, rng, NULL, arg);
        *rng = saved;
        x[i] = xi - h;
        const double down = f(x, n, rng, NULL, arg);
        *rng = saved;
        x[i] = xi;
        g[i] = (up - down) / (2 * h);
    }
}

double check_random(random_loss *f, void *arg, double *x, int n, double h, gra_rng *rng)
{
    const gra_rng saved = *rng;
    double a[RANDOM_MOST] = { 0 }, g[RANDOM_MOST], worst = 0;
    f(x, n, rng, a, arg);
    *rng = saved;
    same_draws_gradient(f, arg, x, n, h, rng, g);
    for (int i = 0; i < n; i++)
        worst = fmax(worst, fabs(a[i] - g[i]));
    return worst;
}

static double factor(gra_rng *rng, double p)
{
    double u;
    gra_rand(rng, &u, 1);
    return u < p ? 0 : 1 / (1 - p);
}

double noisy_dropout(const double *x, int n, gra_rng *rng, double *dx, void *arg)
{
    const double p = *(const double *)arg;
    double loss = 0;
    for (int i = 0; i < n; i++) {
        const double by = factor(rng, p), y = x[i] * by;
        loss += y * y / 2;
        if (dx)
            dx[i] += y * by;
    }
    return loss;
}
