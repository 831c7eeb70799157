/* training: all that a training run carries from step to step. A checkpoint holds just this. */
#ifndef EXAMPLES_TRAINING_H
#define EXAMPLES_TRAINING_H

#include "optimizer.h"
#include "text.h"

typedef struct training {
    options    o;
    corpus     text;
    gra_rng    rng;                     /* parameters, batches and dropout draw from it, and nothing else */
    gra_tape  *tape;
    gra_model *model;
    struct gra_gpt    gpt;
    optimizer  optimizer;
    long       step;                    /* how many were done */
    double     best;                    /* the lowest validation loss so far; infinity: there was none */
    int       *ids, *next;              /* room for (batch, context) tokens, and for each the one that follows */
} training;

#endif
