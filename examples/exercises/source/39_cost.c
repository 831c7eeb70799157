/* 39 cost: what does a step of training need?
 *
 * Whether a model fits into memory, and how long a step takes, can be known before a line of it runs. Count
 * for a GPT (gra_gpt_config in layers/gpt.h: vocab_size V, context_length C, emb_dim D, n_heads H, n_layers
 * L) and a batch of sequences of `time` tokens. In brackets: the results for GPT-2 (V 50257, C 1024, D 768,
 * H 12, L 12, all biases, tied) with one sequence of 1024 tokens.
 *
 * parameter_count         Numbers in all parameters (124439808). tok_emb is (V, D), pos_emb (C, D). Each
 *     block has W_query, W_key, W_value and out_proj (D, D), layers.0 (4 D, D), layers.2 (D, 4 D), and two
 *     norms with D scales. Then come final_norm and out_head (V, D). With `bias`, out_proj, layers.0 and
 *     layers.2 have biases, and all norms have shifts; with `qkv_bias` the other three have biases too.
 *     out_head has no bias; with `tied` it is tok_emb.
 * state_bytes             Bytes of all parameters, gradients and AdamW's two moments, as floats of 4 bytes
 *     (1.99e9).
 * activation_count        Numbers that the forward leaves on the tape for the backward (224 million): the
 *     results of shape (batch, time, ...). They are the embedding and its sum with pos_emb; in each block the
 *     results of two norms, six linear layers, attention, gelu, and two sums with x; then those of final_norm
 *     and out_head. (gra_print_tape shows them all.)
 * attention_weight_count  All a_ij of all heads (151 million). gradus does not keep them on the tape, but
 *     computes them again in backward.
 * operation_count         Operations in the matrix products of a step (8.75e11). (m, k) times (k, n) takes 2
 *     m k n, as a multiply and an add are two. The forward has the products of the linear layers and of
 *     out_head, and in each head q k^T and a v (the mask saves nothing: all are time x time). For each
 *     product of the forward the backward has two.
 * largest_batch           How many sequences of `time` tokens, at most, fit into so many bytes, together
 *     with the state, at 4 bytes for each activation (for 4e9 bytes: 2). 0 if not even one fits.
 *
 * Then try time = 8192: what has grown 8 times, and what 64 times? Counts exceed 2^31, so they are double;
 * make sure that no product of ints is computed on the way.
 */
/* 39 cost, solved.
 *
 * A weight of a linear layer is in one multiply-add for each token in the forward, and in two in the
 * backward: hence the usual estimate, 6 times the parameters times the tokens. Embeddings are in no product,
 * and attention adds 12 batch time^2 D L. For GPT-2 that is 13 % of all with 1024 tokens, and 55 % with 8192:
 * activations grow with the context, attention's weights and operations with its square. That is why kernels
 * do not keep the weights.
 *
 * H does not matter: H heads of D / H numbers take as many operations as one head of D numbers.
 */
#include "exercises.h"

double parameter_count(const gra_gpt_config *c)
{
//| (void)c;                                                    /* TO DO */
//| return 0;
    const double V = c->vocab_size, D = c->emb_dim;
    const double block = 12 * D * D + 2 * D + (c->bias ? 8 * D : 0) + (c->qkv_bias ? 3 * D : 0);
    return V * D + c->context_length * D + c->n_layers * block + D + (c->bias ? D : 0)
           + (c->tied ? 0 : V * D);
}

double state_bytes(const gra_gpt_config *c)
{
//| (void)c;                                                    /* TO DO */
//| return 0;
    return 4 * 4 * parameter_count(c);
}

double activation_count(const gra_gpt_config *c, int batch, int time)
{
//| (void)c, (void)batch, (void)time;                           /* TO DO */
//| return 0;
    const double tokens = (double)batch * time, D = c->emb_dim;
    return tokens * (18 * D * c->n_layers + 3 * D + c->vocab_size);
}

double attention_weight_count(const gra_gpt_config *c, int batch, int time)
{
//| (void)c, (void)batch, (void)time;                           /* TO DO */
//| return 0;
    return (double)batch * c->n_layers * c->n_heads * time * time;
}

double operation_count(const gra_gpt_config *c, int batch, int time)
{
//| (void)c, (void)batch, (void)time;                           /* TO DO */
//| return 0;
    const double tokens = (double)batch * time, D = c->emb_dim, L = c->n_layers;
    const double linear = 2 * tokens * (12 * D * D * L + c->vocab_size * D),
        attention = 4 * tokens * time * D * L;
    return 3 * (linear + attention);
}

double largest_batch(const gra_gpt_config *c, int time, double bytes)
{
//| (void)c, (void)time, (void)bytes;                           /* TO DO */
//| return 0;
    const double room = bytes - state_bytes(c);
    return room < 0 ? 0 : floor(room / (4 * activation_count(c, 1, time)));
}
