/* Layers and ops against PyTorch: outputs and every gradient.
 *
 * A case computes y from a file's inputs and parameters, with an op or a layer. Then y and the gradients of
 * sum(dy y) must be those in the file, within its tolerances: the double library uses the _f64 files, the
 * float library the _f32 files. */
#include "lib/golden.h"
#include "examples/notebooks/lib/book.h"
#include "lib/fixture.h"
#include "lib/folder.h"
#include "lib/suites.h"

#include <stdarg.h>

#define FOLDER "tests/golden/torch"
#ifdef GRADUS_DOUBLE
#define SUFFIX "_f64.txt"
#else
#define SUFFIX "_f32.txt"
#endif

/* ---- tools for the cases ---- */

static golden *file;

static struct {
    const char *name;                   /* in the file */
    gra_tensor *tensor;
} made[GOLDEN_MAX];                     /* the tensors whose gradients the file has */
static int count;

static gra_tensor *remember(const char *name, gra_tensor *x)
{
    ck_assert_int_lt(count, GOLDEN_MAX);
    made[count].name = name;
    return made[count++].tensor = x;
}

static gra_tensor *recall(const char *name)             /* or NULL */
{
    for (int i = 0; i < count; i++)
        if (strcmp(made[i].name, name) == 0)
            return made[i].tensor;
    return NULL;
}

static real *as_real(const golden_tensor *x)
{
    real *values = gra_alloc(t, (x->size + 1) * sizeof(real));
    for (size_t i = 0; i < x->size; i++)
        values[i] = (real)x->values[i];
    return values;
}

static gra_tensor *input(const char *name)              /* every call with a name returns the same tensor */
{
    const golden_tensor *x = golden_get(file, "input", name);
    gra_tensor *known = recall(name);
    return known ? known : remember(name, gra_input(t, as_real(x), x->shape));
}

static gra_tensor *constant(const char *name)
{
    const golden_tensor *x = golden_get(file, "input", name);
    return gra_constant(t, as_real(x), x->shape);
}

static int *indices(const char *name)
{
    const golden_tensor *x = golden_get(file, "input", name);
    int *ids = gra_alloc(t, (x->size + 1) * sizeof *ids);
    for (size_t i = 0; i < x->size; i++)
        ids[i] = (int)x->values[i];
    return ids;
}

/* Sets a layer's parameter p to the values that the file calls `name`. */
static void set(gra_tensor *p, const char *name)
{
    const golden_tensor *x = golden_get(file, "param", name);
    ck_assert_msg(p && gra_same_shape(p->shape, x->shape),
                  "%s: the layer's %s is %s, the file's %s", file->path, name,
                  p ? GRA_SHAPE_STRING(p->shape) : "missing", GRA_SHAPE_STRING(x->shape));
    for (size_t i = 0; i < p->size; i++)
        p->data[i] = (real)x->values[i];
    remember(x->name, p);
}

static void set_linear(struct gra_linear *l, const char *format, ...) GRA_PRINTF(2, 3);
static void set_linear(struct gra_linear *l, const char *format, ...)
{
    char name[GOLDEN_WORD];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(name, sizeof name - 10, format, args);
    va_end(args);
    strcpy(name + n, ".weight");
    set(l->weight, name);
    strcpy(name + n, ".bias");
    if (l->bias)
        set(l->bias, name);
}

/* The file names them w_query ..., or W_q ... */
#define SET_WORDS(a)   set_linear(&(a).query, "w_query"), set_linear(&(a).key, "w_key"), \
                       set_linear(&(a).value, "w_value")
#define SET_LETTERS(a) set_linear(&(a).query, "W_q"), set_linear(&(a).key, "W_k"), \
                       set_linear(&(a).value, "W_v")

static int number(const char *key) { return golden_number(file, key); }

/* ---- ops: y of each ---- */

#define ATTENTION(...)                                                                                   \
    gra_attention(t, input("q"), input("k"), input("v"), &(gra_attention_options){ __VA_ARGS__ })

#define OPS(OP)                                                                                          \
    OP(gelu_erf,                gra_gelu(t, input("x")))                                                 \
    OP(gelu_tanh,               gra_gelu_tanh(t, input("x")))                                            \
    OP(softmax,                 gra_softmax(t, input("x"), -1))                                          \
    OP(cross_entropy,           gra_cross_entropy(t, input("logits"), indices("target")))                \
    OP(cross_entropy_unreduced, gra_cross_entropy_unreduced(t, input("input"), indices("target")))       \
    OP(abs,                     gra_abs(t, input("input")))                                              \
    OP(sin,                     gra_sin(t, input("input")))                                              \
    OP(cos,                     gra_cos(t, input("input")))                                              \
    OP(clamp,                   gra_clamp(t, input("x"), -1, 1))                                         \
    OP(add_scalar,              gra_add_scalar(t, input("x"), 1.5))                                      \
    OP(where,                   gra_where(t, gra_gt(t, input("x"), input("w")), input("x"), input("w"))) \
    OP(squeeze,                 gra_squeeze(t, input("x"), -2))                                          \
    OP(squeeze_other,           gra_squeeze(t, input("x"), 0))                                           \
    OP(unsqueeze,               gra_unsqueeze(t, input("x"), -2))                                        \
    OP(expand,                  gra_expand(t, input("x"), GRA_SHAPE(2, -1, 4, 3)))                       \
    OP(min_dim,                 gra_min_dim(t, input("x"), 1, false))                                    \
    OP(var,                     gra_var(t, input("x"), 1))                                               \
    OP(var_dim,                 gra_var_dim(t, input("x"), 1, 0, true))                                  \
    OP(stack,                   gra_stack(t, 3, (gra_tensor *[]){ input("a"), input("b"), input("a") }, 1)) \
    OP(grouped_query_attention, ATTENTION(.heads = 4, .causal = true))                                   \
    OP(attention_mask,          ATTENTION(.heads = 2, .mask = input("mask")))                            \
    OP(binary_cross_entropy,    gra_binary_cross_entropy(t, input("input"), input("target")))            \
    OP(binary_cross_entropy_with_logits,                                                                 \
       gra_binary_cross_entropy_with_logits(t, input("input"), input("target")))
#define COMPUTE(name, result) static gra_tensor *op_##name(void) { return result; }
OPS(COMPUTE)

/* ---- layers: each returns y ---- */

static gra_tensor *linear_layer(void)
{
    const golden_tensor *w = golden_get(file, "param", "lin.weight");
    struct gra_linear l;
    gra_linear_init(&l, gra_root(model), w->shape.dim[1], w->shape.dim[0], true);
    set_linear(&l, "lin");
    return gra_linear_forward(t, &l, input("x"));
}

static gra_tensor *embedding_layer(void)
{
    const golden_tensor *table = golden_get(file, "param", "table"), *idx = golden_get(file, "input", "idx");
    struct gra_embedding l;
    gra_embedding_init(&l, gra_root(model), table->shape.dim[0], table->shape.dim[1]);
    set(l.weight, "table");
    return gra_embedding_forward(t, &l, indices("idx"), idx->shape);
}

static gra_tensor *layer_norm_layer(void)
{
    struct gra_layer_norm l;
    gra_layer_norm_init(&l, gra_root(model), golden_get(file, "param", "gamma")->shape.dim[0]);
    set(l.weight, "gamma");
    set(l.bias, "beta");
    return gra_layer_norm_forward(t, &l, input("x"));
}

static gra_attention_config sizes(void)
{
    return (gra_attention_config){ .d_in = number("d_in"), .d_out = number("d_out"),
                                   .context_length = number("tokens") };
}

static gra_tensor *causal_attention(void)
{
    struct gra_causal_attention a;
    gra_attention_config c = sizes();
    c.dropout = 0.5;
    c.qkv_bias = golden_find(file, "param", "w_query.bias") != NULL;
    gra_causal_attention_init(&a, gra_root(model), &c);
    SET_WORDS(a);
    return gra_causal_attention_forward(t, &a, input("x"));
}

static gra_tensor *mha_splits(void)
{
    struct gra_multi_head_attention a;
    gra_attention_config c = sizes();
    c.num_heads = number("num_heads");
    c.bias = true;
    gra_multi_head_attention_init(&a, gra_root(model), &c);
    SET_WORDS(a);
    set_linear(&a.out_proj, "out_proj");
    return gra_multi_head_attention_forward(t, &a, input("x"));
}

static gra_tensor *mha_wrapper(void)
{
    struct wrapper a;
    const gra_attention_config c = sizes();
    ck_assert_int_eq(number("num_heads"), 2);
    wrapper_init(&a, gra_root(model), 2, &c);
    for (int h = 0; h < 2; h++) {
        set_linear(&a.heads[h].query, "heads.%d.w_query", h);
        set_linear(&a.heads[h].key, "heads.%d.w_key", h);
        set_linear(&a.heads[h].value, "heads.%d.w_value", h);
    }
    return wrapper_forward(t, &a, input("x"));
}

static gra_tensor *mha_lean(bool keys)
{
    struct lean_attention a;
    (keys ? optimized_attention_init : efficient_attention_init)(&a, gra_root(model), number("d_out"),
                                                                 number("num_heads"));
    set_linear(&a.query, "w_query");
    if (keys)
        set_linear(&a.key, "w_key");
    set_linear(&a.out_proj, "out_proj");
    return lean_attention_forward(t, &a, input("x"));
}
static gra_tensor *mha_optimized(void) { return mha_lean(true); }       /* values = x */
static gra_tensor *mha_efficient(void) { return mha_lean(false); }      /* keys = values = x */

static int positions(void) { return golden_get(file, "param", "positional_encoding")->shape.dim[0]; }

static gra_tensor *pos_self_attention(void)
{
    struct positional_self_attention a;
    positional_self_attention_init(&a, gra_root(model), number("d_in"), number("d_out"), positions());
    SET_LETTERS(a.att);
    set(a.pos.weight, "positional_encoding");
    return positional_self_attention_forward(t, &a, input("x"));
}

static gra_tensor *pos_causal_attention(void)
{
    struct positional_causal_attention a;
    gra_attention_config c = sizes();
    c.context_length = positions();
    positional_causal_attention_init(&a, gra_root(model), &c);
    SET_LETTERS(a.att);
    set(a.pos.weight, "positional_encoding");
    return positional_causal_attention_forward(t, &a, input("x"));
}

#define NAMED(name, result) { #name, op_##name },
static const struct {
    const char *file;
    gra_tensor *(*y)(void);
} cases[] = {
    OPS(NAMED)
    { "linear", linear_layer },                     { "embedding", embedding_layer },
    { "layernorm", layer_norm_layer },              { "causal_attention", causal_attention },
    { "causal_attention_bias", causal_attention },  { "mha_splits", mha_splits },
    { "mha_wrapper", mha_wrapper },                 { "mha_optimized", mha_optimized },
    { "mha_efficient", mha_efficient },             { "pos_self_attention", pos_self_attention },
    { "pos_causal_attention", pos_causal_attention },
};

/* ---- running a case ---- */

static void open_case(void)
{
    open_all();
    file = NULL;
    count = 0;
}

static void close_case(void)
{
    golden_close(file);
    close_all();
}

/* Every gradient in the file must belong to a tensor of the case, and equal its gradient. */
static void compare_gradients(void)
{
    int compared = 0;
    for (int i = 0; i < file->tensors; i++) {
        const golden_tensor *want = &file->tensor[i];
        if (strcmp(want->role, "expect") != 0 || strncmp(want->name, "d_", 2) != 0)
            continue;
        gra_tensor *x = recall(want->name + 2);
        ck_assert_msg(x != NULL, "%s: the case does not use %s", file->path, want->name + 2);
        golden_compare(file, want, gra_grad(x), x->shape);
        compared++;
    }
    ck_assert_int_ge(compared, 1);
    ck_assert_int_eq(compared, count);
}

CASE(golden, open_case, close_case, "")

TESTS(outputs_and_gradients, LENGTH(cases))
{
    char path[256];
    snprintf(path, sizeof path, FOLDER "/%s" SUFFIX, cases[_i].file);
    file = golden_open(path);
    ck_assert_str_eq(file->system, cases[_i].file);

    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *y = cases[_i].y();
    golden_compare(file, golden_get(file, "expect", "y"), y->data, y->shape);
    gra_tensor *loss = gra_sum(t, gra_mul(t, constant("dy"), y));
    ck_assert_int_eq(gra_backward(t, loss), 0);
    compare_gradients();
}

TEST(every_file_has_a_case)
{
    int files = 0;
    for (listed_file l = { 0 }; next_file(&l, FOLDER, SUFFIX); files++) {
        int found = 0;
        for (int i = 0; i < LENGTH(cases); i++)
            found += strcmp(cases[i].file, l.name) == 0;
        ck_assert_msg(found == 1, "%s: got %d cases in test_golden.c, expected 1", l.path, found);
    }
    ck_assert_int_eq(files, LENGTH(cases));
}
