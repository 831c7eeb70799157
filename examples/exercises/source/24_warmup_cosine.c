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
/* 24 warmup_cosine, solved.
 *
 * x is the fraction of the fall that is done: (step - warmup) steps of (steps - warmup). Both counts are int,
 * and in C their quotient is 0 until the very end, so one of them is converted to double first. The same
 * applies to (step + 1) / warmup.
 *
 * (1 + cos(pi x)) / 2 falls from 1 to 0, so the rate is lr where x is 0, min_lr where x is 1, and half-way
 * between them where x is 1/2. In the last step, steps - 1, it is still a little above min_lr.
 *
 * With warmup == steps the first two cases meet: each step is below warmup or not below steps, and 0/0 is
 * never computed.
 */
#include "exercises.h"
#include <math.h>

double warmup_cosine(int step, int warmup, int steps, double lr, double min_lr)
{
//| (void)step, (void)warmup, (void)steps, (void)lr, (void)min_lr;      /* TO DO */
//| return 0;
    if (step < warmup)
        return lr * (step + 1) / warmup;
    if (step >= steps)
        return min_lr;
    const double x = (double)(step - warmup) / (steps - warmup);
    return min_lr + (lr - min_lr) * (1 + cos(acos(-1) * x)) / 2;
}
