/* trainable_attention: self-attention with trainable matrices, step by step and as two classes (the
 * notebook of a lecture on Raschka, Build a Large Language Model, 3.4). The results are compared with what
 * the notebook printed, examples/notebooks/golden/003_*.txt.
 *
 *     make notebooks; build/notebooks/trainable_attention */
#include "lib/book.h"
#include "lib/notebook.h"

#include <math.h>

enum { D_IN = 3, D_OUT = 2 };

static gra_tape   *t;
static gra_rng    *rng;
static gra_tensor *inputs;              /* (6, 3): six words, three numbers each */

static gra_tensor *row(gra_tensor *x, int i) { return gra_slice(t, x, 0, i, i + 1); }          /* (1, n) */
static gra_tensor *flat(gra_tensor *x)       { return gra_reshape(t, x, GRA_SHAPE(-1)); }

static void steps(void)
{
    notebook_file("003_self_attention_steps");

    /* cells 400 to 402: the words and the three matrices */
    agrees("inputs", inputs);
    show("cell 402", "print_inputs", inputs);
    gra_manual_seed(rng, 123);
    gra_tensor *W_query = torch_rand(GRA_SHAPE(D_IN, D_OUT));
    gra_tensor *W_key   = torch_rand(GRA_SHAPE(D_IN, D_OUT));
    gra_tensor *W_value = torch_rand(GRA_SHAPE(D_IN, D_OUT));
    agrees("W_query W_key W_value", W_query, W_key, W_value);
    show("cell 402", "print_W_query", W_query);
    show("cell 402", "print_W_key", W_key);
    show("cell 402", "print_W_value", W_value);

    /* cell 403: the second word's query, key and value */
    gra_tensor *journey = row(inputs, 1), *query_2 = gra_matmul(t, journey, W_query);
    show("cell 403", "query_2", flat(query_2));
    show("cell 403", "key_2", flat(gra_matmul(t, journey, W_key)));
    show("cell 403", "value_2", flat(gra_matmul(t, journey, W_value)));

    /* cell 404: query, key and value of every word */
    gra_tensor *queries = gra_matmul(t, inputs, W_query);                       /* (6, 2) */
    gra_tensor *keys    = gra_matmul(t, inputs, W_key);
    gra_tensor *values  = gra_matmul(t, inputs, W_value);
    show("cell 404", "queries", queries);
    show("cell 404", "keys", keys);
    show("cell 404", "values", values);

    /* cells 405 to 408: scores, divided by the root of the width, then weights */
    show("cell 405", "attn_scores_2", flat(gra_matmul_nt(t, query_2, keys)));
    gra_tensor *scores  = gra_matmul_nt(t, queries, keys);                      /* (6, 6) */
    gra_tensor *scaled  = gra_scale(t, scores, 1 / sqrt((double)D_OUT));
    gra_tensor *weights = gra_softmax(t, scaled, -1);
    show("cell 406", "attn_scores", scores);
    show("cell 407", "scaled_attn_scores", scaled);
    show("cell 408", "attn_weights", weights);

    /* cells 409 and 410: the context of the second word, and of each */
    show("cell 409", "context_journey", flat(gra_matmul(t, row(weights, 1), values)));
    show("cell 410", "context_matrix", gra_matmul(t, weights, values));

    /* cells 411 and 412: the same as a layer */
    struct self_attention_v1 sa;
    gra_manual_seed(rng, 123);
    self_attention_v1_init(&sa, notebook_scope("v1"), D_IN, D_OUT);
    show("cell 412", "context_v1", self_attention_v1_forward(t, &sa, inputs));
}

static void linears(void)
{
    notebook_file("003_self_attention_v2");
    agrees("inputs", inputs);

    /* cells 413 and 414: Linears instead of bare matrices; they start with smaller numbers of both signs */
    struct self_attention sa;
    gra_manual_seed(rng, 78);
    self_attention_init(&sa, notebook_scope("v2"), D_IN, D_OUT);
    agrees("W_query.weight W_key.weight W_value.weight", sa.query.weight, sa.key.weight, sa.value.weight);
    show("cell 414", "context_matrix", self_attention_forward(t, &sa, inputs));
}

int main(int argc, char **argv)
{
    t = notebook_open("trainable_attention", argc, argv);
    rng = notebook_rng();
    inputs = six_words(t);
    steps();
    linears();
    return notebook_close();
}
