/* GPTs from files of three families: every name, every order of rows and columns, and what is refused. */
#include "alone.h"
#include "../core/op.h"
#include "../layers/layers.h"
#include "fault.h"
#include "suites.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER GRADUS_BUILD "/gpt_file"
#define PATH   FOLDER "/gpt.safetensors"
#define JSON   FOLDER "/config.json"

enum { VOCAB = 7, CONTEXT = 5, WIDTH = 6, HEADS = 3, LAYERS = 2 };

/* ---- files, made of models that bear the names of other families ---- */

enum head { NO_HEAD, SAME_HEAD, OWN_HEAD };

struct kind {
    bool        gpt2;                   /* else Raschka's names */
    const char *all, *most;             /* what stands before the names, before all but the head's */
    bool        transposed;
    bool        bias, qkv_bias, buffers;
    enum head   head;
};

struct fault {                          /* what is wrong with a file */
    int         without, misshapen;     /* the number of a tensor; -1: none */
    const char *extra;
};

static const struct fault none = { -1, -1, NULL };

static struct writer {
    gra_model   *m;                     /* what is written */
    struct kind  kind;
    struct fault fault;
    int          n;                     /* tensors so far, with one that is left out */
    char         odd[128];              /* the name of the faulty one */
} w;

static real value(int tensor, size_t i)
{
    return (real)(tensor + 1) + (real)(i % 97) / 128;
}

static void put(bool head, const char *name, int rows, int columns)
{
    char full[128];
    const int number = w.n++;
    snprintf(full, sizeof full, "%s%s%s", w.kind.all, head ? "" : w.kind.most, name);
    if (number == w.fault.without || number == w.fault.misshapen)
        strcpy(w.odd, full);
    if (number == w.fault.without)
        return;
    const gra_shape shape = { columns ? 2 : 1, { rows + (number == w.fault.misshapen), columns } };
    gra_tensor *p = gra_param(gra_root(w.m), full, gra_init_zeros(), shape);
    ck_assert_ptr_nonnull(p);
    for (size_t i = 0; i < p->size; i++)
        p->data[i] = value(number, i);
}

static void put_inner(const char *name, int rows, int columns)
{
    put(false, name, w.kind.transposed ? columns : rows, w.kind.transposed ? rows : columns);
}

static const char *in_block(int layer, const char *name)
{
    static char full[128];
    snprintf(full, sizeof full, "%s", name);
    *strchr(full, '#') = (char)('0' + layer);
    return full;
}

static void put_gpt2(void)
{
    const struct kind *k = &w.kind;
    put(false, "wte.weight", VOCAB, WIDTH);
    put(false, "wpe.weight", CONTEXT, WIDTH);
    for (int i = 0; i < LAYERS; i++) {
        put(false, in_block(i, "h.#.ln_1.weight"), WIDTH, 0);
        put_inner(in_block(i, "h.#.attn.c_attn.weight"), 3 * WIDTH, WIDTH);
        put_inner(in_block(i, "h.#.attn.c_proj.weight"), WIDTH, WIDTH);
        put(false, in_block(i, "h.#.ln_2.weight"), WIDTH, 0);
        put_inner(in_block(i, "h.#.mlp.c_fc.weight"), 4 * WIDTH, WIDTH);
        put_inner(in_block(i, "h.#.mlp.c_proj.weight"), WIDTH, 4 * WIDTH);
        if (k->qkv_bias)
            put(false, in_block(i, "h.#.attn.c_attn.bias"), 3 * WIDTH, 0);
        if (k->bias) {
            put(false, in_block(i, "h.#.ln_1.bias"), WIDTH, 0);
            put(false, in_block(i, "h.#.attn.c_proj.bias"), WIDTH, 0);
            put(false, in_block(i, "h.#.ln_2.bias"), WIDTH, 0);
            put(false, in_block(i, "h.#.mlp.c_fc.bias"), 4 * WIDTH, 0);
            put(false, in_block(i, "h.#.mlp.c_proj.bias"), WIDTH, 0);
        }
    }
    put(false, "ln_f.weight", WIDTH, 0);
    if (k->bias)
        put(false, "ln_f.bias", WIDTH, 0);
}

static void put_raschka(void)
{
    const struct kind *k = &w.kind;
    put(false, "tok_emb.weight", VOCAB, WIDTH);
    put(false, "pos_emb.weight", CONTEXT, WIDTH);
    for (int i = 0; i < LAYERS; i++) {
        put(false, in_block(i, "trf_blocks.#.att.W_query.weight"), WIDTH, WIDTH);
        put(false, in_block(i, "trf_blocks.#.att.W_key.weight"), WIDTH, WIDTH);
        put(false, in_block(i, "trf_blocks.#.att.W_value.weight"), WIDTH, WIDTH);
        put(false, in_block(i, "trf_blocks.#.att.out_proj.weight"), WIDTH, WIDTH);
        put(false, in_block(i, "trf_blocks.#.ff.layers.0.weight"), 4 * WIDTH, WIDTH);
        put(false, in_block(i, "trf_blocks.#.ff.layers.2.weight"), WIDTH, 4 * WIDTH);
        put(false, in_block(i, "trf_blocks.#.norm1.scale"), WIDTH, 0);
        put(false, in_block(i, "trf_blocks.#.norm2.scale"), WIDTH, 0);
        if (k->qkv_bias) {
            put(false, in_block(i, "trf_blocks.#.att.W_query.bias"), WIDTH, 0);
            put(false, in_block(i, "trf_blocks.#.att.W_key.bias"), WIDTH, 0);
            put(false, in_block(i, "trf_blocks.#.att.W_value.bias"), WIDTH, 0);
        }
        if (k->bias) {
            put(false, in_block(i, "trf_blocks.#.att.out_proj.bias"), WIDTH, 0);
            put(false, in_block(i, "trf_blocks.#.ff.layers.0.bias"), 4 * WIDTH, 0);
            put(false, in_block(i, "trf_blocks.#.ff.layers.2.bias"), WIDTH, 0);
            put(false, in_block(i, "trf_blocks.#.norm1.shift"), WIDTH, 0);
            put(false, in_block(i, "trf_blocks.#.norm2.shift"), WIDTH, 0);
        }
    }
    put(false, "final_norm.scale", WIDTH, 0);
    if (k->bias)
        put(false, "final_norm.shift", WIDTH, 0);
}

static void put_head(void)
{
    char name[128];
    if (w.kind.head == NO_HEAD)
        return;
    const char *own = w.kind.gpt2 ? "lm_head.weight" : "out_head.weight";
    put(true, own, VOCAB, WIDTH);
    snprintf(name, sizeof name, "%s%s", w.kind.all, own);
    gra_tensor *head = gra_param_find(w.m, name);
    for (size_t i = 0; head && w.kind.head == SAME_HEAD && i < head->size; i++)
        head->data[i] = value(0, i);
}

static void put_buffers(void)
{
    for (int i = 0; i < LAYERS; i++) {
        put(false, in_block(i, w.kind.gpt2 ? "h.#.attn.bias" : "trf_blocks.#.att.mask"), CONTEXT, CONTEXT);
        if (w.kind.gpt2)
            put(false, in_block(i, "h.#.attn.masked_bias"), 1, 0);
    }
}

static void write_file(struct kind kind, struct fault fault, const gra_meta *meta, int nmeta)
{
    gra_model_close(w.m);
    w = (struct writer){ .m = model_alone(NULL), .kind = kind, .fault = fault };
    ck_assert_ptr_nonnull(w.m);
    if (kind.gpt2)
        put_gpt2();
    else
        put_raschka();
    if (kind.head != NO_HEAD)
        put_head();
    if (kind.buffers)
        put_buffers();
    if (fault.extra)
        put(true, fault.extra, 2, 0);
    ck_assert_int_eq(gra_save(w.m, PATH, meta, nmeta), 0);
}

static void write_json(const char *text)
{
    FILE *f = fopen(JSON, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    ck_assert_int_eq(fclose(f), 0);
}

/* ---- models read from them ---- */

static gra_model     *m;
static struct gra_gpt        g;
static gra_gpt_config c;

static void open_model(void)
{
    mkdir(FOLDER, 0777);
    unlink(JSON);
    w.m = NULL;
    m = NULL;
}

static void close_model(void)
{
    gra_model_close(w.m);
    gra_model_close(m);
}

static void again(void)                 /* another model */
{
    gra_model_close(m);
    m = model_alone(NULL);
    ck_assert_ptr_nonnull(m);
    gra_model_keep_going(m, true);
}

/* A model of that form with all values -1 and all gradients 2, not made from a file. */
static void make_model(bool bias, bool qkv_bias, bool tied)
{
    again();
    c = (gra_gpt_config){ .vocab_size = VOCAB, .context_length = CONTEXT, .emb_dim = WIDTH, .n_heads = HEADS,
                          .n_layers = LAYERS, .bias = bias, .qkv_bias = qkv_bias, .tied = tied,
                          .init = GRA_INIT_ZEROS };
    gra_gpt_init(&g, gra_root(m), &c);
    for (int i = 0; i < gra_param_count(m); i++)
        for (size_t j = 0; j < gra_param_at(m, i)->size; j++) {
            gra_param_at(m, i)->data[j] = -1;
            gra_param_at(m, i)->grad[j] = 2;
        }
}

static void make_tiny(int width)
{
    c = (gra_gpt_config){ .vocab_size = 3, .context_length = 2, .emb_dim = width, .n_heads = 1, .n_layers = 1,
                          .init = GRA_INIT_ZEROS };
    gra_gpt_init(&g, gra_root(m), &c);
}

static bool all_are(real data)
{
    for (int i = 0; i < gra_param_count(m); i++)
        for (size_t j = 0; j < gra_param_at(m, i)->size; j++)
            if (gra_param_at(m, i)->data[j] != data)
                return false;
    return true;
}

static void read_file(void)
{
    again();
    ck_assert_msg(gra_gpt_read_config(m, PATH, HEADS, &c) == 0, "%s", gra_model_error(m));
    gra_gpt_init(&g, gra_root(m), &c);
    ck_assert_ptr_null(gra_model_error(m));
    ck_assert_msg(gra_gpt_load(m, &g, PATH) == 0, "%s", gra_model_error(m));
    ck_assert_ptr_null(gra_model_error(m));
}

static void expect_error(const char *part)
{
    ck_assert_msg(gra_model_error(m) && strstr(gra_model_error(m), part), "wanted ...%s..., got %s", part,
                  gra_model_error(m) ? gra_model_error(m) : "no error");
}

static void refused_by_load(const char *part)
{
    ck_assert_int_eq(gra_gpt_load(m, &g, PATH), -1);
    expect_error(part);
    expect_error("gra_gpt_load: " PATH ": ");
    ck_assert(all_are(-1));
}

static void refused_by_read_config(const char *part)
{
    const gra_gpt_config before = { .vocab_size = 123 };
    c = before;
    again();
    ck_assert_int_eq(gra_gpt_read_config(m, PATH, HEADS, &c), -1);
    expect_error(part);
    expect_error("gra_gpt_read_config: " PATH ": ");
    ck_assert_int_eq(c.vocab_size, 123);
}

/* ---- whether the right value came to the right place ---- */

static const gra_tensor *written(bool head, const char *name)
{
    char full[128];
    snprintf(full, sizeof full, "%s%s%s", w.kind.all, head ? "" : w.kind.most, name);
    return gra_param_find(w.m, full);
}

/* p is rows `from` and on of a tensor of the file; where there is none it is 0. */
static void same(const gra_tensor *p, const gra_tensor *x, int from, bool inner)
{
    ck_assert_ptr_nonnull(p);
    const bool transposed = inner && w.kind.transposed && x && x->shape.ndim == 2;
    const size_t columns = p->shape.ndim == 2 ? (size_t)p->shape.dim[1] : 1;
    for (size_t i = 0; i < p->size; i++) {
        const size_t row = (size_t)from + i / columns, column = i % columns;
        const size_t at = transposed ? column * (size_t)x->shape.dim[1] + row : row * columns + column;
        ck_assert_msg(p->data[i] == (x ? x->data[at] : 0), "%s: element %zu", p->name, i);
        ck_assert_msg(p->grad[i] == 0, "%s: gradient %zu", p->name, i);
    }
}

static void same_if_there(const gra_tensor *p, const gra_tensor *x, int from)
{
    if (p || x)
        same(p, x, from, false);
}

static void check_gpt2_block(int i)
{
    const struct gra_transformer_block *b = &g.trf_blocks[i];
    const gra_tensor *qkv = written(false, in_block(i, "h.#.attn.c_attn.weight"));
    const gra_tensor *qkv_bias = written(false, in_block(i, "h.#.attn.c_attn.bias"));
    same(b->att.query.weight, qkv, 0, true);
    same(b->att.key.weight, qkv, WIDTH, true);
    same(b->att.value.weight, qkv, 2 * WIDTH, true);
    same_if_there(b->att.query.bias, qkv_bias, 0);
    same_if_there(b->att.key.bias, qkv_bias, WIDTH);
    same_if_there(b->att.value.bias, qkv_bias, 2 * WIDTH);
    same(b->att.out_proj.weight, written(false, in_block(i, "h.#.attn.c_proj.weight")), 0, true);
    same(b->ff.up.weight, written(false, in_block(i, "h.#.mlp.c_fc.weight")), 0, true);
    same(b->ff.down.weight, written(false, in_block(i, "h.#.mlp.c_proj.weight")), 0, true);
    same(b->norm1.weight, written(false, in_block(i, "h.#.ln_1.weight")), 0, false);
    same(b->norm2.weight, written(false, in_block(i, "h.#.ln_2.weight")), 0, false);
    same_if_there(b->att.out_proj.bias, written(false, in_block(i, "h.#.attn.c_proj.bias")), 0);
    same_if_there(b->ff.up.bias, written(false, in_block(i, "h.#.mlp.c_fc.bias")), 0);
    same_if_there(b->ff.down.bias, written(false, in_block(i, "h.#.mlp.c_proj.bias")), 0);
    same_if_there(b->norm1.bias, written(false, in_block(i, "h.#.ln_1.bias")), 0);
    same_if_there(b->norm2.bias, written(false, in_block(i, "h.#.ln_2.bias")), 0);
}

static void check_gpt2(void)
{
    same(g.tok_emb.weight, written(false, "wte.weight"), 0, false);
    same(g.pos_emb.weight, written(false, "wpe.weight"), 0, false);
    for (int i = 0; i < LAYERS; i++)
        check_gpt2_block(i);
    same(g.final_norm.weight, written(false, "ln_f.weight"), 0, false);
    same_if_there(g.final_norm.bias, written(false, "ln_f.bias"), 0);
    const gra_tensor *head = written(true, "lm_head.weight");
    same(g.out_head.weight, head ? head : written(false, "wte.weight"), 0, false);
}

static void check_raschka(void)         /* its names are ours */
{
    for (int i = 0; i < gra_param_count(m); i++) {
        const gra_tensor *p = gra_param_at(m, i), *x = written(true, p->name);
        same(p, x || p != g.out_head.weight ? x : written(true, "tok_emb.weight"), 0, false);
    }
}

static void check_values(void)
{
    if (w.kind.gpt2)
        check_gpt2();
    else
        check_raschka();
}

/* ---- the tests ---- */

static const struct kind families[] = {
    { false, "",           "",             false, true, true, true, OWN_HEAD },
    { false, "_orig_mod.", "",             false, true, true, true, OWN_HEAD },
    { true,  "",           "transformer.", false, true, true, true, OWN_HEAD },    /* nanoGPT */
    { true,  "_orig_mod.", "transformer.", false, true, true, true, OWN_HEAD },
    { true,  "",           "",             true,  true, true, true, OWN_HEAD },    /* Hugging Face */
    { true,  "",           "transformer.", true,  true, true, true, OWN_HEAD },
    { true,  "_orig_mod.", "",             true,  true, true, true, OWN_HEAD },
};
enum { FAMILIES = sizeof families / sizeof *families };

static struct kind form(int family, int i)      /* 24 of each */
{
    struct kind kind = families[family];
    kind.bias     = i & 1;
    kind.qkv_bias = i & 2;
    kind.buffers  = i & 4;
    kind.head     = (enum head)(i / 8);
    return kind;
}

START_TEST(every_family)
{
    const struct kind kind = form(_i / 24, _i % 24);
    write_file(kind, none, NULL, 0);
    read_file();
    ck_assert_int_eq(c.vocab_size, VOCAB);
    ck_assert_int_eq(c.context_length, CONTEXT);
    ck_assert_int_eq(c.emb_dim, WIDTH);
    ck_assert_int_eq(c.n_heads, HEADS);
    ck_assert_int_eq(c.n_layers, LAYERS);
    ck_assert(c.drop_rate == 0 && c.init == GRA_INIT_ZEROS);
    ck_assert_int_eq(c.bias, kind.bias);
    ck_assert_int_eq(c.qkv_bias, kind.qkv_bias);
    ck_assert_int_eq(c.tied, kind.head != OWN_HEAD);
    ck_assert_int_eq(c.gelu, kind.gpt2 && !kind.transposed ? GRA_GELU_ERF : GRA_GELU_TANH);
    check_values();
}
END_TEST

/* Biases that a file lacks become 0, and a head of one's own begins as the embedding. */
START_TEST(into_a_larger_model)
{
    write_file(form(_i / 24, _i % 24), none, NULL, 0);
    make_model(true, true, w.kind.head != OWN_HEAD && _i % 2);
    ck_assert_msg(gra_gpt_load(m, &g, PATH) == 0, "%s", gra_model_error(m));
    check_values();
}
END_TEST

START_TEST(a_missing_tensor_is_named)
{
    int tensors = 1;
    for (int i = 0; i < tensors; i++) {
        struct kind kind = families[_i];
        kind.buffers = false;
        kind.head = NO_HEAD;
        write_file(kind, (struct fault){ .without = i, .misshapen = -1 }, NULL, 0);
        tensors = w.n;
        make_model(true, true, true);
        refused_by_load(i ? w.odd : kind.gpt2 ? "nor wte.weight" : "neither tok_emb.weight");
        refused_by_read_config(i ? w.odd : "it is no GPT's");
        expect_error(i ? "it has no tensor " : "");
    }
    ck_assert_int_eq(tensors, families[_i].gpt2 ? 4 + 12 * LAYERS : 4 + 16 * LAYERS);
}
END_TEST

START_TEST(a_tensor_of_another_shape_is_named)
{
    int tensors = 1;
    for (int i = 0; i < tensors; i++) {
        struct kind kind = families[_i];
        kind.buffers = false;
        write_file(kind, (struct fault){ .without = -1, .misshapen = i }, NULL, 0);
        tensors = w.n;
        char wanted[200];
        snprintf(wanted, sizeof wanted, "tensor %s has the shape (", w.odd);
        make_model(true, true, false);
        refused_by_load(wanted);
        if (i > 1)                      /* the embeddings say themselves what their sizes are */
            refused_by_read_config(i == 0 ? "has the shape (" : wanted);
    }
}
END_TEST

START_TEST(a_tensor_too_many_is_named)
{
    static const char *const extra[] = { "h.0.attn.scale", "h.2.ln_1.weight", "trf_blocks.2.norm1.scale", "tok_emb",
                                         "trf_blocks.0.att.mask2", "lm_head.bias", "out_head.bias", "attn.mask.0" };
    for (size_t i = 0; i < sizeof extra / sizeof *extra; i++) {
        write_file(families[_i], (struct fault){ -1, -1, extra[i] }, NULL, 0);
        make_model(true, true, false);
        refused_by_load(extra[i]);
    }
    write_file(families[_i], (struct fault){ -1, -1, "h.0.attn.scale" }, NULL, 0);
    refused_by_read_config("the model has no place for the tensor ");
    write_file(families[_i], none, NULL, 0);
    for (int i = 0; i < 2; i++) {       /* biases for which the model has no place */
        make_model(i, !i, false);
        refused_by_load("the model has no place for the tensor ");
        expect_error(families[_i].gpt2 ? ".bias" : i ? ".att.W_key.bias" : "final_norm.shift");
    }
}
END_TEST

START_TEST(names_of_two_families_at_once)
{
    write_file(families[5], (struct fault){ -1, -1, "wte.weight" }, NULL, 0);
    refused_by_read_config("the model has no place for the tensor wte.weight");
}
END_TEST

START_TEST(another_number_of_blocks)
{
    write_file(families[_i], none, NULL, 0);
    again();
    c = (gra_gpt_config){ .vocab_size = VOCAB, .context_length = CONTEXT, .emb_dim = WIDTH, .n_heads = HEADS,
                          .n_layers = LAYERS + 1, .bias = true, .qkv_bias = true };
    c.init = GRA_INIT_ZEROS;
    gra_gpt_init(&g, gra_root(m), &c);
    ck_assert_int_eq(gra_gpt_load(m, &g, PATH), -1);
    expect_error("it has no tensor ");
    expect_error(".2.");
    expect_error("and more are missing");
}
END_TEST

START_TEST(heads_that_differ)
{
    write_file(families[_i], none, NULL, 0);
    make_model(true, true, true);
    refused_by_load("differ, but in the model they are one (tied)");
}
END_TEST

static void expect_gelu(gra_gelu_form wanted)
{
    read_file();
    ck_assert_int_eq(c.gelu, wanted);
    make_model(true, true, false);      /* erf */
    for (int i = 0; i < LAYERS; i++)
        g.trf_blocks[i].ff.gelu = wanted == GRA_GELU_ERF ? GRA_GELU_TANH : GRA_GELU_ERF;
    ck_assert_int_eq(gra_gpt_load(m, &g, PATH), 0);
    ck_assert_int_eq(g.config.gelu, wanted);
    for (int i = 0; i < LAYERS; i++)
        ck_assert_int_eq(g.trf_blocks[i].ff.gelu, wanted);
}

START_TEST(the_form_of_gelu)
{
    const bool nano = families[_i].gpt2 && !families[_i].transposed;
    write_file(families[_i], none, NULL, 0);
    expect_gelu(nano ? GRA_GELU_ERF : GRA_GELU_TANH);
    write_file(families[_i], none, &(gra_meta){ "gelu", "erf" }, 1);
    expect_gelu(GRA_GELU_ERF);
    write_file(families[_i], none, &(gra_meta){ "gelu", "tanh" }, 1);
    expect_gelu(GRA_GELU_TANH);
    write_file(families[_i], none, &(gra_meta){ "gelu", "quick" }, 1);
    refused_by_read_config("its metadata say gelu: quick, but erf and tanh are known");
    make_model(true, true, false);
    refused_by_load("its metadata say gelu: quick");
}
END_TEST

static void heads(int given, int wanted, const char *sentence)
{
    again();
    int status = gra_gpt_read_config(m, PATH, given, &c);
    if (sentence)
        expect_error(sentence);
    else
        ck_assert_msg(status == 0, "%s", gra_model_error(m));
    ck_assert_int_eq(status, sentence ? -1 : 0);
    if (!sentence)
        ck_assert_int_eq(c.n_heads, wanted);
}

START_TEST(how_many_heads)
{
    write_file(families[0], none, NULL, 0);
    heads(2, 2, NULL);
    heads(4, 0, "a width of 6 cannot be shared by 4 heads");
    heads(-1, 0, "a width of 6 cannot be shared by -1 heads");
    heads(0, 0, "nothing says how many heads there are, and a width of 6 is not made of heads of 64");
    write_json(" {\"a\": [1, {\"n_head\": 1, \"s\": \"]}\"}, null], \"n_head\": 2, \"eps\": 1e-05, \"b\": true}\n");
    heads(0, 2, NULL);
    heads(3, 3, NULL);
    write_json("{\"n_heap\": 2}");
    heads(0, 0, "nothing says how many heads");
    write_json("{\"n_layer\": 2, \"n_head\": null}");
    heads(0, 0, "nothing says how many heads");
    write_json("{}");
    heads(0, 0, "nothing says how many heads");
    write_json("{\"n_head\": 2");
    heads(0, 0, "the config.json beside it: there should be a , or a }");
    write_json("{\"n_head\": -2}");
    heads(0, 0, "the config.json beside it says n_head: -2, but a whole number from 1 on is wanted");
    write_json("{\"n_head\": 99999999999}");
    heads(0, 0, "the config.json beside it says n_head: 99999999999, but a whole number");
    write_json("{\"n_head\": \"2\"}");
    heads(0, 0, "the config.json beside it says n_head: \"2\", but a whole number");
    write_json("{\"n_head\": 4}");
    heads(0, 0, "a width of 6 cannot be shared by 4 heads");
    write_json("{\"num_attention_heads\": 3}");
    heads(0, 3, NULL);
    write_json("{\"a\": [1, {\"b\"");
    heads(0, 0, "the config.json beside it: there should be");
    write_json("{\"a\": \xff}");
    heads(0, 0, "the config.json beside it: it is not UTF-8");
    write_json("");
    heads(0, 0, "the config.json beside it: there should be a {");
    FILE *f = fopen(JSON, "w");
    ck_assert_ptr_nonnull(f);
    fwrite("{\"a\": \0}", 1, 9, f);
    ck_assert_int_eq(fclose(f), 0);
    heads(0, 0, "the config.json beside it: there should be a value");
    ck_assert_int_eq(truncate(JSON, 65537), 0);
    heads(0, 0, "the config.json beside it: it is too long for one");
    unlink(JSON);
    mkdir(JSON, 0777);
    heads(0, 0, "the config.json beside it: it is a directory");
    rmdir(JSON);
    write_file(families[0], none, &(gra_meta){ "n_heads", "3" }, 1);
    write_json("{\"n_head\": 2}");
    heads(0, 3, NULL);
    heads(2, 2, NULL);
    write_file(families[0], none, &(gra_meta){ "n_heads", "three" }, 1);
    heads(0, 0, "its metadata say n_heads: three, but a whole number is wanted");
    write_file(families[0], none, &(gra_meta){ "n_heads", "3 heads" }, 1);
    heads(0, 0, "its metadata say n_heads: 3 heads, but a whole number is wanted");
    write_file(families[0], none, &(gra_meta){ "n_heads", "+3" }, 1);
    heads(0, 0, "its metadata say n_heads: +3, but a whole number is wanted");
}
END_TEST

/* A model with another number of heads than the file states: the metadata's goes before the config.json's. */
START_TEST(heads_of_another_model)
{
    write_file(families[_i], none, &(gra_meta){ "n_heads", "2" }, 1);
    write_json("{\"n_head\": 3}");
    make_model(true, true, false);
    refused_by_load("its metadata say n_heads: 2, but the model has n_heads: 3");
    write_file(families[_i], none, &(gra_meta){ "n_heads", "three" }, 1);
    make_model(true, true, false);
    refused_by_load("its metadata say n_heads: three, but a whole number is wanted");
    write_file(families[_i], none, NULL, 0);
    write_json("{\"num_attention_heads\": 6}");
    make_model(true, true, false);
    refused_by_load("the config.json beside it says n_head: 6, but the model has n_heads: 3");
    write_file(families[_i], none, &(gra_meta){ "n_heads", "3" }, 1);
    make_model(true, true, false);
    ck_assert_msg(gra_gpt_load(m, &g, PATH) == 0, "%s", gra_model_error(m));
}
END_TEST

/* Of a config.json, each setting that changes what is computed is honoured or refused, when the file is described
 * and when it is loaded. */
static void beside(const char *setting, const char *sentence)
{
    char json[200], wanted[300];
    snprintf(json, sizeof json, "{\"n_head\": 3, %s, \"resid_pdrop\": 0.1}", setting);
    snprintf(wanted, sizeof wanted, "the config.json beside it says %s", sentence);
    write_json(json);
    refused_by_read_config(wanted);
    make_model(true, true, false);
    refused_by_load(wanted);
}

static void gelu_beside(const char *name, gra_gelu_form wanted)
{
    char json[100];
    snprintf(json, sizeof json, "{\"n_head\": 3, \"activation_function\": \"%s\"}", name);
    write_json(json);
    expect_gelu(wanted);
}

START_TEST(what_config_json_says)
{
    write_file(families[_i], none, NULL, 0);
    gelu_beside("gelu", GRA_GELU_ERF);
    gelu_beside("gelu_new", GRA_GELU_TANH);
    gelu_beside("gelu_pytorch_tanh", GRA_GELU_TANH);
    beside("\"activation_function\": \"relu\"",
           "activation_function: \"relu\", but only gelu, gelu_new and gelu_pytorch_tanh are known");
    beside("\"activation_function\": \"gelu_10\"", "activation_function: \"gelu_10\", but only gelu");
    beside("\"layer_norm_epsilon\": 0.001", "layer_norm_epsilon: 0.001, but the norms of a gra_gpt have 1e-05");
    beside("\"scale_attn_by_inverse_layer_idx\": true",
           "scale_attn_by_inverse_layer_idx: true, but a gra_gpt scales all layers alike");
    beside("\"scale_attn_weights\": false", "scale_attn_weights: false, but");
    beside("\"model_type\": \"imagegpt\"", "model_type: \"imagegpt\", but only gpt2 is known");
    beside("\"n_embd\": 7", "n_embd: 7, but its tensors 6");
    beside("\"n_layer\": 3", "n_layer: 3, but its tensors 2");
    beside("\"n_positions\": 1024", "n_positions: 1024, but its tensors");
    beside("\"vocab_size\": 50257", "vocab_size: 50257, but its tensors");
    beside("\"tie_word_embeddings\": 1", "tie_word_embeddings: 1, but true or false is wanted");
    beside("\"n_inner\": 12", "n_inner: 12, but its tensors 24");
    beside("\"n_inner\": 24.5", "n_inner: 24.5, but a whole number from 1 on is wanted");
    write_json("{\"model_type\": \"gpt2\", \"layer_norm_epsilon\": 1e-05, \"scale_attn_weights\": true,\n"
               "\"scale_attn_by_inverse_layer_idx\": false, \"n_embd\": 6, \"n_head\": 3, \"n_layer\": 2,\n"
               "\"reorder_and_upcast_attn\": true, \"attn_pdrop\": 0.1, \"eos_token_id\": 50256}");
    read_file();
    ck_assert_int_eq(c.n_heads, 3);
}
END_TEST

/* A setting twice, under one name or under both, is fine only with one value. */
START_TEST(what_config_json_says_twice)
{
    static const char again[] = ", but another value of this setting came before";
    char sentence[120];
    write_file(families[_i], none, NULL, 0);
    snprintf(sentence, sizeof sentence, "num_attention_heads: 2%s", again);
    beside("\"num_attention_heads\": 2", sentence);
    snprintf(sentence, sizeof sentence, "n_head: 6%s", again);
    beside("\"n_head\": 6", sentence);
    snprintf(sentence, sizeof sentence, "hidden_size: 12%s", again);
    beside("\"n_embd\": 6, \"hidden_size\": 12", sentence);
    snprintf(sentence, sizeof sentence, "activation_function: \"gelu_new\"%s", again);
    beside("\"activation_function\": \"gelu\", \"activation_function\": \"gelu_new\"", sentence);
    write_json("{\"n_head\": 3, \"num_attention_heads\": 3, \"n_head\": null, \"n_inner\": null, \"n_embd\": 6,\n"
               "\"hidden_size\": 6, \"n_inner\": 24, \"scale_attn_weights\": true, \"scale_attn_weights\": true}");
    read_file();
    ck_assert_int_eq(c.n_heads, 3);
}
END_TEST

/* The epsilon is compared as a number, however it is written. */
START_TEST(an_epsilon_in_other_words)
{
    static const char *const same[] = { "1e-05", "1e-5", "1E-5", "1.0e-05", "1.000E-005", "0.00001", "0.0000100",
                                        "10e-6", "0.1e-4", "0.01E-3" };
    static const char *const other[] = { "1e-5x", "1e", "1e-", "1e-06", "1e+5", "1e5", "1.0e-04", "-1e-05", "0", "0.0",
                                         "1", "1e-5.0", "\"1e-05\"", "1e-99999999999", "true" };
    char setting[120], sentence[160];
    write_file(families[0], none, NULL, 0);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        snprintf(setting, sizeof setting, "{\"layer_norm_epsilon\": %s}", same[i]);
        write_json(setting);
        read_file();
    }
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        snprintf(setting, sizeof setting, "\"layer_norm_epsilon\": %s", other[i]);
        snprintf(sentence, sizeof sentence, "layer_norm_epsilon: %s, but the norms of a gra_gpt have 1e-05", other[i]);
        beside(setting, sentence);
    }
}
END_TEST

START_TEST(what_config_json_says_of_the_head)
{
    struct kind kind = families[_i];
    kind.head = NO_HEAD;
    write_file(kind, none, NULL, 0);
    beside("\"tie_word_embeddings\": false", "tie_word_embeddings: false, but it has no tensor ");
    kind.head = OWN_HEAD;
    write_file(kind, none, NULL, 0);
    beside("\"tie_word_embeddings\": true", "tie_word_embeddings: true, but tensors ");
}
END_TEST

START_TEST(heads_of_64)
{
    again();
    make_tiny(128);
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    heads(0, 2, NULL);
}
END_TEST

/* The dtype of the tensor that is read last becomes one that cannot be read: it is noticed when all others
 * are. */
START_TEST(nothing_is_half_loaded)
{
    static unsigned char bytes[1 << 16];
    struct kind kind = families[_i];
    kind.buffers = false;
    write_file(kind, none, NULL, 0);
    FILE *f = fopen(PATH, "r+b");
    ck_assert_ptr_nonnull(f);
    const size_t n = fread(bytes, 1, sizeof bytes - 1, f);
    const char *last = kind.gpt2 ? "h.1.ln_2.bias\":{\"dtype\":\"" : "trf_blocks.1.norm2.shift\":{\"dtype\":\"";
    size_t at = 0;
    while (at < n && memcmp(bytes + at, last, strlen(last)) != 0)
        at++;
    ck_assert_uint_lt(at, n);
    fseek(f, (long)(at + strlen(last)), SEEK_SET);
    fputc('I', f);
    ck_assert_int_eq(fclose(f), 0);
    make_model(true, true, false);
    refused_by_load("F16 and BF16 can be read");
    ck_assert_int_eq(g.config.gelu, GRA_GELU_ERF);
}
END_TEST

START_TEST(not_a_gpt)
{
    again();
    gra_param(gra_root(m), "w", gra_init_zeros(), GRA_SHAPE(2));
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    refused_by_read_config("it is no GPT's: it has neither tok_emb.weight, as Raschka's GPTModel, nor wte.weight");
    ck_assert_int_eq(gra_gpt_read_config(m, FOLDER "/none", 0, &c), -1);
    expect_error("gra_gpt_read_config: " FOLDER "/none: No such file");
    make_model(true, true, false);
    ck_assert_int_eq(gra_gpt_load(m, &g, FOLDER "/none"), -1);
    expect_error("gra_gpt_load: " FOLDER "/none: No such file");
}
END_TEST

START_TEST(embeddings_that_are_no_matrices)
{
    again();
    gra_param(gra_root(m), "wte.weight", gra_init_zeros(), GRA_SHAPE(2));
    gra_param(gra_root(m), "wpe.weight", gra_init_zeros(), GRA_SHAPE(2, 2));
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    refused_by_read_config("tensor wte.weight has the shape (2), but a matrix with a row for each token is wanted");
    again();
    gra_param(gra_root(m), "wte.weight", gra_init_zeros(), GRA_SHAPE(2, 2));
    gra_param(gra_root(m), "wpe.weight", gra_init_zeros(), GRA_SHAPE(2, 2, 1));
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    refused_by_read_config("tensor wpe.weight has the shape (2, 2, 1), but a matrix with a row for each position");
    const gra_tensor no_columns = { .shape = { 2, { 2, 0 } } };
    const gra_named empty[] = { { "wte.weight", &no_columns }, { "wpe.weight", &no_columns } };
    ck_assert_int_eq(gra_file_write(m, "test", PATH, 2, empty, NULL, 0), 0);
    refused_by_read_config("tensor wte.weight has the shape (2, 0), but a matrix with a row for each token is wanted");

    static const char wide[] = "{\"wpe.weight\":{\"dtype\":\"BOOL\",\"shape\":[0],\"data_offsets\":[0,0]},\"wte.weight\":"
                               "{\"dtype\":\"BOOL\",\"shape\":[1,536870912],\"data_offsets\":[0,536870912]}}";
    FILE *f = fopen(PATH, "w");                         /* its values are a hole in the file */
    ck_assert_ptr_nonnull(f);
    fprintf(f, "%c%c%c%c%c%c%c%c%s", (int)sizeof wide - 1, 0, 0, 0, 0, 0, 0, 0, wide);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_eq(truncate(PATH, 8 + (off_t)sizeof wide - 1 + 536870912), 0);
    refused_by_read_config("tensor wte.weight has the shape (1, 536870912), but a matrix with a row for each token");
    unlink(PATH);
}
END_TEST

START_TEST(into_a_gpt_that_was_not_made)
{
    write_file(families[0], none, NULL, 0);
    again();
    g = (struct gra_gpt){ 0 };
    ck_assert_int_eq(gra_gpt_load(m, &g, PATH), -1);
    expect_error("gra_gpt_load: " PATH ": there is no GPT to load it into");
    make_model(true, true, false);
    g.tok_emb.weight = NULL;
    refused_by_load("there is no GPT to load it into");
}
END_TEST

/* In GPT-2's order or not? A first matrix that is none does not say; another tensor has too many
 * dimensions. */
START_TEST(shapes_of_no_family)
{
    again();
    gra_param(gra_root(m), "wte.weight", gra_init_zeros(), GRA_SHAPE(3, 2));
    gra_param(gra_root(m), "wpe.weight", gra_init_zeros(), GRA_SHAPE(2, 2));
    gra_param(gra_root(m), "h.0.attn.c_attn.weight", gra_init_zeros(), GRA_SHAPE(12));
    gra_param(gra_root(m), "h.0.ln_1.weight", gra_init_zeros(), GRA_SHAPE(2, 1));
    gra_param(gra_root(m), "ln_f.weight", gra_init_zeros(), GRA_SHAPE(2));
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    refused_by_read_config("it has no tensor h.0.");

    write_file(families[0], none, NULL, 0);
    gra_tensor *norm = (gra_tensor *)gra_param_find(w.m, "trf_blocks.0.norm1.scale");
    norm->shape.ndim = 2;
    norm->shape.dim[1] = 1;
    ck_assert_int_eq(gra_save(w.m, PATH, NULL, 0), 0);
    refused_by_read_config("tensor trf_blocks.0.norm1.scale has the shape (6, 1), but in the model it is (6)");
}
END_TEST

/* Whatever call fails, of memory or of reading, while a GPT is saved, described and loaded: a sentence,
 * nothing held, and the model as before. */
START_TEST(any_call_may_fail)   /* _i: memory, reading; with the number of heads in the file, or beside it */
{
    const fault_call call = _i % 2 ? FAULT_READ : FAULT_ALLOC;
    if (!fault_wrapped())
        return;
    for (long n = 1, struck = 1; struck; n++) {
        make_model(true, true, true);
        write_json("{\"n_head\": 3}");
        ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
        const long held = fault_held();
        gra_gpt_config read;
        fault_arm(call, n, _i % 2 ? EIO : ENOMEM, false);
        const bool ok = (_i < 2 || gra_gpt_save(m, &g.config, PATH, NULL, 0) == 0) &&
                        gra_gpt_read_config(m, PATH, 0, &read) == 0 && gra_gpt_load(m, &g, PATH) == 0;
        struck = fault_disarm();
        ck_assert_int_eq(ok, !struck);
        ck_assert_msg(ok || gra_model_error(m), "call %ld: it failed without a sentence", n);
        ck_assert_int_eq((int)(fault_held() - held), 0);
        ck_assert(all_are(-1));
        ck_assert(!ok || read.n_heads == HEADS);
    }
}
END_TEST

START_TEST(in_this_folder)              /* a path that names none, and a config.json beside it */
{
    char here[1024];
    write_file(families[0], none, NULL, 0);
    write_json("{\"n_head\": 3}");
    again();
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    ck_assert_int_eq(chdir(FOLDER), 0);
    const int status = gra_gpt_read_config(m, "gpt.safetensors", 0, &c);
    ck_assert_int_eq(chdir(here), 0);
    ck_assert_msg(status == 0, "%s", gra_model_error(m));
    ck_assert_int_eq(c.n_heads, 3);
}
END_TEST

/* A file that could not be read is no reason not to make a model. */
START_TEST(a_model_after_a_note)
{
    again();
    ck_assert_int_eq(gra_gpt_read_config(m, FOLDER "/none", 0, &c), -1);
    make_tiny(2);
    ck_assert_int_gt(gra_param_count(m), 0);
}
END_TEST

/* ---- and back ---- */

START_TEST(what_is_saved_is_read_back)
{
    gra_rng rng;
    gra_manual_seed(&rng, 1);
    for (int i = 0; i < 16; i++) {
        const gra_gpt_config config = {
            .vocab_size = VOCAB, .context_length = CONTEXT, .emb_dim = WIDTH, .n_heads = HEADS, .n_layers = LAYERS,
            .bias = i & 1, .qkv_bias = i & 2, .tied = i & 4, .gelu = i & 8 ? GRA_GELU_TANH : GRA_GELU_ERF,
            .init = GRA_INIT_GPT2,
        };
        gra_model *from = model_alone(&rng);
        struct gra_gpt trained;
        gra_gpt_init(&trained, gra_root(from), &config);
        ck_assert_int_eq(gra_gpt_save(from, &config, PATH, &(gra_meta){ "format", "pt" }, 1), 0);
        again();
        ck_assert_msg(gra_gpt_read_config(m, PATH, 0, &c) == 0, "%s", gra_model_error(m));
        ck_assert(c.bias == config.bias && c.qkv_bias == config.qkv_bias && c.tied == config.tied &&
                  c.gelu == config.gelu && c.n_heads == HEADS);
        gra_gpt_init(&g, gra_root(m), &c);
        ck_assert_msg(gra_gpt_load(m, &g, PATH) == 0, "%s", gra_model_error(m));
        ck_assert_int_eq(gra_param_count(m), gra_param_count(from));
        for (int j = 0; j < gra_param_count(m); j++) {
            const gra_tensor *p = gra_param_at(m, j), *x = gra_param_find(from, p->name);
            ck_assert_ptr_nonnull(x);
            ck_assert_int_eq(memcmp(p->data, x->data, p->size * sizeof(real)), 0);
        }
        gra_model_close(from);
    }
}
END_TEST

/* In PyTorch the head is there, tied or not: so it stands in the file. */
START_TEST(a_tied_head_under_both_names)
{
    make_model(true, true, true);
    for (size_t i = 0; i < g.tok_emb.weight->size; i++)
        g.tok_emb.weight->data[i] = value(0, i);
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    gra_file *f = gra_file_open(m, PATH);
    ck_assert_ptr_nonnull(f);
    const gra_file_tensor *head = gra_file_find(f, "out_head.weight"), *tokens = gra_file_find(f, "tok_emb.weight");
    ck_assert_ptr_nonnull(head);
    ck_assert_ptr_nonnull(tokens);
    ck_assert(head->begin != tokens->begin && head->size == tokens->size);
    ck_assert_int_eq(gra_file_same(f, head, tokens), 1);
    ck_assert_int_eq(gra_file_same(f, head, gra_file_find(f, "pos_emb.weight")), 0);
    gra_file_close(f);
    ck_assert_int_eq(gra_load(m, PATH), 0);
}
END_TEST

Suite *gpt_file_suite(void)
{
    Suite *s = suite_create("gpt_file");
    TCase *tc = tcase_create("gpt_file");
    tcase_add_checked_fixture(tc, open_model, close_model);
    tcase_add_loop_test(tc, every_family, 0, 24 * FAMILIES);
    tcase_add_loop_test(tc, into_a_larger_model, 0, 24 * FAMILIES);
    tcase_add_loop_test(tc, a_missing_tensor_is_named, 0, FAMILIES);
    tcase_add_loop_test(tc, a_tensor_of_another_shape_is_named, 0, FAMILIES);
    tcase_add_loop_test(tc, a_tensor_too_many_is_named, 0, FAMILIES);
    tcase_add_test(tc, names_of_two_families_at_once);
    tcase_add_loop_test(tc, another_number_of_blocks, 0, FAMILIES);
    tcase_add_loop_test(tc, heads_that_differ, 0, FAMILIES);
    tcase_add_loop_test(tc, the_form_of_gelu, 0, FAMILIES);
    tcase_add_test(tc, how_many_heads);
    tcase_add_loop_test(tc, heads_of_another_model, 0, FAMILIES);
    tcase_add_loop_test(tc, what_config_json_says, 0, FAMILIES);
    tcase_add_loop_test(tc, what_config_json_says_twice, 0, FAMILIES);
    tcase_add_test(tc, an_epsilon_in_other_words);
    tcase_add_loop_test(tc, what_config_json_says_of_the_head, 0, FAMILIES);
    tcase_add_test(tc, heads_of_64);
    tcase_add_loop_test(tc, nothing_is_half_loaded, 0, FAMILIES);
    tcase_add_test(tc, not_a_gpt);
    tcase_add_test(tc, embeddings_that_are_no_matrices);
    tcase_add_test(tc, into_a_gpt_that_was_not_made);
    tcase_add_test(tc, shapes_of_no_family);
    tcase_add_loop_test(tc, any_call_may_fail, 0, 4);
    tcase_add_test(tc, in_this_folder);
    tcase_add_test(tc, a_model_after_a_note);
    tcase_add_test(tc, what_is_saved_is_read_back);
    tcase_add_test(tc, a_tied_head_under_both_names);
    suite_add_tcase(s, tc);
    return s;
}
