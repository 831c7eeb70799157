/* chain: the chain rule in numbers: how much each node adds to the gradients of its inputs. */
#ifndef EXAMPLES_LOOK_CHAIN_H
#define EXAMPLES_LOOK_CHAIN_H

#include "../lib/json_out.h"

bool chain_fits(const gra_listing *l);          /* false: the tape is so large that this would take long */

/* Writes the member "adds" of the node x: a list of what x adds to the gradient of each input, and, if x is a
 * single number, "local": the derivatives of x with respect to them, so that adds = dx * local. null: the
 * input has no gradient, or shares the gradient of an earlier input, which then has the sum of both uses. The
 * numbers are computed by the op's backward, which runs again; all gradients stay as they are. Where only x
 * adds to a gradient, "adds" is that gradient, and hardly any of its values are written. */
void chain_write(out *o, const gra_tape *t, const gra_listing *l, const gra_tensor *x, size_t cells);

#endif
