/* checkpoint: all that a run needs to go on as if it had never stopped, in one file.
 *
 *     checkpoint.safetensors    as it was lately
 *     best.safetensors          as it was when the validation loss was lowest; under the name of the other
 *                               the run goes on from there
 *
 * The tensors are the parameters and what the optimiser remembers of each. All else is text in the file's
 * metadata: the flags, the generator of batches and dropout, the step, the vocabulary, what tells the text it
 * learns from and the length of loss.tsv. The rate and the place in the text need no line of their own: one
 * follows from the step, the other is the generator's.
 *
 * A checkpoint stands between a step and its row in loss.tsv, and remembers the row. Each function that fails
 * has said why, in a sentence. */
#ifndef EXAMPLES_CHECKPOINT_H
#define EXAMPLES_CHECKPOINT_H

#include "optimizer.h"
#include "run.h"

typedef struct checkpoint {
    options      *o;                    /* lent by the program: what is saved, or filled when a run goes on */
    const corpus *text;
    gra_tape  *tape;
    gra_model *model;
    optimizer *optimizer;
    gra_rng   *rng;
    run       *run;

    run_row    row;                     /* of the step last done, not yet in the table. Step 0: none was */
    double     best;                    /* the lowest validation loss so far; infinity: there was none */
    long       table;                   /* the length of loss.tsv in bytes */
    long       moments[2];              /* how many steps AdamW's moments have seen, in each of its groups */
    double     saved, cost;             /* the clock after the last save, and how many seconds that took */

    char       *read, *names;           /* of the file that was read: the state, and which files the text is */
    const char *rng_text, *vocab, *text_hash, *data, *isa, *values;    /* parts of the state, as text */
} checkpoint;

int  checkpoint_options(checkpoint *c, int argc, char **argv);
                                        /* o->resume: takes o from the file, then what the command line says. As
                                           options_parse; 2: the file cannot be read, -1: a flag contradicts it */
int  checkpoint_suits(const checkpoint *c);     /* the text is the one that the run began with: 0 or -1 */
int  checkpoint_load(checkpoint *c);            /* model, optimizer and rng as they were saved: 0 or -1 */
int  checkpoint_keep(checkpoint *c, const run_row *row, bool now);
                                        /* after step row->step (0: before the first): saves where it is time,
                                           or `now`, or where row->val_loss is the lowest so far. 0 or -1 */
void checkpoint_close(checkpoint *c);

#endif
