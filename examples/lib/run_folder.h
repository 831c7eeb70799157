/* run_folder: the folder of a training run.
 *
 *     loss.tsv                 a row for each step; val_loss: an estimate from some batches; losses are in
 *                              nats per token, val_bits_per_byte in bits per byte
 *     result.tsv               the final loss over all of the held-out text
 *     loss.png, loss.gp        the picture of loss.tsv, and the gnuplot script that draws it
 *     sample.txt               what the model writes
 *     model.safetensors        its parameters when the run ended or was stopped
 *     best.safetensors         the parameters with the lowest validation loss
 *     config.json              with --layout huggingface: the model's sizes, as transformers reads them
 *     config.tsv, vocab.tsv    the flags of the run; the byte of each token
 *     checkpoint.safetensors   see checkpoint.h
 *     snapshot-100.safetensors with --snapshot-every: the parameters after step 100, and so on
 *
 * A function that fails has printed why (see warn). */
#ifndef EXAMPLES_RUN_H
#define EXAMPLES_RUN_H

#include "row.h"
#include "training.h"
#include <stdio.h>

#define MODEL_FILE      "model.safetensors"
#define BEST_FILE       "best.safetensors"
#define CHECKPOINT_FILE "checkpoint.safetensors"
#define SNAPSHOT        "snapshot-"                     /* then the step: */
#define SNAPSHOT_FILE   SNAPSHOT "%ld.safetensors"

typedef struct run {
    const char   *folder;
    const corpus *text;
    FILE         *table;                /* loss.tsv */
    long          end;                  /* size in bytes of the rows to keep */
} run;

/* Opens the folder, if a run may write to it, and its table; an earlier run's files are still whole. */
int  run_open(run *r, const training *t);       /* 0 or -1 */

/* When the first checkpoint is written: removes an earlier run's files, and the rows after step t->step. */
int  run_begin(run *r, const training *t);      /* 0 or -1 */
int  run_log(run *r, const run_row *row);       /* 0 or -1 */
int  run_sync(run *r);                          /* forces all rows to the disk; 0 or -1 */
int  run_save(const training *t, const char *name); /* the parameters, as MODEL_FILE or BEST_FILE; 0 or -1 */
int  run_snapshot(const training *t);           /* if --snapshot-every is due; 0 or -1 */
long run_snapshot_step(const char *file);       /* 100 of "snapshot-100.safetensors"; -1: not a snapshot */
int  run_write(const training *t, const char *name, const char *bytes, size_t n); /* another file; 0 or -1 */
void run_close(run *r);

#endif
