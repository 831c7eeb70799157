/* optimizer: which optimiser moves which parameters, and at what rate. */
#ifndef EXAMPLES_OPTIMIZER_H
#define EXAMPLES_OPTIMIZER_H

#include "options.h"

#define OPTIMIZER_NAMES "adamw|muon|sgd"        /* in the order of the table in optimizer.c */
enum { ADAMW, MUON };

typedef struct optimizer {
    const options *o;
    gra_adamw adamw[2];                         /* matrices, vectors */
    gra_sgd   sgd[2];
    gra_muon  muon;
} optimizer;

void   optimizer_defaults(options *o);          /* sets options that depend on it, if not given */
int    optimizer_init(optimizer *opt, const options *o, gra_model *m);  /* 0; -1: see gra_model_error */
void   optimizer_resume(optimizer *opt, long steps);    /* after `steps` steps; the model has the moments */
double optimizer_step(optimizer *opt, long step);       /* step 1, 2, ...; returns the step's learning rate */

#endif
