/* Layers and ops against PyTorch: outputs, every gradient, and what parameters begin with.
 *
 * A case builds y from a file's inputs and parameters, by a layer where there is one, else from ops.
 * Then y and the gradients of sum(dy y) must be those of the file, within the file's tolerances: the
 * double library computes the _f64 files, the float library the _f32 ones. */
#include "golden.h"
#include "../core/op.h"
#include "../examples/notebooks/lib/book.h"
#include "suites.h"

#include <dirent.h>
#include <stdlib.h>


#define FOLDER "tests/golden/torch"
#ifdef GRADUS_DOUBLE
#define SUFFIX "_f64.txt"
#else
#define SUFFIX "_f32.txt"
#endif

/* ---- what a case has at hand ---- */

static golden    *file;
static gra_tape  *t;
static gra_model *model;
static gra_rng    rng;
static gra_scope  root;

static struct {
    const char *name;                   /* in the file */
    gra_tensor *tensor;
} made[GOLDEN_MAX];                     /* the tensors whose gradients the file knows */
static int count;

static void remember(const char *name, gra_tensor *x)
{
    ck_assert_int_lt(count, GOLDEN_MAX);
    made[count].name = name;
    made[count++].tensor = x;
}

static real *as_real(const golden_tensor *x)
{
    real *values = gra_alloc(t, (x->size + 1) * sizeof(real));
    for (size_t i = 0; i < x->size; i++)
        values[i] = (real)x->values[i];
    return values;
}

static gra_tensor *input(const char *name)
{
    const golden_tensor *x = golden_get(file, "input", name);
    gra_tensor *y = gra_input(t, as_real(x), x->shape);
    remember(name, y);
    return y;
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

/* Sets a layer's parameter p to what the file calls `name`. */
static void set(gra_tensor *p, const char *name)
{
    const golden_tensor *x = golden_get(file, "param", name);
    ck_assert_msg(p && gra_same_shape(p->shape, x->shape),
                  "%s: the layer's %s is %s, the file's %s", file->path, name,
                  p ? GRA_SHAPE_OF(p) : "missing", GRA_SHAPE_OF(x));
    for (size_t i = 0; i < p->size; i++)
        p->data[i] = (real)x->values[i];
    remember(name, p);
}

static gra_tensor *param(const char *name)
{
    const golden_tensor *x = golden_get(file, "param", name);
    gra_tensor *p = gra_param(root, name, gra_init_zeros(), x->shape);
    set(p, name);
    return p;
}

static int number(const char *key) { return golden_number(file, key); }

/* A Linear of the file: its bias may be NULL. */
static gra_tensor *linear(gra_tensor *x, const char *weight, const char *bias)
{
    gra_tensor *w = param(weight);
    return gra_linear(t, x, w, bias ? param(bias) : NULL);
}

static gra_tensor *head_scale(gra_tensor *scores, int head_dim)
{
    return gra_scale(t, scores, 1 / sqrt((double)head_dim));
}

/* ---- the cases: each returns y ---- */

static gra_tensor *linear_layer(void)
{
    const golden_tensor *w = golden_get(file, "param", "lin.weight");
    struct gra_linear l;
    gra_linear_init(&l, root, w->shape.dim[1], w->shape.dim[0], true);
    set(l.weight, "lin.weight");
    set(l.bias, "lin.bias");
    return gra_linear_forward(t, &l, input("x"));
}

static gra_tensor *embedding_layer(void)
{
    const golden_tensor *table = golden_get(file, "param", "table"), *idx = golden_get(file, "input", "idx");
    struct gra_embedding l;
    gra_embedding_init(&l, root, table->shape.dim[0], table->shape.dim[1]);
    set(l.weight, "table");
    return gra_embedding_forward(t, &l, indices("idx"), idx->shape);
}

static gra_tensor *layer_norm_layer(void)
{
    struct gra_layer_norm l;
    gra_layer_norm_init(&l, root, golden_get(file, "param", "gamma")->shape.dim[0]);
    set(l.weight, "gamma");
    set(l.bias, "beta");
    return gra_layer_norm_forward(t, &l, input("x"));
}

static gra_tensor *gelu_erf(void)  { return gra_gelu(t, input("x")); }
static gra_tensor *gelu_tanh(void) { return gra_gelu_tanh(t, input("x")); }
static gra_tensor *softmax(void)   { return gra_softmax(t, input("x"), -1); }

static gra_tensor *absolute(void)   { return gra_abs(t, input("input")); }
static gra_tensor *clamp(void)      { return gra_clamp(t, input("x"), -1, 1); }
static gra_tensor *add_scalar(void) { return gra_add_scalar(t, input("x"), 1.5); }
static gra_tensor *min_dim(void)    { return gra_min_dim(t, input("x"), 1, false); }
static gra_tensor *var(void)        { return gra_var(t, input("x"), 1); }
static gra_tensor *var_dim(void)    { return gra_var_dim(t, input("x"), 1, 0, true); }

static gra_tensor *where(void)
{
    gra_tensor *x = input("x"), *w = input("w");
    return gra_where(t, gra_gt(t, x, w), x, w);
}

static gra_tensor *stack(void)
{
    gra_tensor *a = input("a"), *b = input("b");
    return gra_stack(t, 3, (gra_tensor *[]){ a, b, a }, 1);
}

static gra_tensor *binary_cross_entropy(void)
{
    gra_tensor *p = input("input");
    return gra_binary_cross_entropy(t, p, input("target"));
}

static gra_tensor *binary_cross_entropy_with_logits(void)
{
    gra_tensor *x = input("input");
    return gra_binary_cross_entropy_with_logits(t, x, input("target"));
}

static gra_tensor *grouped_query_attention(void)
{
    gra_tensor *q = input("q"), *k = input("k"), *v = input("v");
    return gra_attention(t, q, k, v, &(gra_attention_options){ .heads = 4, .causal = true });
}

static gra_tensor *attention_mask(void)
{
    gra_tensor *q = input("q"), *k = input("k"), *v = input("v");
    return gra_attention(t, q, k, v, &(gra_attention_options){ .heads = 2, .mask = input("mask") });
}

static gra_tensor *cross_entropy(void)
{
    return gra_cross_entropy(t, input("logits"), indices("target"));
}

static gra_attention_config sizes(void)
{
    return (gra_attention_config){ .d_in = number("d_in"), .d_out = number("d_out"), .context_length = number("tokens") };
}

static gra_tensor *causal_attention(void)
{
    struct gra_causal_attention a;
    bool bias = golden_find(file, "param", "w_query.bias") != NULL;
    gra_attention_config c = sizes();
    c.dropout = 0.5;
    c.qkv_bias = bias;
    gra_causal_attention_init(&a, root, &c);
    set(a.query.weight, "w_query.weight");
    set(a.key.weight,   "w_key.weight");
    set(a.value.weight, "w_value.weight");
    if (bias) {
        set(a.query.bias, "w_query.bias");
        set(a.key.bias,   "w_key.bias");
        set(a.value.bias, "w_value.bias");
    }
    return gra_causal_attention_forward(t, &a, input("x"));
}

/* The mask is given, so dropout is written out: softmax(...) mask / (1 - 0.5). */
static gra_tensor *causal_attention_dropout(void)
{
    gra_tensor *x = input("x"), *mask = constant("drop_mask");
    gra_tensor *q = linear(x, "w_query.weight", NULL);
    gra_tensor *k = linear(x, "w_key.weight", NULL);
    gra_tensor *v = linear(x, "w_value.weight", NULL);
    gra_tensor *p = head_scale(gra_matmul_nt(t, q, k), number("d_out"));
    p = gra_softmax(t, gra_causal_mask(t, p), -1);
    return gra_matmul(t, gra_scale(t, gra_mul(t, p, mask), 1 / (1 - 0.5)), v);
}

static gra_tensor *mha_splits(void)
{
    struct gra_multi_head_attention a;
    gra_attention_config c = sizes();
    c.num_heads = number("num_heads");
    c.bias = true;
    gra_multi_head_attention_init(&a, root, &c);
    set(a.query.weight,    "w_query.weight");
    set(a.key.weight,      "w_key.weight");
    set(a.value.weight,    "w_value.weight");
    set(a.out_proj.weight, "out_proj.weight");
    set(a.out_proj.bias,   "out_proj.bias");
    return gra_multi_head_attention_forward(t, &a, input("x"));
}

static gra_tensor *mha_wrapper(void)
{
    static const char *const name[2][3] = {
        { "heads.0.w_query.weight", "heads.0.w_key.weight", "heads.0.w_value.weight" },
        { "heads.1.w_query.weight", "heads.1.w_key.weight", "heads.1.w_value.weight" },
    };
    struct wrapper a;
    const gra_attention_config c = sizes();
    ck_assert_int_eq(number("num_heads"), 2);
    wrapper_init(&a, root, 2, &c);
    for (int h = 0; h < 2; h++) {
        set(a.heads[h].query.weight, name[h][0]);
        set(a.heads[h].key.weight,   name[h][1]);
        set(a.heads[h].value.weight, name[h][2]);
    }
    return wrapper_forward(t, &a, input("x"));
}

static gra_tensor *mha_optimized(void)                  /* values = x */
{
    struct lean_attention a;
    optimized_attention_init(&a, root, number("d_out"), number("num_heads"));
    set(a.query.weight, "w_query.weight");
    set(a.key.weight,      "w_key.weight");
    set(a.out_proj.weight, "out_proj.weight");
    set(a.out_proj.bias,   "out_proj.bias");
    return lean_attention_forward(t, &a, input("x"));
}

static gra_tensor *mha_efficient(void)                  /* keys = values = x */
{
    struct lean_attention a;
    efficient_attention_init(&a, root, number("d_out"), number("num_heads"));
    set(a.query.weight, "w_query.weight");
    set(a.out_proj.weight, "out_proj.weight");
    set(a.out_proj.bias,   "out_proj.bias");
    return lean_attention_forward(t, &a, input("x"));
}

static int positions(void) { return golden_get(file, "param", "positional_encoding")->shape.dim[0]; }

static gra_tensor *pos_self_attention(void)
{
    struct positional_self_attention a;
    positional_self_attention_init(&a, root, number("d_in"), number("d_out"), positions());
    set(a.att.query.weight, "W_q.weight");
    set(a.att.key.weight,   "W_k.weight");
    set(a.att.value.weight, "W_v.weight");
    set(a.pos.weight,       "positional_encoding");
    return positional_self_attention_forward(t, &a, input("x"));
}

static gra_tensor *pos_causal_attention(void)
{
    struct positional_causal_attention a;
    gra_attention_config c = sizes();
    c.context_length = positions();
    positional_causal_attention_init(&a, root, &c);
    set(a.att.query.weight, "W_q.weight");
    set(a.att.key.weight,   "W_k.weight");
    set(a.att.value.weight, "W_v.weight");
    set(a.pos.weight,       "positional_encoding");
    return positional_causal_attention_forward(t, &a, input("x"));
}

/* The notebook merges its heads by (heads, time, d) -> (heads, d, time), read on as (time, d_out). */
static gra_tensor *mha_004_layout(void)
{
    static const char *const name[3] = { "W_q.weight", "W_k.weight", "W_v.weight" };
    const int time = number("tokens"), heads = number("num_heads"), d = number("d_out") / heads;
    gra_tensor *x = input("x"), *qkv[3];
    for (int i = 0; i < 3; i++) {
        gra_tensor *y = gra_reshape(t, linear(x, name[i], NULL), GRA_SHAPE(time, heads, d));
        qkv[i] = gra_transpose(t, y, 0, 1);             /* (heads, time, d) */
    }
    gra_tensor *p = head_scale(gra_matmul_nt(t, qkv[0], qkv[1]), d);
    p = gra_softmax(t, gra_causal_mask(t, p), -1);
    gra_tensor *y = gra_transpose(t, gra_matmul(t, p, qkv[2]), 1, 2);
    return linear(gra_reshape(t, y, GRA_SHAPE(time, heads * d)), "W_o.weight", "W_o.bias");
}

/* Columns are tokens (Prince, Understanding Deep Learning, 12.2): v softmax(k^T q / sqrt(d)), over rows. */
static gra_tensor *udl_multihead(void)
{
    static const char *const name[2][3][2] = {
        { { "omega_q1", "beta_q1" }, { "omega_k1", "beta_k1" }, { "omega_v1", "beta_v1" } },
        { { "omega_q2", "beta_q2" }, { "omega_k2", "beta_k2" }, { "omega_v2", "beta_v2" } },
    };
    ck_assert_int_eq(number("num_heads"), 2);
    gra_tensor *x = input("X"), *y[2];
    for (int h = 0; h < 2; h++) {
        gra_tensor *qkv[3];
        for (int i = 0; i < 3; i++)
            qkv[i] = gra_add(t, gra_matmul(t, param(name[h][i][0]), x), param(name[h][i][1]));
        gra_tensor *scores = head_scale(gra_matmul_tn(t, qkv[1], qkv[0]), number("d_out") / 2);
        y[h] = gra_matmul(t, qkv[2], gra_softmax(t, scores, 0));
    }
    return gra_matmul(t, param("omega_c"), gra_concat(t, 2, y, 0));
}

static const struct {
    const char *file;
    gra_tensor *(*y)(void);
} cases[] = {
    { "linear", linear_layer },
    { "embedding", embedding_layer },
    { "layernorm", layer_norm_layer },
    { "gelu_erf", gelu_erf },
    { "gelu_tanh", gelu_tanh },
    { "softmax", softmax },
    { "cross_entropy", cross_entropy },
    { "abs", absolute },
    { "clamp", clamp },
    { "add_scalar", add_scalar },
    { "where", where },
    { "min_dim", min_dim },
    { "var", var },
    { "var_dim", var_dim },
    { "stack", stack },
    { "grouped_query_attention", grouped_query_attention },
    { "attention_mask", attention_mask },
    { "binary_cross_entropy", binary_cross_entropy },
    { "binary_cross_entropy_with_logits", binary_cross_entropy_with_logits },
    { "causal_attention", causal_attention },
    { "causal_attention_bias", causal_attention },
    { "causal_attention_dropout", causal_attention_dropout },
    { "mha_splits", mha_splits },
    { "mha_wrapper", mha_wrapper },
    { "mha_optimized", mha_optimized },
    { "mha_efficient", mha_efficient },
    { "pos_self_attention", pos_self_attention },
    { "pos_causal_attention", pos_causal_attention },
    { "mha_004_layout", mha_004_layout },
    { "udl_multihead", udl_multihead },
};
enum { CASES = sizeof cases / sizeof *cases };

/* ---- running a case ---- */

static void open_all(void)
{
    gra_manual_seed(&rng, 1);
    t = gra_open(1);
    model = gra_model_open(t, &rng);
    root = gra_root(model);
    file = NULL;
    count = 0;
}

static void close_all(void)
{
    golden_close(file);
    gra_model_close(model);
    gra_close(t);
}

/* Every gradient that the file has must be of a tensor that the case made, and equal. */
static void compare_gradients(void)
{
    int compared = 0;
    for (int i = 0; i < file->tensors; i++) {
        const golden_tensor *want = &file->tensor[i];
        if (strcmp(want->role, "expect") != 0 || strncmp(want->name, "d_", 2) != 0)
            continue;
        gra_tensor *x = NULL;
        for (int j = 0; j < count; j++)
            if (strcmp(made[j].name, want->name + 2) == 0)
                x = made[j].tensor;
        ck_assert_msg(x != NULL, "%s: the case does not use %s", file->path, want->name + 2);
        golden_compare(file, want, gra_grad(x), x->shape);
        compared++;
    }
    ck_assert_int_ge(compared, 1);
    ck_assert_int_eq(compared, count);
}

START_TEST(outputs_and_gradients)
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
END_TEST

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

START_TEST(every_file_has_a_case)
{
    int files = 0;
    DIR *d = opendir(FOLDER);
    ck_assert_msg(d != NULL, "there is no folder " FOLDER);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (!ends_with(e->d_name, SUFFIX))
            continue;
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)(strlen(e->d_name) - strlen(SUFFIX)), e->d_name);
        int found = 0;
        for (int i = 0; i < CASES; i++)
            found += strcmp(cases[i].file, name) == 0;
        ck_assert_msg(found == 1, FOLDER "/%s has %d cases in test_golden.c, wanted one", e->d_name, found);
        files++;
    }
    closedir(d);
    ck_assert_int_eq(files, CASES);
}
END_TEST

/* ---- what parameters begin with ----
 * (Whole attention layers made from a seed: the notebooks, whose numbers tests/notebooks.sh compares.) */

static void equal(const gra_tensor *p, const double *want, size_t n, double tolerance)
{
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(fabs((double)p->data[i] - (double)(float)want[i]) <= tolerance,
                      "%s[%zu] is %.9g, wanted %.9g", p->name, i, (double)p->data[i], want[i]);
}

START_TEST(seeded_linear)               /* torch.manual_seed(123); nn.Linear(3, 2) */
{
    static const double weight[] = { -0.235429645, 0.0191244762, -0.286745936, 0.217726618, -0.49193421,
                                     0.423223078 };
    static const double bias[] = { -0.419641405, -0.459017664 };
    struct gra_linear l;
    gra_manual_seed(&rng, 123);
    gra_linear_init(&l, root, 3, 2, true);
    equal(l.weight, weight, 6, 0);      /* to the last bit */
    equal(l.bias, bias, 2, 0);
}
END_TEST

/* torch.manual_seed(239); two nn.Embedding(5, 3): 15 values each, drawn in pairs. */
START_TEST(seeded_small_embeddings)
{
    static const double first[] = { -1.86540997, -0.409371316, -1.40789461, -0.0687806979, 0.609477222,
                                    -1.14201832 };
    static const double second[] = { -0.896080852, 2.07335305, -0.713075459, -0.408019781, 0.589904904,
                                     0.108669057 };
    struct gra_embedding a, b;
    gra_manual_seed(&rng, 239);
    gra_embedding_init(&a, gra_enter(root, "a"), 5, 3);
    gra_embedding_init(&b, gra_enter(root, "b"), 5, 3);
    equal(a.weight, first, 6, 0);
    equal(b.weight, second, 6, 0);
}
END_TEST

/* torch.manual_seed(123); nn.Embedding(4, 5): 20 values, drawn in blocks of 16, where PyTorch's
 * logarithm is not libm's: 2e-6 apart at most. */
START_TEST(seeded_large_embeddings)
{
    static const double want[] = {
        0.337370187, -0.177777216, -0.303527594, -0.588011861, 1.58096957, 1.30103993, 1.27530122,
        -0.200953096, -0.160563782, -0.401488006, 0.69572413, -1.80605268, -1.15886784, 0.325471014,
        -0.63150537, -2.83999395, -0.784853339, -1.40957248, -0.407626867, 0.795326114,
    };
    struct gra_embedding l;
    struct gra_positional_embedding pos;
    gra_manual_seed(&rng, 123);
    gra_embedding_init(&l, gra_enter(root, "tok"), 4, 5);
    equal(l.weight, want, 20, 2e-6);
    gra_manual_seed(&rng, 123);
    gra_positional_embedding_init(&pos, gra_enter(root, "pos"), 4, 5);
    equal(pos.weight, want, 20, 2e-6);
}
END_TEST

Suite *golden_suite(void)
{
    Suite *s = suite_create("golden");
    TCase *c = tcase_create("torch");
    tcase_add_checked_fixture(c, open_all, close_all);
    tcase_add_loop_test(c, outputs_and_gradients, 0, CASES);
    tcase_add_test(c, every_file_has_a_case);
    suite_add_tcase(s, c);

    c = tcase_create("seeds");
    tcase_add_checked_fixture(c, open_all, close_all);
    tcase_add_test(c, seeded_linear);
    tcase_add_test(c, seeded_small_embeddings);
    tcase_add_test(c, seeded_large_embeddings);
    suite_add_tcase(s, c);
    return s;
}
