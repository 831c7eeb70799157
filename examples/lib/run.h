/* run: the folder that a training run leaves, and its table.
 *
 *     loss.tsv             a row a step, flushed at each; val_loss: an estimate from some batches
 *     result.tsv           the loss over all of the held-out text, when the run ended or was stopped
 *     loss.png, loss.gp    the picture, and the gnuplot script that draws it
 *     sample.txt           what the model writes
 *     config.tsv, vocab.tsv, model.safetensors    see trained.h
 *     checkpoint.safetensors, best.safetensors    see checkpoint.h
 *
 * Each function that fails has said why, in a sentence. */
#ifndef EXAMPLES_RUN_H
#define EXAMPLES_RUN_H

#include "training.h"

extern const char checkpoint_name[], best_name[];

typedef struct run {
    const char *folder;
    FILE       *loss;
    char       *loss_path;
    long        end, last;                      /* in bytes: where the rows that stay end, and where the last begins */
    bool        fresh;                          /* loss.tsv was just made, */
    size_t      made;                           /* and these folders (files.h): they go again unless the run begins */
} run;

typedef struct run_row {                        /* of loss.tsv */
    long   step;
    double train_loss, val_loss;                /* val_loss NaN: none at this step */
    double lr, grad_norm, tokens_per_s;
} run_row;

run_row *run_rows(run *r, const char *folder, long n);  /* of a run that goes on: the first n rows of its loss.tsv, to
                                                   free; NULL after a sentence */
int  run_open(run *r, const options *o);        /* the folder and its loss.tsv, where they may be written to; says so
                                                   when a run is replaced, which loses nothing before run_begin */
int  run_begin(run *r, training *t);            /* once a checkpoint stands: cuts loss.tsv and removes what a run at
                                                   that step does not have */
int  run_log(run *r, const run_row *row);
int  run_last_again(run *r);                    /* the next row is to replace the last of run_rows; it is no shorter */
int  run_sync(run *r);                          /* all rows are on the disk then */
int  run_result(const run *r, long step, double val_loss);
int  run_close(run *r);                         /* may be called twice */

#endif
