/* options: the settings of a training run, each with its flag and its default. */
#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include "../../layers/gpt.h"
#include "flags.h"

typedef struct options {
    const char *data;                                   /* the text; NULL: the project's own sources */
    int         lines;                                  /* 0 or 1: each line is a document */
    int         special;                                /* 0 or 1: read <|endoftext|> as one token */
    int         tokenizer;                              /* an index: bytes, bpe */
    long        vocab;                                  /* tokens of bpe */
    const char *from;                                   /* the model; from NULL: a new one */
    long        rows, context, positions, width, heads, layers;
    double      dropout;
    int         tied, bias, qkv_bias;                   /* 0 or 1 */
    int         gelu, init;                             /* indices of words in the table of options.c */
    long        steps, batch, accumulate, train_last;   /* the training; train_last 0: all parameters */
    int         optimizer;                              /* an index into optimizer.c's table; -1: not given */
    int         products;                               /* a gra_number */
    int         recompute;
    double      lr, muon_lr, momentum, min_lr, decay, clip;
    long        warmup, seed;
    long        eval_every, eval_batches, patience;     /* the run */
    long        sample, threads, checkpoint_every, snapshot_every;
    const char *out, *resume;                           /* resume NULL: a new run */
    int         layout;                                 /* 0 or 1: gradus, huggingface */
    int         quiet;
} options;

options options_default(void);

/* As flags_parse; also warns about a flag that may not be given again with --resume. */
int   options_parse(options *o, int argc, char **argv);

/* Then derives the options that were not given from the others. 0, or -1 after a warning about flags that
 * contradict each other. */
int   options_complete(options *o);
char *options_write(const options *o);  /* all but --out and --resume, as flags_write */
int   options_read(options *o, const char *path, char *text);   /* the same, as flags_read */
gra_gpt_config options_model(const options *o, int vocab_size);

/* With --from, options_complete leaves the options that depend on the model; options_take_model takes the
 * model's sizes, and then completes them. */
int   options_take_model(options *o, const gra_gpt_config *c);

#endif
