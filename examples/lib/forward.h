/* forward: how a program computes the logits: by gra_gpt_forward, or by a variant such as page/broken.c. */
#ifndef EXAMPLES_FORWARD_H
#define EXAMPLES_FORWARD_H

#include "../../layers/gpt.h"

typedef gra_tensor *forward_fn(gra_tape *t, const struct gra_gpt *g, const int *ids, int batch, int time);

#endif
