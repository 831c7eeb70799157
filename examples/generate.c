/* generate: continues a prompt with a model that train has trained.
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
#include "import/import.h"
#include "lib/files.h"
#include "lib/flags.h"
#include "lib/heatmap.h"
#include "lib/run.h"
#include "lib/sample.h"
#include "lib/say.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *program_name = "generate";
static const char default_model[] = "build/run";        /* the folder that train writes unless told otherwise */

typedef struct session {
    const char *model_flag, *prompt, *attention, *ids, *logits; /* the flags */
    long        tokens, top_k, seed, threads, heads;
    double      temperature;
    int         use_cache;              /* the key-value cache */
    char        folder[FILE_PATH], file[FILE_PATH];     /* of the model */
    bool        text;                   /* tokens are read and written as text: there is a vocabulary */
    vocabulary  vocab;
    gra_tape   *tape;
    gra_model  *model;
    struct gra_gpt gpt;
    gra_kv_cache cache;
    int        *prompt_ids, *window;
    size_t      prompt_size;            /* tokens */
} session;

static int parse(session *s, int argc, char **argv)
{
    const flag table[] = {
        { "model", FLAG_TEXT, &s->model_flag, 0, 0, "DIR|FILE",
          .help = "a folder of train, or a .safetensors" },
        { "prompt", FLAG_TEXT, &s->prompt, 0, 0, "TEXT", "the text to continue", .unset = "a line break" },
        { "ids", FLAG_TEXT, &s->ids, 0, 0, "\"N N N\"", "the tokens to continue, as numbers",
          .unset = "none" },
        { "heads", FLAG_INT, &s->heads, 0, 1e6, "N", "attention heads of --model FILE",
          .unset = "as it says" },
        { "tokens", FLAG_INT, &s->tokens, 1, 1e9, "N", .help = "how many tokens to write" },
        { "temperature", FLAG_REAL, &s->temperature, 0, 100, "T", .help = "sampling temperature, 0 = the "
         "likeliest" },
        { "top-k", FLAG_INT, &s->top_k, 0, 1e9, "K", .help = "sample among the K likeliest, 0 = all" },
        { "seed", FLAG_INT, &s->seed, 0, 4294967295.0, "N", .help = "random seed" },
        { "cache", FLAG_SWITCH, &s->use_cache, .help = "key-value cache: faster, the same text" },
        { "threads", FLAG_INT, &s->threads, 0, 1024, "N", .help = "threads, 0 = one for each core" },
        { "attention", FLAG_TEXT, &s->attention, 0, 0, "FILE", "attention weights, as .png or .svg",
          .unset = "none" },
        { "logits", FLAG_TEXT, &s->logits, 0, 0, "FILE", "logits of what follows each token, as .npy",
          .unset = "none" },
    };
    const int how = flags_parse(table, (int)(sizeof table / sizeof table[0]),
                                "Writes the prompt, and continues it with a trained model.", argc, argv, NULL);
    if (how != FLAGS_GO_ON)
        return how;
    if (s->logits && !file_ends_in(s->logits, ".npy"))
        complain("--logits wants a name that ends in .npy, not '%s'", s->logits);
    else if (s->attention && !file_ends_in(s->attention, ".png") && !file_ends_in(s->attention, ".svg"))
        complain("--attention wants a name that ends in .png or .svg, not '%s'", s->attention);
    else if (s->ids && s->prompt[0])
        complain("--ids gives the tokens as numbers, --prompt as text: give one of them");
    else if (s->ids && s->attention)
        complain("--attention goes with --prompt: tokens that are given as numbers have no names");
    else
        return FLAGS_GO_ON;
    return 2;
}

/* ---- the model --------------------------------------------------------------------------------------- */

static int no_model(const session *s)
{
    char checkpoint[FILE_PATH];
    if (access(file_path(checkpoint, s->model_flag, CHECKPOINT_FILE), F_OK) == 0)
        complain("%s has no %s yet: its run is not done. If it was stopped, build/train --resume %s goes on "
                 "with it", s->model_flag, MODEL_FILE, s->model_flag);
    else if (strcmp(s->model_flag, default_model) == 0)
        complain("there is no trained model in %s: train one first (make train)", default_model);
    else
        complain("there is no model: %s: %s", access(s->model_flag, F_OK) ? s->model_flag : s->file,
                 strerror(ENOENT));
    return -1;
}

/* --model names a file, or the folder that train left. */
static int find_model(session *s)
{
    struct stat about;
    const bool is_file = stat(s->model_flag, &about) == 0 && !S_ISDIR(about.st_mode);
    const char *slash = strrchr(s->model_flag, '/');
    const int folder = !is_file ? (int)strlen(s->model_flag) : slash ? (int)(slash + 1 - s->model_flag) : 0;
    snprintf(s->folder, FILE_PATH, "%.*s", folder ? folder : 1, folder ? s->model_flag : ".");
    if (is_file)
        snprintf(s->file, FILE_PATH, "%s", s->model_flag);
    else
        file_path(s->file, s->model_flag, MODEL_FILE);
    if (stat(s->file, &about) != 0)
        return no_model(s);
    if (file_ends_in(s->file, CHECKPOINT_FILE)) {
        complain("%s is a checkpoint, from which build/train --resume goes on; the model beside it is %s",
                 s->file, MODEL_FILE);
        return -1;
    }
    return 0;
}

/* The vocabulary stands beside the file, or there is none and tokens are numbers. */
static int find_vocabulary(session *s, int tokens)
{
    char path[FILE_PATH];
    s->text = !s->ids && access(file_path(path, s->folder, VOCAB_FILE), F_OK) == 0;
    if (!s->text && !s->ids)
        complain("%s comes without a vocabulary: give it tokens as numbers, --ids \"464 3290 318\"", s->file);
    if (!s->text)
        return s->ids ? 0 : -1;
    if (vocabulary_read(&s->vocab, path))
        return -1;
    if (s->vocab.size == tokens)
        return 0;
    complain("%s is of another model than %s: it has %d tokens, and the model %d", path, s->file,
             s->vocab.size, tokens);
    return -1;
}

static int read_model(session *s)
{
    char why[IMPORT_WHY];
    if (import_gpt(&s->gpt, gra_root(s->model), s->file, (int)s->heads, why)) {
        complain("cannot load %s", why);
        return -1;
    }
    if (find_vocabulary(s, s->gpt.config.vocab_size))
        return -1;
    s->window = malloc((size_t)s->gpt.config.context_length * sizeof *s->window);
    if (!s->window || (s->use_cache && gra_kv_cache_open(&s->cache, &s->gpt))) {
        complain("out of memory");
        return -1;
    }
    return 0;
}

static int load(session *s)
{
    s->tape = gra_open((int)s->threads);
    s->model = gra_model_open(s->tape, NULL);
    if (!s->tape || !s->model) {
        complain("out of memory");
        return -1;
    }
    gra_keep_going(s->tape, true);
    gra_model_keep_going(s->model, true);
    return find_model(s) || read_model(s) ? -1 : 0;
}

/* ---- the prompt -------------------------------------------------------------------------------------- */

/* "464 3290 318"; commas are blanks too. How many, or 0 after a complaint. */
static size_t read_ids(const char *text, int vocab_size, int *ids)
{
    static const char between[] = " ,\t\n";
    size_t n = 0;
    for (const char *word = text + strspn(text, between); *word; word += strspn(word, between)) {
        char *end;
        errno = 0;
        const long id = strtol(word, &end, 10);
        if (end == word || (*end && !strchr(between, *end)) || errno || id < 0 || id >= vocab_size) {
            complain("--ids: '%.*s' is no token of this model: it has 0 to %d", (int)strcspn(word, between),
                     word, vocab_size - 1);
            return 0;
        }
        ids[n++] = (int)id;
        word = end;
    }
    if (n == 0)
        complain("--ids wants at least one token: this model has 0 to %d", vocab_size - 1);
    return n;
}

static int read_prompt(session *s)
{
    const size_t n = strlen(s->ids ? s->ids : s->prompt);
    s->prompt_ids = malloc((n + 1) * sizeof *s->prompt_ids);
    if (!s->prompt_ids) {
        complain("out of memory");
        return -1;
    }
    if (s->ids)
        s->prompt_size = read_ids(s->ids, s->gpt.config.vocab_size, s->prompt_ids);
    else if (vocabulary_encode(&s->vocab, s->prompt, n, s->prompt_ids) == 0) {
        s->prompt_ids[n] = vocabulary_newline(&s->vocab);       /* of an empty prompt: one token is needed */
        s->prompt_size = n ? n : 1;
    }
    return s->prompt_size ? 0 : -1;
}

/* ---- generation -------------------------------------------------------------------------------------- */

/* --logits: row t has the logits of the token that follows tokens 0 ... t. */
static int write_logits(session *s, const sampler *writer)
{
    gra_begin(s->tape, GRA_EVAL, NULL);
    gra_tensor *y = gra_gpt_forward(s->tape, &s->gpt, writer->ids, 1, writer->used);   /* (1, used, vocab) */
    y = gra_reshape(s->tape, y, GRA_SHAPE(writer->used, s->gpt.config.vocab_size));
    const int failed = gra_save_npy(s->logits, y);
    if (failed)
        complain("cannot write %s: %s", s->logits, gra_error(s->tape) ? gra_error(s->tape) : strerror(errno));
    return failed ? -1 : 0;
}

static void say_token(const session *s, int id, bool first)
{
    const char byte = s->text ? (char)s->vocab.byte[id] : 0;
    if (s->text)
        say_bytes(&byte, 1);
    else
        say(first ? "%d" : " %d", id);
}

static int generate(session *s)
{
    sampler writer = { .tape = s->tape, .gpt = &s->gpt, .cache = s->use_cache ? &s->cache : NULL,
                       .context = s->gpt.config.context_length, .temperature = s->temperature,
                       .top_k = s->top_k, .ids = s->window };
    if (s->logits && s->prompt_size > (size_t)writer.context) {
        complain("--logits: the prompt has %zu tokens, and the model looks back on %d: give it fewer",
                 s->prompt_size, writer.context);
        return -1;
    }
    sample_see(&writer, s->prompt_ids, s->prompt_size);
    if (s->attention && heatmap_write(s->attention, s->tape, &s->gpt, &s->vocab, writer.ids, writer.used))
        return -1;
    if (s->logits && write_logits(s, &writer))
        return -1;
    const size_t shown = s->ids || s->prompt[0] ? s->prompt_size : 0;
    for (size_t i = 0; i < shown; i++)
        say_token(s, s->prompt_ids[i], i == 0);
    gra_manual_seed(&writer.rng, (uint64_t)s->seed);
    int id = 0;
    for (long i = 0; i < s->tokens && !say_failed(); i++) {
        id = sample_next(&writer);
        if (id < 0) {
            complain("%s", gra_error(s->tape));
            return -1;
        }
        say_token(s, id, false);
    }
    if (!s->text || (isatty(STDOUT_FILENO) && s->vocab.byte[id] != '\n'))
        say("\n");
    return say_failed() ? -1 : 0;
}

int main(int argc, char **argv)
{
    session s = { .model_flag = default_model, .prompt = "", .tokens = 500, .temperature = 0.8, .seed = 1,
                  .use_cache = 1 };
    program_name = argc > 0 ? say_last(argv[0]) : program_name;
    int status = parse(&s, argc, argv);
    if (status == FLAGS_GO_ON)
        status = load(&s) || read_prompt(&s) || generate(&s) ? 1 : 0;
    gra_kv_cache_close(&s.cache);
    gra_model_close(s.model);
    gra_close(s.tape);
    free(s.prompt_ids);
    free(s.window);
    return status;
}
