/* options: the settings of a training run, each with its flag and its default.
 *
 * The default size is the size of nanoGPT's example for laptops. The model is GPT-2's (tied head, its
 * initialisation) but without biases, which learns a little better at this size. */
#include "options.h"
#include "files.h"
#include "optimizer.h"
#include "message.h"
#include "utf8.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

options options_default(void)
{
    return (options){
        .width = 128, .heads = 4, .layers = 4, .dropout = 0,
        .tied = 1, .bias = 0, .qkv_bias = 0, .gelu = 0, .init = 1,
        .accumulate = 1, .optimizer = -1,
        .lr = (double)NAN, .muon_lr = (double)NAN, .momentum = 0.85, .min_lr = (double)NAN, .decay = 0.1,
        .clip = 1, .warmup = -1, .seed = 1, .eval_batches = 20, .sample = 500, .out = "build/run",
    };
}

enum { FLAGS = 60 };

static int flags_of(options *o, flag table[FLAGS])
{
    const double many = 1e9;
    const flag all[] = {
        { NULL, FLAG_HEADING, .help = "the text" },
        { "data", FLAG_TEXT, &o->data, 1, 0, "FILE", .help = "text to learn from", "this project's sources",
          true },
        { "lines", FLAG_SWITCH, &o->lines, .help = "each line is a document of its own" },
        { "special", FLAG_SWITCH, &o->special, .help = "read <|endoftext|> as one token" },

        { "tokenizer", FLAG_CHOICE, &o->tokenizer, 0, 0, "bytes|bpe",
          .help = "tokens: bytes, or pieces of words", .fixed = true },
        { "vocab", FLAG_INT, &o->vocab, 0, 65536, "N", .help = "vocabulary size, with bpe",
          "2048", .fixed = true },

        { NULL, FLAG_HEADING, .help = "the model" },
        { "from", FLAG_TEXT, &o->from, 1, 0, "DIR|FILE", "train this model further",
          .unset = "a new one" },
        { "context", FLAG_INT, &o->context, 1, 1e6, "N", "context length, in tokens",
          .unset = "64; --from 256" },
        { "positions", FLAG_INT, &o->positions, 1, 1e6, "N", "rows of the position embedding",
          .unset = "the context", .fixed = true },
        { "rows", FLAG_INT, &o->rows, 0, 1e9, "N", "rows of the token embedding",
          .unset = "as many as tokens", .fixed = true },
        { "width", FLAG_INT, &o->width, 1, 1e6, "N", .help = "embedding width", .fixed = true },
        { "heads", FLAG_INT, &o->heads, 1, 1e6, "N",
          .help = "attention heads; must divide the width", .fixed = true },
        { "layers", FLAG_INT, &o->layers, 1, 1e4, "N", .help = "transformer blocks", .fixed = true },
        { "dropout", FLAG_REAL, &o->dropout, 0, 0.99, "P", .help = "dropout probability" },
        { "tied", FLAG_SWITCH, &o->tied, .help = "output head shares the token embedding", .fixed = true },
        { "bias", FLAG_SWITCH, &o->bias, .help = "biases in linear layers and norms", .fixed = true },
        { "qkv-bias", FLAG_SWITCH, &o->qkv_bias, .help = "biases in query, key and value", .fixed = true },
        { "gelu", FLAG_CHOICE, &o->gelu, 0, 0, "erf|tanh",
          .help = "GELU: exact, or GPT-2's approximation", .fixed = true },
        { "init", FLAG_CHOICE, &o->init, 0, 0, "torch|gpt2",
          .help = "initialisation of the parameters", .fixed = true },

        { NULL, FLAG_HEADING, .help = "the training" },
        { "steps", FLAG_INT, &o->steps, 1, many, "N", "training steps",
          .unset = "620; others 2000; --from 200" },
        { "batch", FLAG_INT, &o->batch, 1, 1e6, "N", "batch size: windows, or lines",
          .unset = "12; --from 4" },
        { "accumulate", FLAG_INT, &o->accumulate, 1, 1e6, "N",
          .help = "batches per step, one after another" },
        { "train-last", FLAG_INT, &o->train_last, 0, 1e4, "N",
          "only the last N blocks and the final norm", .unset = "0: all" },
        { "optimizer", FLAG_CHOICE, &o->optimizer, 0, 0, OPTIMIZER_NAMES,
          "muon: AdamW outside blocks", .unset = "muon; --from adamw" },
        { "lr", FLAG_REAL, &o->lr, 1e-12, 1e3, "X",
          .help = "learning rate", "0.004; sgd 0.1; --from 3e-5" },
        { "muon-lr", FLAG_REAL, &o->muon_lr, 1e-12, 1e3, "X",
          "learning rate of Muon", .unset = "0.03; --from 1.5e-4" },
        { "momentum", FLAG_REAL, &o->momentum, 0, 0.9999, "X", .help = "momentum of Muon" },
        { "min-lr", FLAG_REAL, &o->min_lr, 0, 1e3, "X", .help = "final learning rate",
          "lr / 10; with muon lr / 50" },
        { "warmup", FLAG_INT, &o->warmup, 0, many, "N", .help = "warm-up",
          "20, others 100, <= steps/10; --from 0" },
        { "decay", FLAG_REAL, &o->decay, 0, 1e3, "X", .help = "weight decay, of matrices only" },
        { "clip", FLAG_REAL, &o->clip, 0, 1e9, "X", .help = "gradient-norm clipping, 0 = off" },
        { "products", FLAG_CHOICE, &o->products, 0, 0, "float|bf16",
          .help = "precision of matrix products" },
        { "recompute", FLAG_SWITCH, &o->recompute, .help = "each block is computed twice: less memory",
          .again = true },
        { "seed", FLAG_INT, &o->seed, 0, fmin(4294967295.0, (double)LONG_MAX), "N", .help = "random seed" },

        { NULL, FLAG_HEADING, .help = "the run" },
        { "eval-every", FLAG_INT, &o->eval_every, 1, many, "N", "steps per validation",
          .unset = "100; others 250; --from 50" },
        { "eval-batches", FLAG_INT, &o->eval_batches, 1, many, "N", .help = "batches per validation" },
        { "patience", FLAG_INT, &o->patience, 0, many, "N",
          .help = "stop after N validations without progress", .unset = "never" },
        { "sample", FLAG_INT, &o->sample, 0, many, "N", .help = "tokens in the final sample", NULL, true },
        { "threads", FLAG_INT, &o->threads, 0, 1024, "N",
          .help = "threads, 0 = all cores, within the quota", NULL, true },
        { "out", FLAG_TEXT, &o->out, 1, 0, "DIR", .help = "folder for the files" },
        { "layout", FLAG_CHOICE, &o->layout, 0, 0, "gradus|huggingface",
          .help = "naming scheme of the parameters", NULL, true },
        { "resume", FLAG_TEXT, &o->resume, 1, 0, "DIR", .help = "continue the run in this folder",
          "a new run", true },
        { "checkpoint-every", FLAG_INT, &o->checkpoint_every, 0, many, "N",
          .help = "steps between checkpoints",
          "by the clock", true },
        { "snapshot-every", FLAG_INT, &o->snapshot_every, 0, many, "N",
          .help = "steps between snapshots, for look", "none", true },
        { "quiet", FLAG_SWITCH, &o->quiet, .help = "print only errors and the last line", .again = true },
    };
    memcpy(table, all, sizeof all);
    return (int)(sizeof all / sizeof all[0]);
}

int options_parse(options *o, int argc, char **argv)
{
    flag table[FLAGS];
    bool given[FLAGS] = { false };
    const int n = flags_of(o, table);
    static const char about[] =
        "Trains a small GPT on text; writes its loss curve, a sample, its parameters.";
    const int how = flags_parse(table, n, about, argc, argv, given);
    for (int i = 0; i < n && how == FLAGS_GO_ON && o->resume; i++)
        if (given[i] && !table[i].again) {
            warn("--%s cannot be given with --resume: the run in %s keeps its flags", table[i].name,
                 o->resume);
            return 2;
        }
    for (int i = 0; i < n && how == FLAGS_GO_ON && o->from; i++)
        if (given[i] && table[i].fixed) {
            warn("--%s cannot be given with --from: the model in %s has its own", table[i].name, o->from);
            return 2;
        }
    if (o->resume)
        o->out = o->resume;
    return how;
}

/* Is the text UTF-8? Replaces each byte that is in no character by '?'. */
static bool is_utf8(char *text)
{
    bool all = true;
    for (size_t n = strlen(text), length; n > 0; text += length, n -= length) {
        length = utf8_length((const unsigned char *)text, n);
        if (length > 0)
            continue;
        all = false;
        length = 1;
        *text = '?';
    }
    return all;
}

/* A checkpoint stores each flag in a line of UTF-8. */
static int check_name(const char *option, const char *given)
{
    char name[FILE_PATH];
    snprintf(name, sizeof name, "%s", given ? given : "");
    if (strchr(name, '\n'))
        return warn("--%s: got a name with a line break, which a checkpoint cannot store: rename the file",
                    option);
    if (!is_utf8(name))
        return warn("--%s: got the name %s, expected UTF-8, as a checkpoint stores it: rename the file",
                    option, name);
    return 0;
}

static void fill_in(long *value, long unset, long other)
{
    if (*value == unset)
        *value = other;
}

static void fill_in_all(options *o)
{
    const bool tuned = o->from;
    optimizer_defaults(o);
    fill_in(&o->batch, 0, tuned ? 4 : 12);
    fill_in(&o->vocab, 0, o->tokenizer ? 2048 : 0);
    if (tuned && !o->positions)         /* the model is still unknown */
        return;
    fill_in(&o->context, 0, !tuned ? 64 : o->positions < 256 ? o->positions : 256);
    fill_in(&o->positions, 0, o->context);
}

int options_complete(options *o)
{
    fill_in_all(o);
    if (check_name("data", o->data) || check_name("from", o->from))
        return -1;
    if (o->width % o->heads != 0)
        return warn("--heads %ld does not divide --width %ld: each head gets an equal share", o->heads,
                    o->width);
    if (o->positions && o->context > o->positions)
        return warn("--context: got %ld, expected at most %ld, the positions of the model", o->context,
                    o->positions);
    if (o->positions && o->train_last > o->layers)
        return warn("--train-last: got %ld, expected at most %ld, the blocks of the model", o->train_last,
                    o->layers);
    if (!o->tokenizer && o->vocab)
        return warn("--vocab %ld needs --tokenizer bpe: with bytes, the text decides", o->vocab);
    if (!o->tokenizer && o->rows)
        return warn("--rows %ld needs --tokenizer bpe: with bytes, the text decides", o->rows);
    if (o->tokenizer && o->vocab <= 256 + o->special)
        return warn("--vocab: got %ld, expected %d to 65536: 256 tokens are bytes", o->vocab,
                    257 + o->special);
    if (o->min_lr > o->lr)
        return warn("--min-lr %g is above --lr %g: the learning rate falls from --lr to --min-lr", o->min_lr,
                    o->lr);
    const double tokens = (double)o->batch * (double)o->context * (double)o->accumulate;
    if (tokens > 1 << 30)
        return warn("--batch %ld times --context %ld times --accumulate %ld: got %.0f tokens per step, "
                    "expected at most %d", o->batch, o->context, o->accumulate, tokens, 1 << 30);
    return 0;
}

char *options_write(const options *o)
{
    options copy = *o;                  /* a table of flags points at its variables */
    copy.out = copy.resume = NULL;
    flag table[FLAGS];
    return flags_write(table, flags_of(&copy, table));
}

int options_read(options *o, const char *path, char *text)
{
    flag table[FLAGS];
    return flags_read(table, flags_of(o, table), path, text);
}

gra_gpt_config options_model(const options *o, int vocab_size)
{
    return (gra_gpt_config){
        .vocab_size = vocab_size, .context_length = (int)o->positions, .emb_dim = (int)o->width,
        .n_heads = (int)o->heads, .n_layers = (int)o->layers, .drop_rate = o->dropout,
        .qkv_bias = o->qkv_bias, .bias = o->bias, .tied = o->tied,
        .gelu = o->gelu ? GRA_GELU_TANH : GRA_GELU_ERF, .init = o->init ? GRA_INIT_GPT2 : GRA_INIT_TORCH,
    };
}

int options_take_model(options *o, const gra_gpt_config *c)
{
    o->positions = c->context_length;
    o->width = c->emb_dim;
    o->heads = c->n_heads;
    o->layers = c->n_layers;
    o->tied = c->tied;
    o->bias = c->bias;
    o->qkv_bias = c->qkv_bias;
    o->gelu = c->gelu == GRA_GELU_TANH;
    return options_complete(o);
}
