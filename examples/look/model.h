/* model: what a GPT makes of a few tokens: its attention and its predictions, and how both came about. */
#ifndef EXAMPLES_LOOK_MODEL_H
#define EXAMPLES_LOOK_MODEL_H

#include "../../layers/gpt.h"
#include "../lib/text.h"
#include "out.h"

/* A function that fails has printed why (see warn). */
typedef struct look_model {
    gra_tape             *tape;
    const struct gra_gpt *gpt;
    const vocabulary     *vocab;        /* NULL: tokens are shown as numbers */
    const int            *ids;          /* n tokens, 2 or more */
    int                   n;
    int                   seen;         /* the attention of the first `seen` is written: of many tokens it
                                           would be too much */
    out                   states, curve;        /* JSON, as far as it was written; model_free frees it */
} look_model;

/* Forward of the tokens, each of which is to predict the next; what the model looked at and predicts is noted
 * as that after `step` steps of training (-1: nobody knows how many), its weights in 8 bits. 0 or -1. */
int  model_state(look_model *m, long step);
void model_loss(look_model *m, long step, double train, double val);    /* a point of the curve;
                                           val may be NaN */

/* Writes the page of the last state, which comes with its backward and with its weights as they are, and says
 * its loss. 0 or -1. */
int  model_page(look_model *m, gra_model *params, long step, const char *path, const char *title,
                const char *about);
void model_free(look_model *m);

#endif
