/* options: every choice of a training run, each with its flag and its default. */
#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include "../../layers/layers.h"
#include "flags.h"

#define OPTIMIZER_TEXT 160              /* bytes of a text made from that table */

typedef struct options {
    flag_texts  data;                                   /* the text */
    long        context, width, heads, layers;          /* the model */
    double      dropout;
    bool        tied, bias, qkv_bias;
    int         gelu, init;                             /* erf or tanh; torch's or GPT-2's */
    long        steps, batch;                           /* the training */
    int         optimizer;                              /* its row in the table of optimizer.c */
    char        optimizers[OPTIMIZER_TEXT];             /* the names there: "adamw|muon|sgd" */
    char        lr_unset[OPTIMIZER_TEXT], min_lr_unset[OPTIMIZER_TEXT]; /* and what holds without --lr, --min-lr */
    double      lr, muon_lr, min_lr, decay, clip;
    long        warmup, seed;
    long        eval_every, eval_batches;               /* the run */
    long        sample, threads, checkpoint_every;
    const char *out, *resume;                           /* resume NULL: a new run */
    bool        quiet;
} options;

#define OPTIONS_FLAGS 40
options options_default(void);
int  options_flags(options *o, flag table[OPTIONS_FLAGS]);  /* the flags of o; how many */
int  options_parse(options *o, int argc, char **argv);  /* as flags_parse; o->data.text has room for argc. -1 too
                                           where a flag does not go with --resume */
int  options_settle(options *o);        /* then: what was left open follows from the rest. 0; -1, after a sentence:
                                           they do not fit together */
int  options_settings(options *o, flag_role least, flag table[OPTIONS_FLAGS]);
                                        /* the flags of one value, and of that role or a higher; how many */
gra_gpt_config options_model(const options *o, int vocab_size);

#endif
