/* 40 random_check: the gradient of something that draws random numbers.
 *
 * Exercise 01 compares gradients with central differences (f(x + h) - f(x - h)) / 2h. If f draws numbers, as
 * dropout does, each call draws different ones: f(x + h) has one mask, f(x - h) has another. The difference
 * of the two does not become small with h, and divided by 2h it is nothing but noise.
 *
 * How much noise? Let y be 0 with probability p, else x / (1 - p), drawn anew in each call. Its variance is
 * x^2 p / (1 - p). The variance of the difference of two independent numbers is the sum of their variances,
 * and the standard deviation is the root of the variance. For x = 1, p = 0.5 and h = 1e-5 the standard
 * deviation of the quotient is 70711, but the slope is 1 on average.
 *
 * The remedy is to draw the *same* numbers in each call: then f is an ordinary function of x, and its
 * gradient is the gradient for these draws. A generator is a struct of plain values (gra_rng): one assignment
 * saves its state, and a second one restores it.
 *
 * A random_loss f(x, n, rng, dx, arg) returns a loss of n numbers x, for which it draws from rng. If dx is
 * not NULL, it also adds dloss/dx for these draws to dx. n is at most RANDOM_MOST. Write:
 *
 *   dropout_noise        the standard deviation of (y(x + h) - y(x - h)) / 2h, not only for small h: y(x + h)
 *                        and y(x - h) have different variances.
 *   same_draws_gradient  the central differences g[i] of f, with the numbers that f draws if it is called
 *                        with *rng as it is. Afterwards x and *rng are as they were before.
 *   check_random         the largest |a[i] - g[i]|, where a is f's own gradient for the same draws.
 *                        Afterwards x and *rng are as they were before.
 *   noisy_dropout        is a random_loss: the sum of y_i^2 / 2, where y is the dropout of x with p = *arg.
 *                        Its gradient is wrong, as your check_random will show. Find out why, and correct it.
 *                        It should draw one number for each x, in order, and no others.
 */
/* 40 random_check, solved.
 *
 * ((x + h)^2 + (x - h)^2) p / (1 - p) is the variance of the difference; its root divided by 2h grows without
 * bound as h becomes small. By averaging, one digit of a slope of 1 would take 1e10 calls; one saved state
 * makes the slope exact.
 *
 * The state is copied as a whole: a generator may also hold a normal number that it has drawn but not yet
 * given out. f's own gradient needs the same state as the differences; otherwise it belongs to a different
 * mask.
 *
 * noisy_dropout draws its mask again for the gradient. With the generator restored, the losses of the check
 * have one mask, and dx has the one that comes after it: the check is right to refuse it. The mask must be
 * kept, or the gradient computed where it is at hand. (gra_check restores the generator in this way.)
 */
#include "exercises.h"

double dropout_noise(double x, double p, double h)
{
//| (void)x, (void)p, (void)h;                                  /* TO DO */
//| return 0;
    return sqrt(((x + h) * (x + h) + (x - h) * (x - h)) * p / (1 - p)) / (2 * h);
}

void same_draws_gradient(random_loss *f, void *arg, double *x, int n, double h, gra_rng *rng, double *g)
{
//| (void)f, (void)arg, (void)x, (void)n, (void)h, (void)rng, (void)g;  /* TO DO */
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
//| (void)f, (void)arg, (void)x, (void)n, (void)h, (void)rng;   /* TO DO */
//| return 0;
    const gra_rng saved = *rng;
    double a[RANDOM_MOST] = { 0 }, g[RANDOM_MOST], worst = 0;
    f(x, n, rng, a, arg);
    *rng = saved;
    same_draws_gradient(f, arg, x, n, h, rng, g);
    for (int i = 0; i < n; i++)
        worst = fmax(worst, fabs(a[i] - g[i]));
    return worst;
}

/* The factor of a number that dropout keeps; 0 if dropout drops it. */
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
//|     const double y = x[i] * factor(rng, p);
//|     loss += y * y / 2;
//| }
//| for (int i = 0; i < n && dx; i++) {
//|     const double by = factor(rng, p);
//|     dx[i] += x[i] * by * by;                        /* y dy/dx */
        const double by = factor(rng, p), y = x[i] * by;
        loss += y * y / 2;
        if (dx)
            dx[i] += y * by;
//}
    }
    return loss;
}
