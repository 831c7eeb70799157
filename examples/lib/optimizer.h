/* optimizer: which optimiser moves which parameters, and at what rate. The table of those that --optimizer knows
 * is in optimizer.c. */
#ifndef EXAMPLES_OPTIMIZER_H
#define EXAMPLES_OPTIMIZER_H

#include "options.h"

typedef struct optimizer {
    const options *o;
    gra_adamw adamw[2];                         /* matrices, vectors */
    gra_sgd   sgd[2];
    gra_muon  muon;
} optimizer;

typedef struct optimizer_kind {
    const char *name, *title;                   /* of --optimizer, and for people */
    double lr, fall;                            /* the default rate, and through what it is divided at the end */
    int    (*init)(optimizer *opt, gra_model *m);       /* 0, or -1: the model has the sentence */
    double (*rate)(const options *o, long step);        /* the learning rate of step 1, 2, ... */
    void   (*step)(optimizer *opt, double lr);
} optimizer_kind;

extern const optimizer_kind optimizer_kinds[];

void   optimizer_texts(char names[OPTIMIZER_TEXT], char lr[OPTIMIZER_TEXT], char min_lr[OPTIMIZER_TEXT]);
                                                /* what --help says of the table: "adamw|muon|sgd", and the defaults:
                                                   "0.004; 0.1 with sgd" and "lr / 10; with muon lr / 50" */
int    optimizer_init(optimizer *opt, const options *o, gra_model *m);  /* 0, or -1: the model has the sentence */
double optimizer_step(optimizer *opt, long step);       /* step 1, 2, ...; the rate it was done at */

#endif
