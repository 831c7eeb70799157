/* options: every choice of a training run, each with its flag and its default.
 *
 * The size is that of nanoGPT's example for laptops. The model is GPT-2's (tied head, its initialisation)
 * without biases, which learns a little better at this size. */
#include "options.h"
#include "optimizer.h"
#include "say.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

options options_default(void)
{
    return (options){
        .context = 64, .width = 128, .heads = 4, .layers = 4, .dropout = 0,
        .tied = true, .bias = false, .qkv_bias = false, .gelu = 0, .init = 1,
        .steps = 2000, .batch = 12,
        .lr = (double)NAN, .muon_lr = 0.02, .min_lr = (double)NAN, .decay = 0.1, .clip = 1, .warmup = -1,
        .seed = 1, .eval_every = 250, .eval_batches = 20, .sample = 500, .threads = 0, .out = "build/run",
    };
}

int options_flags(options *o, flag table[OPTIONS_FLAGS])
{
    const double many = 1e9;
    optimizer_texts(o->optimizers, o->lr_unset, o->min_lr_unset);
    const flag all[] = {
        { NULL, FLAG_HEADING, NULL, 0, 0, NULL, "the text", NULL, FLAG_FREE },
        { "data", FLAG_TEXTS, &o->data, 0, 0, "FILE", "text; repeat --data for more",
          "this project's own", FLAG_FREE },

        { NULL, FLAG_HEADING, NULL, 0, 0, NULL, "the model", NULL, FLAG_FREE },
        { "context", FLAG_INT, &o->context, 1, 1e6, "N", "context length, in tokens", NULL, FLAG_MODEL },
        { "width", FLAG_INT, &o->width, 1, 1e6, "N", "embedding width", NULL, FLAG_MODEL },
        { "heads", FLAG_INT, &o->heads, 1, 1e6, "N", "attention heads; they divide the width", NULL, FLAG_MODEL },
        { "layers", FLAG_INT, &o->layers, 1, 1e4, "N", "transformer blocks", NULL, FLAG_MODEL },
        { "dropout", FLAG_REAL, &o->dropout, 0, 0.99, "P", "dropout probability", NULL, FLAG_MODEL },
        { "tied", FLAG_SWITCH, &o->tied, 0, 0, NULL, "output head and token embedding are one", NULL, FLAG_MODEL },
        { "bias", FLAG_SWITCH, &o->bias, 0, 0, NULL, "biases in linear layers and norms", NULL, FLAG_MODEL },
        { "qkv-bias", FLAG_SWITCH, &o->qkv_bias, 0, 0, NULL, "biases of query, key and value", NULL, FLAG_MODEL },
        { "gelu", FLAG_CHOICE, &o->gelu, 0, 0, "erf|tanh", "GELU: exact, or GPT-2's approximation", NULL,
          FLAG_MODEL },
        { "init", FLAG_CHOICE, &o->init, 0, 0, "torch|gpt2", "initialisation of the parameters", NULL, FLAG_MODEL },

        { NULL, FLAG_HEADING, NULL, 0, 0, NULL, "the training", NULL, FLAG_FREE },
        { "steps", FLAG_INT, &o->steps, 1, many, "N", "training steps", NULL, FLAG_MODEL },
        { "batch", FLAG_INT, &o->batch, 1, 1e6, "N", "batch size: windows of text in a step", NULL, FLAG_MODEL },
        { "optimizer", FLAG_CHOICE, &o->optimizer, 0, 0, o->optimizers, "muon: in the blocks, else AdamW", NULL,
          FLAG_MODEL },
        { "lr", FLAG_REAL, &o->lr, 1e-12, 1e3, "X", "learning rate", o->lr_unset, FLAG_MODEL },
        { "muon-lr", FLAG_REAL, &o->muon_lr, 1e-12, 1e3, "X", "learning rate of Muon", NULL, FLAG_MODEL },
        { "min-lr", FLAG_REAL, &o->min_lr, 0, 1e3, "X", "final learning rate", o->min_lr_unset, FLAG_MODEL },
        { "warmup", FLAG_INT, &o->warmup, 0, many, "N", "steps of warm-up", "100, or steps / 10 if fewer",
          FLAG_MODEL },
        { "decay", FLAG_REAL, &o->decay, 0, 1e3, "X", "weight decay, of matrices only", NULL, FLAG_MODEL },
        { "clip", FLAG_REAL, &o->clip, 0, 1e9, "X", "gradient-norm clipping, 0 = off", NULL, FLAG_MODEL },
        { "seed", FLAG_INT, &o->seed, 0, 4294967295.0, "N", "random seed", NULL, FLAG_MODEL },

        { NULL, FLAG_HEADING, NULL, 0, 0, NULL, "the run", NULL, FLAG_FREE },
        { "eval-every", FLAG_INT, &o->eval_every, 1, many, "N", "steps between validations", NULL,
          FLAG_FIXED },
        { "eval-batches", FLAG_INT, &o->eval_batches, 1, many, "N", "batches in a validation", NULL, FLAG_FIXED },
        { "sample", FLAG_INT, &o->sample, 0, many, "N", "tokens to write when trained", NULL, FLAG_FREE },
        { "threads", FLAG_INT, &o->threads, 0, 1024, "N", "threads, 0 = one for each core", NULL, FLAG_FREE },
        { "out", FLAG_TEXT, &o->out, 0, 0, "DIR", "folder for the files", NULL, FLAG_FIXED },
        { "resume", FLAG_TEXT, &o->resume, 0, 0, "DIR", "go on with the run in this folder", "a new run",
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
    const optimizer_kind *kind = &optimizer_kinds[o->optimizer];
    if (isnan(o->lr))
        o->lr = kind->lr;
    if (isnan(o->min_lr))
        o->min_lr = o->lr / kind->fall;
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
    bool given[OPTIONS_FLAGS] = { false };
    int n = options_flags(o, table);
    int how = flags_parse(table, n, "Trains a small GPT on text; leaves its loss curve, a sample, its parameters.",
                          argc, argv, given);
    if (how || !o->resume)
        return how;
    if (!o->resume[0]) {
        complain("--resume wants the name of a folder, not ''");
        return -1;
    }
    for (int i = 0; i < n; i++)
        if (given[i] && table[i].role != FLAG_FREE) {
            complain("--%s does not go with --resume: the run goes on in %s as it was begun", table[i].name,
                     o->resume);
            return -1;
        }
    o->out = o->resume;
    return 0;
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
