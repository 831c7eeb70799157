/* multinomial: draws one index from the probabilities p, in the same way as torch.multinomial. */
#include "../base/base.h"
#include "random.h"

/* The first index at which the sum of p / total reaches a random number. Sums and quotients are floats. */
static int by_sums(gra_rng *g, const gra_real *p, int n, float total)
{
    double u;
    float sum = 0;
    gra_rand_f64(g, &u, 1);
    for (int i = 0; i < n - 1; i++)
        if ((double)((sum += (float)p[i]) / total) >= u)
            return i;
    return n - 1;
}

/* The index of the largest p / e; each e is drawn from the exponential distribution. */
static int by_race(gra_rng *g, const gra_real *p, int n)
{
    int best = 0;
    float most = -1;
    for (int i = 0; i < n; i++) {
        double u;
        gra_rand_f64(g, &u, 1);
        const float ratio = (float)p[i] / (float)-log(1 - u);
        if (ratio > most) {
            most = ratio;
            best = i;
        }
    }
    return best;
}

int gra_multinomial(gra_rng *g, const gra_real *p, int n, bool replacement)
{
    float sum = 0;
    double least = 0;
    for (int i = 0; i < n; i++) {
        sum += (float)p[i];
        least = (double)p[i] < least ? (double)p[i] : least;
    }
    if (!(sum > 0) || isinf(sum) || least < 0)
        gra_abort("gra_multinomial: got %d weights whose sum is %g and whose least is %g, expected weights "
                  "of 0 or more with a finite sum above 0", n, (double)sum, least);
    return replacement ? by_sums(g, p, n, sum) : by_race(g, p, n);
}
