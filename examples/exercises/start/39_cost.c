/* 39 cost: what does a step of training need?
 *
 * Whether a model fits into memory, and how long a step takes, can be known before a line of it runs. Count
 * for a GPT (gra_gpt_config, layers/gpt.h: vocab_size V, context_length C, emb_dim D, n_heads H, n_layers L)
 * and batch sequences of `time` tokens. For GPT-2 (V 50257, C 1024, D 768, H 12, L 12, with all biases and a
 * tied head) the results are in brackets, with batch 1 and time 1024.
 *
 * parameter_count all numbers in parameters (124439808). tok_emb (V, D) and pos_emb (C, D). In each block:
 * W_query, W_key, W_value and out_proj (D, D); layers.0 (4 D, D) and layers.2 (D, 4 D); two
 *                     norms of D scales. Then final_norm and out_head (V, D), which has no bias. With `bias`,
 *                     out_proj, layers.0 and layers.2 have biases and norms have shifts; with `qkv_bias` the
 *                     other three have biases too; with `tied` out_head is tok_emb.
 *   state_bytes       of parameters, gradients, and AdamW's two moments, in floats of 4 bytes (1.99e9).
 * activation_count what the forward leaves on the tape for the backward (224 million), that is, the results
 *                     of shape (batch, time, ...): from tok_emb: the embedding, and its sum with pos_emb. In
 *                     each block: a result of each norm, each linear layer, attention, gelu, and each of the
 *                     two sums with x. Then final_norm and the logits. (gra_print_tape shows them all.)
 *   attention_weight_count  of the weights a_ij of all heads, which gradus computes again in backward, but
 *                     others keep too (151 million).
 * operation_count of all matrix products of a step (8.75e11). A product of (m, k) with (k, n) takes 2 m k n,
 * as a multiply and an add count as two. The forward has those of the linear layers and of
 *                     out_head, and in each head q k^T and a v (count all time x time of them: the mask saves
 *                     nothing here). The backward has two products for each one of the forward.
 *   largest_batch     how many sequences of `time` tokens fit, at most, into this many bytes, with the state,
 *                     and 4 bytes for each activation; 0 if not even one. (What about 4e9, time 1024: 2.)
 *
 * Then try time = 8192: what has grown 8 times, what 64 times? Counts pass 2^31, so all are double: be sure
 * that no product of ints is made first.
 */
#include "exercises.h"

double parameter_count(const gra_gpt_config *c)
{
    (void)c;                                                    /* TO DO */
    return 0;
}

double state_bytes(const gra_gpt_config *c)
{
    (void)c;                                                    /* TO DO */
    return 0;
}

double activation_count(const gra_gpt_config *c, int batch, int time)
{
    (void)c, (void)batch, (void)time;                           /* TO DO */
    return 0;
}

double attention_weight_count(const gra_gpt_config *c, int batch, int time)
{
    (void)c, (void)batch, (void)time;                           /* TO DO */
    return 0;
}

double operation_count(const gra_gpt_config *c, int batch, int time)
{
    (void)c, (void)batch, (void)time;                           /* TO DO */
    return 0;
}

double largest_batch(const gra_gpt_config *c, int time, double bytes)
{
    (void)c, (void)time, (void)bytes;                           /* TO DO */
    return 0;
}
