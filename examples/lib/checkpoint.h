/* checkpoint: all that a run needs to go on as if it had never stopped, in one file.
 *
 *     checkpoint.safetensors    as it was lately
 *     best.safetensors          as it was when the validation loss was lowest; under the name of the other
 *                               the run goes on from there
 *
 * The tensors are the parameters and what the optimiser remembers of each. All else is text in the file's
 * metadata: the flags, the generator of batches and dropout, the step, and what tells the text it learns from.
 * The learning rate and the place in the text need no line of their own: one follows from the step, the other
 * from the generator.
 *
 * A checkpoint is saved after the row of its step in loss.tsv is on the disk. Rows of later steps are cut off when
 * the run goes on from it. Each function that fails has said why, in a sentence. */
#ifndef EXAMPLES_CHECKPOINT_H
#define EXAMPLES_CHECKPOINT_H

#include "training.h"

typedef struct checkpoint {             /* one that was read. Zeroed: none was */
    char       *state, *names;          /* its text, which the others point into; the names of the text's files */
    const char *rng, *text_hash, *files, *isa;
    long        vocab_size, adamw_steps[2];
} checkpoint;

int  checkpoint_save(const training *t, bool best);     /* best: under that name too. 0 or -1 */

int  checkpoint_open(checkpoint *c, training *t);       /* of the folder t->o.resume: options, step and best. 0 or -1 */
int  checkpoint_files(checkpoint *c, flag_texts *files);        /* those of its text; room is made for them. 0 or -1 */
int  checkpoint_load(const checkpoint *c, training *t); /* once its text is read and its model made: 0, and model,
                                                           optimizer and rng are as they were saved; or -1 */
void checkpoint_close(checkpoint *c);

#endif
