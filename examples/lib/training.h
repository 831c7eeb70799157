/* training: what a training run carries from step to step, and how train and train_mpi begin one. The loops
 * are theirs.
 *
 * A function that fails has printed why (see warn). */
#ifndef EXAMPLES_TRAINING_H
#define EXAMPLES_TRAINING_H

#include "optimizer.h"
#include "text.h"

typedef struct training {               /* what a checkpoint saves */
    options    o;
    char      *kept;                    /* with --resume: the checkpoint's text, which o points into */
    corpus     text;
    gra_rng    rng;                     /* parameters, batches and dropout draw from it, and nothing else */
    gra_tape  *tape;
    gra_model *model;
    struct gra_gpt gpt;
    optimizer  optimizer;
    long       step;                    /* steps done so far */
    double     best;                    /* the lowest validation loss so far; infinity: there was none */
    int       *ids, *next;              /* (batch, context) tokens, and the token that follows each */
} training;

/* The flags: those of the checkpoint, if the run goes on, and over them those of the command line. As
 * flags_parse. */
int  training_flags(training *t, int argc, char **argv);
int  training_open(training *t, int threads);   /* text and model, new or of the run that goes on. 0 or -1 */
void training_close(training *t);

/* Forward and backward of the first step, without an update: a missing instruction set, or a lack of memory,
 * is found before anything is written. 0 or -1. */
int  training_try(training *t);

/* Of a step whose loss or gradient is no number: training_not_finite says so (what: "loss") and returns -1;
 * training_trace_nan computes the step once more and names the op that made the first NaN or infinity. rng:
 * as it was before the step's forward. */
int  training_not_finite(const training *t, const char *what);
void training_trace_nan(training *t, gra_rng rng);

/* A tape and a model on it, whose errors are not fatal. 0 or -1; close them in any case. */
int  open_model(gra_tape **t, gra_model **m, gra_rng *rng, int threads);

#endif
