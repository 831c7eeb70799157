/* 39 cost, solved.
 *
 * A weight of a linear layer takes part in one multiply-add for each token, in the forward; so "6 times the
 * parameters times the tokens" is the usual estimate for a step, of which embeddings are exempt and to which
 * attention adds 12 batch time^2 D L. For GPT-2 and 1024 tokens that is 13 % of all, for 8192 tokens more
 * than half: with the context, the activations grow as the tokens do, attention's weights and products as
 * their square. That is why kernels do not keep the weights, and why gradus computes them again in backward.
 *
 * The heads do not occur: H heads of D/H columns make the same number of products as one of D columns. They
 * only count in the weights.
 */
#include "exercises.h"

double parameter_count(const gra_gpt_config *c)
{
    const double V = c->vocab_size, D = c->emb_dim;
    const double block = 12 * D * D + 2 * D + (c->bias ? 8 * D : 0) + (c->qkv_bias ? 3 * D : 0);
    return V * D + c->context_length * D + c->n_layers * block + D + (c->bias ? D : 0)
           + (c->tied ? 0 : V * D);
}

double state_bytes(const gra_gpt_config *c)
{
    return 4 * 4 * parameter_count(c);
}

double activation_count(const gra_gpt_config *c, int batch, int time)
{
    const double tokens = (double)batch * time, D = c->emb_dim;
    return tokens * (18 * D * c->n_layers + 3 * D + c->vocab_size);
}

double attention_weight_count(const gra_gpt_config *c, int batch, int time)
{
    return (double)batch * c->n_layers * c->n_heads * time * time;
}

double operation_count(const gra_gpt_config *c, int batch, int time)
{
    const double tokens = (double)batch * time, D = c->emb_dim, L = c->n_layers;
    const double linear = 2 * tokens * (12 * D * D * L + c->vocab_size * D),
        attention = 4 * tokens * time * D * L;
    return 3 * (linear + attention);
}

double largest_batch(const gra_gpt_config *c, int time, double bytes)
{
    const double room = bytes - state_bytes(c);
    return room < 0 ? 0 : floor(room / (4 * activation_count(c, 1, time)));
}
