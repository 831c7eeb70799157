/* look_model: a GPT's attention and predictions for a few tokens, at several steps of its training. */
#ifndef EXAMPLES_LOOK_MODEL_H
#define EXAMPLES_LOOK_MODEL_H

#include "../../layers/gpt.h"
#include "../lib/forward.h"
#include "../lib/tokens.h"
#include "../lib/json_out.h"

/* A function that fails has printed why (see warn). */
typedef struct look_model {
    gra_tape             *tape;
    const struct gra_gpt *gpt;
    forward_fn           *forward;      /* NULL: gra_gpt_forward */
    const tokenizer      *tokens;       /* NULL: tokens are shown as numbers */
    const int            *ids;          /* n tokens, 2 or more */
    int                   n;
    int                   seen;         /* only the attention of the first `seen` tokens is written */
    gra_tensor           *loss;         /* of the latest state */
    const char           *sample;       /* what the model has written, sample_size bytes */
    size_t                sample_size;  /* 0: it is not shown */
    out                   states, curve;        /* JSON written so far; model_free frees it */
} look_model;

/* Runs the forward and adds a state, the attention (in 8 bits, unless it is the last) and the predictions
 * after `step` steps of training; -1: unknown. 0 or -1. */
int  model_state(look_model *m, long step, bool last);
void model_loss(look_model *m, long step, double train, double val);    /* adds a point; val may be NaN */

/* Adds the last state: the forward, with exact attention weights, and the backward. The tape's data is then
 * look_json(o, m->tape, &(look_more){ .model = model_json, .arg = m }). 0 or -1. */
int  model_last(look_model *m, gra_model *params, long step);
void model_json(out *o, void *m);

void model_free(look_model *m);

/* Writes the likeliest of n tokens: ["t",0.31],... */
void model_likeliest(out *o, const look_model *m, const gra_real *p, int n);

#endif
