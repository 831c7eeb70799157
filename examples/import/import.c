/* import: see import.h. The names of the parameters are in tensor_names.c. */
#include "import.h"
#include "config_json.h"
#include "tensor_names.h"
#include "shards.h"
#include "../../core/op.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

struct import {
    shards                  in;
    const char             *path;
    char                   *why;
    const char             *table;      /* the longest name of a table of embeddings; */
    int                     before;     /* the length of a wrapper's prefix before that name */
    bool                    gpt2;       /* the file has GPT-2's names, not ours */
    bool                    transposed; /* matrices in the blocks */
    gra_gpt_config          config;
    struct config_json      beside;
    int                     n;          /* parameters: OUTSIDE, and BLOCK for each block */
    const gra_file_tensor **place;      /* each parameter's tensor in the file, or NULL */
    bool                    has[GROUPS];
};

static bool wrong(struct import *f, const char *format, ...) GRA_PRINTF(2, 3);
static bool wrong(struct import *f, const char *format, ...)
{
    va_list args;
    const int n = snprintf(f->why, IMPORT_WHY, "%.300s: ", f->path);
    va_start(args, format);
    vsnprintf(f->why + n, (size_t)(IMPORT_WHY - n), format, args);
    va_end(args);
    return false;
}

static bool file_failed(struct import *f)
{
    snprintf(f->why, IMPORT_WHY, "%s", f->in.error);
    return false;
}

/* ---- names ---- */

/* A wrapper of a model (DistributedDataParallel, torch.compile, Lightning ...) puts a part before its names,
 * and GPT-2's head is outside "transformer.": a name loses the parts that it shares with a table's name. */
static const char *plain(const struct import *f, const gra_file_tensor *x)
{
    const char *s = x->name;
    for (int i = 0; i < f->before && x->name[i] == f->table[i]; i++)
        s = x->name[i] == '.' ? x->name + i + 1 : s;
    return s;
}

static void find_wrappers(struct import *f)
{
    for (int i = 0; i < f->in.count; i++)
        for (int k = 0; k < 4; k++) {
            const char *table = names_outside[k / 2 ? POS_EMB : TOK_EMB].name[k % 2];
            const char *name = f->in.tensor[i].x->name;
            const int before = (int)strlen(name) - (int)strlen(table);
            if (before > f->before && name[before - 1] == '.' && strcmp(name + before, table) == 0) {
                f->table = name;
                f->before = before;
            }
        }
}

static const gra_file_tensor *find(const struct import *f, const char *name)
{
    for (int i = 0; i < f->in.count; i++)
        if (strcmp(plain(f, f->in.tensor[i].x), name) == 0)
            return f->in.tensor[i].x;
    return NULL;
}

/* For a name like "h.12.ln_1.bias" returns "ln_1.bias", and the 12; else NULL. */
static const char *in_block(const struct import *f, const char *name, long *number)
{
    const size_t n = strlen(names_blocks[f->gpt2]);
    char *end;
    if (strncmp(name, names_blocks[f->gpt2], n) != 0 || name[n] != '.' ||
        !isdigit((unsigned char)name[n + 1]))
        return NULL;
    *number = strtol(name + n + 1, &end, 10);
    return *end == '.' ? end + 1 : NULL;
}

/* ---- from the tensors: the sizes; is any missing or of a wrong shape? ---- */

static bool measure(struct import *f)
{
    find_wrappers(f);
    f->gpt2 = !find(f, "tok_emb.weight") && !find(f, "out_head.weight");
    const gra_file_tensor *matrix[] = { find(f, names_outside[TOK_EMB].name[f->gpt2]),
                                        find(f, names_outside[POS_EMB].name[f->gpt2]) };
    if (!matrix[0])                     /* a tied table, saved under its other name */
        matrix[0] = find(f, names_outside[OUT_HEAD].name[f->gpt2]);
    if (!matrix[0])
        return wrong(f, "it is not a GPT: it has neither tok_emb.weight, like Raschka's GPTModel, nor "
                     "wte.weight, like GPT-2; got %.100s", f->in.count ? f->in.tensor[0].x->name : "nothing");
    if (!matrix[1])
        return wrong(f, "it has no tensor %s", names_outside[POS_EMB].name[f->gpt2]);
    for (int i = 0; i < 2; i++)
        if (matrix[i]->shape.ndim != 2 || !matrix[i]->size || matrix[i]->shape.dim[1] > INT_MAX / 4)
            return wrong(f, "tensor %.100s: got the shape %s, expected a matrix with a row for each %s",
                         matrix[i]->name, GRA_SHAPE_STRING(matrix[i]->shape), i ? "position" : "token");
    long number, layers = 0;
    for (int i = 0; i < f->in.count; i++)
        if (in_block(f, plain(f, f->in.tensor[i].x), &number) && number >= layers)
            layers = number < f->in.count ? number + 1 : layers;
    f->config = (gra_gpt_config){ .vocab_size = matrix[0]->shape.dim[0], .emb_dim = matrix[0]->shape.dim[1],
                                  .context_length = matrix[1]->shape.dim[0], .n_layers = (int)layers,
                                  .init = GRA_INIT_ZEROS };
    return true;
}

static bool is_buffer(const char *name)                 /* a causal mask, not a parameter */
{
    static const char *const ends[] = { ".mask", ".attn.bias", ".attn.masked_bias" };
    for (int i = 0; i < 3; i++)
        if (strlen(name) > strlen(ends[i]) && strcmp(name + strlen(name) - strlen(ends[i]), ends[i]) == 0)
            return true;
    return false;
}

static bool put(struct import *f, const gra_file_tensor *x)
{
    long number = 0;
    const char *rest = in_block(f, plain(f, x), &number);
    const names_row *rows = rest ? names_block : names_outside;
    const int n = rest ? BLOCK : OUTSIDE;
    bool has_place = is_buffer(x->name);
    for (int r = 0; r < n && number < f->config.n_layers; r++) {
        const gra_file_tensor **place = &f->place[rest ? OUTSIDE + (int)number * BLOCK + r : r];
        if (strcmp(rows[r].name[f->gpt2], rest ? rest : plain(f, x)) == 0 && !*place) {
            *place = x;
            f->has[rows[r].group] = has_place = true;
        }
    }
    return has_place || wrong(f, "got tensor %.100s, which this model does not have", x->name);
}

static bool check_shape(struct import *f, int i)
{
    const gra_file_tensor *x = f->place[i];
    const gra_shape expected = names_shape(i, &f->config, f->gpt2, f->transposed);
    return gra_same_shape(x->shape, expected) ||
           wrong(f, "tensor %.100s: got the shape %s, expected %s", x->name, GRA_SHAPE_STRING(x->shape),
                 GRA_SHAPE_STRING(expected));
}

static bool fits(struct import *f)
{
    f->n     = OUTSIDE + f->config.n_layers * BLOCK;
    f->place = calloc((size_t)f->n, sizeof *f->place);
    if (!f->place)
        return wrong(f, "out of memory");
    for (int i = 0; i < f->in.count; i++)
        if (!put(f, f->in.tensor[i].x))
            return false;
    if (!f->place[TOK_EMB]) {           /* a tied table, saved under its other name */
        f->place[TOK_EMB] = f->place[OUT_HEAD];
        f->place[OUT_HEAD] = NULL;
    }
    for (int i = 0; i < f->n; i++) {
        const enum names_group group = names_at(i)->group;
        if (!f->place[i] && (group == NEEDED || (group != HEAD && f->has[group])))
            return wrong(f, "it has no tensor %s", names_of(i, f->gpt2, (names_text){ 0 }));
        if (i == OUTSIDE) {
            const gra_shape s = f->place[i]->shape;
            f->transposed = f->gpt2 && s.dim[0] < s.dim[1];   /* a different ndim is refused below */
        }
        if (f->place[i] && !check_shape(f, i))
            return false;
    }
    f->config.bias     = f->has[BIAS];
    f->config.qkv_bias = f->has[QKV_BIAS];
    return true;
}

/* ---- from metadata or config.json: heads, GELU ---- */

static bool read_all(struct import *f, const gra_file_tensor *x, real **values)
{
    free(*values);
    *values = malloc(x->size * sizeof **values);
    if (!*values)
        return wrong(f, "out of memory");
    return shards_read(&f->in, x, *values) == 0 || file_failed(f);
}

/* A model is tied if the file has no head, or a head with the token embedding's values, as PyTorch writes it,
 * unless the config.json says that the model is not tied. */
static bool read_tied(struct import *f)
{
    const gra_file_tensor *head = f->place[OUT_HEAD], *tokens = f->place[TOK_EMB];
    real *a = NULL, *b = NULL;
    const bool own = head && f->beside.tied == 2;
    const bool ok = !head || own || (read_all(f, head, &a) && read_all(f, tokens, &b));
    f->config.tied = !head || (!own && ok && memcmp(a, b, head->size * sizeof *a) == 0);
    free(a);
    free(b);
    if (ok && f->beside.tied == 2 && !head)
        return wrong(f, "the config.json beside it: got tie_word_embeddings: false, but there is no tensor "
                     "%s", names_outside[strcmp(plain(f, tokens), names_outside[TOK_EMB].name[f->gpt2]) == 0
                                         ? OUT_HEAD : TOK_EMB].name[f->gpt2]);
    if (ok && f->beside.tied == 1 && !f->config.tied)
        return wrong(f, "the config.json beside it: got tie_word_embeddings: true, but tensors %.100s and "
                     "%.100s differ", head->name, tokens->name);
    return ok;
}

static bool read_gelu(struct import *f)
{
    const char *said = shards_meta(&f->in, "gelu");
    const bool erf = said ? strcmp(said, "erf") == 0
                     : f->beside.gelu ? f->beside.gelu == 1 : f->gpt2 && !f->transposed;
    f->config.gelu = erf ? GRA_GELU_ERF : GRA_GELU_TANH;
    return !said || erf || strcmp(said, "tanh") == 0 ||
           wrong(f, "its metadata: got gelu: %.40s, expected erf or tanh", said);
}

static bool read_heads(struct import *f, int n_heads)
{
    const int width = f->config.emb_dim;
    const char *meta = shards_meta(&f->in, "n_heads");
    const char *by = meta ? "its metadata: got n_heads" : "the config.json beside it: got n_head";
    char *end = NULL;
    long long said = f->beside.n_head;
    if (meta) {
        said = strtoll(meta, &end, 10);
        if (*meta < '1' || *meta > '9' || *end || said > INT_MAX)
            return wrong(f, "%s: %.40s, expected a whole number", by, meta);
    }
    if (!said && !n_heads && width % 64)
        return wrong(f, "the number of heads is unknown, and the width %d is not a multiple of 64, the "
                     "head size of GPT-2: give the number", width);
    const int heads = f->config.n_heads = n_heads ? n_heads : said ? (int)said : width / 64;
    if (heads < 1 || width % heads)
        return wrong(f, "%d heads do not divide the width %d", heads, width);
    return !said || said == heads || wrong(f, "%s: %lld, but %d were requested", by, said, heads);
}

static bool read_beside(struct import *f, const char *path)
{
    struct config_json *b = &f->beside;
    const gra_gpt_config *c = &f->config;
    if (!config_json_read(b, path))
        return wrong(f, "%s", b->why);
    const struct { const char *name; int said, is; } size[] = {
        { "n_embd", b->n_embd, c->emb_dim }, { "n_layer", b->n_layer, c->n_layers },
        { "n_inner", b->n_inner, 4 * c->emb_dim },
        { "n_positions", b->n_positions, c->context_length }, { "vocab_size", b->vocab_size, c->vocab_size },
    };
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        if (size[i].said && size[i].said != size[i].is)
            return wrong(f, "the config.json beside it: got %s: %d, expected %d, as in the tensors",
                         size[i].name, size[i].said, size[i].is);
    return true;
}

/* ---- the values ---- */

static bool read_values(struct import *f, gra_scope scope)
{
    const gra_file_tensor *held = NULL;
    real *x = NULL;
    bool ok = true;
    for (int i = 0; ok && i < f->n; i++) {
        names_text ours;
        char full[sizeof scope.name + sizeof ours];
        snprintf(full, sizeof full, "%s%s%s", scope.name, *scope.name ? "." : "", names_of(i, false, ours));
        gra_tensor *p = gra_param_find(scope.model, full);
        if (!p)                         /* a tied head, or missing biases */
            continue;
        ok = f->place[i] == held || read_all(f, f->place[i], &x);
        held = f->place[i];
        if (ok)
            names_copy(i, f->gpt2, f->transposed, p, x, true);
    }
    free(x);
    return ok;
}

static bool make(struct import *f, struct gra_gpt *g, gra_scope scope)
{
    gra_gpt_init(g, scope, &f->config);
    return !gra_model_error(scope.model) || wrong(f, "%s", gra_model_error(scope.model));
}

static bool begin(struct import *f, const char *path, int n_heads, char why[IMPORT_WHY])
{
    *f = (struct import){ .path = path, .why = why };
    if (shards_open(&f->in, path))
        return file_failed(f);
    return measure(f) && fits(f) && read_beside(f, path) && read_tied(f) && read_gelu(f) &&
           read_heads(f, n_heads);
}

static int end(struct import *f, bool ok)
{
    free(f->place);
    shards_close(&f->in);
    return ok ? 0 : -1;
}

int import_config(gra_gpt_config *c, const char *path, int n_heads, char why[IMPORT_WHY])
{
    struct import f;
    const bool ok = begin(&f, path, n_heads, why);
    *c = f.config;
    return end(&f, ok);
}

int import_gpt(struct gra_gpt *g, gra_scope scope, const char *path, int n_heads, double drop_rate,
               char why[IMPORT_WHY])
{
    struct import f;
    *g = (struct gra_gpt){ 0 };
    const bool ok = begin(&f, path, n_heads, why);
    f.config.drop_rate = drop_rate;
    return end(&f, ok && make(&f, g, scope) && read_values(&f, scope));
}
