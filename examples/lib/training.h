/* training: the state of a training run, and how train and train_mpi begin a run; each program has its own
 * loop.
 *
 * A function that fails has printed why (see warn). */
#ifndef EXAMPLES_TRAINING_H
#define EXAMPLES_TRAINING_H

#include "batch.h"
#include "files.h"
#include "forward.h"
#include "optimizer.h"
#include "row.h"

typedef struct training {               /* what a checkpoint stores */
    options    o;
    char      *kept;                    /* with --resume: the checkpoint's flags, into which o points */
    char       folder[FILE_PATH], file[FILE_PATH];      /* with --from: the model's */
    corpus     text;
    gra_rng    rng;                     /* only parameters, batches and dropout draw from it */
    gra_tape  *tape;
    gra_model *model;
    struct gra_gpt gpt;
    forward_fn *forward;                /* gra_gpt_forward, or a variant; train.c's loop does not use it */
    optimizer  optimizer;
    long       step;                    /* steps done so far */
    double     best;                    /* the lowest validation loss so far; at first infinity */
    long       since_best;              /* how many validations followed it */
    batch     *batch;                   /* of the step: --accumulate batches */
    size_t     tokens;                  /* targets that count in these batches */
} training;

/* Parses the flags; with --resume they override the checkpoint's flags. Returns what flags_parse does. */
int  training_flags(training *t, int argc, char **argv);
int  training_open(training *t, int threads);   /* text and model, new or resumed. 0 or -1 */
int  training_begin(training *t, int threads);  /* only generator, tape, batches, an empty model. 0 or -1 */
void training_close(training *t);

/* A training step is these three calls, one after another, as in page/page_run.c; train.c has their code in
 * its loop. training_draw draws all batches of the step before the first forward, as dropout draws from rng,
 * too. training_backward computes the gradients of the first n batches. It returns the loss; NaN: see
 * gra_error. training_update clips the gradients and moves the parameters: 0 or -1. */
void   training_draw(training *t, gra_rng *rng);
double training_backward(training *t, gra_rng *rng, long n);
int    training_update(training *t, run_row *row);
bool   training_ended(const training *t);       /* all steps are done, or --patience has run out */

/* Calls training_draw and training_backward for one batch, without an update. So a missing instruction set or
 * a lack of memory is found before anything is written. 0 or -1. */
int    training_try(training *t);

/* What the model writes now: a text of --sample tokens, with --lines one line after another. Free it; NULL
 * after a warning. */
char *training_sample(training *t, size_t *size);

/* The metadata of a file of the parameters. Returns how many; heads: room for one of the values. */
enum { TRAINING_META = 5 };
int  training_meta(const training *t, gra_meta meta[TRAINING_META], char heads[24]);

/* For a step whose loss or gradient is not finite: training_not_finite warns (what: "loss") and returns -1;
 * training_trace_nan runs the step again and names the op that made the first NaN or infinity. rng: as it was
 * before the step's forward. */
int  training_not_finite(const training *t, const char *what);
void training_trace_nan(training *t, gra_rng rng);

/* A tape and a model on it, whose errors are not fatal. 0 or -1; close them in any case. */
int  open_model(gra_tape **t, gra_model **m, gra_rng *rng, int threads);

#endif
