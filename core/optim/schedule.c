/* schedule: the learning rate as a function of the step, counted from 0.
 *
 * Both schedules warm up: lr (step + 1) / warmup for step < warmup: the first step's rate is not 0, and step
 * warmup - 1 has the full rate. Both fall to min_lr at step `steps`, which comes after the last step. */
#include "../op.h"

static double fall(double lr, double min_lr, double share)     /* share of the fall, 0 to 1 */
{
    return lr + share * (min_lr - lr);
}

/* After the warm-up, (1 - cos(pi x)) / 2 of the fall, with x from 0 to 1 over the remaining steps. */
double gra_warmup_cosine(long step, long warmup, long steps, double lr, double min_lr)
{
    static const double pi = 3.14159265358979323846;
    if (step < warmup)
        return lr * (double)(step + 1) / (double)warmup;
    if (step >= steps)
        return min_lr;
    return fall(lr, min_lr, (1 - cos(pi * (double)(step - warmup) / (double)(steps - warmup))) / 2);
}

double gra_warmup_linear(long step, long warmup, long hold, long steps, double lr, double min_lr)
{
    if (step < warmup)
        return lr * (double)(step + 1) / (double)warmup;
    if (step >= steps)
        return min_lr;
    hold = hold > warmup ? hold : warmup;       /* after a warm-up longer than the hold: the fall */
    return step < hold ? lr : fall(lr, min_lr, (double)(step - hold) / (double)(steps - hold));
}
