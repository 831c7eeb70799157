/* broken: a GPT from which something is left out, to see what it was good for. */
#ifndef EXAMPLES_PAGE_BROKEN_H
#define EXAMPLES_PAGE_BROKEN_H

#include "../../layers/gpt.h"

enum {                                  /* bits: any of them together; 0: the GPT as it is */
    NO_RESIDUAL  = 1,                   /* a block passes on only what its branches compute */
    NO_NORM      = 2,
    NO_POSITIONS = 4,                   /* tokens without their places */
    NO_MASK      = 8,                   /* each position also sees the token that it must predict */
    INIT_ONE     = 16,                  /* weights from N(0, 1), fifty times as large as GPT-2's */
    BROKEN_BITS  = 31
};

/* The parameters are those of the whole GPT; parameters of left-out parts get no gradient. */
void        broken_init(gra_model *m, gra_rng *rng, int broken);        /* after gra_gpt_init */
gra_tensor *broken_forward(gra_tape *t, const struct gra_gpt *g, int broken, const int *ids, int batch,
                           int time);

#endif
