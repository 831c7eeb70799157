/* checkpoint: all that a run needs to continue as if it had never stopped, in checkpoint.safetensors.
 *
 * The tensors are the parameters and the optimiser's moments. The rest is text in the file's metadata: the
 * flags, the step, the random generator, the best validation loss and how many validations followed it, and
 * a hash of the training text. The learning rate follows from the step, and the position in the text from the
 * generator.
 *
 * The row of a step is written to loss.tsv before the checkpoint; a run that is resumed removes the rows of
 * later steps. A function that fails has printed why (see warn). */
#ifndef EXAMPLES_CHECKPOINT_H
#define EXAMPLES_CHECKPOINT_H

#include "run_folder.h"

int checkpoint_save(const training *t);         /* 0 or -1 */
int checkpoint_read_options(training *t);       /* from t->o.resume: t->o, step and best. 0 or -1 */

/* Then, after the text is read and the model made, reads parameters, moments and generator. 0 or -1. */
int checkpoint_load(training *t);

#endif
