/* 39 cost, solved.
 *
 * A weight of a linear layer is in one multiply-add for each token in the forward, and in two in the
 * backward: hence the usual estimate, 6 times the parameters times the tokens. Embeddings are in no product,
 * and attention adds 12 batch time^2 D L. For GPT-2 that is 13 % of all with 1024 tokens, and 55 % with 8192:
 * activations grow with the context, attention's weights and products with its square. That is why kernels do
 * not keep the weights.
 *
 * H is not in the products: H heads of D / H numbers make as many as one head of D numbers.
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
