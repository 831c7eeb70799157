/* options: every choice of a training run, each with its flag and its default.
 *
 * The size is that of nanoGPT's example for laptops. The model is GPT-2's (tied head, its initialisation)
 * without biases, which learns a little better at this size. */
#include "options.h"
#include "say.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

options options_default(void)
{
    return (options){
        .context = 64, .width = 128, .heads = 4, .layers = 4, .dropout = 0,
        .tied = true, .bias = false, .qkv_bias = false, .gelu = 0, .init = 1,
        .steps = 2000, .batch = 12, .optimizer = ADAMW,
        .lr = (double)NAN, .muon_lr = 0.02, .min_lr = (double)NAN, .decay = 0.1, .clip = 1, .warmup = -1,
        .seed = 1, .eval_every = 250, .eval_batches = 20, .sample = 500, .threads = 0, .out = "build/run",
    };
}

int options_flags(options *o, flag table[OPTIONS_FLAGS])
{
    const double many = 1e9;
    const flag all[] = {
        { NULL, FLAG_HEADING, NULL, 0, 0, NULL, "the text", NULL, FLAG_FREE },
        { "data", FLAG_TEXTS, &o->data, 0, 0, "FILE", "text; repeat --data for more", "this project's own",
          FLAG_FREE },

        { NULL, FLAG_HEADING, NULL, 0, 0, NULL, "the model", NULL, FLAG_FREE },
        { "context", FLAG_INT, &o->context, 1, 1e6, "N", "tokens it looks back on", NULL, FLAG_KEPT },
        { "width", FLAG_INT, &o->width, 1, 1e6, "N", "numbers that stand for a token", NULL, FLAG_KEPT },
        { "heads", FLAG_INT, &o->heads, 1, 1e6, "N", "attention heads, dividing the width", NULL, FLAG_KEPT },
        { "layers", FLAG_INT, &o->layers, 1, 1e4, "N", "transformer blocks", NULL, FLAG_KEPT },
        { "dropout", FLAG_REAL, &o->dropout, 0, 0.99, "P", "dropped with this probability", NULL, FLAG_KEPT },
        { "tied", FLAG_SWITCH, &o->tied, 0, 0, NULL, "head and token embedding share one matrix", NULL,
          FLAG_KEPT },
        { "bias", FLAG_SWITCH, &o->bias, 0, 0, NULL, "biases in linear layers and norms", NULL, FLAG_KEPT },
        { "qkv-bias", FLAG_SWITCH, &o->qkv_bias, 0, 0, NULL, "of query, key and value", NULL,
          FLAG_KEPT },
        { "gelu", FLAG_CHOICE, &o->gelu, 0, 0, "erf|tanh", "exact, or GPT-2's approximation", NULL,
          FLAG_KEPT },
        { "init", FLAG_CHOICE, &o->init, 0, 0, "torch|gpt2", "how parameters begin", NULL, FLAG_KEPT },

        { NULL, FLAG_HEADING, NULL, 0, 0, NULL, "the training", NULL, FLAG_FREE },
        { "steps", FLAG_INT, &o->steps, 1, many, "N", "how many", NULL, FLAG_KEPT },
        { "batch", FLAG_INT, &o->batch, 1, 1e6, "N", "windows of text in a step", NULL, FLAG_KEPT },
        { "optimizer", FLAG_CHOICE, &o->optimizer, 0, 0, "adamw|muon|sgd", "muon: in the blocks", NULL,
          FLAG_KEPT },
        { "lr", FLAG_REAL, &o->lr, 1e-12, 1e3, "X", "learning rate", "0.004; 0.1 with sgd", FLAG_KEPT },
        { "muon-lr", FLAG_REAL, &o->muon_lr, 1e-12, 1e3, "X", "Muon's, for the blocks' matrices", NULL,
          FLAG_KEPT },
        { "min-lr", FLAG_REAL, &o->min_lr, 0, 1e3, "X", "its end", "lr / 10; with muon lr / 50", FLAG_KEPT },
        { "warmup", FLAG_INT, &o->warmup, 0, many, "N", "steps to reach it", "100, or steps / 10 if fewer",
          FLAG_KEPT },
        { "decay", FLAG_REAL, &o->decay, 0, 1e3, "X", "weight decay, of matrices only", NULL, FLAG_KEPT },
        { "clip", FLAG_REAL, &o->clip, 0, 1e9, "X", "largest norm of the gradient; 0: any", NULL, FLAG_KEPT },
        { "seed", FLAG_INT, &o->seed, 0, 4294967295.0, "N", "another one, another run", NULL, FLAG_KEPT },

        { NULL, FLAG_HEADING, NULL, 0, 0, NULL, "the run", NULL, FLAG_FREE },
        { "eval-every", FLAG_INT, &o->eval_every, 1, many, "N", "steps between validations", NULL,
          FLAG_FIXED },
        { "eval-batches", FLAG_INT, &o->eval_batches, 1, many, "N", "batches in one; all at the end", NULL,
          FLAG_FIXED },
        { "sample", FLAG_INT, &o->sample, 0, many, "N", "tokens to write when trained", NULL, FLAG_FREE },
        { "threads", FLAG_INT, &o->threads, 0, 1024, "N", "0: as many as there are cores", NULL, FLAG_FREE },
        { "out", FLAG_TEXT, &o->out, 0, 0, "DIR", "where the files go", NULL, FLAG_FREE },
        { "resume", FLAG_TEXT, &o->resume, 0, 0, "DIR", "go on with that run, as it was begun", "a new run",
          FLAG_FREE },
        { "checkpoint-every", FLAG_INT, &o->checkpoint_every, 0, many, "N", "steps between checkpoints",
          "by the clock", FLAG_FREE },
        { "quiet", FLAG_SWITCH, &o->quiet, 0, 0, NULL, "only errors and the last line", NULL, FLAG_FREE },
    };
    memcpy(table, all, sizeof all);
    return (int)(sizeof all / sizeof all[0]);
}

/* What was left open follows from the rest. */
static void resolve(options *o)
{
    if (isnan(o->lr))
        o->lr = o->optimizer == SGD ? 0.1 : 0.004;
    if (isnan(o->min_lr))
        o->min_lr = o->optimizer == MUON ? o->lr / 50 : o->lr / 10;
    if (o->warmup < 0)
        o->warmup = o->steps < 1000 ? o->steps / 10 : 100;
}

int options_settle(options *o)
{
    resolve(o);
    if (o->width % o->heads != 0) {
        complain("--heads %ld does not divide --width %ld: each head takes an equal share of it", o->heads,
                 o->width);
        return -1;
    }
    if (o->min_lr > o->lr) {
        complain("--min-lr %g is above --lr %g, and the rate falls from one to the other", o->min_lr, o->lr);
        return -1;
    }
    if (o->batch * o->context > 1 << 30) {
        complain("--batch %ld times --context %ld is %ld tokens in a step: more than %d is not possible",
                 o->batch, o->context, o->batch * o->context, 1 << 30);
        return -1;
    }
    if (!o->out[0]) {
        complain("--out wants the name of a folder, not ''");
        return -1;
    }
    return 0;
}

int options_parse(options *o, int argc, char **argv)
{
    flag table[OPTIONS_FLAGS];
    int n = options_flags(o, table);
    return flags_parse(table, n,
                       "Trains a small GPT on text; leaves its loss curve, a sample, its parameters.",
                       argc, argv);
}

int options_settings(options *o, flag_role least, flag table[OPTIONS_FLAGS])
{
    flag all[OPTIONS_FLAGS];
    int n = options_flags(o, all), kept = 0;
    for (int i = 0; i < n; i++)
        if (all[i].role >= least && all[i].kind != FLAG_HEADING && all[i].kind != FLAG_TEXT &&
            all[i].kind != FLAG_TEXTS)
            table[kept++] = all[i];
    return kept;
}

gra_gpt_config options_model(const options *o, int vocab_size)
{
    return (gra_gpt_config){
        .vocab_size = vocab_size, .context_length = (int)o->context, .emb_dim = (int)o->width,
        .n_heads = (int)o->heads, .n_layers = (int)o->layers, .drop_rate = o->dropout,
        .qkv_bias = o->qkv_bias, .bias = o->bias, .tied = o->tied,
        .gelu = o->gelu ? GRA_GELU_TANH : GRA_GELU_ERF, .init = o->init ? GRA_INIT_GPT2 : GRA_INIT_TORCH,
    };
}
