/* layers.h: layers with parameters, from Linear to multi-head attention. (gpt.h makes a GPT of them.)
 *
 * A layer is a struct that points at its parameters. `init` makes them in a scope of a model, which owns
 * them; `forward` computes on a tape. Nothing needs freeing. Arguments, parameter names, shapes and the
 * order in which random numbers are drawn are PyTorch's (inside a GPT: Raschka's GPTModel), so a seed gives
 * the numbers that torch.manual_seed gives.
 *
 *     struct gra_linear l;
 *     gra_linear_init(&l, gra_enter(gra_root(model), "fc"), 3, 2, true);     fc.weight, fc.bias
 *     y = gra_linear_forward(t, &l, x);
 *
 * A layer's type is `struct gra_NAME`, without a typedef: the short names belong to ops, and many layers have
 * the name of an op (gra_linear(t, x, w, b) is the op, struct gra_linear is a layer with its w and b). Each
 * layer has a block here: formula and shapes, parameters and their initial values, struct, init, forward.
 *
 * Errors: init leaves a sentence in the model (gra_model_error), forward in the tape (gra_error). A layer may
 * be used after a failed init: its forward is an error of the tape, like the forward of a NULL layer.
 */
#ifndef GRADUS_LAYERS_H
#define GRADUS_LAYERS_H

#include "../core/gradus.h"

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)                /* exported, although compiled with -fvisibility=hidden */
#endif

/* ---- Linear: y = x W^T + b; (..., in_features) -> (..., out_features) ---------------------------
 * weight (out_features, in_features), bias (out_features), both U(-k, k), k = 1/sqrt(in_features). */
struct gra_linear {
    gra_tensor *weight, *bias;          /* bias NULL: none */
};
void        gra_linear_init(struct gra_linear *l, gra_scope scope, int in_features, int out_features,
                            bool bias);
void        gra_linear_init_with(struct gra_linear *l, gra_scope scope, int in_features, int out_features,
                                 bool bias, gra_init weight);   /* initialised by `weight`; bias 0 */
gra_tensor *gra_linear_forward(gra_tape *t, const struct gra_linear *l, gra_tensor *x);

/* ---- Embedding: y_i = weight[ids_i]; ids of a shape -> (shape, embedding_dim) --------------------
 * weight (num_embeddings, embedding_dim), N(0, 1). */
struct gra_embedding {
    gra_tensor *weight;
};
void        gra_embedding_init(struct gra_embedding *l, gra_scope scope, int num_embeddings,
                               int embedding_dim);
void        gra_embedding_init_with(struct gra_embedding *l, gra_scope scope, int num_embeddings,
                                    int embedding_dim, gra_init weight);
gra_tensor *gra_embedding_forward(gra_tape *t, const struct gra_embedding *l, const int *ids,
                                  gra_shape shape);

/* ---- learned positional Embedding: y_t = x_t + weight[t]; (..., time, dim) -> the same ------------
 * (Gehring et al. 2017; GPT.) An Embedding with a row for each position; time <= context_length. */
struct gra_positional_embedding {
    gra_tensor *weight;                 /* (context_length, embedding_dim) */
};
void        gra_positional_embedding_init(struct gra_positional_embedding *l, gra_scope scope,
                                          int context_length, int embedding_dim);
void        gra_positional_embedding_init_with(struct gra_positional_embedding *l, gra_scope scope,
                                               int context_length, int embedding_dim, gra_init weight);
gra_tensor *gra_positional_embedding_forward(gra_tape *t, const struct gra_positional_embedding *l,
                                             gra_tensor *x);

/* For tokens that follow `first` earlier tokens: y_t = x_t + weight[first + t]. */
gra_tensor *gra_positional_embedding_forward_from(gra_tape *t, const struct gra_positional_embedding *l,
                                                  gra_tensor *x, int first);

/* ---- Dropout: GRA_TRAIN: 0 with probability p, else x / (1 - p); else x (Srivastava et al. 2014) --
 * No parameters. */
struct gra_dropout {
    double p;
};
void        gra_dropout_init(struct gra_dropout *l, gra_scope scope, double p);
gra_tensor *gra_dropout_forward(gra_tape *t, const struct gra_dropout *l, gra_tensor *x);

/* ---- LayerNorm: y = (x - mean) / sqrt(var + eps) weight + bias over the last dimension -----------
 * (Ba et al. 2016.) weight (dim) begins at 1, bias (dim) at 0; eps 1e-5; var is the biased one. */
struct gra_layer_norm {
    gra_tensor *weight, *bias;
    double      eps;
};
void        gra_layer_norm_init(struct gra_layer_norm *l, gra_scope scope, int dim);
void        gra_layer_norm_init_as(struct gra_layer_norm *l, gra_scope scope, int dim, const char *weight,
                                   const char *bias);   /* with names of your choice; bias NULL: none */
gra_tensor *gra_layer_norm_forward(gra_tape *t, const struct gra_layer_norm *l, gra_tensor *x);

/* ---- RMSNorm: y = x / sqrt(mean x^2 + eps) weight over the last dimension ------------------------
 * (Zhang & Sennrich 2019.) weight (dim) begins at 1; eps 1e-6, LLaMA's: nn.RMSNorm's default is the
 * machine epsilon, which differs between float and double. */
struct gra_rms_norm {
    gra_tensor *weight;
    double      eps;
};
void        gra_rms_norm_init(struct gra_rms_norm *l, gra_scope scope, int dim);
gra_tensor *gra_rms_norm_forward(gra_tape *t, const struct gra_rms_norm *l, gra_tensor *x);

/* ---- attention: the configuration of its two layers -------------------------------------------------
 * Its fields are named, so that swapped numbers are visible:
 *
 *     gra_multi_head_attention_init(&att, scope, &(gra_attention_config){
 *         .d_in = 64, .d_out = 64, .context_length = 32, .num_heads = 4, .bias = true });
 */
typedef struct gra_attention_config {
    int      d_in, d_out;               /* embedding widths of x and of y */
    int      context_length;            /* the most tokens in a sequence */
    int      num_heads;                 /* divides d_out; CausalAttention has one head: 1 or 0 */
    int      num_kv_heads;              /* of keys and values, shared by neighbouring heads; 0: num_heads */
    double   dropout;                   /* of the attention weights, in GRA_TRAIN */
    bool     qkv_bias;                  /* biases of W_query, W_key, W_value */
    bool     bias;                      /* a bias of out_proj: nn.MultiheadAttention and Raschka's have one */
    bool     bidirectional;             /* without the causal mask: each position sees all positions (BERT) */
    gra_init qkv_init, out_init;        /* initial weights, with biases 0; all fields zero: like nn.Linear */
} gra_attention_config;

/* ---- CausalAttention: y = D v, D = dropout(softmax(q k^T / sqrt(d_out)));  one head ------------------
 * q, k, v = Linears of x; position i sees positions 0 .. i. (..., time, d_in) -> (..., time, d_out);
 * time <= context_length. (Raschka, Build a Large Language Model, 3.5.) W_query, W_key, W_value (d_out,
 * d_in). */
struct gra_causal_attention {
    gra_attention_config config;
    struct gra_linear    query, key, value;
};
void        gra_causal_attention_init(struct gra_causal_attention *a, gra_scope scope,
                                      const gra_attention_config *config);
gra_tensor *gra_causal_attention_forward(gra_tape *t, const struct gra_causal_attention *a, gra_tensor *x);

/* ---- MultiHeadAttention: num_heads heads of d_out / num_heads columns, side by side, then a Linear --------
 * y = concat(heads) W_o^T + b_o, each head like CausalAttention. (Vaswani et al. 2017; Raschka 3.6, with
 * weight splits; Ainslie et al. 2023, where num_kv_heads, a divisor of num_heads, is less.) W_query (d_out,
 * d_in); W_key, W_value (num_kv_heads d_out / num_heads, d_in); out_proj (d_out, d_out). */
struct gra_multi_head_attention {
    gra_attention_config config;
    struct gra_linear    query, key, value, out_proj;
};
void        gra_multi_head_attention_init(struct gra_multi_head_attention *a, gra_scope scope,
                                          const gra_attention_config *config);
gra_tensor *gra_multi_head_attention_forward(gra_tape *t, const struct gra_multi_head_attention *a,
                                             gra_tensor *x);

/* ---- a key-value cache: the keys and values of a sequence, for several attention layers (see gpt.h) ------
 * Computes the attention of the new tokens x (1, time, d_in), a row for each, and appends their keys and
 * values to those of layer `block`. It works with GRA_EVAL, causal attention and one sequence. The caller
 * advances cache->time after all layers. */
typedef struct gra_kv_cache {
    gra_real *rows;                     /* keys, then values of each layer: (context_length, width) each */
    int       blocks, context_length, width;
    int       time;                     /* tokens so far: how many rows are filled */
} gra_kv_cache;
gra_tensor *gra_multi_head_attention_forward_cached(gra_tape *t, const struct gra_multi_head_attention *a,
                                                    gra_tensor *x, const gra_kv_cache *cache, int block);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
