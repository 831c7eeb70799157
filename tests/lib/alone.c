/* alone: see alone.h. */
#include "alone.h"

gra_model *model_alone(gra_rng *rng)
{
    gra_tape *t = gra_open(1);
    if (t)
        gra_keep_going(t, true);
    gra_model *m = gra_model_open(t, rng);
    gra_close(t);
    return m;
}
