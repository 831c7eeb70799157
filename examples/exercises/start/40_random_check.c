/* 40 random_check: the gradient of something that draws random numbers.
 *
 * Exercise 01 compares a gradient with central differences (f(x + h) - f(x - h)) / 2h. If f draws numbers, as
 * dropout does, each call draws others: f(x + h) has one mask, f(x - h) another, and their difference is not
 * small with h. Divided by 2h it is nothing but noise.
 *
 * How much? Let y be 0 with probability p, else x / (1 - p), drawn anew in each call. Its variance is
 * x^2 p / (1 - p); that of a difference of two independent numbers is the sum of their variances; and
 * dividing by 2h divides the standard deviation, the root of the variance, by 2h. For x = 1, p = 0.5 and h =
 * 1e-5 it is 70711, where the slope itself is 1 on average.
 *
 * The remedy is to draw the *same* numbers in each call: then f is an ordinary function, smooth in x, and its
 * gradient is that for these draws. A generator is a struct of plain values (gra_rng), so that its state can
 * be saved by an assignment, and restored by another.
 *
 * A random_loss f(x, n, rng, dx, arg) returns a loss of n numbers x, for which it draws from rng. If dx is
 * not NULL it also adds dloss/dx to dx, for these draws. Write:
 *
 *   dropout_noise        the standard deviation of (y(x + h) - y(x - h)) / 2h from above, exactly, also for
 *                        large h: y(x + h) and y(x - h) have different variances.
 *   same_draws_gradient  the central differences g[i] of f, all with the numbers that f draws if it is called
 *                        with *rng as it is. Afterwards x and *rng are as they were before.
 *   check_random         the largest |a[i] - g[i]|, where a is f's own gradient for the same draws. Afterwards
 *                        x and *rng are as they were before. n is at most RANDOM_MOST.
 *   noisy_dropout        is a random_loss, the sum of y_i^2 / 2 where y is dropout of x by p = *arg. Its
 *                        gradient is wrong, as your check_random will show you. Find out why, and correct it.
 *                        It must draw one number for each x, in order, and no others.
 */
#include "exercises.h"

double dropout_noise(double x, double p, double h)
{
    (void)x, (void)p, (void)h;                                  /* TO DO */
    return 0;
}

void same_draws_gradient(random_loss *f, void *arg, double *x, int n, double h, gra_rng *rng, double *g)
{
    (void)f, (void)arg, (void)x, (void)n, (void)h, (void)rng, (void)g;  /* TO DO */
}

double check_random(random_loss *f, void *arg, double *x, int n, double h, gra_rng *rng)
{
    (void)f, (void)arg, (void)x, (void)n, (void)h, (void)rng;   /* TO DO */
    return 0;
}

/* The factor of a number that dropout keeps, or 0. */
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
        const double y = x[i] * factor(rng, p);
        loss += y * y / 2;
    }
    for (int i = 0; i < n && dx; i++) {
        const double by = factor(rng, p);
        dx[i] += x[i] * by * by;                        /* y dy/dx */
    }
    return loss;
}
