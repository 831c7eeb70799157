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
#include "lib/files.h"
#include "lib/flags.h"
#include "lib/heatmap.h"
#include "lib/options.h"
#include "lib/run.h"
#include "lib/sample.h"
#include "lib/say.h"
#include "lib/text.h"
#include "lib/trained.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char program_name[] = "generate";
static const char default_model[] = "build/run";        /* where train leaves it */

typedef struct session {
    const char *model_flag, *prompt, *attention, *ids, *logits; /* the flags */
    long        tokens, top_k, seed, threads, heads;
    double      temperature;
    char       *folder, *file;          /* of the model */
    bool        is_file;                /* the flag names the file, not its folder */
    bool        text;                   /* it has a vocabulary, and reads and writes text; else numbers */
    options     o;                      /* how the model was trained */
    vocabulary  vocab;
    gra_tape   *tape;
    gra_model  *model;
    struct gra_gpt     gpt;
    gra_kv_cache cache;
    bool        remember;
    int        *prompt_ids, *window;
    long        prompt_size;            /* tokens */
} session;

static int parse(session *s, int argc, char **argv)
{
    const flag table[] = {
        { .name = "model", .kind = FLAG_TEXT, .value = &s->model_flag, .what = "DIR|FILE",
          .help = "what train left, or a .safetensors" },
        { .name = "prompt", .kind = FLAG_TEXT, .value = &s->prompt, .what = "TEXT",
          .help = "the text to continue", .unset = "a line break" },
        { .name = "ids", .kind = FLAG_TEXT, .value = &s->ids, .what = "\"N N N\"",
          .help = "the tokens to continue, as numbers", .unset = "none" },
        { .name = "heads", .kind = FLAG_INT, .value = &s->heads, .low = 0, .high = 1e6, .what = "N",
          .help = "attention heads of a FILE", .unset = "as it says" },
        { .name = "tokens", .kind = FLAG_INT, .value = &s->tokens, .low = 1, .high = 1e9, .what = "N",
          .help = "how many tokens to write" },
        { .name = "temperature", .kind = FLAG_REAL, .value = &s->temperature, .low = 0, .high = 100, .what = "T",
          .help = "sampling temperature, 0 = the likeliest" },
        { .name = "top-k", .kind = FLAG_INT, .value = &s->top_k, .low = 0, .high = 1e9, .what = "K",
          .help = "sample among the K likeliest, 0 = all" },
        { .name = "seed", .kind = FLAG_INT, .value = &s->seed, .low = 0, .high = 4294967295.0, .what = "N",
          .help = "random seed" },
        { .name = "cache", .kind = FLAG_SWITCH, .value = &s->remember,
          .help = "key-value cache: faster, the same text" },
        { .name = "threads", .kind = FLAG_INT, .value = &s->threads, .low = 0, .high = 1024, .what = "N",
          .help = "threads, 0 = one for each core" },
        { .name = "attention", .kind = FLAG_TEXT, .value = &s->attention, .what = "FILE",
          .help = "attention weights, as .png, .svg or .tsv", .unset = "none" },
        { .name = "logits", .kind = FLAG_TEXT, .value = &s->logits, .what = "FILE",
          .help = "logits of what follows each token, as .npy", .unset = "none" },
    };
    int how = flags_parse(table, (int)(sizeof table / sizeof table[0]),
                          "Writes the prompt and what a trained model makes of it.", argc, argv, NULL);
    if (how)
        return how;
    if (s->logits && !file_ends_in(s->logits, ".npy")) {
        complain("--logits wants a name that ends in .npy, not '%s'", s->logits);
        return -1;
    }
    return s->attention && !heatmap_knows(s->attention) ? -1 : 0;
}

static char *folder_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? strndup(file, slash == file ? 1 : (size_t)(slash - file)) : strdup(".");
}

static int no_model(const session *s)
{
    struct stat about;
    if (file_is_in(s->folder, checkpoint_name))
        complain("%s has no %s yet: its run is not done. If it was stopped, build/train --resume %s goes on "
                 "with it", s->folder, model_name, s->folder);
    else if (strcmp(s->model_flag, default_model) == 0)
        complain("there is no trained model in %s: run make train first", default_model);
    else if (stat(s->model_flag, &about) != 0)
        complain("cannot read %s: %s", s->model_flag, strerror(errno));
    else
        complain("there is no trained model in %s: %s is missing", s->folder, model_name);
    return 1;
}

/* --model names the folder of a run, its model, or a model that comes without a vocabulary. */
static int find_model(session *s)
{
    struct stat about;
    s->is_file = stat(s->model_flag, &about) == 0 && !S_ISDIR(about.st_mode);
    s->folder = s->is_file ? folder_of(s->model_flag) : strdup(s->model_flag);
    s->file = s->is_file ? strdup(s->model_flag) : file_path(s->model_flag, model_name);
    if (!s->folder || !s->file) {
        complain("out of memory");
        return 1;
    }
    return stat(s->file, &about) == 0 ? 0 : no_model(s);
}

/* Which flags go with which model: numbers with any file, text where there is a vocabulary. */
static int agree(session *s, bool learnt)
{
    const bool beside = learnt && file_is_in(s->folder, vocab_name) && file_is_in(s->folder, config_name);
    const bool can = !s->is_file || beside;
    s->text = can && !s->ids;
    if (!s->is_file && (s->ids || s->heads))
        complain("--%s goes with --model FILE; the model in the folder %s takes --prompt TEXT",
                 s->ids ? "ids" : "heads", s->folder);
    else if (s->text && s->heads)
        complain("--heads goes with a model of another program: %s says it in %s", s->folder, config_name);
    else if (!can && !s->ids)
        complain("%s comes without a vocabulary: give it tokens as numbers, --ids \"464 3290 318\"", s->file);
    else if (s->ids && s->prompt[0])
        complain("--ids gives the tokens as numbers, --prompt as text: give one of them");
    else if (s->ids && s->attention)
        complain("--attention goes with --prompt: tokens that are given as numbers have no names");
    else
        return 0;
    return 2;
}

/* The size of the model: from the folder's config.tsv, or from the file's tensors. */
static int read_config(session *s, gra_gpt_config *config)
{
    if (s->text) {
        if (trained_read(s->folder, &s->o, &s->vocab) || trained_fits(s->model, s->file, &s->o, &s->vocab))
            return -1;
        *config = options_model(&s->o, s->vocab.size);
        config->init = GRA_INIT_ZEROS;
        return 0;
    }
    int failed = gra_gpt_read_config(s->model, s->file, (int)s->heads, config);
    if (failed)
        complain("cannot load %s: %s", s->file, file_why(gra_model_error(s->model), s->file));
    return failed;
}

static int read_values(session *s)
{
    if (s->text)
        return trained_load(s->file, s->model);
    int failed = gra_gpt_load(s->model, &s->gpt, s->file);
    if (failed)
        complain("cannot load %s: %s", s->file, file_why(gra_model_error(s->model), s->file));
    return failed;
}

/* 0, or the exit status. */
static int load(session *s)
{
    gra_gpt_config config;
    bool learnt;
    s->tape = gra_open((int)s->threads);
    s->model = gra_model_open(s->tape, NULL);
    s->prompt_ids = malloc((strlen(s->ids ? s->ids : s->prompt) + 1) * sizeof *s->prompt_ids);
    if (!s->tape || !s->model || !s->prompt_ids) {
        complain("out of memory");
        return 1;
    }
    gra_keep_going(s->tape, true);
    gra_model_keep_going(s->model, true);
    if (find_model(s) || trained_model(s->model, s->folder, s->file, &learnt))
        return 1;
    if (agree(s, learnt))
        return 2;
    if (read_config(s, &config))
        return 1;
    s->window = malloc((size_t)config.context_length * sizeof *s->window);
    if (!s->window) {
        complain("out of memory");
        return 1;
    }
    gra_gpt_init(&s->gpt, gra_root(s->model), &config);
    if (gra_model_error(s->model)) {
        complain("%s", gra_model_error(s->model));
        return 1;
    }
    if (read_values(s))
        return 1;
    if (s->remember && gra_kv_cache_open(&s->cache, &s->gpt)) {
        complain("out of memory");
        return 1;
    }
    return 0;
}

/* "464 3290 318"; commas are blanks too. How many, or -1 after a complaint. */
static long read_ids(const char *text, int vocab_size, int *ids)
{
    static const char between[] = " ,\t\n";
    long n = 0;
    for (const char *word = text + strspn(text, between); *word; word += strspn(word, between)) {
        char *end;
        errno = 0;
        long id = strtol(word, &end, 10);
        if (end == word || (*end && !strchr(between, *end)) || errno || id < 0 || id >= vocab_size) {
            const size_t length = strcspn(word, between);
            complain("--ids: '%.*s' is no token of this model: it has 0 to %d", length < 40 ? (int)length : 40, word,
                     vocab_size - 1);
            return -1;
        }
        ids[n++] = (int)id;
        word = end;
    }
    if (n == 0)
        complain("--ids wants at least one token: this model has 0 to %d", vocab_size - 1);
    return n ? n : -1;
}

static int read_prompt(session *s)
{
    if (!s->text)
        s->prompt_size = read_ids(s->ids, s->gpt.config.vocab_size, s->prompt_ids);
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
    y = gra_reshape(s->tape, y, GRA_SHAPE(writer->used, s->gpt.config.vocab_size));
    int failed = gra_error(s->tape) || gra_save_npy(s->model, s->logits, y);
    if (failed)
        complain("cannot write %s: %s", s->logits, gra_error(s->tape) ? gra_error(s->tape)
                                                          : file_why(gra_model_error(s->model), s->logits));
    return failed ? -1 : 0;
}

static int say_prompt(const session *s)
{
    if (s->text)
        return say_bytes(s->prompt, strlen(s->prompt));
    for (long i = 0; i < s->prompt_size; i++)
        if (say(i ? " %d" : "%d", s->prompt_ids[i]))
            return -1;
    return 0;
}

static int say_token(const session *s, int id)
{
    const char byte = s->text ? (char)s->vocab.byte[id] : 0;
    return !s->text ? say(" %d", id) : say_bytes(&byte, 1);
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
    const bool ended = s->text && s->vocab.byte[id] == '\n';
    return !s->text || (!ended && isatty(STDOUT_FILENO)) ? say("\n") : 0;
}

int main(int argc, char **argv)
{
    session s = { .model_flag = default_model, .prompt = "", .tokens = 500, .temperature = 0.8, .seed = 1,
                  .remember = true, .o = options_default() };
    int how = parse(&s, argc, argv);
    int status = how ? flags_status(how) : load(&s);
    if (!how && !status)
        status = generate(&s) ? 1 : 0;
    gra_kv_cache_close(&s.cache);
    gra_model_close(s.model);
    gra_close(s.tape);
    free(s.folder);
    free(s.file);
    free(s.prompt_ids);
    free(s.window);
    return status;
}
