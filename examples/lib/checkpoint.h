/* checkpoint: all that a run needs to go on as if it had never stopped, in one file, checkpoint.safetensors.
 *
 * The tensors are the parameters and the optimiser's moments. All else is text in the file's metadata: the
 * flags, the step, the random generator, the best validation loss, and a hash of the text it learns from. The
 * learning rate needs no entry: it follows from the step. Nor does the place in the text: it follows from the
 * generator.
 *
 * Order: first the row of a step in loss.tsv, then the checkpoint. Rows of later steps are cut off when the
 * run goes on. A function that fails has printed why (see warn). */
#ifndef EXAMPLES_CHECKPOINT_H
#define EXAMPLES_CHECKPOINT_H

#include "run.h"

int checkpoint_save(const training *t);         /* 0 or -1 */
int checkpoint_read_options(training *t);       /* of the folder t->o.resume: t->o, step and best. 0 or -1 */
int checkpoint_load(training *t);               /* once the text is read and the model made: parameters,
                                                   moments, generator. 0 or -1 */

#endif
