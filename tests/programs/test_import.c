/* GPTs imported from files of three families: every name, every order of rows and columns, and the refusals.
 * A file is written from our GPT under the names of a family; the imported GPT must be equal to our GPT. */
#include "examples/import/export.h"
#include "lib/fixture.h"
#include "lib/folder.h"
#include "lib/suites.h"

#include <sys/stat.h>
#include <unistd.h>

#define FOLDER GRADUS_BUILD "/import"
#define PATH   FOLDER "/gpt.safetensors"
#define JSON   FOLDER "/config.json"

enum { VOCAB = 7, CONTEXT = 5, WIDTH = 6, HEADS = 3, LAYERS = 2 };

/* ---- files ---- */

enum head { NO_HEAD, SAME_HEAD, OWN_HEAD, ONLY_HEAD };  /* ONLY_HEAD: a tied table under the head's name */

struct kind {
    bool        gpt2;                   /* otherwise Raschka's names */
    const char *all, *most;             /* prefixes of all names, and of all except the head's */
    bool        transposed;
    bool        bias, qkv_bias, buffers;
    enum head   head;
};

static const struct kind families[] = {
    { false, "",           "",             false, true, true, true, OWN_HEAD },
    { false, "_orig_mod.", "",             false, true, true, true, OWN_HEAD },
    { true,  "",           "transformer.", false, true, true, true, OWN_HEAD },    /* nanoGPT */
    { true,  "_orig_mod.", "transformer.", false, true, true, true, OWN_HEAD },
    { true,  "",           "",             true,  true, true, true, OWN_HEAD },    /* Hugging Face */
    { true,  "",           "transformer.", true,  true, true, true, OWN_HEAD },
    { true,  "_orig_mod.", "",             true,  true, true, true, OWN_HEAD },
    { false, "model._orig_mod.module.", "", false, true, true, true, OWN_HEAD },
    { true,  "module.",    "transformer.", true,  true, true, true, OWN_HEAD },
};
enum { FAMILIES = sizeof families / sizeof *families };

static const char *const gpt2_names[][2] = {        /* ours, theirs; W_query means all three of c_attn */
    { "tok_emb.weight", "wte.weight" }, { "pos_emb.weight", "wpe.weight" },
    { "final_norm.scale", "ln_f.weight" },
    { "final_norm.shift", "ln_f.bias" }, { "out_head.weight", "lm_head.weight" },
    { "att.W_query.weight", "attn.c_attn.weight" }, { "att.W_query.bias", "attn.c_attn.bias" },
    { "att.out_proj.weight", "attn.c_proj.weight" }, { "att.out_proj.bias", "attn.c_proj.bias" },
    { "ff.layers.0.weight", "mlp.c_fc.weight" }, { "ff.layers.0.bias", "mlp.c_fc.bias" },
    { "ff.layers.2.weight", "mlp.c_proj.weight" }, { "ff.layers.2.bias", "mlp.c_proj.bias" },
    { "norm1.scale", "ln_1.weight" }, { "norm1.shift", "ln_1.bias" },
    { "norm2.scale", "ln_2.weight" }, { "norm2.shift", "ln_2.bias" },
};

static struct writer {
    gra_model     *from, *to;           /* a GPT, and its tensors under other names */
    struct gra_gpt gpt;
    struct kind    kind;
    int            without, misshapen;  /* the number of a tensor to omit or misshape; -1: none */
    int            n;                   /* tensors so far, the omitted one included */
    char           odd[192];            /* the name of that tensor */
} w;

/* A tensor of the file made of n parameters (rows, columns), one below another. */
static void put(const char *name, int n, gra_tensor *const *p, bool transposed)
{
    char full[192];
    const int number = w.n++, rows = p[0]->shape.dim[0],
              columns = p[0]->shape.ndim == 2 ? p[0]->shape.dim[1] : 0;
    const bool is_head = strstr(name, "head") != NULL;
    snprintf(full, sizeof full, "%s%s%s", w.kind.all, is_head ? "" : w.kind.most, name);
    if (number == w.without || number == w.misshapen)
        snprintf(w.odd, sizeof w.odd, "%s", number == w.without ? name : full);
    if (number == w.without)
        return;
    gra_shape shape = { columns ? 2 : 1, { n * rows, columns } };
    if (transposed && columns)
        shape = GRA_SHAPE(columns, n * rows);
    shape.dim[0] += number == w.misshapen;
    gra_tensor *x = gra_param(gra_root(w.to), full, gra_init_zeros(), shape);
    for (int i = 0; i < n * rows; i++)
        for (int j = 0; j < (columns ? columns : 1); j++)
            x->data[transposed && columns ? j * n * rows + i : i * (columns ? columns : 1) + j] =
                p[i / rows]->data[i % rows * (columns ? columns : 1) + j];
}

static void put_gpt2(gra_tensor *p, int i)              /* the i-th parameter */
{
    int block = -1, at = 0;
    char name[128];
    gra_tensor *qkv[3] = { p, NULL, NULL };
    const bool thirds = strstr(p->name, "W_query") != NULL, biased = thirds && w.kind.qkv_bias;
    if (strstr(p->name, "W_key") || strstr(p->name, "W_value"))
        return;
    for (int k = 1; thirds && k < 3; k++)            /* query, key, value: each a weight and perhaps a bias */
        qkv[k] = gra_param_at(w.from, i + k * (biased ? 2 : 1));
    sscanf(p->name, "trf_blocks.%d.%n", &block, &at);
    for (size_t k = 0; k < sizeof gpt2_names / sizeof *gpt2_names; k++)
        if (strcmp(p->name + at, gpt2_names[k][0]) == 0) {
            if (at)
                snprintf(name, sizeof name, "h.%d.%s", block, gpt2_names[k][1]);
            else
                snprintf(name, sizeof name, "%s", gpt2_names[k][1]);
            put(name, thirds ? 3 : 1, qkv, w.kind.transposed && at);
            return;
        }
    ck_abort_msg("%s has no name in GPT-2", p->name);
}

/* The GPT of w, with random values in biases and norms too. */
static void make_gpt(bool bias, bool qkv_bias, bool tied, gra_gelu_form gelu)
{
    w.from = gra_model_open(t, &rng);
    gra_gpt_init(&w.gpt, gra_root(w.from),
                 &(gra_gpt_config){ VOCAB, CONTEXT, WIDTH, HEADS, LAYERS, .bias = bias, .qkv_bias = qkv_bias,
                                    .tied = tied, .gelu = gelu, .init = GRA_INIT_GPT2 });
    for (int i = 0; i < gra_param_count(w.from); i++)
        gra_randn(&rng, gra_param_at(w.from, i)->data, gra_param_at(w.from, i)->size);
}

static void write_file(struct kind kind, int without, int misshapen, const char *extra, const gra_meta *meta)
{
    gra_model_close(w.from);
    gra_model_close(w.to);
    w = (struct writer){ .to = gra_model_open(t, NULL), .kind = kind, .without = without,
                         .misshapen = misshapen };
    make_gpt(kind.bias, kind.qkv_bias, kind.head != OWN_HEAD, GRA_GELU_ERF);
    for (int i = 0; i < gra_param_count(w.from); i++) {
        gra_tensor *p = gra_param_at(w.from, i);
        if (kind.head == ONLY_HEAD && p == w.gpt.tok_emb.weight)
            continue;
        if (kind.gpt2)
            put_gpt2(p, i);
        else
            put(p->name, 1, &p, false);
    }
    if (kind.head == SAME_HEAD || kind.head == ONLY_HEAD)
        put(kind.gpt2 ? "lm_head.weight" : "out_head.weight", 1, &w.gpt.tok_emb.weight, false);
    for (int i = 0; i < LAYERS && kind.buffers; i++) {
        char name[64];
        snprintf(name, sizeof name, kind.gpt2 ? "h.%d.attn.bias" : "trf_blocks.%d.att.mask", i);
        put(name, 1, &w.gpt.pos_emb.weight, false);
        snprintf(name, sizeof name, kind.gpt2 ? "h.%d.attn.masked_bias" : "trf_blocks.%d.mask", i);
        put(name, 1, &w.gpt.pos_emb.weight, false);
    }
    if (extra)
        gra_param(gra_root(w.to), extra, gra_init_zeros(), GRA_SHAPE(2));
    ck_assert_msg(gra_save(w.to, PATH, meta, meta != NULL) == 0, "%s", gra_model_error(w.to));
}

static void write_plain(int family, const gra_meta *meta)
{
    write_file(families[family], -1, -1, NULL, meta);
}

static void quote(char *text)           /* each ' becomes a " */
{
    for (; *text; text++)
        *text = *text == '\'' ? '"' : *text;
}

static void write_json(const char *text)        /* in which a ' stands for a " */
{
    char json[4096];
    snprintf(json, sizeof json, "%s", text);
    quote(json);
    write_bytes(JSON, json, strlen(json));
}

/* ---- models imported from them ---- */

static struct gra_gpt g;
static char why[IMPORT_WHY];

static void open_import(void)
{
    open_all();
    folder_clear(FOLDER);
    w = (struct writer){ .from = NULL };
}

static void close_import(void)
{
    gra_model_close(w.from);
    gra_model_close(w.to);
    close_all();
}

static void imports(int n_heads)
{
    another_model();
    ck_assert_msg(import_gpt(&g, gra_enter(gra_root(model), "gpt"), PATH, n_heads, 0, why) == 0, "%s", why);
    ck_assert_ptr_null(gra_model_error(model));
}

static void refused_with(int n_heads, const char *sentence)
{
    another_model();
    ck_assert_int_eq(import_gpt(&g, gra_root(model), PATH, n_heads, 0, why), -1);
    ck_assert_msg(strstr(why, sentence), "expected ...%s..., got %s", sentence, why);
}
static void refused(const char *sentence) { refused_with(HEADS, sentence); }

/* ---- every name ---- */

CASE(import, open_import, close_import, "")

TESTS(every_family, 32 * FAMILIES)      /* _i: a family, and one of 32 forms of each */
{
    struct kind kind = families[_i / 32];
    kind.bias     = _i & 1;
    kind.qkv_bias = _i & 2;
    kind.buffers  = _i & 4;
    kind.head     = (enum head)(_i % 32 / 8);
    write_file(kind, -1, -1, NULL, NULL);
    imports(HEADS);
    const gra_gpt_config *c = &g.config;
    ck_assert(c->vocab_size == VOCAB && c->context_length == CONTEXT && c->emb_dim == WIDTH &&
              c->n_heads == HEADS && c->n_layers == LAYERS && c->drop_rate == 0);
    ck_assert(c->bias == kind.bias && c->qkv_bias == kind.qkv_bias && c->tied == (kind.head != OWN_HEAD));
    ck_assert_int_eq(c->gelu, kind.gpt2 && !kind.transposed ? GRA_GELU_ERF : GRA_GELU_TANH);
    ck_assert_int_eq(gra_param_count(model), gra_param_count(w.from));
    for (int i = 0; i < gra_param_count(model); i++) {
        const gra_tensor *p = gra_param_at(model, i), *x = gra_param_at(w.from, i);
        ck_assert_str_eq(p->name + strlen("gpt."), x->name);
        ck_assert_msg(memcmp(p->data, x->data, x->size * sizeof *x->data) == 0, "%s has other values",
                      x->name);
    }
}

TESTS(a_missing_tensor_is_named, FAMILIES) /* _i: a family */
{
    struct kind kind = families[_i];
    kind.buffers = false;
    kind.head = NO_HEAD;
    write_file(kind, -1, -1, NULL, NULL);
    const int tensors = w.n;
    ck_assert_int_eq(tensors, kind.gpt2 ? 4 + 12 * LAYERS : 4 + 16 * LAYERS);
    for (int i = 0; i < tensors; i++) {
        write_file(kind, i, -1, NULL, NULL);
        refused(i ? w.odd
                : "it is not a GPT: it has neither tok_emb.weight, like Raschka's GPTModel, nor wte.weight, "
                  "like GPT-2; got ");
        ck_assert(!i || strstr(why, "it has no tensor "));
    }
}

TESTS(a_tensor_of_another_shape_is_named, FAMILIES)
{
    struct kind kind = families[_i];
    char wanted[256];
    kind.buffers = false;
    write_file(kind, -1, -1, NULL, NULL);
    for (int i = 2, n = w.n; i < n; i++) {            /* the embeddings define their own sizes */
        write_file(kind, -1, i, NULL, NULL);
        snprintf(wanted, sizeof wanted, "tensor %s: got the shape (", w.odd);
        refused(wanted);
    }
}

TESTS(an_extra_tensor_is_named, FAMILIES)
{
    static const char *const extra[] = { "h.0.attn.scale", "h.999999.ln_1.weight",
                                         "trf_blocks.999999.norm1.scale", "tok_emb",
                                         "trf_blocks.0.att.mask2", "lm_head.bias", "out_head.bias",
                                         "attn.mask.0", "h.99999999999999999999.ln_1.weight",
                                         "h..ln_1.weight", "help.0.ln_1.weight", "h.0ln_1.weight",
                                         "trf_blocks.0norm1.scale" };
    char wanted[256];
    for (int i = 0; i < LENGTH(extra); i++) {
        write_file(families[_i], -1, -1, extra[i], NULL);
        snprintf(wanted, sizeof wanted, "got tensor %s", extra[i]);
        refused(wanted);
    }
}

TEST(a_name_twice)                      /* in both spellings */
{
    write_file(families[5], -1, -1, "wte.weight", NULL);
    refused("wte.weight");
    write_file(families[5], -1, -1, "h.1.ln_1.bias", NULL);
    refused("got tensor ");
    write_file(families[5], -1, -1, "h.2.ln_1.weight", NULL);
    refused("it has no tensor h.2.");
}

/* ---- settings that tensors do not show ---- */

static void expect_gelu(gra_gelu_form wanted)
{
    imports(HEADS);
    ck_assert_int_eq(g.config.gelu, wanted);
    for (int i = 0; i < LAYERS; i++)
        ck_assert_int_eq(g.trf_blocks[i].ff.gelu, wanted);
}

TESTS(the_form_of_gelu, FAMILIES)     /* metadata override config.json, which overrides the family */
{
    static const struct { const char *meta, *json; gra_gelu_form wanted; } said[] = {
        { "erf", "gelu_new", GRA_GELU_ERF }, { "tanh", "gelu", GRA_GELU_TANH },
        { NULL, "gelu", GRA_GELU_ERF }, { NULL, "gelu_new", GRA_GELU_TANH },
        { NULL, "gelu_pytorch_tanh", GRA_GELU_TANH },
    };
    for (int i = 0; i < 5; i++) {
        char json[100];
        snprintf(json, sizeof json, "{'n_head': 3, 'activation_function': '%s'}", said[i].json);
        write_json(json);
        write_plain(_i, said[i].meta ? &(gra_meta){ "gelu", said[i].meta } : NULL);
        expect_gelu(said[i].wanted);
    }
    write_plain(_i, &(gra_meta){ "gelu", "quick" });
    refused("its metadata: got gelu: quick, expected erf or tanh");
}

TEST(how_many_heads)
{
    static const struct { int given; const char *meta, *json; int heads; const char *sentence; } said[] = {
        { 2, NULL, "{}", 2, NULL }, { 3, "3", "{'n_head': 2}", 3, NULL },
        { 0, "3", "{'n_head': 2}", 3, NULL }, { 0, NULL, "{'n_head': 2}", 2, NULL },
        { 0, NULL, "{'num_attention_heads': 3}", 3, NULL },
        { 0, NULL, " {'a': [1, {'n_head': 1, 's': ']}\\''}, null], 'n_head':\n2 , 'b': true}\n", 2, NULL },
        { 2, "3", "{}", 0, "its metadata: got n_heads: 3, but 2 were requested" },
        { 2, NULL, "{'n_head': 3}", 0, "the config.json beside it: got n_head: 3, but 2 were requested" },
        { 4, NULL, "{}", 0, "4 heads do not divide the width 6" },
        { -1, NULL, "{}", 0, "-1 heads do not divide the width 6" },
        { 0, NULL, "{'n_head': 4}", 0, "4 heads do not divide the width 6" },
        { 0, NULL, "{}", 0,
          "the number of heads is unknown, and the width 6 is not a multiple of 64" },
        { 0, NULL, "{'n_heap': 2}", 0, "the number of heads is unknown" },
        { 0, NULL, "{'n_layer': 2, 'n_head': null}", 0, "the number of heads is unknown" },
        { 0, "three", "{}", 0, "its metadata: got n_heads: three, expected a whole number" },
        { 0, "3 heads", "{}", 0, "its metadata: got n_heads: 3 heads, expected a whole number" },
        { 0, "+3", "{}", 0, "its metadata: got n_heads: +3, expected a whole number" },
        { 0, "6", "{}", 6, NULL },
        { 0, "9999999999", "{}", 0, "its metadata: got n_heads: 9999999999, expected a whole number" },
    };
    for (int i = 0; i < LENGTH(said); i++) {
        write_plain(0, said[i].meta ? &(gra_meta){ "n_heads", said[i].meta } : NULL);
        write_json(said[i].json);
        if (said[i].sentence) {
            refused_with(said[i].given, said[i].sentence);
        } else {
            imports(said[i].given);
            ck_assert_int_eq(g.config.n_heads, said[i].heads);
        }
    }
}

TEST(heads_of_64)                       /* the default */
{
    struct gra_gpt tiny;
    gra_gpt_init(&tiny, gra_root(model), &(gra_gpt_config){ 3, 2, 128, 1, 1, .init = GRA_INIT_ZEROS });
    ck_assert_int_eq(gra_save(model, PATH, NULL, 0), 0);
    imports(0);
    ck_assert_int_eq(g.config.n_heads, 2);
}

/* Each setting of a config.json that changes results is honoured or refused. For the last setting here, such
 * as 'n_embd': 7, the sentence says "got n_embd: 7, " and then this text. */
static void beside(const char *settings, const char *sentence)
{
    char json[300], wanted[300];
    const char *last = settings;
    for (const char *next; (next = strstr(last, ", '")) != NULL; last = next + 2) {}
    const int name = (int)strcspn(last + 1, "'");
    snprintf(json, sizeof json, "{'n_head': 3, %s, 'resid_pdrop': 0.1}", settings);
    snprintf(wanted, sizeof wanted, "the config.json beside it: got %.*s%s, %s", name, last + 1,
             last + name + 2, sentence);
    quote(wanted);
    for (char *c = wanted; *c; c++)
        *c = *c < ' ' || *c == '\177' ? '?' : *c;
    write_json(json);
    refused(wanted);
}

#define WHOLE  "expected a whole number, 1 or more"
#define BEFORE "expected the same value as before in the file"

TESTS(what_config_json_says, FAMILIES)  /* _i: a family */
{
    static const char *const bad[][2] = {
        { "'activation_function': 'relu'", "expected gelu, gelu_new or gelu_pytorch_tanh" },
        { "'activation_function': 'gelu_10'", "expected gelu" },
        { "'activation_function': 'gelu', 'activation_function': 'gelu_new'", BEFORE },
        { "'layer_norm_epsilon': 0.001", "expected 1e-05, as in a gra_gpt" },
        { "'scale_attn_by_inverse_layer_idx': true", "expected false, as in a gra_gpt" },
        { "'scale_attn_weights': false", "expected true, as in a gra_gpt" },
        { "'model_type': 'imagegpt'", "expected gpt2" }, { "'model_type': '\033[1m'", "expected gpt2" },
        { "'model_type': '\177'", "expected gpt2" },
        { "'n_embd': 7", "expected 6, as in the tensors" }, { "'n_embd': 6, 'hidden_size': 12", BEFORE },
        { "'n_layer': 3", "expected 2, as in the tensors" }, { "'n_positions': 1024", "expected" },
        { "'vocab_size': 50257", "expected" }, { "'n_inner': 12", "expected 24, as in the tensors" },
        { "'n_inner': 24.5", WHOLE }, { "'n_inner': -2", WHOLE }, { "'n_inner': 99999999999", WHOLE },
        { "'n_inner': true", WHOLE }, { "'n_inner': '24'", WHOLE },
        { "'tie_word_embeddings': 1", "expected true or false" },
        { "'num_attention_heads': 2", BEFORE }, { "'n_head': 6", BEFORE },
    };
    write_plain(_i, NULL);
    for (int i = 0; i < LENGTH(bad); i++)
        beside(bad[i][0], bad[i][1]);
    write_json("{'model_type': 'gpt2', 'layer_norm_epsilon': 1e-05, 'scale_attn_weights': true,\n"
               "'scale_attn_by_inverse_layer_idx': false, 'n_embd': 6, 'hidden_size': 6, 'n_head': 3,\n"
               "'n_layer': 2, 'num_attention_heads': 3, 'n_inner': null, 'n_inner': 24,\n"
               "'scale_attn_weights': true, 'reorder_and_upcast_attn': true, 'attn_pdrop': 0.1,\n"
               "'eos_token_id': 50256}");
    imports(0);
    ck_assert_int_eq(g.config.n_heads, 3);
}

TESTS(what_config_json_says_of_the_head, FAMILIES)
{
    struct kind kind = families[_i];
    kind.head = NO_HEAD;
    write_file(kind, -1, -1, NULL, NULL);
    beside("'tie_word_embeddings': false", "but there is no tensor ");
    write_json("{'tie_word_embeddings': true}");
    imports(HEADS);
    kind.head = ONLY_HEAD;
    write_file(kind, -1, -1, NULL, NULL);
    beside("'tie_word_embeddings': false", kind.gpt2 ? "but there is no tensor wte.weight"
                                                     : "but there is no tensor tok_emb.weight");
    kind.head = OWN_HEAD;
    write_file(kind, -1, -1, NULL, NULL);
    beside("'tie_word_embeddings': true", "but tensors ");
    write_json("{'tie_word_embeddings': false}");
    imports(HEADS);
}

/* The epsilon is compared as a number, however it is written. */
TEST(an_epsilon_in_other_digits)
{
    static const char *const same[] = { "1e-05", "1e-5", "1E-5", "1.0e-05", "1.000E-005", "0.00001",
                                        "0.0000100", "10e-6", "0.1e-4", "0.01E-3" };
    static const char *const other[] = { "1e-5x", "1e", "1e-", "1e-06", "1e+5", "1e5", "1.0e-04", "-1e-05",
                                         "0", "0.0", "1", "1e-5.0", "'1e-05'", "1e-99999999999", "true",
                                         "nan" };
    char setting[120];
    write_plain(0, NULL);
    for (int i = 0; i < LENGTH(same); i++) {
        snprintf(setting, sizeof setting, "{'layer_norm_epsilon': %s}", same[i]);
        write_json(setting);
        imports(HEADS);
    }
    for (int i = 0; i < LENGTH(other); i++) {
        snprintf(setting, sizeof setting, "'layer_norm_epsilon': %s", other[i]);
        beside(setting, "expected 1e-05, as in a gra_gpt");
    }
}

TEST(an_invalid_config_json)
{
    static const char *const bad[] = {
        "", "[]", "{", "{'n_head': 3", "{'n_head' 3}", "{'n_head': }", "{'n_head': 3,}", "{n_head: 3}",
        "{'n_head': 3} {", "{'a': [1, {'b'", "{'a", "{'a': '", "{'a\\", "{,}", "{'a': 1 2}",
    };
    write_plain(0, NULL);
    for (int i = 0; i < LENGTH(bad); i++) {
        write_json(bad[i]);
        refused("the config.json beside it is not a JSON object");
    }
    write_bytes(JSON, "{\"a\": \0}", 9);
    refused("the config.json beside it: it is not text");
    ck_assert_int_eq(truncate(JSON, 65537), 0);
    refused("the config.json beside it: it is too long");
    unlink(JSON);
    mkdir(JSON, 0777);
    refused("the config.json beside it: Is a directory");
    rmdir(JSON);
}

TEST(in_this_folder)                    /* a path without a folder, and a config.json beside it */
{
    char here[1024];
    write_plain(0, NULL);
    write_json("{'n_head': 3}");
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    ck_assert_int_eq(chdir(FOLDER), 0);
    another_model();
    const int status = import_gpt(&g, gra_root(model), "gpt.safetensors", 0, 0, why);
    ck_assert_int_eq(chdir(here), 0);
    ck_assert_msg(status == 0 && g.config.n_heads == 3, "%s", why);
}

/* ---- exported, and imported again ---- */

static const gra_meta format = { "format", "pt" };

static void make_form(int form)         /* of w.gpt: biases, a tied head, GELU */
{
    make_gpt(form & 1, form & 2, form & 4, form & 8 ? GRA_GELU_TANH : GRA_GELU_ERF);
}

static void write_export(int end)
{
    char json[EXPORT_JSON];
    ck_assert_msg(export_gpt(t, w.from, &w.gpt, PATH, &format, 1, why) == 0, "%s", why);
    export_config(&w.gpt.config, end, json);
    write_json(json);
}

TESTS(exported_and_imported, 16)        /* _i: a form: biases, a tied head, GELU */
{
    static const int ids[CONTEXT] = { 3, 1, 4, 1, 5 };
    gra_real logits[CONTEXT * VOCAB];
    make_form(_i);
    if (_i == 0)                        /* a separate head that is equal by chance */
        memcpy(w.gpt.out_head.weight->data, w.gpt.tok_emb.weight->data, VOCAB * WIDTH * sizeof(gra_real));
    write_export(-1);
    gra_file *f = gra_file_open(PATH);                  /* as Hugging Face's GPT2LMHeadModel has it */
    const gra_file_tensor *qkv = gra_file_find(f, "transformer.h.1.attn.c_attn.weight");
    ck_assert(qkv && gra_same_shape(qkv->shape, GRA_SHAPE(WIDTH, 3 * WIDTH)));
    ck_assert(!gra_file_find(f, "lm_head.weight") == w.gpt.config.tied);
    ck_assert_int_eq(gra_file_count(f), 4 + 12 * LAYERS + !w.gpt.config.tied);
    ck_assert_str_eq(gra_file_meta(f, "format"), "pt");
    gra_file_close(f);

    imports(0);
    const gra_gpt_config *c = &g.config, *from = &w.gpt.config;
    ck_assert(c->vocab_size == VOCAB && c->context_length == CONTEXT && c->emb_dim == WIDTH &&
              c->n_heads == HEADS && c->n_layers == LAYERS && c->gelu == from->gelu &&
              c->tied == from->tied && c->bias && c->qkv_bias);
    for (int i = 0; i < gra_param_count(model); i++) {
        const gra_tensor *p = gra_param_at(model, i), *x = gra_param_find(w.from, p->name + strlen("gpt."));
        for (size_t k = 0; k < p->size; k++)
            ck_assert_msg(x ? memcmp(&x->data[k], &p->data[k], sizeof *p->data) == 0 : p->data[k] == 0,
                          "%s has another value", p->name);
    }
    gra_begin(t, GRA_EVAL, NULL);
    memcpy(logits, gra_gpt_forward(t, &w.gpt, ids, 1, CONTEXT)->data, sizeof logits);
    ck_assert_mem_eq(gra_gpt_forward(t, &g, ids, 1, CONTEXT)->data, logits, sizeof logits);
}

TEST(an_exported_config)                /* the only text that depends on the tokenizer */
{
    char json[EXPORT_JSON];
    make_form(4);
    export_config(&w.gpt.config, 50256, json);
    ck_assert(strstr(json, "\"eos_token_id\": 50256,\n") && strstr(json, "\"bos_token_id\": 50256,\n"));
    ck_assert(strstr(json, "\"tie_word_embeddings\": true,\n") && strstr(json, "\"n_inner\": null,\n"));
    export_config(&w.gpt.config, -1, json);
    ck_assert(strstr(json, "\"eos_token_id\": null,\n"));
}

/* ---- other files ---- */

/* The dtype of a tensor is changed to one that cannot be read. */
TESTS(a_tensor_that_cannot_be_read, FAMILIES)
{
    static unsigned char bytes[1 << 16];
    write_plain(_i, NULL);
    const size_t n = read_bytes(PATH, bytes, sizeof bytes);
    const char *name = families[_i].gpt2 ? "h.1.ln_2.bias\":{\"dtype\":\""
        : "trf_blocks.1.norm2.shift\":{\"dtype\":\"";
    size_t at = 0;
    while (at < n && memcmp(bytes + at, name, strlen(name)) != 0)
        at++;
    ck_assert_uint_lt(at, n);
    bytes[at + strlen(name)] = 'I';
    write_bytes(PATH, bytes, n);
    refused("got the dtype I");
    ck_assert(strstr(why, families[_i].gpt2 ? "h.1.ln_2.bias" : "trf_blocks.1.norm2.shift"));
}

static void write_three(gra_shape tokens, gra_shape positions, gra_shape qkv)
{
    gra_model *m = gra_model_open(t, NULL);
    gra_param(gra_root(m), "wte.weight", gra_init_zeros(), tokens);
    gra_param(gra_root(m), "wpe.weight", gra_init_zeros(), positions);
    gra_param(gra_root(m), "h.0.attn.c_attn.weight", gra_init_zeros(), qkv);
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    gra_model_close(m);
}

static void write_header(const char *json, off_t size)  /* its values are a hole in the file */
{
    FILE *f = fopen(PATH, "w");
    ck_assert_ptr_nonnull(f);
    char text[300];
    snprintf(text, sizeof text, "%s", json);
    quote(text);
    fprintf(f, "%c%c%c%c%c%c%c%c%s", (int)strlen(text) & 255, (int)strlen(text) >> 8, 0, 0, 0, 0, 0, 0, text);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_eq(truncate(PATH, 8 + (off_t)strlen(json) + size), 0);
}

TEST(shapes_of_no_gpt)
{
    write_three(GRA_SHAPE(2), GRA_SHAPE(2, 2), GRA_SHAPE(12));
    refused("tensor wte.weight: got the shape (2), expected a matrix with a row for each token");
    write_three(GRA_SHAPE(2, 2), GRA_SHAPE(2, 2, 1), GRA_SHAPE(12));
    refused("tensor wpe.weight: got the shape (2, 2, 1), expected a matrix with a row for each position");
    write_three(GRA_SHAPE(3, 2), GRA_SHAPE(2, 2), GRA_SHAPE(12));
    refused("it has no tensor ");
    write_three(GRA_SHAPE(3, 2), GRA_SHAPE(2, 3), GRA_SHAPE(2, 6));
    refused("tensor wpe.weight: got the shape (2, 3), expected (2, 2)");
    write_header("{'wpe.weight':{'dtype':'BOOL','shape':[0],'data_offsets':[0,0]},"
                 "'wte.weight':{'dtype':'BOOL','shape':[2,0],'data_offsets':[0,0]}}", 0);
    refused("tensor wte.weight: got the shape (2, 0), expected a matrix with a row for each token");
    write_header("{'wpe.weight':{'dtype':'BOOL','shape':[0],'data_offsets':[0,0]},"
                 "'wte.weight':{'dtype':'BOOL','shape':[1,536870912],'data_offsets':[0,536870912]}}",
                 536870912);
    refused(ADDRESSES_OF_32_BITS
            ? "tensor wte.weight has the shape (1, 536870912) of BOOL: so many values cannot be counted"
            : "tensor wte.weight: got the shape (1, 536870912), expected a matrix with a row for each token");
    unlink(PATH);
    refused("No such file");
}
