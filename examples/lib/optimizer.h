/* optimizer: which optimiser moves which parameters, and at what rate. */
#ifndef EXAMPLES_OPTIMIZER_H
#define EXAMPLES_OPTIMIZER_H

#include "options.h"

typedef struct optimizer {
    const options *o;
    gra_adamw adamw[2];                         /* matrices, vectors */
    gra_sgd   sgd[2];
    gra_muon  muon;
} optimizer;

int    optimizer_init(optimizer *opt, const options *o, gra_model *m);  /* 0, or -1: the model has the sentence */
double optimizer_step(optimizer *opt, long step);       /* step 1, 2, ...; the rate it was done at */

#endif
