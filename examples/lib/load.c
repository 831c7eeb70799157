/* load: see load.h. */
#include "load.h"
#include "../../core/base/system.h"
#include "../import/import.h"
#include "../import/shards.h"
#include "run_folder.h"
#include "message.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the model --------------------------------------------------------------------------------------- */

/* The name of the program train: an installed program's name begins with gradus-. */
static const char *train(void)
{
    return strncmp(program_name, "gradus-", 7) == 0 ? "gradus-train" : "build/train";
}

static int no_model(const char *model, const char *file)
{
    char checkpoint[FILE_PATH];
    if (file_is_there(checkpoint, model, CHECKPOINT_FILE))
        return warn("%s has no %s yet: its run has not ended. If it was stopped, %s --resume %s continues "
                    "it", model, MODEL_FILE, train(), model);
    if (strcmp(model, LOAD_DEFAULT) == 0)
        return warn("there is no trained model in %s: train one first (%s)", LOAD_DEFAULT, train());
    return warn("there is no model: %s: %s", access(model, F_OK) ? model : file, strerror(ENOENT));
}

int load_find(const char *model, char in[FILE_PATH], char path[FILE_PATH])
{
    struct stat about;
    const bool is_file = stat(model, &about) == 0 && !S_ISDIR(about.st_mode);
    const char *slash = strrchr(model, '/');
    const int folder = !is_file ? (int)strlen(model) : slash ? (int)(slash + 1 - model) : 0;
    snprintf(in, FILE_PATH, "%.*s", folder ? folder : 1, folder ? model : ".");
    if (is_file)
        snprintf(path, FILE_PATH, "%s", model);
    else
        file_path(path, model, MODEL_FILE);
    if (!is_file && stat(path, &about) != 0 && !file_is_there(path, model, MODEL_FILE SHARDS_INDEX))
        file_path(path, model, MODEL_FILE);
    if (stat(path, &about) != 0)
        return no_model(model, path);
    if (file_ends_in(path, CHECKPOINT_FILE))
        return warn("%s is a checkpoint, which only %s --resume reads; the model beside it is %s", path,
                    train(), MODEL_FILE);
    return 0;
}

/* The vocabulary is beside the file; without one, tokens are numbers. */
static int find_vocabulary(loaded *l, bool numbers)
{
    const int tokens = l->gpt.config.vocab_size;
    const int none = numbers ? 0 : tokenizer_read(&l->tokens, l->folder);
    l->text = l->tokens.size > 0;
    if (none > 0)
        return warn("%s has no vocabulary beside it: give tokens as numbers, --ids \"464 3290 318\"",
                    l->file);
    if (none < 0 || !l->text || tokenizer_fits(&l->tokens, tokens))
        return none;
    return warn("the vocabulary in %s does not belong to %s: it has %d tokens, the model %d", l->folder,
                l->file, l->tokens.size, tokens);
}

/* A model trained with --lines or --special says so in its metadata. A model without --lines ends its text
 * with <|endoftext|>. */
static int find_end(loaded *l)
{
    shards f;
    const char *why = shards_open(&f, l->file) ? f.error : NULL;
    l->lines = l->text && !why && shards_meta(&f, "lines");
    l->tokens.reads_special = l->text && !why && shards_meta(&f, "special");
    const bool ends = l->lines || (l->text && tokenizer_is_end_of_text(&l->tokens, l->tokens.end));
    l->end = ends ? l->tokens.end : -1;
    const int failed = why ? warn("cannot load %s", why) : 0;
    shards_close(&f);
    return failed;
}

static int read_model(loaded *l, const char *model, int heads, int threads)
{
    char why[IMPORT_WHY];
    if (open_model(&l->tape, &l->model, NULL, threads) || load_find(model, l->folder, l->file))
        return -1;
    return import_gpt(&l->gpt, gra_root(l->model), l->file, heads, 0, why) ? warn("cannot load %s", why) : 0;
}

/* ---- the prompt -------------------------------------------------------------------------------------- */

/* "464 3290 318"; commas count as blanks. Returns how many, or 0 after a warning. */
static size_t read_ids(const char *text, int vocab_size, int *ids)
{
    static const char between[] = " ,\t\n";
    size_t n = 0;
    for (const char *word = text + strspn(text, between); *word; word += strspn(word, between)) {
        char *end;
        errno = 0;
        const long id = strtol(word, &end, 10);
        if (end == word || (*end && !strchr(between, *end)) || errno || id < 0 || id >= vocab_size) {
            warn("--ids: got '%.*s', expected a token of this model, 0 to %d", (int)strcspn(word, between),
                 word, vocab_size - 1);
            return 0;
        }
        ids[n++] = (int)id;
        word = end;
    }
    if (n == 0)
        warn("--ids: got no token, expected one or more, from 0 to %d", vocab_size - 1);
    return n;
}

/* The tokens of a text of n bytes. An empty text, a line, and, if the tokenizer says so, any text begins with
 * the end token. special -1: as in the run. Returns how many, or 0 after a warning. */
static size_t read_text(loaded *l, const char *text, size_t n, int special)
{
    if (tokenizer_read_special(&l->tokens, special < 0 ? l->tokens.reads_special : special, text, n))
        return 0;
    l->first = n == 0 || l->lines || l->tokens.begins;
    const ptrdiff_t size = tokenizer_prompt(&l->tokens, text, n, l->first, l->ids);
    return size < 0 ? 0 : (size_t)size;
}

static int read_prompt(loaded *l, const char *prompt, const char *ids, int special)
{
    const size_t n = strlen(ids ? ids : prompt);
    l->ids = malloc((n + 1) * sizeof *l->ids);
    if (!l->ids)
        return warn("out of memory");
    const int tokens = l->text ? l->tokens.size : l->gpt.config.vocab_size;
    l->n = ids ? read_ids(ids, tokens, l->ids) : read_text(l, prompt, n, special);
    return l->n ? 0 : -1;
}

int load_open(loaded *l, const char *model, const char *prompt, const char *ids, int special, int heads,
              int threads)
{
    *l = (loaded){ 0 };
    const int failed = read_model(l, model, heads, threads) || find_vocabulary(l, ids) ||
                       find_end(l) || read_prompt(l, prompt, ids, special);
    return failed ? -1 : 0;
}

void load_close(loaded *l)
{
    gra_model_close(l->model);
    gra_close(l->tape);
    tokenizer_free(&l->tokens);
    free(l->ids);
}
