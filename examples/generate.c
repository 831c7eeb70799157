/* generate: continues a prompt with a model that train has trained.
 *
 *     build/generate --prompt "static int " --tokens 300
 *
 * What you will learn: generation runs the model again and again on its own output; temperature, top-k and
 * top-p are all there is between its probabilities and the text. This draws what each token of the prompt
 * attends to:
 *
 *     build/generate --prompt "static int " --attention attention.png
 *
 * This runs GPT-2 from a Hugging Face folder, up to <|endoftext|>:
 *
 *     build/generate --model gpt2/ --prompt "Hello, I am" --top-k 50
 *
 * A file of GPT-2's parameters without the folder has no vocabulary: give tokens as numbers.
 *
 *     build/generate --model gpt2.safetensors --ids "464 3290 318"
 */
#include "lib/begin.h"
#include "lib/flags.h"
#include "lib/heatmap.h"
#include "lib/load.h"
#include "lib/sample.h"
#include "lib/message.h"
#include "lib/utf8.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *program_name = "generate";

typedef struct session {
    const char *model, *prompt, *attention, *ids, *logits;      /* the flags */
    long        tokens, count, top_k, seed, threads, heads;
    double      temperature, top_p;
    int         special;                /* 0, 1, or -1: as the run had it */
    int         use_cache;              /* the key-value cache */
    int         weights;                /* 1: bf16 */
    loaded      loaded;
    gra_kv_cache cache;
    int        *window;
    char        held[8];                /* the bytes of a character that is not complete yet */
    size_t      n_held;
} session;

static int parse(session *s, int argc, char **argv)
{
    const flag table[] = {
        { "model", FLAG_TEXT, &s->model, 1, 0, "DIR|FILE",
          .help = "train's folder or a .safetensors file" },
        { "prompt", FLAG_TEXT, &s->prompt, 0, 0, "TEXT", "the text to continue", .unset = "a line break" },
        { "ids", FLAG_TEXT, &s->ids, 0, 0, "\"N N N\"", "the tokens to continue, as numbers",
          .unset = "none" },
        { "special", FLAG_SWITCH, &s->special, .help = "read <|endoftext|> as one token",
          .unset = "as in the run" },
        { "heads", FLAG_INT, &s->heads, 0, 1e6, "N", "attention heads of --model FILE",
          .unset = "from the file" },
        { "tokens", FLAG_INT, &s->tokens, 1, 1e9, "N", .help = "tokens to write, at most" },
        { "count", FLAG_INT, &s->count, 1, 1e9, "N", .help = "how many texts to write" },
        { "temperature", FLAG_REAL, &s->temperature, 0, 100, "T",
          .help = "sampling temperature, 0 = the likeliest" },
        { "top-k", FLAG_INT, &s->top_k, 0, 1e9, "K", .help = "sample from the K likeliest tokens, 0 = all" },
        { "top-p", FLAG_REAL, &s->top_p, 0, 1, "P",
          .help = "the fewest tokens of probability P, 1 = all" },
        { "seed", FLAG_INT, &s->seed, 0, 4294967295.0, "N", .help = "random seed" },
        { "cache", FLAG_SWITCH, &s->use_cache, .help = "key-value cache: faster, same up to rounding" },
        { "weights", FLAG_CHOICE, &s->weights, 0, 0, "float|bf16",
          .help = "bf16: half the memory, faster, rounded" },
        { "threads", FLAG_INT, &s->threads, 0, 1024, "N",
          .help = "threads, 0 = all cores, within the quota" },
        { "attention", FLAG_TEXT, &s->attention, 0, 0, "FILE", "attention weights, as .png or .svg",
          .unset = "none" },
        { "logits", FLAG_TEXT, &s->logits, 0, 0, "FILE", "logits after each token, as .npy",
          .unset = "none" },
    };
    const int how = flags_parse(table, (int)(sizeof table / sizeof table[0]),
                                "Prints the prompt and continues it with a trained model.", argc, argv,
                                NULL);
    if (how != FLAGS_GO_ON)
        return how;
    if (s->logits && !file_ends_in(s->logits, ".npy"))
        warn("--logits: got '%s', expected a name that ends in .npy", s->logits);
    else if (s->attention && !file_ends_in(s->attention, ".png") && !file_ends_in(s->attention, ".svg"))
        warn("--attention: got '%s', expected a name that ends in .png or .svg", s->attention);
    else if (s->ids && s->prompt[0])
        warn("got both --ids (tokens as numbers) and --prompt (text): give only one of them");
    else if (s->ids && s->attention)
        warn("--attention needs --prompt: tokens given as numbers have no names");
    else
        return FLAGS_GO_ON;
    return 2;
}

static int load(session *s)
{
    loaded *l = &s->loaded;
    if (load_open(l, s->model, s->prompt, s->ids, s->special, (int)s->heads, (int)s->threads))
        return -1;
    for (int i = 0; i < gra_param_count(l->model) && s->weights; i++) {
        gra_tensor *p = gra_param_at(l->model, i);      /* all matrices that products read */
        if (p->shape.ndim == 2 && p != l->gpt.pos_emb.weight)
            gra_bfloat16(p);
    }
    if (gra_model_error(l->model))
        return warn("--weights bf16: %s", gra_model_error(l->model));
    s->window = malloc((size_t)l->gpt.config.context_length * sizeof *s->window);
    if (!s->window || (s->use_cache && gra_kv_cache_open(&s->cache, &l->gpt)))
        return warn("out of memory");
    return 0;
}

/* ---- generation -------------------------------------------------------------------------------------- */

/* --logits: row t has the logits of the token after tokens 0 ... t. */
static int write_logits(const session *s, const sampler *writer)
{
    const loaded *l = &s->loaded;
    gra_begin(l->tape, GRA_EVAL, NULL);
    gra_tensor *y = gra_gpt_forward(l->tape, &l->gpt, writer->ids, 1, writer->used);   /* (1, used, vocab) */
    y = gra_reshape(l->tape, y, GRA_SHAPE(writer->used, l->gpt.config.vocab_size));
    const int failed = gra_save_npy(s->logits, y);
    const char *why = gra_error(l->tape) ? gra_error(l->tape) : strerror(errno);
    return failed ? warn("cannot write %s: %s", s->logits, why) : 0;
}

/* A token may end inside a character, which is held back until the next token completes it. */
static void say_token(session *s, int id, bool first)
{
    const loaded *l = &s->loaded;
    if (!l->text) {
        say(first ? "%d" : " %d", id);
        return;
    }
    size_t n;
    const char *bytes = tokenizer_bytes(&l->tokens, id, &n);
    for (size_t i = 0; i < n; i++) {
        s->held[s->n_held++] = bytes[i];
        const size_t keep = utf8_unfinished(s->held, s->n_held), done = s->n_held - keep;
        if (done)
            say_bytes(s->held, done);
        memmove(s->held, s->held + done, keep);
        s->n_held = keep;
    }
}

static bool ends_line(const loaded *l, int id)
{
    size_t n = 0;
    const char *bytes = l->text ? tokenizer_bytes(&l->tokens, id, &n) : NULL;
    return n > 0 && bytes[n - 1] == '\n';
}

/* Prints the prompt and continues it, up to the end of a line if the model was trained with --lines. */
static int continue_prompt(session *s, sampler *writer)
{
    const loaded *l = &s->loaded;
    const bool line = !l->text || l->lines || s->count > 1 || isatty(STDOUT_FILENO);
    int id = 0;
    sample_see(writer, l->ids, l->n);
    for (size_t i = l->first; i < l->n; i++)
        say_token(s, l->ids[i], i == 0);
    for (long i = 0; i < s->tokens && !say_failed(); i++) {
        id = sample_next(writer);
        if (id < 0)
            return warn("%s", gra_error(l->tape));
        if (id != l->end || !l->lines)                  /* <|endoftext|> is shown, the end of a line is not */
            say_token(s, id, false);
        if (id == l->end)
            break;
    }
    s->n_held = 0;                                      /* a character without its end is left out */
    if (id == l->end || (line && !ends_line(l, id)))
        say("\n");
    return say_failed() ? -1 : 0;
}

static int generate(session *s)
{
    const loaded *l = &s->loaded;
    sampler writer = { .tape = l->tape, .gpt = &l->gpt, .tokens = l->tokens.size,
                       .cache = s->use_cache ? &s->cache : NULL,
                       .context = l->gpt.config.context_length, .temperature = s->temperature,
                       .top_k = s->top_k, .top_p = s->top_p, .ids = s->window };
    if (s->logits && l->n > (size_t)writer.context)
        return warn("--logits: got a prompt of %zu tokens, expected at most %d, the model's context length",
                    l->n, writer.context);
    sample_see(&writer, l->ids, l->n);
    if (s->attention && heatmap_write(s->attention, l->tape, &l->gpt, &l->tokens, writer.ids, writer.used))
        return -1;
    if (s->logits && write_logits(s, &writer))
        return -1;
    gra_manual_seed(&writer.rng, (uint64_t)s->seed);
    int failed = 0;
    for (long i = 0; i < s->count && !failed; i++)
        failed = continue_prompt(s, &writer);
    return failed;
}

int main(int argc, char **argv)
{
    session s = { .model = LOAD_DEFAULT, .prompt = "", .special = -1, .tokens = 500, .count = 1,
                  .temperature = 0.8, .top_p = 1, .seed = 1, .use_cache = 1 };
    begin_program(argv);
    program_name = argc > 0 ? say_last(argv[0]) : program_name;
    int status = parse(&s, argc, argv);
    if (status == FLAGS_GO_ON)
        status = load(&s) || generate(&s) ? 1 : 0;
    gra_kv_cache_close(&s.cache);
    load_close(&s.loaded);
    free(s.window);
    return status;
}
