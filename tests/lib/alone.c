/* alone: see alone.h. */
#include "alone.h"

gra_model *model_alone(gra_rng *rng)
{
    gra_tape *t = gra_open(1);
    gra_model *m = gra_model_open(t, rng);
    gra_close(t);
    return m;
}
