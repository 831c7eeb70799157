/* gpt_file: a GPT from a safetensors file, by the names of three families:
 *
 *     Raschka's GPTModel, ours   trf_blocks.0.att.W_query.weight (w, w), W_key, W_value     GELU by tanh
 *     nanoGPT                    transformer.h.0.attn.c_attn.weight (3 w, w)                GELU by erf
 *     Hugging Face's GPT-2       h.0.attn.c_attn.weight (w, 3 w)                            GELU by tanh
 *
 * where w is the width and c_attn holds queries, keys and values in this order. The last two bear the same
 * names but for what stands before them; they differ in that Hugging Face's matrices in the blocks are
 * transposed. So a table of the model's parameters with two names each, and an order of rows and columns,
 * is all there is to a family. */
#include "layers.h"
#include "config_json.h"
#include "../core/op.h"

#include <stddef.h>
#include <stdlib.h>

/* ---- the parameters of a GPT and their names ---- */

enum { RASCHKA, GPT2, NAMES };

enum length { NONE, VOCAB, CONTEXT, WIDTH, WIDE };      /* of a dimension; WIDE: 4 WIDTH */

enum group {
    NEEDED,
    HEAD,                               /* may be missing: then it is tied */
    BIAS, QKV_BIAS,                     /* all of a group may be missing: then they are 0 */
    GROUPS
};

struct row {
    const char *name[NAMES];
    enum length rows, columns;          /* (rows, columns), or (rows) */
    enum group  group;
    int         third;                  /* of the rows of GPT-2's tensor: 1, 2 or 3; 0: this one alone */
    size_t      at;                     /* where  gra_gpt or gra_transformer_block points at it */
};

#define IN_GPT(member)   offsetof(struct gra_gpt, member)
#define IN_BLOCK(member) offsetof(struct gra_transformer_block, member)

static const struct row outside[] = {
    { { "tok_emb.weight",   "wte.weight"     }, VOCAB,   WIDTH, NEEDED, 0, IN_GPT(tok_emb.weight) },
    { { "pos_emb.weight",   "wpe.weight"     }, CONTEXT, WIDTH, NEEDED, 0, IN_GPT(pos_emb.weight) },
    { { "final_norm.scale", "ln_f.weight"    }, WIDTH,   NONE,  NEEDED, 0, IN_GPT(final_norm.weight) },
    { { "final_norm.shift", "ln_f.bias"      }, WIDTH,   NONE,  BIAS,   0, IN_GPT(final_norm.bias) },
    { { "out_head.weight",  "lm_head.weight" }, VOCAB,   WIDTH, HEAD,   0, IN_GPT(out_head.weight) },
};

static const struct row block[] = {
    { { "att.W_query.weight",  "attn.c_attn.weight" }, WIDTH, WIDTH, NEEDED,   1, IN_BLOCK(att.query.weight) },
    { { "att.W_key.weight",    "attn.c_attn.weight" }, WIDTH, WIDTH, NEEDED,   2, IN_BLOCK(att.key.weight) },
    { { "att.W_value.weight",  "attn.c_attn.weight" }, WIDTH, WIDTH, NEEDED,   3, IN_BLOCK(att.value.weight) },
    { { "att.W_query.bias",    "attn.c_attn.bias"   }, WIDTH, NONE,  QKV_BIAS, 1, IN_BLOCK(att.query.bias) },
    { { "att.W_key.bias",      "attn.c_attn.bias"   }, WIDTH, NONE,  QKV_BIAS, 2, IN_BLOCK(att.key.bias) },
    { { "att.W_value.bias",    "attn.c_attn.bias"   }, WIDTH, NONE,  QKV_BIAS, 3, IN_BLOCK(att.value.bias) },
    { { "att.out_proj.weight", "attn.c_proj.weight" }, WIDTH, WIDTH, NEEDED,   0, IN_BLOCK(att.out_proj.weight) },
    { { "att.out_proj.bias",   "attn.c_proj.bias"   }, WIDTH, NONE,  BIAS,     0, IN_BLOCK(att.out_proj.bias) },
    { { "ff.layers.0.weight",  "mlp.c_fc.weight"    }, WIDE,  WIDTH, NEEDED,   0, IN_BLOCK(ff.up.weight) },
    { { "ff.layers.0.bias",    "mlp.c_fc.bias"      }, WIDE,  NONE,  BIAS,     0, IN_BLOCK(ff.up.bias) },
    { { "ff.layers.2.weight",  "mlp.c_proj.weight"  }, WIDTH, WIDE,  NEEDED,   0, IN_BLOCK(ff.down.weight) },
    { { "ff.layers.2.bias",    "mlp.c_proj.bias"    }, WIDTH, NONE,  BIAS,     0, IN_BLOCK(ff.down.bias) },
    { { "norm1.scale",         "ln_1.weight"        }, WIDTH, NONE,  NEEDED,   0, IN_BLOCK(norm1.weight) },
    { { "norm1.shift",         "ln_1.bias"          }, WIDTH, NONE,  BIAS,     0, IN_BLOCK(norm1.bias) },
    { { "norm2.scale",         "ln_2.weight"        }, WIDTH, NONE,  NEEDED,   0, IN_BLOCK(norm2.weight) },
    { { "norm2.shift",         "ln_2.bias"          }, WIDTH, NONE,  BIAS,     0, IN_BLOCK(norm2.bias) },
};

enum { OUTSIDE = sizeof outside / sizeof *outside, BLOCK = sizeof block / sizeof *block };
enum { TOK_EMB = 0, POS_EMB = 1, OUT_HEAD = 4 };        /* rows of outside with a say of their own */

/* What may stand before the names: torch.compile's _orig_mod. before all, and transformer. before GPT-2's but
 * for the head's. */
static const struct dialect {
    int         names;
    const char *before_all, *before_most;
} dialects[] = {
    { RASCHKA, "",           ""             },
    { RASCHKA, "_orig_mod.", ""             },
    { GPT2,    "",           "transformer." },
    { GPT2,    "_orig_mod.", "transformer." },
    { GPT2,    "",           ""             },
    { GPT2,    "_orig_mod.", ""             },
};

/* Buffers, by how their names end: they hold no more than the causal mask. */
static const char *const skipped[] = { ".mask", ".attn.bias", ".attn.masked_bias" };

/* ---- the tensors of a file ---- */

struct gpt_file {
    gra_file               *file;
    const struct dialect   *dialect;
    bool                    transposed; /* matrices in the blocks */
    gra_gpt_config          config;     /* of the model that it is compared with */
    gra_config_json         beside;     /* the config.json beside it */
    int                     n;          /* parameters: OUTSIDE, and BLOCK for each block */
    const gra_file_tensor **place;      /* of each in the file; NULL: it is not there */
};

static const struct row *row_of(int i)
{
    return i < OUTSIDE ? &outside[i] : &block[(i - OUTSIDE) % BLOCK];
}

#define NAME 160

static char *name_of(const struct dialect *d, int i, char name[NAME])
{
    static const char *const blocks[NAMES] = { "trf_blocks", "h" };
    const struct row *r = row_of(i);
    const char *most = r->group == HEAD ? "" : d->before_most;
    if (i < OUTSIDE)
        snprintf(name, NAME, "%s%s%s", d->before_all, most, r->name[d->names]);
    else
        snprintf(name, NAME, "%s%s%s.%d.%s", d->before_all, most, blocks[d->names], (i - OUTSIDE) / BLOCK,
                 r->name[d->names]);
    return name;
}

static const gra_file_tensor *find(const struct gpt_file *f, int i)
{
    return gra_file_find(f->file, name_of(f->dialect, i, (char[NAME]){ 0 }));
}

static bool has_block(const struct gpt_file *f, int number)
{
    for (int i = 0; i < BLOCK; i++)
        if (find(f, OUTSIDE + number * BLOCK + i))
            return true;
    return false;
}

static bool recognise(struct gpt_file *f)
{
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        f->dialect = &dialects[i];
        if (!find(f, TOK_EMB))
            continue;
        const gra_file_tensor *x = find(f, OUTSIDE);    /* of GPT-2's the first block's c_attn */
        f->transposed = f->dialect->names == GPT2 && x && x->shape.ndim == 2 && x->shape.dim[0] < x->shape.dim[1];
        return true;
    }
    return !gra_file_fail(f->file, "it is no GPT's: it has neither tok_emb.weight, as Raschka's GPTModel, "
                          "nor wte.weight, as GPT-2");
}

/* The model that the file itself speaks of, for the rest to be compared with. */
static bool measure(struct gpt_file *f)
{
    const gra_file_tensor *matrix[] = { find(f, TOK_EMB), find(f, POS_EMB) };
    gra_gpt_config *c = &f->config;
    for (int i = 0; i < 2; i++) {
        const gra_file_tensor *x = matrix[i];
        if (!x)
            return !gra_file_fail(f->file, "it has no tensor %.100s",
                                  name_of(f->dialect, POS_EMB, (char[NAME]){ 0 }));
        if (x->shape.ndim != 2 || x->size == 0 || x->shape.dim[1] > INT_MAX / 4)
            return !gra_file_fail(f->file, "tensor %.100s has the shape %s, but a matrix with a row for each "
                                  "%s is wanted", x->name, GRA_SHAPE_OF(x), i ? "position" : "token");
    }
    *c = (gra_gpt_config){ .vocab_size = matrix[0]->shape.dim[0], .emb_dim = matrix[0]->shape.dim[1],
                           .context_length = matrix[1]->shape.dim[0], .bias = true, .qkv_bias = true,
                           .init = GRA_INIT_ZEROS };
    while (has_block(f, c->n_layers))
        c->n_layers++;
    return true;
}

/* ---- nothing missing, nothing too much, each of the right shape ---- */

/* Whether it is a third of queries, keys and values in one. */
static bool is_third(const struct gpt_file *f, const struct row *r)
{
    return r->third && f->dialect->names == GPT2;
}

static bool locate(struct gpt_file *f)
{
    const gra_gpt_config *c = &f->config;
    const bool in_model[GROUPS] = { [NEEDED] = true, [HEAD] = true, [BIAS] = c->bias,
                                    [QKV_BIAS] = c->qkv_bias };
    f->n     = OUTSIDE + c->n_layers * BLOCK;
    f->place = calloc((size_t)f->n, sizeof *f->place);
    for (int i = 0; f->place && i < f->n; i++)
        if (in_model[row_of(i)->group])
            f->place[i] = find(f, i);
    return f->place || !gra_file_fail(f->file, "out of memory");
}

static bool has_group(const struct gpt_file *f, enum group group)
{
    for (int i = 0; i < f->n; i++)
        if (row_of(i)->group == group && f->place[i])
            return true;
    return false;
}

static bool none_missing(const struct gpt_file *f)
{
    const bool needed[GROUPS] = { [NEEDED] = true, [BIAS] = has_group(f, BIAS),
                                  [QKV_BIAS] = has_group(f, QKV_BIAS) };
    int missing = 0, first = 0;
    for (int i = f->n; i-- > 0;)
        if (needed[row_of(i)->group] && !f->place[i]) {
            missing++;
            first = i;
        }
    return !missing || !gra_file_fail(f->file, "it has no tensor %.100s%s",
                                      name_of(f->dialect, first, (char[NAME]){ 0 }),
                                      missing > 1 ? ", and more are missing" : "");
}

static bool shaped(const struct gpt_file *f, int i)
{
    const gra_gpt_config *c = &f->config;
    const int length[] = { [NONE] = 1, [VOCAB] = c->vocab_size, [CONTEXT] = c->context_length,
                           [WIDTH] = c->emb_dim, [WIDE] = 4 * c->emb_dim };
    const struct row *r = row_of(i);
    const gra_file_tensor *x = f->place[i];
    const bool matrix = r->columns != NONE, turned = matrix && f->transposed && i >= OUTSIDE;
    gra_shape shape = { .ndim = 1 + matrix };
    shape.dim[turned] = length[r->rows] * (is_third(f, r) ? 3 : 1);
    shape.dim[!turned] = length[r->columns];
    if (gra_same_shape(x->shape, shape))
        return true;
    return !gra_file_fail(f->file, "tensor %.100s has the shape %s, but in the model it is %s", x->name,
                          GRA_SHAPE_OF(x), gra_shape_text(shape, (char[GRA_SHAPE_TEXT]){ 0 }));
}

static bool all_shaped(const struct gpt_file *f)
{
    for (int i = 0; i < f->n; i++)
        if (f->place[i] && !shaped(f, i))
            return false;
    return true;
}

static bool ends_in(const char *s, const char *end)
{
    const size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

static bool has_place(const struct gpt_file *f, const gra_file_tensor *x)
{
    for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
        if (ends_in(x->name, skipped[i]))
            return true;
    for (int i = 0; i < f->n; i++)
        if (f->place[i] == x)
            return true;
    return false;
}

static bool none_extra(const struct gpt_file *f)
{
    for (int i = 0; i < gra_file_count(f->file); i++) {
        const gra_file_tensor *x = gra_file_at(f->file, i);
        if (!has_place(f, x))
            return !gra_file_fail(f->file, "the model has no place for the tensor %.100s", x->name);
    }
    return true;
}

static bool fits(struct gpt_file *f)
{
    return locate(f) && none_missing(f) && all_shaped(f) && none_extra(f);
}

/* ---- what the names do not say ---- */

/* PyTorch writes a tied head too: it has the token embedding's values. -1: they cannot be read. */
static int is_tied(const struct gpt_file *f)
{
    const gra_file_tensor *head = f->place[OUT_HEAD];
    return head ? gra_file_same(f->file, head, f->place[TOK_EMB]) : true;
}

static const char *const gelu_names[] = { [GRA_GELU_ERF] = "erf", [GRA_GELU_TANH] = "tanh" };

/* What the metadata say goes before what the config.json beside the file says. */
static bool read_gelu(struct gpt_file *f)
{
    const bool nano = f->dialect->names == GPT2 && !f->transposed;
    const char *said = gra_file_meta(f->file, "gelu");
    f->config.gelu = nano ? GRA_GELU_ERF : GRA_GELU_TANH;
    if (f->beside.gelu)
        f->config.gelu = f->beside.gelu == 1 ? GRA_GELU_ERF : GRA_GELU_TANH;
    for (int i = 0; said && i < 2; i++)
        if (strcmp(said, gelu_names[i]) == 0) {
            f->config.gelu = (gra_gelu_form)i;
            said = NULL;
        }
    return !said || !gra_file_fail(f->file, "its metadata say gelu: %.40s, but erf and tanh are known", said);
}

/* A whole number above 0, or 0. */
static int whole(const char *text)
{
    char *end;
    const long n = strtol(text, &end, 10);
    return *text >= '1' && *text <= '9' && !*end && n <= INT_MAX ? (int)n : 0;
}

/* What the metadata say, else what the config.json beside the file says; 0: neither says it. */
static bool stated_heads(const struct gpt_file *f, int *heads, const char **by)
{
    const char *said = gra_file_meta(f->file, "n_heads");
    *heads = said ? whole(said) : f->beside.n_head;
    *by = said ? "its metadata say n_heads" : "the config.json beside it says n_head";
    return *heads || !said ||
           !gra_file_fail(f->file, "%s: %.40s, but a whole number is wanted", *by, said);
}

static bool read_heads(struct gpt_file *f, int given)
{
    const int width = f->config.emb_dim;
    const char *by;
    int heads = given;
    if (!given && !stated_heads(f, &heads, &by))
        return false;
    if (!heads && width % 64)
        return !gra_file_fail(f->file, "nothing says how many heads there are, and a width of %d is not "
                              "made of heads of 64, as GPT-2's is: give their number", width);
    if (!heads)
        heads = width / 64;
    if (heads < 1 || width % heads)
        return !gra_file_fail(f->file, "a width of %d cannot be shared by %d heads", width, heads);
    f->config.n_heads = heads;
    return true;
}

/* No tensor shows the number of heads, so a model with another one would take the file's values and compute
 * something else with them. */
static bool heads_agree(const struct gpt_file *f)
{
    const char *by;
    int heads;
    if (!stated_heads(f, &heads, &by))
        return false;
    return !heads || heads == f->config.n_heads ||
           !gra_file_fail(f->file, "%s: %d, but the model has n_heads: %d", by, heads, f->config.n_heads);
}

/* The config.json beside the file, if there is one, speaks of this very model. */
static bool read_beside(struct gpt_file *f, const char *path)
{
    gra_config_json *b = &f->beside;
    const gra_gpt_config *c = &f->config;
    if (!gra_config_json_read(b, path))
        return !gra_file_fail(f->file, "%s", b->why);
    const struct { const char *name; int said, is; } size[] = {
        { "n_embd", b->n_embd, c->emb_dim }, { "n_layer", b->n_layer, c->n_layers },
        { "n_inner", b->n_inner, 4 * c->emb_dim },
        { "n_positions", b->n_positions, c->context_length }, { "vocab_size", b->vocab_size, c->vocab_size },
    };
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        if (size[i].said && size[i].said != size[i].is)
            return !gra_file_fail(f->file, "the config.json beside it says %s: %d, but its tensors %d",
                                  size[i].name, size[i].said, size[i].is);
    if (b->tied == 2 && !f->place[OUT_HEAD])
        return !gra_file_fail(f->file, "the config.json beside it says tie_word_embeddings: false, but it has no "
                              "tensor %.100s", name_of(f->dialect, OUT_HEAD, (char[NAME]){ 0 }));
    const int tied = b->tied == 1 ? is_tied(f) : true;
    if (!tied)
        gra_file_fail(f->file, "the config.json beside it says tie_word_embeddings: true, but tensors %.100s and "
                      "%.100s differ", f->place[OUT_HEAD]->name, f->place[TOK_EMB]->name);
    return tied > 0;
}

/* ---- the configuration of a file ---- */

static bool open_file(struct gpt_file *f, gra_model *m, const char *function, const char *path)
{
    f->file = gra_file_open_for(m, function, path);
    return f->file && recognise(f);
}

static int close_file(struct gpt_file *f, bool ok)
{
    free(f->place);
    gra_file_close(f->file);
    return ok ? 0 : -1;
}

int gra_gpt_read_config(gra_model *m, const char *path, int n_heads, gra_gpt_config *config)
{
    struct gpt_file f = { 0 };
    bool ok = open_file(&f, m, "gra_gpt_read_config", path) && measure(&f) && fits(&f) &&
              read_beside(&f, path) && read_gelu(&f) && read_heads(&f, n_heads);
    const int tied = ok ? is_tied(&f) : -1;
    if (tied >= 0) {
        *config = f.config;
        config->tied     = tied;
        config->bias     = has_group(&f, BIAS);
        config->qkv_bias = has_group(&f, QKV_BIAS);
    }
    return close_file(&f, tied >= 0);
}

/* ---- its values ----
 * They wait in the gradients until all are read: so a file that fails on the way changes nothing, and a large
 * model needs no memory but for the largest tensor. */

static gra_tensor *parameter(const struct gra_gpt *g, int i)
{
    const char *base = i < OUTSIDE ? (const char *)g : (const char *)&g->trf_blocks[(i - OUTSIDE) / BLOCK];
    gra_tensor *p;
    memcpy(&p, base + row_of(i)->at, sizeof p);
    return p;
}

static void clear(gra_tensor *p)
{
    if (p)
        memset(p->grad_store, 0, p->size * sizeof *p->grad_store);
}

/* p (rows, columns) from x, the tensor it is all or a third of, which may be transposed. */
static void put(const struct gpt_file *f, int i, gra_tensor *p, const real *x)
{
    const struct row *r = row_of(i);
    const bool transposed = f->transposed && i >= OUTSIDE && r->columns != NONE, third = is_third(f, r);
    const size_t rows = (size_t)p->shape.dim[0], columns = p->size / rows;
    const size_t from = third ? (size_t)(r->third - 1) * rows : 0, all_rows = third ? 3 * rows : rows;
    const size_t row = transposed ? 1 : columns, column = transposed ? all_rows : 1;       /* strides in x */
    real *w = p->grad_store;
    for (size_t a = 0; a < rows; a++)
        for (size_t b = 0; b < columns; b++)
            w[a * columns + b] = x[(from + a) * row + b * column];
}

static bool read_values(struct gpt_file *f, const struct gra_gpt *g)
{
    const gra_file_tensor *held = NULL;
    real *x = NULL;
    bool ok = true;
    for (int i = 0; ok && i < f->n; i++) {
        const gra_file_tensor *place = f->place[i];
        if (!place)
            continue;
        if (place != held) {
            free(x);
            x = malloc(place->size * sizeof *x);
            ok = x ? gra_file_read(f->file, place, x) == 0 : !gra_file_fail(f->file, "out of memory");
            held = place;
        }
        if (ok)
            put(f, i, parameter(g, i), x);
    }
    free(x);
    return ok;
}

static bool is_made(const struct gpt_file *f, const struct gra_gpt *g)
{
    for (int i = 0; i < f->n; i++)
        if (f->place[i] && !parameter(g, i))
            return false;
    return true;
}

static const char not_made[] = "there is no GPT to load it into: gra_gpt_init was not called, or failed";

/* The model may be tied where the file is not: only if its head is the embedding; and the other way round. */
static bool settle_head(struct gpt_file *f, bool tied)
{
    if (!tied && !f->place[OUT_HEAD])
        f->place[OUT_HEAD] = f->place[TOK_EMB];
    const int same = tied ? is_tied(f) : true;
    if (same == 0)
        gra_file_fail(f->file, "tensors %.100s and %.100s differ, but in the model they are one (tied)",
                      f->place[OUT_HEAD]->name, f->place[TOK_EMB]->name);
    return same > 0;
}

static bool load(struct gpt_file *f, const struct gra_gpt *g)
{
    if (!is_made(f, g))
        return !gra_file_fail(f->file, "%s", not_made);
    for (int i = 0; i < f->n; i++)
        clear(parameter(g, i));
    const bool ok = read_values(f, g);
    for (int i = 0; ok && i < f->n; i++) {
        gra_tensor *p = parameter(g, i);
        if (p)
            memcpy(p->data, p->grad_store, p->size * sizeof(real));
    }
    for (int i = 0; i < f->n; i++)
        clear(parameter(g, i));
    return ok;
}

int gra_gpt_load(gra_model *m, struct gra_gpt *g, const char *path)
{
    struct gpt_file f = { .config = g->config };
    if (!g->trf_blocks) {
        gra_model_note(m, "gra_gpt_load", path, not_made);
        return -1;
    }
    bool ok = open_file(&f, m, "gra_gpt_load", path) && fits(&f) && read_beside(&f, path) &&
              heads_agree(&f) && read_gelu(&f) && settle_head(&f, g->config.tied) && load(&f, g);
    if (ok) {
        g->config.gelu = f.config.gelu;
        for (int i = 0; i < g->config.n_layers; i++)
            g->trf_blocks[i].ff.gelu = f.config.gelu;
    }
    return close_file(&f, ok);
}

/* ---- and back ---- */

int gra_gpt_save(gra_model *m, const gra_gpt_config *config, const char *path, const gra_meta *meta,
                 int nmeta)
{
    char heads[16];
    gra_meta *all = malloc(((size_t)nmeta + 2) * sizeof *all);
    if (!all) {
        gra_model_note(m, "gra_gpt_save", path, "out of memory");
        return -1;
    }
    if (nmeta)
        memcpy(all, meta, (size_t)nmeta * sizeof *all);
    snprintf(heads, sizeof heads, "%d", config->n_heads);
    all[nmeta]     = (gra_meta){ "gelu", gelu_names[config->gelu] };
    all[nmeta + 1] = (gra_meta){ "n_heads", heads };
    int status = gra_save(m, path, all, nmeta + 2);
    free(all);
    return status;
}
