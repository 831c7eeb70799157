/* 24 warmup_cosine: the learning rate of each step.
 *
 * At first the parameters are random and AdamW's averages know nothing: large steps do harm, so the rate
 * climbs to lr over the first `warmup` steps. At the end the parameters should settle, which takes small
 * steps: the rate falls to min_lr along half a cosine wave, slowly, then quickly, then slowly (Loshchilov &
 * Hutter 2017). Steps count from 0, and there are `steps` of them:
 *
 *     step < warmup              lr (step + 1) / warmup                so that step 0 already moves
 *     warmup <= step < steps     min_lr + (lr - min_lr) (1 + cos(pi x)) / 2
 *     steps <= step              min_lr
 *
 * where x grows evenly from 0 in step `warmup` to 1 in step `steps`. Find x. There may be no warm-up at all
 * (0), and warmup may be as large as steps. Note that step, warmup and steps are int.
 */
#include "exercises.h"
#include <math.h>

double warmup_cosine(int step, int warmup, int steps, double lr, double min_lr)
{
    (void)step, (void)warmup, (void)steps, (void)lr, (void)min_lr;      /* TO DO */
    return 0;
}
