/* attention_variants: from dot products to multi-head attention (the notebook of Raschka, Build a Large
 * Language Model, chapter 3, and two variants with fewer parameters). Attention is first without parameters,
 * then with trainable projections, a causal mask, dropout, a batch, and several heads. The results are
 * compared with what the notebook printed, examples/notebooks/golden/002_*.txt. Cells without a seed start
 * here from the queries, keys, values and scores that the notebook prints.
 *
 *     make notebooks; build/notebooks/attention_variants */
#include "lib/book.h"
#include "lib/notebook.h"

#include <math.h>

enum { TOKENS = 6, D_IN = 3, D_OUT = 2 };

static gra_tape   *t;
static gra_rng    *rng;
static gra_tensor *inputs;              /* (6, 3): six words, three numbers each */
static gra_tensor *batch;               /* (2, 6, 3): the same six twice */

static gra_tensor *row(gra_tensor *x, int i)   { return gra_slice(t, x, 0, i, i + 1); }        /* (1, n) */
static gra_tensor *flat(gra_tensor *x)         { return gra_reshape(t, x, GRA_SHAPE(-1)); }
static gra_tensor *matrix(gra_tensor *x)       { return gra_reshape(t, x, GRA_SHAPE(TOKENS, TOKENS)); }

/* softmax(scores / sqrt(d)) over the last dimension */
static gra_tensor *scaled_softmax(gra_tensor *scores, int d)
{
    return gra_softmax(t, gra_scale(t, scores, 1 / sqrt((double)d)), -1);
}

/* ---- cells 2 to 11: attention without parameters ---- */

static void dot_attention(void)
{
    notebook_file("002_dot_attention");
    agrees("inputs", inputs);

    /* cell 3: how similar is each word to the second, the query? */
    gra_tensor *query = row(inputs, 1);                                         /* (1, 3) */
    gra_tensor *scores = gra_matmul_nt(t, query, inputs);                       /* (1, 6) */
    show("cell 3", "attn_scores2", flat(scores));

    /* cell 4: weights, the simple way */
    gra_tensor *simple = gra_div(t, scores, gra_sum(t, scores));
    show("cell 4", "attn_weights_2_simple", flat(simple));
    show("cell 4", "attn_weights_2_simple_sum", gra_sum(t, simple));

    /* cell 5: weights by the softmax, which are positive for any scores */
    gra_tensor *weights = gra_softmax(t, scores, -1);
    show("cell 5", "attn_weights_2", flat(weights));

    /* cells 6 and 7: the second word's context: the weighted sum of all words, in both forms */
    gra_tensor *context = gra_full(t, 0, GRA_SHAPE(1, D_IN));
    for (int i = 0; i < TOKENS; i++)
        context = gra_add(t, context, gra_mul(t, gra_slice(t, weights, 1, i, i + 1), row(inputs, i)));
    show("cell 6", "context_vec2", flat(context));
    show("cell 7", "context_vec2_matmul", flat(gra_matmul(t, weights, inputs)));

    /* cells 8 and 9: every word as the query, in loops and as a product */
    gra_real loop[TOKENS][TOKENS];
    const gra_real *word = inputs->data;
    for (int i = 0; i < TOKENS; i++)
        for (int j = 0; j < TOKENS; j++) {
            loop[i][j] = 0;
            for (int k = 0; k < D_IN; k++)
                loop[i][j] += word[i * D_IN + k] * word[j * D_IN + k];
        }
    show("cell 8", "attn_scores_loop", gra_constant(t, &loop[0][0], GRA_SHAPE(TOKENS, TOKENS)));
    scores = gra_matmul_nt(t, inputs, inputs);                                  /* (6, 6) */
    show("cell 9", "attn_scores", scores);

    /* cells 10 and 11: all weights, all contexts */
    weights = gra_softmax(t, scores, -1);
    show("cell 10", "attn_weights", weights);
    show("cell 11", "context_vec", gra_matmul(t, weights, inputs));
}

/* ---- cells 12 to 21: trainable, with bare matrices ---- */

static void self_attention_v1(void)
{
    notebook_file("002_self_attention_v1");
    agrees("inputs", inputs);

    /* cells 13 and 14 */
    gra_manual_seed(rng, 123);
    gra_tensor *W_query = torch_rand(GRA_SHAPE(D_IN, D_OUT));
    gra_tensor *W_key   = torch_rand(GRA_SHAPE(D_IN, D_OUT));
    gra_tensor *W_value = torch_rand(GRA_SHAPE(D_IN, D_OUT));
    agrees("W_query W_key W_value", W_query, W_key, W_value);

    /* cells 15 to 19: the second word's query, all words' keys and values */
    gra_tensor *query = gra_matmul(t, row(inputs, 1), W_query);                 /* (1, 2) */
    gra_tensor *keys   = gra_matmul(t, inputs, W_key);                          /* (6, 2) */
    gra_tensor *values = gra_matmul(t, inputs, W_value);
    show("cell 15", "query_2", flat(query));
    gra_tensor *scores = gra_matmul_nt(t, query, keys);                         /* (1, 6) */
    show("cell 17", "attn_score2", flat(scores));
    gra_tensor *weights = scaled_softmax(scores, D_OUT);
    show("cell 18", "attn_weights2", flat(weights));
    show("cell 19", "context_vec2", flat(gra_matmul(t, weights, values)));

    /* cells 20 and 21: the same as a layer, from the same seed */
    struct self_attention_v1 sa;
    gra_manual_seed(rng, 123);
    self_attention_v1_init(&sa, notebook_scope("v1"), D_IN, D_OUT);
    agrees("W_query W_key W_value", sa.query, sa.key, sa.value);
    show("cell 21", "context", self_attention_v1_forward(t, &sa, inputs));
}

/* ---- cells 22 to 27: Linears, the causal mask in two ways, dropout on the weights ---- */

static void expect_projections(const struct self_attention *sa)
{
    agrees("inputs W_query.weight W_key.weight W_value.weight", inputs, sa->query.weight, sa->key.weight,
           sa->value.weight);
}

static void self_attention_v2_masked(void)
{
    struct self_attention sa;

    /* cells 22 and 23 */
    notebook_file("002_self_attention_v2");
    gra_manual_seed(rng, 789);
    self_attention_init(&sa, notebook_scope("v2"), D_IN, D_OUT);
    expect_projections(&sa);
    gra_keep_attention(t, true);                        /* keep the layer's attention weights */
    gra_tensor *y = self_attention_forward(t, &sa, inputs);
    gra_tensor *weights = matrix(gra_attention_weights(y));     /* of (1, 1, 6, 6): one sequence, one head */
    show("cell 23", "context", y);
    show("cell 24", "attn_weights", weights);

    /* cell 24: no word may attend to later ones. First way: set the weights above the diagonal to 0, and
     * divide each row by its sum. */
    gra_real lower[TOKENS][TOKENS] = { { 0 } };
    for (int i = 0; i < TOKENS; i++)
        for (int j = 0; j <= i; j++)
            lower[i][j] = 1;
    gra_tensor *mask = gra_constant(t, &lower[0][0], GRA_SHAPE(TOKENS, TOKENS));
    gra_tensor *masked = gra_mul(t, weights, mask);
    show("cell 24", "mask_simple", mask);
    show("cell 24", "masked_simple", masked);
    gra_tensor *normalised = gra_div(t, masked, gra_sum_dim(t, masked, 1, true));
    show("cell 24", "masked_simple_norm", normalised);

    /* cell 25: second way: -inf in the scores, and the softmax does the rest */
    notebook_file("002_causal_mask");
    expect_projections(&sa);
    gra_tensor *q = gra_linear_forward(t, &sa.query, inputs), *k = gra_linear_forward(t, &sa.key, inputs);
    gra_tensor *scores = gra_causal_mask(t, gra_matmul_nt(t, q, k));
    weights = scaled_softmax(scores, D_OUT);
    show("cell 25", "masked_scores", scores);
    show("cell 25", "attn_weights", weights);

    /* cell 26: dropout sets half of all numbers to 0 and doubles the others. The mask is the one of PyTorch's
     * MKL builds, with which the notebook ran. */
    notebook_file("002_dropout");
    expect_projections(&sa);
    gra_manual_seed(rng, 123);
    gra_tensor *ones = gra_dropout(t, gra_full(t, 1, GRA_SHAPE(TOKENS, TOKENS)), 0.5);
    agrees("mask", gra_scale(t, ones, 0.5));
    show("cell 26", "dropout_ones", ones);

    /* cell 27: the same for the weights */
    gra_manual_seed(rng, 123);
    show("cell 27", "dropout_attn_weights", gra_dropout(t, weights, 0.5));

    /* Builds without MKL draw a different mask from this seed: one float64 number for each element. */
    double u[TOKENS * TOKENS];
    gra_real kept[TOKENS * TOKENS];
    gra_manual_seed(rng, 123);
    gra_rand_f64(rng, u, TOKENS * TOKENS);
    for (int i = 0; i < TOKENS * TOKENS; i++)
        kept[i] = u[i] < 0.5;
    mask = gra_constant(t, kept, GRA_SHAPE(TOKENS, TOKENS));
    agrees("mask_no_mkl dropout_ones_no_mkl", mask, gra_scale(t, mask, 2));
}

/* ---- cells 28 to 34: a batch; causal attention as a layer, several heads ---- */

static void causal_attention(void)
{
    notebook_file("002_causal_attention");
    agrees("inputs", inputs);
    print_shape("cell 28", "batch", batch);

    /* cells 29 and 30: only the shape is printed */
    struct gra_causal_attention ca;
    gra_manual_seed(rng, 123);
    gra_causal_attention_init(&ca, notebook_scope("causal"), &(gra_attention_config){
        .d_in = D_IN, .d_out = D_OUT, .context_length = TOKENS });
    agrees("w_query.weight w_key.weight w_value.weight", ca.query.weight, ca.key.weight, ca.value.weight);
    gra_tensor *y = gra_causal_attention_forward(t, &ca, batch);
    print_shape("cell 30", "context_vecs", y);
    agrees("context_vecs", y);
}

static void wrapper(void)
{
    static const char *const names[2] = {
        "heads.0.w_query.weight heads.0.w_key.weight heads.0.w_value.weight",
        "heads.1.w_query.weight heads.1.w_key.weight heads.1.w_value.weight",
    };
    notebook_file("002_mha_wrapper");
    agrees("inputs", inputs);

    /* cells 31 and 32: two causal heads, their results side by side */
    struct wrapper mha;
    gra_manual_seed(rng, 123);
    wrapper_init(&mha, notebook_scope("wrapper"), 2, &(gra_attention_config){
        .d_in = D_IN, .d_out = D_OUT, .context_length = TOKENS });
    for (int h = 0; h < 2; h++)
        agrees(names[h], mha.heads[h].query.weight, mha.heads[h].key.weight, mha.heads[h].value.weight);
    show("cell 32", "context_vecs", wrapper_forward(t, &mha, batch));
}

static void weight_splits(void)
{
    notebook_file("002_mha_splits");
    agrees("inputs", inputs);

    /* cells 33 and 34: one projection for all heads, cut into one part for each, and a Linear at the end */
    struct gra_multi_head_attention mha;
    gra_manual_seed(rng, 123);
    gra_multi_head_attention_init(&mha, notebook_scope("splits"), &(gra_attention_config){
        .d_in = D_IN, .d_out = D_OUT, .context_length = TOKENS, .num_heads = 2, .bias = true });
    agrees("w_query.weight w_key.weight w_value.weight out_proj.weight out_proj.bias",
           mha.query.weight, mha.key.weight, mha.value.weight, mha.out_proj.weight, mha.out_proj.bias);
    gra_tensor *y = gra_multi_head_attention_forward(t, &mha, batch);
    show("cell 34", "context_vecs", y);
    print_shape("cell 34", "context_vecs", y);
}

/* ---- cells 36 to 61: multi-head attention step by step ---- */

enum { BATCH = 2, TIME = 3, HEADS = 2, HEAD = 3 };

/* (batch, time, heads head) seen as (batch, time, heads, head): each head's part of each token */
static gra_tensor *split(gra_tensor *x)    { return gra_reshape(t, x, GRA_SHAPE(BATCH, TIME, HEADS, HEAD)); }
/* (batch, time, heads, head) -> (batch, heads, time, head): each head's tokens; and back */
static gra_tensor *by_head(gra_tensor *x)  { return gra_transpose(t, x, 1, 2); }
/* (batch, time, heads, head) seen as (batch, time, heads head) */
static gra_tensor *merged(gra_tensor *x)   { return gra_reshape(t, x, GRA_SHAPE(BATCH, TIME, HEADS * HEAD)); }

static void step_by_step(void)
{
    /* cell 36: in four dimensions matmul multiplies a matrix for each index of the first two */
    notebook_file("002_dot_demo");
    gra_tensor *a = given("a");
    print_shape("cell 36", "a", a);
    print_shape("cell 36", "a transposed", gra_transpose(t, a, 2, 3));
    show("cell 36", "a_aT", gra_matmul_nt(t, a, a));

    notebook_file("002_mha_explained");
    notebook_unseeded("cells 46 to 61 have no seed: queries, keys and values are taken as printed");

    /* cells 45 to 52: queries in three layouts */
    gra_tensor *queries = given("queries"), *keys = given("keys"), *values = given("values");
    show("cell 45", "print_batch", given("x"));
    print("cell 47", "queries", queries);
    show("cell 49", "queries_split", split(queries));
    print("cell 50", "keys", keys);
    print("cell 51", "values", values);
    show("cell 52", "queries_heads", by_head(split(queries)));

    /* cells 56 and 59: scores and contexts in each head */
    gra_tensor *scores = gra_matmul_nt(t, by_head(split(queries)), by_head(keys));     /* (2, 2, 3, 3) */
    show("cell 56", "attention_scores", scores);
    gra_tensor *context = gra_matmul(t, scaled_softmax(scores, HEAD), by_head(values));
    show("cell 59", "context_vector", context);

    /* cell 61: the heads of a token side by side. The notebook ran the cell twice, which swapped the axes
     * twice: it prints cell 59's tensor, cut into other rows. The intended merge comes after it. */
    show("cell 61", "context_vector_as_printed", merged(context));
    show("cell 61 as intended", "context_merged", merged(by_head(context)));
}

/* ---- cells 81 to 131: variants with fewer parameters ---- */

static void optimized(void)
{
    notebook_file("002_optimized_walkthrough");
    notebook_unseeded("cells 89 to 94 have no seed: the scores are taken as printed");

    /* cells 81 to 93: the words themselves are the values */
    gra_tensor *x = given("x"), *scores = given("attention_scores");
    show("cell 81", "print_batch", x);
    print("cell 92", "attention_scores", scores);
    show("cell 93", "V", by_head(split(x)));

    /* cell 94: the notebook uses the `values` of cell 51 here, not V */
    gra_tensor *context = gra_matmul(t, scaled_softmax(scores, HEAD), by_head(given("values")));
    show("cell 94", "context_vector", merged(by_head(context)));

    /* The notebook never runs the class that follows; this is what it would do. */
    struct lean_attention mha;
    gra_manual_seed(rng, 123);
    optimized_attention_init(&mha, notebook_scope("optimized"), D_IN, 3);
    print_shape("not run there", "the layer with values = x", lean_attention_forward(t, &mha, batch));
}

static void efficient(void)
{
    notebook_file("002_efficient_mha");
    agrees("inputs", inputs);

    /* cells 96 and 131: keys and values are the words themselves */
    struct lean_attention mha;
    gra_manual_seed(rng, 123);
    efficient_attention_init(&mha, notebook_scope("efficient"), D_IN, 3);
    agrees("w_query.weight out_proj.weight out_proj.bias", mha.query.weight, mha.out_proj.weight,
           mha.out_proj.bias);
    gra_tensor *y = lean_attention_forward(t, &mha, batch);
    show("cell 131", "context_vecs", y);
    print_shape("cell 131", "context_vecs", y);
}

int main(int argc, char **argv)
{
    t = notebook_open("attention_variants", argc, argv);
    rng = notebook_rng();
    inputs = six_words(t);
    gra_tensor *one = gra_reshape(t, inputs, GRA_SHAPE(1, TOKENS, D_IN));
    batch = gra_concat(t, 2, (gra_tensor *[]){ one, one }, 0);
    dot_attention();
    self_attention_v1();
    self_attention_v2_masked();
    causal_attention();
    wrapper();
    weight_splits();
    step_by_step();
    optimized();
    efficient();
    return notebook_close();
}
