/* generate: continues a prompt with a model that train left.
 *
 *     build/generate --prompt "static int " --tokens 300
 *
 * What you will learn: generation is the model run again and again on its own output, and temperature
 * and top-k are all that stands between its probabilities and the text. What the model looks at, token by
 * token, when it reads the prompt:
 *
 *     build/generate --prompt "static int " --attention attention.png
 *
 * A file of GPT-2's parameters, Hugging Face's or nanoGPT's, has no vocabulary: it takes tokens as numbers.
 *
 *     build/generate --model gpt2.safetensors --ids "464 3290 318"
 */
#include "../layers/layers.h"
#include "lib/flags.h"
#include "lib/heatmap.h"
#include "lib/ids.h"
#include "lib/options.h"
#include "lib/run.h"
#include "lib/sample.h"
#include "lib/say.h"
#include "lib/text.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char program_name[] = "generate";

typedef struct session {
    const char *folder, *prompt, *attention, *ids, *logits;     /* the flags; folder may be a file */
    long        tokens, top_k, seed, threads, heads;
    double      temperature;
    options     o;                      /* how the model was trained */
    vocabulary  vocab;
    gra_tape   *tape;
    gra_model  *model;
    gra_gpt     gpt;
    gra_gpt_cache cache;
    bool        remember;
    int        *prompt_ids, *window;
    long        prompt_size;            /* tokens */
} session;

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* A model by itself, not the folder of a run. */
static bool is_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? !S_ISDIR(about.st_mode) : ends_in(path, ".safetensors");
}

/* Which flags go together. */
static int agree(const session *s)
{
    if (!is_file(s->folder)) {
        if (s->ids || s->heads)
            complain("--%s goes with --model FILE; the model in the folder %s takes --prompt TEXT",
                     s->ids ? "ids" : "heads", s->folder);
        return s->ids || s->heads ? -1 : 0;
    }
    if (!s->ids)
        complain("%s comes without a vocabulary: give it tokens as numbers, --ids \"464 3290 318\"",
                 s->folder);
    else if (s->prompt[0] || s->attention)
        complain("--%s goes with --model DIR: %s comes without a vocabulary",
                 s->prompt[0] ? "prompt" : "attention", s->folder);
    else
        return 0;
    return -1;
}

static int parse(session *s, int argc, char **argv)
{
    const flag table[] = {
        { "model", FLAG_TEXT, &s->folder, 0, 0, "DIR|FILE", "what train left, or a .safetensors", NULL,
          false },
        { "prompt", FLAG_TEXT, &s->prompt, 0, 0, "TEXT", "the text to continue", "a line break", false },
        { "ids", FLAG_TEXT, &s->ids, 0, 0, "\"N N N\"", "tokens to continue, where the model is a FILE",
          "none", false },
        { "heads", FLAG_INT, &s->heads, 0, 1e6, "N", "attention heads of a FILE", "as it says, or width / 64",
          false },
        { "tokens", FLAG_INT, &s->tokens, 1, 1e9, "N", "how many to write", NULL, false },
        { "temperature", FLAG_REAL, &s->temperature, 0, 100, "T",
          "0: always the likeliest, may go in circles", NULL, false },
        { "top-k", FLAG_INT, &s->top_k, 0, SAMPLE_TOP_K, "K", "only among the K likeliest; 0: among all",
          NULL, false },
        { "seed", FLAG_INT, &s->seed, 0, 4294967295.0, "N", "another one, another text", NULL, false },
        { "cache", FLAG_SWITCH, &s->remember, 0, 0, NULL, "remember keys and values: faster, the same text",
          NULL, false },
        { "threads", FLAG_INT, &s->threads, 0, 1024, "N", "0: as many as there are cores", NULL, false },
        { "attention", FLAG_TEXT, &s->attention, 0, 0, "FILE",
          "attention weights to .png, .svg or .tsv", "none", false },
        { "logits", FLAG_TEXT, &s->logits, 0, 0, "FILE", "scores of what follows each token, to .npy", "none",
          false },
    };
    int how = flags_parse(table, (int)(sizeof table / sizeof table[0]),
                          "Writes the prompt and what a trained model makes of it.", argc, argv);
    if (how)
        return how;
    return (s->attention && !heatmap_knows(s->attention)) || agree(s) ? -1 : 0;
}

/* The size of the model: from the folder's config.tsv, or from the file's tensors. */
static int read_config(session *s, gra_gpt_config *config)
{
    if (!is_file(s->folder)) {
        if (run_read(s->folder, &s->o, &s->vocab) || run_fits(s->model, s->folder, &s->o, &s->vocab))
            return -1;
        *config = options_model(&s->o, s->vocab.size);
        config->init = GRA_INIT_ZEROS;
        return 0;
    }
    int failed = gra_gpt_read_config(s->model, s->folder, (int)s->heads, config);
    if (failed)
        complain("%s", gra_model_error(s->model));
    return failed;
}

static int read_values(session *s)
{
    if (!is_file(s->folder))
        return run_load(s->folder, s->model);
    int failed = gra_gpt_load(s->model, &s->gpt, s->folder);
    if (failed)
        complain("%s", gra_model_error(s->model));
    return failed;
}

static int load(session *s)
{
    gra_gpt_config config;
    s->tape = gra_open((int)s->threads);
    s->model = gra_model_open(NULL);
    s->prompt_ids = malloc((strlen(s->ids ? s->ids : s->prompt) + 1) * sizeof *s->prompt_ids);
    if (!s->tape || !s->model || !s->prompt_ids) {
        complain("out of memory");
        return -1;
    }
    gra_keep_going(s->tape, true);
    gra_model_keep_going(s->model, true);
    if (read_config(s, &config))
        return -1;
    s->window = malloc((size_t)config.context_length * sizeof *s->window);
    if (!s->window) {
        complain("out of memory");
        return -1;
    }
    gra_gpt_init(&s->gpt, gra_root(s->model), &config);
    if (gra_model_error(s->model)) {
        complain("%s", gra_model_error(s->model));
        return -1;
    }
    if (read_values(s))
        return -1;
    if (s->remember && gra_gpt_cache_open(&s->cache, &s->gpt)) {
        complain("out of memory");
        return -1;
    }
    return 0;
}

static int read_prompt(session *s)
{
    if (s->ids)
        s->prompt_size = ids_read(s->ids, s->gpt.config.vocab_size, s->prompt_ids);
    else {
        size_t n = strlen(s->prompt);
        if (vocabulary_encode(&s->vocab, s->prompt, n, s->prompt_ids))
            return -1;
        if (n == 0)                     /* a model needs something to start from: a new line */
            s->prompt_ids[0] = s->vocab.id['\n'] < 0 ? 0 : s->vocab.id['\n'];
        s->prompt_size = n ? (long)n : 1;
    }
    return s->prompt_size > 0 ? 0 : -1;
}

/* Row t scores what follows tokens 0 ... t. */
static int write_logits(session *s, const sampler *writer)
{
    gra_begin(s->tape, GRA_EVAL, NULL);
    gra_tensor *y = gra_gpt_forward(s->tape, &s->gpt, writer->ids, 1, writer->used);   /* (1, used, vocab) */
    y = gra_reshape(s->tape, y, GRA_DIMS(writer->used, s->gpt.config.vocab_size));
    int failed = gra_error(s->tape) || gra_save_npy(s->model, s->logits, y);
    if (failed)
        complain("%s", gra_error(s->tape) ? gra_error(s->tape) : gra_model_error(s->model));
    return failed ? -1 : 0;
}

static int say_prompt(const session *s)
{
    if (!s->ids)
        return say_bytes(s->prompt, strlen(s->prompt));
    for (long i = 0; i < s->prompt_size; i++)
        if (say(i ? " %d" : "%d", s->prompt_ids[i]))
            return -1;
    return 0;
}

static int say_token(const session *s, int id)
{
    const char byte = s->ids ? 0 : (char)s->vocab.byte[id];
    return s->ids ? say(" %d", id) : say_bytes(&byte, 1);
}

static int generate(session *s)
{
    sampler writer = { .tape = s->tape,
                       .gpt = &s->gpt,
                       .cache = s->remember ? &s->cache : NULL,
                       .context = s->gpt.config.context_length,
                       .temperature = s->temperature,
                       .top_k = s->top_k,
                       .ids = s->window };
    int id = -1;
    if (read_prompt(s))
        return -1;
    if (s->logits && s->prompt_size > writer.context) {
        complain("--logits: the prompt has %ld tokens, and the model looks back on %d: give it fewer",
                 s->prompt_size, writer.context);
        return -1;
    }
    sample_see(&writer, s->prompt_ids, (size_t)s->prompt_size);
    if (s->attention && heatmap_write(s->attention, s->tape, &s->gpt, &s->vocab, writer.ids, writer.used))
        return -1;
    if ((s->logits && write_logits(s, &writer)) || say_prompt(s))
        return -1;
    gra_manual_seed(&writer.rng, (uint64_t)s->seed);
    for (long i = 0; i < s->tokens; i++) {
        id = sample_next(&writer);
        if (id < 0) {
            complain("%s", gra_error(s->tape));
            return -1;
        }
        if (say_token(s, id))
            return -1;
    }
    const bool ended = !s->ids && s->vocab.byte[id] == '\n';
    return s->ids || (!ended && isatty(STDOUT_FILENO)) ? say("\n") : 0;
}

int main(int argc, char **argv)
{
    session s = { .folder = "build/run", .prompt = "", .tokens = 500, .temperature = 0.8, .seed = 1,
                  .remember = true, .o = options_default() };
    int how = parse(&s, argc, argv);
    int status = how ? flags_status(how) : load(&s) || generate(&s) ? 1 : 0;
    gra_gpt_cache_close(&s.cache);
    gra_model_close(s.model);
    gra_close(s.tape);
    free(s.prompt_ids);
    free(s.window);
    return status;
}
