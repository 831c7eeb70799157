/* positional_causal: attention with learned positions, causal attention, several heads. This notebook sets
 * one seed at the top, and each cell continues the random stream of the previous one, so the numbers depend
 * on the order of the cells. Even a single normal is passed on: a positional embedding draws 15, in pairs,
 * and the generator keeps the 16th for the next embedding. The results are compared with what the notebook
 * printed, examples/notebooks/golden/004_*.txt.
 *
 *     make notebooks; build/notebooks/positional_causal */
#include "lib/book.h"
#include "lib/notebook.h"

#include <math.h>

enum { TOKENS = 5, D = 3, HEADS = 2 };

static gra_tape   *t;
static gra_tensor *X;                   /* (5, 3) */

static const gra_real tokens[TOKENS * D] = {
    (gra_real)0.5341, (gra_real)0.3316, (gra_real)0.5995,
    (gra_real)0.9891, (gra_real)0.8921, (gra_real)0.4602,
    (gra_real)0.1234, (gra_real)0.5678, (gra_real)0.9101,
    (gra_real)0.4567, (gra_real)0.7890, (gra_real)0.1234,
    (gra_real)0.2345, (gra_real)0.6789, (gra_real)0.3456,
};

/* one causal head */
static const gra_attention_config head = { .d_in = D, .d_out = D, .context_length = TOKENS };

static gra_tensor *matrix(gra_tensor *x) { return gra_reshape(t, x, GRA_SHAPE(TOKENS, TOKENS)); }

/* cell 3: attention without parameters */
static void dot_attention(void)
{
    notebook_file("004_dot_attention");
    agrees("X", X);
    gra_tensor *scores = gra_matmul_nt(t, X, X), *A = gra_softmax(t, scores, -1);
    show("cell 3", "print_X", X);
    show("cell 3", "A_star", scores);
    show("cell 3", "A", A);
    show("cell 3", "Y", gra_matmul(t, A, X));
}

/* cell 4: queries, keys and values by Linears */
static void self_attention(void)
{
    struct self_attention sa;
    notebook_file("004_self_attention");
    agrees("X", X);
    self_attention_init(&sa, notebook_scope("c4"), D, D);
    agrees("c4.W_q.weight c4.W_k.weight c4.W_v.weight", sa.query.weight, sa.key.weight, sa.value.weight);
    gra_tensor *y = self_attention_forward(t, &sa, X);
    show("cell 4", "attention_weights", matrix(gra_attention_weights(y)));
    show("cell 4", "output", y);
}

/* cell 5: the same with learned positions */
static void positional_self_attention(void)
{
    struct positional_self_attention sa;
    notebook_file("004_pos_self_attention");
    agrees("X", X);
    positional_self_attention_init(&sa, notebook_scope("c5"), D, D, TOKENS);
    agrees("c5.W_q.weight c5.W_k.weight c5.W_v.weight c5.positional_encoding",
           sa.att.query.weight, sa.att.key.weight, sa.att.value.weight, sa.pos.weight);
    gra_tensor *y = positional_self_attention_forward(t, &sa, X);
    show("cell 5", "attention_weights", matrix(gra_attention_weights(y)));
    show("cell 5", "output", y);
}

/* q k^T of a head with positions, as the notebook prints it, before the division by sqrt(D) */
static gra_tensor *scores(const struct positional_causal_attention *a)
{
    gra_tensor *x = gra_positional_embedding_forward(t, &a->pos, X);
    gra_tensor *q = gra_linear_forward(t, &a->att.query, x), *k = gra_linear_forward(t, &a->att.key, x);
    return gra_matmul_nt(t, q, k);
}

/* cell 6: now causal. The third print is labelled as weights but shows the masked scores again; the output is
 * cut off in the notebook. */
static void positional_causal_attention(void)
{
    struct positional_causal_attention ca;
    notebook_file("004_pos_causal_attention");
    agrees("X", X);
    positional_causal_attention_init(&ca, notebook_scope("c6"), &head);
    agrees("c6.W_q.weight c6.W_k.weight c6.W_v.weight c6.positional_encoding",
           ca.att.query.weight, ca.att.key.weight, ca.att.value.weight, ca.pos.weight);
    gra_tensor *s = scores(&ca);
    show("cell 6", "scores", s);
    show("cell 6", "masked_scores", gra_causal_mask(t, s));
    show("cell 6", "masked_scores_again", gra_causal_mask(t, s));
    show("cell 6, cut off there", "output", positional_causal_attention_forward(t, &ca, X));
}

/* cell 7: two heads of this kind, each with its own positions, and a Linear that mixes them */
static void multi_head_v1(void)
{
    static const char *const names[HEADS] = {
        "c7.heads.0.W_q.weight c7.heads.0.W_k.weight c7.heads.0.W_v.weight c7.heads.0.positional_encoding",
        "c7.heads.1.W_q.weight c7.heads.1.W_k.weight c7.heads.1.W_v.weight c7.heads.1.positional_encoding",
    };
    struct positional_multi_head_attention mha;
    notebook_file("004_mha_v1");
    agrees("X", X);
    positional_multi_head_attention_init(&mha, notebook_scope("c7"), HEADS, &head);
    for (int h = 0; h < HEADS; h++) {
        const struct gra_causal_attention *a = &mha.heads[h].att;
        agrees(names[h], a->query.weight, a->key.weight, a->value.weight, mha.heads[h].pos.weight);
    }
    agrees("c7.W_o.weight", mha.out_proj.weight);
    gra_tensor *s = scores(&mha.heads[0]);
    show("cell 7", "head0_scores", s);
    show("cell 7", "head0_masked_scores", gra_causal_mask(t, s));
    show("cell 7", "head0_masked_scores_again", gra_causal_mask(t, s));
    show("cell 7, cut off there", "head1_scores", scores(&mha.heads[1]));
    show("cell 7, cut off there", "output", positional_multi_head_attention_forward(t, &mha, X));
}

/* cells 8 and 9: weight splits, with an unusual merge: instead of transposing (heads, time, d) to (time,
 * heads, d), the notebook transposes to (heads, d, time) and reshapes to rows of heads d numbers.
 * A row then mixes tokens; the printed numbers depend on this. */
static void multi_head(void)
{
    enum { WIDTH = 6, HEAD = WIDTH / HEADS };
    struct gra_multi_head_attention mha;
    notebook_file("004_mha");
    gra_tensor *x = torch_rand(GRA_SHAPE(TOKENS, WIDTH));
    gra_multi_head_attention_init(&mha, notebook_scope("c9"), &(gra_attention_config){
        .d_in = WIDTH, .d_out = WIDTH, .context_length = TOKENS, .num_heads = HEADS, .bias = true });
    agrees("inputs W_q.weight W_k.weight W_v.weight W_o.weight W_o.bias", x, mha.query.weight,
           mha.key.weight, mha.value.weight, mha.out_proj.weight, mha.out_proj.bias);

    const struct gra_linear *const linear[3] = { &mha.query, &mha.key, &mha.value };
    gra_tensor *qkv[3];
    for (int i = 0; i < 3; i++) {
        gra_tensor *all = gra_linear_forward(t, linear[i], x);                          /* (5, 6) */
        qkv[i] = gra_transpose(t, gra_reshape(t, all, GRA_SHAPE(TOKENS, HEADS, HEAD)), 0, 1); /* (2, 5, 3) */
    }
    gra_tensor *s = gra_scale(t, gra_matmul_nt(t, qkv[0], qkv[1]), 1 / sqrt((double)HEAD)); /* (2, 5, 5) */
    gra_tensor *y = gra_matmul(t, gra_softmax(t, gra_causal_mask(t, s), -1), qkv[2]);   /* (2, 5, 3) */
    y = gra_reshape(t, gra_transpose(t, y, 1, 2), GRA_SHAPE(TOKENS, WIDTH));
    show("cell 9", "output", gra_linear_forward(t, &mha.out_proj, y));
}

int main(int argc, char **argv)
{
    t = notebook_open("positional_causal", argc, argv);
    gra_keep_attention(t, true);                        /* keep the layers' attention weights */
    X = gra_constant(t, tokens, GRA_SHAPE(TOKENS, D));
    gra_manual_seed(notebook_rng(), 239);               /* cell 1, and only there */
    dot_attention();
    self_attention();
    positional_self_attention();
    positional_causal_attention();
    multi_head_v1();
    multi_head();
    return notebook_close();
}
