/* trained: see trained.h. What is read is checked as strictly as what a user types: each name once, each value in its
 * range, nothing else. */
#include "trained.h"
#include "files.h"
#include "say.h"
#include "settings.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char config_name[] = "config.tsv", vocab_name[] = "vocab.tsv", model_name[] = "model.safetensors";

/* ---- writing --------------------------------------------------------------------------------------- */

static int write_named(const char *folder, const char *name, const char *bytes, size_t size)
{
    char *path = file_path(folder, name);
    int failed = !path || file_write(path, bytes, size);
    free(path);
    return failed ? -1 : 0;
}

/* config.tsv: what makes the model, and which vocabulary it has. */
static int config_table(options *o, long *vocab_size, const char **hash, flag table[SETTINGS_MOST])
{
    int n = options_settings(o, FLAG_MODEL, table);
    table[n++] = (flag){ .name = "vocab_size", .kind = FLAG_INT, .value = vocab_size, .low = 1, .high = 256 };
    table[n++] = (flag){ .name = "vocab_hash", .kind = FLAG_TEXT, .value = (void *)hash };
    return n;
}

static int write_config(const char *folder, options *o, const vocabulary *v)
{
    flag table[SETTINGS_MOST];
    char text[TEXT_HASH];
    size_t size;
    long vocab_size = v->size;
    const char *hash = vocabulary_hash(v, text);
    char *out = settings_write(table, config_table(o, &vocab_size, &hash, table), &size);
    int failed = !out || write_named(folder, config_name, out, size);
    free(out);
    return failed ? -1 : 0;
}

static size_t vocab_text(const vocabulary *v, char out[4096])
{
    size_t at = 0;
    for (int i = 0; i < v->size; i++) {
        char name[8];
        byte_text(v->byte[i], name);
        at += (size_t)snprintf(out + at, 4096 - at, "%d\t%s\n", v->byte[i], name);
    }
    return at;
}

static int write_vocab(const char *folder, const vocabulary *v)
{
    char out[4096];
    return write_named(folder, vocab_name, out, vocab_text(v, out));
}

int trained_begin(const char *folder, options *o, const vocabulary *v)
{
    return write_config(folder, o, v) || write_vocab(folder, v) ? -1 : 0;
}

int trained_save(const training *t)
{
    char steps[24], seed[24], hash[TEXT_HASH];
    const vocabulary *v = &t->text.vocab;
    snprintf(steps, sizeof steps, "%ld", t->step);
    snprintf(seed, sizeof seed, "%ld", t->o.seed);
    const gra_meta meta[] = {
        { "format", "pt" }, { "steps", steps }, { "seed", seed }, { "vocab_hash", vocabulary_hash(v, hash) }
    };
    const gra_gpt_config config = options_model(&t->o, v->size);
    char *path = file_path(t->o.out, model_name);
    int failed = !path || gra_gpt_save(t->model, &config, path, meta, (int)(sizeof meta / sizeof meta[0]));
    if (failed && path)
        complain("cannot write %s: %s", path, file_why(gra_model_error(t->model), path));
    free(path);
    return failed ? -1 : 0;
}

/* ---- reading ---------------------------------------------------------------------------------------- */

static int read_config(const char *path, options *o, long *vocab_size, const char **hash, char **text)
{
    flag table[SETTINGS_MOST];
    size_t size;
    *text = file_read(path, &size);
    if (!*text || settings_read(path, *text, size, table, config_table(o, vocab_size, hash, table)))
        return -1;
    if (o->width % o->heads != 0) {
        complain("%s is damaged: %ld heads do not divide the width %ld", path, o->heads, o->width);
        return -1;
    }
    return 0;
}

/* The vocabulary must be what this program would have written for its bytes, to the letter. */
static int read_vocab(const char *path, vocabulary *v)
{
    size_t size, n = 0;
    char bytes[256], again[4096], *text = file_read(path, &size);
    if (!text)
        return -1;
    for (char *line = text; *line && n < sizeof bytes; n++) {
        char *end = strchr(line, '\n');
        bytes[n] = (char)strtol(line, NULL, 10);
        line = end ? end + 1 : line + strlen(line);
    }
    vocabulary_of(v, bytes, n);
    bool same = n > 0 && vocab_text(v, again) == size && memcmp(again, text, size) == 0;
    free(text);
    if (!same)
        complain("%s is damaged: it must list bytes in ascending order, each with how it prints", path);
    return same ? 0 : -1;
}

int trained_read(const char *folder, options *o, vocabulary *v)
{
    long vocab_size = 0;
    const char *hash = NULL;
    char *text = NULL, *config = file_path(folder, config_name), *vocab = file_path(folder, vocab_name),
         now[TEXT_HASH];
    int failed =
        !config || !vocab || read_config(config, o, &vocab_size, &hash, &text) || read_vocab(vocab, v);
    if (!failed) {
        if (v->size != vocab_size || strcmp(vocabulary_hash(v, now), hash) != 0) {
            complain("%s is another model's vocabulary: its %d bytes are not the %ld of %s", vocab, v->size,
                     vocab_size, config);
            failed = 1;
        }
    }
    free(text);
    free(config);
    free(vocab);
    return failed ? -1 : 0;
}

/* How many values such a model has; in double, for a damaged configuration may ask for any number. */
static double values_of(const gra_gpt_config *c)
{
    double w = c->emb_dim, v = c->vocab_size, shift = c->bias ? 1 : 0, qkv = c->qkv_bias ? 1 : 0;
    double norm = w + shift * w, attention = 4 * w * w + 3 * qkv * w + shift * w;
    double feed_forward = 8 * w * w + shift * 5 * w;
    return (v + c->context_length) * w + c->n_layers * (attention + feed_forward + 2 * norm) + norm +
           (c->tied ? 0 : v * w);
}

static double values_in(const gra_file *f)
{
    double n = 0;
    for (int i = 0; i < gra_file_count(f); i++)
        n += (double)gra_file_at(f, i)->size;
    return n;
}

int trained_holds(const gra_file *f, const char *path, const options *o, int vocab_size)
{
    const gra_gpt_config config = options_model(o, vocab_size);
    const double wanted = values_of(&config), held = values_in(f);
    if (held < wanted)
        complain("%s is damaged: it has %.0f values, and its own model has %.0f", path, held, wanted);
    return held < wanted ? -1 : 0;
}

/* Whether the file's values are as many as the model's, and were learnt with its vocabulary. */
static bool file_fits(const gra_file *f, const char *path, const gra_gpt_config *c, const vocabulary *v)
{
    char hash[TEXT_HASH];
    const double wanted = values_of(c), held = values_in(f);
    const double again = c->tied ? (double)v->size * c->emb_dim : 0;    /* a tied head has two names */
    const char *learnt = gra_file_meta(f, "vocab_hash");
    if (held != wanted && held != wanted + again) {
        complain("cannot load %s: its %.0f values are not the %.0f of the model in config.tsv", path, held,
                 wanted);
        return false;
    }
    if (learnt && strcmp(learnt, vocabulary_hash(v, hash)) != 0) {
        complain("cannot load %s: it was learnt with the vocabulary %.20s, and that of vocab.tsv is %s", path,
                 learnt, hash);
        return false;
    }
    return true;
}

int trained_fits(gra_model *m, const char *path, const options *o, const vocabulary *v)
{
    const gra_gpt_config config = options_model(o, v->size);
    gra_file *f = gra_file_open(m, path);
    if (!f)
        complain("cannot load %s: %s", path, file_why(gra_model_error(m), path));
    int failed = !f || !file_fits(f, path, &config, v);
    gra_file_close(f);
    return failed ? -1 : 0;
}

int trained_load(const char *path, gra_model *m)
{
    int failed = gra_load(m, path);
    if (failed)
        complain("cannot load %s: %s", path, file_why(gra_model_error(m), path));
    return failed;
}

/* A safetensors file begins with the length of its header, 8 bytes, and the header's {. */
static int looks_like_model(const char *path)
{
    char begin[9] = "";
    int fd = file_open(path, O_RDONLY | O_NONBLOCK);
    if (fd < 0) {
        complain("cannot read %s: %s", path, strerror(errno));
        return -1;
    }
    size_t n = file_some(fd, begin, sizeof begin);
    close(fd);
    if (n == sizeof begin && begin[8] == '{')
        return 0;
    complain("%s is not a model: %s; give the folder that train left, or a .safetensors file", path,
             n ? "it is no safetensors file" : "it is empty");
    return -1;
}

int trained_model(gra_model *m, const char *folder, const char *path, bool *learnt)
{
    if (looks_like_model(path))
        return -1;
    gra_file *f = gra_file_open(m, path);
    if (!f)
        complain("cannot load %s: %s", path, file_why(gra_model_error(m), path));
    const bool stopped = f && gra_file_meta(f, "checkpoint");
    if (stopped)
        complain("%s is a checkpoint, with which build/train --resume %s goes on; to generate give the model, "
                 "--model %s", path, folder, folder);
    *learnt = f && gra_file_meta(f, "vocab_hash");
    gra_file_close(f);
    return f && !stopped ? 0 : -1;
}
