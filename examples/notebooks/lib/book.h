/* book.h: the attention layers that only the notebooks use, on the way to the library's MultiHeadAttention.
 *
 * These layers also show how to write layers outside the library: book.c includes only the public headers. A
 * layer is a struct that points at its parameters, an init that makes them in a scope (named as in the
 * notebook's PyTorch), and a forward that combines ops and other layers. It needs no backward and no
 * clean-up.
 *
 * x is (..., time, d_in) in each. Unless noted otherwise, q, k, v are Linears of x with weights (d_out, d_in)
 * and no biases. Section numbers refer to Raschka, Build a Large Language Model. */
#ifndef EXAMPLES_BOOK_H
#define EXAMPLES_BOOK_H

#include "../../../layers/layers.h"

/* Its example, "Your journey starts with one step": (6, 3), a row for each word. */
gra_tensor *six_words(gra_tape *t);

/* SelfAttention_v1 (3.4.2): y = softmax(q k^T / sqrt(d_out)) v with bare matrices, q = x W_query ...;
 * W_query, W_key, W_value (d_in, d_out), U(0, 1). */
struct self_attention_v1 {
    gra_tensor *query, *key, *value;
};
void        self_attention_v1_init(struct self_attention_v1 *a, gra_scope scope, int d_in, int d_out);
gra_tensor *self_attention_v1_forward(gra_tape *t, const struct self_attention_v1 *a, gra_tensor *x);

/* SelfAttention_v2 (3.4.2): the same with Linears; every position sees every other. */
struct self_attention {
    struct gra_linear query, key, value;
};
void        self_attention_init(struct self_attention *a, gra_scope scope, int d_in, int d_out);
gra_tensor *self_attention_forward(gra_tape *t, const struct self_attention *a, gra_tensor *x);

/* MultiHeadAttentionWrapper (3.6.1): y = concat(heads), whole CausalAttentions side by side, heads.0 ...;
 * (..., time, d_in) -> (..., time, heads d_out). */
struct wrapper {
    struct gra_causal_attention *heads;                 /* in the model's memory */
    int                          n;
};
void        wrapper_init(struct wrapper *a, gra_scope scope, int n, const gra_attention_config *head);
gra_tensor *wrapper_forward(gra_tape *t, const struct wrapper *a, gra_tensor *x);

/* Two layers with fewer parameters: OptimizedMultiHeadAttention has v = x, EfficientMultiHeadAttention
 * k = v = x; causal, with an out_proj (d, d) and its bias. x (batch, time, d) -> the same. */
struct lean_attention {
    struct gra_linear query, key, out_proj;             /* key: only in the first */
    int               num_heads;
};
void        optimized_attention_init(struct lean_attention *a, gra_scope scope, int d, int num_heads);
void        efficient_attention_init(struct lean_attention *a, gra_scope scope, int d, int num_heads);
gra_tensor *lean_attention_forward(gra_tape *t, const struct lean_attention *a, gra_tensor *x);

/* Attention with learned positions: y = attention(x + E); positional_encoding.weight
 * (context_length, d_in) comes after the parameters of the attention. */
struct positional_self_attention {
    struct self_attention           att;
    struct gra_positional_embedding pos;
};
void        positional_self_attention_init(struct positional_self_attention *a, gra_scope scope, int d_in,
                                           int d_out, int context_length);
gra_tensor *positional_self_attention_forward(gra_tape *t, const struct positional_self_attention *a,
                                              gra_tensor *x);

struct positional_causal_attention {
    struct gra_causal_attention     att;
    struct gra_positional_embedding pos;
};
void        positional_causal_attention_init(struct positional_causal_attention *a, gra_scope scope,
                                             const gra_attention_config *config);
gra_tensor *positional_causal_attention_forward(gra_tape *t, const struct positional_causal_attention *a,
                                                gra_tensor *x);

/* Several of these causal layers side by side, heads.0 ..., then a Linear: out_proj (d_out, heads d_out). */
struct positional_multi_head_attention {
    struct positional_causal_attention *heads;          /* in the model's memory */
    struct gra_linear                   out_proj;
    int                                 n;
};
void        positional_multi_head_attention_init(struct positional_multi_head_attention *a, gra_scope scope,
                                                 int n, const gra_attention_config *head);
gra_tensor *positional_multi_head_attention_forward(gra_tape *t,
                                                    const struct positional_multi_head_attention *a,
                                                    gra_tensor *x);

#endif
