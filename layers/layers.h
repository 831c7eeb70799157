/* layers.h: layers with parameters, from Linear to a whole GPT.
 *
 * A layer is a struct that points at its parameters. `init` makes them in a scope of a model, which
 * owns them; `forward` computes on a tape. Nothing needs freeing. Arguments, parameter names, shapes
 * and the order in which random numbers are drawn are PyTorch's (inside a GPT: Raschka's GPTModel),
 * so a seed gives the numbers that torch.manual_seed gives.
 *
 *     struct gra_linear l;
 *     gra_linear_init(&l, gra_enter(gra_root(model), "fc"), 3, 2, true);     fc.weight, fc.bias
 *     y = gra_linear_forward(t, &l, x);
 *
 * A layer's type is `struct gra_NAME`, without a typedef: the short names belong to the ops, of which
 * many bear the same name (gra_linear(t, x, w, b) is the op, struct gra_linear a layer with its w and b).
 * Each has a block here: formula and shapes, its parameters and what they begin with, struct, init, forward.
 *
 * Errors: init leaves a sentence in the model (gra_model_error), forward in the tape (gra_error). A
 * layer whose init failed may be used: its forward is an error of the tape, as is that of a NULL layer.
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
gra_tensor *gra_positional_embedding_forward_from(gra_tape *t, const struct gra_positional_embedding *l,
                                                  gra_tensor *x, int first);    /* of tokens that come after
                                           `first` others: y_t = x_t + weight[first + t] */

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
                                   const char *bias);   /* with names of your own; bias NULL: none */
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

/* ---- attention: what its two layers are made from ---------------------------------------------------
 * Named fields, so that swapped numbers cannot compile in silence:
 *
 *     gra_multi_head_attention_init(&att, scope, &(gra_attention_config){
 *         .d_in = 64, .d_out = 64, .context_length = 32, .num_heads = 4, .bias = true });
 */
typedef struct gra_attention_config {
    int      d_in, d_out;               /* embedding widths of x and of y */
    int      context_length;            /* the most tokens in a sequence */
    int      num_heads;                 /* divides d_out. CausalAttention has one head: 1, or 0 for it */
    int      num_kv_heads;              /* heads of keys and values: as many (0), or fewer that neighbouring
                                           heads share (grouped-query attention, Ainslie et al. 2023) */
    double   dropout;                   /* of the attention weights, in GRA_TRAIN */
    bool     qkv_bias;                  /* biases of W_query, W_key, W_value */
    bool     bias;                      /* a bias of out_proj: nn.MultiheadAttention and Raschka's have one */
    bool     bidirectional;             /* without the causal mask: each position sees every other (BERT) */
    gra_init qkv_init, out_init;        /* initial weights of W_query, W_key, W_value, and of out_proj; their
                                           biases are then 0. All fields zero: as nn.Linear, biases too */
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
 * y = concat(heads) W_o^T + b_o, each head as CausalAttention. (Vaswani et al. 2017; Raschka 3.6, with weight
 * splits.) W_query (d_out, d_in); W_key, W_value (num_kv_heads d_out / num_heads, d_in); out_proj (d_out,
 * d_out). */
struct gra_multi_head_attention {
    gra_attention_config config;
    struct gra_linear    query, key, value, out_proj;
};
void        gra_multi_head_attention_init(struct gra_multi_head_attention *a, gra_scope scope,
                                          const gra_attention_config *config);
gra_tensor *gra_multi_head_attention_forward(gra_tape *t, const struct gra_multi_head_attention *a,
                                             gra_tensor *x);

/* ---- GPT: its configuration ---------------------------------------------------------------------------- */
typedef enum gra_gelu_form {
    GRA_GELU_ERF,                       /* nn.GELU() */
    GRA_GELU_TANH                       /* nn.GELU(approximate="tanh"): GPT-2's and Raschka's */
} gra_gelu_form;

typedef enum gra_gpt_init_kind {
    GRA_INIT_TORCH,                     /* the layers' own defaults */
    GRA_INIT_GPT2,                      /* weights N(0, 0.02), biases 0; out_proj and layers.2, which write to
                                           the residual stream, N(0, 0.02 / sqrt(2 n_layers)) (Radford et
                                           al. 2019) */
    GRA_INIT_ZEROS                      /* for a model that will be loaded: draws nothing */
} gra_gpt_init_kind;

typedef struct gra_gpt_config {
    int    vocab_size, context_length, emb_dim, n_heads, n_layers;
    double drop_rate;
    bool   bias;                        /* biases of Linears and shifts of norms, except */
    bool   qkv_bias;                /* those of queries, keys and values (both false: nanoGPT's bias=False) */
    bool   tied;                        /* the output head is the token embedding; begin such a model with
                                           GRA_INIT_GPT2: N(0, 1), torch's, makes large logits */
    gra_gelu_form     gelu;
    gra_gpt_init_kind init;
} gra_gpt_config;

gra_init gra_gpt_weight_init(const gra_gpt_config *config, bool residual);  /* the initial weight of a
                                           Linear; residual: one whose output is added to the residual
                                           stream. All fields zero: as nn.Linear */

/* ---- FeedForward: y = gelu(x W_0^T + b_0) W_2^T + b_2; (..., emb_dim) -> the same -----------------------
 * (Vaswani et al. 2017, with GELU as GPT has it; Raschka 4.3.) layers.0 (4 emb_dim, emb_dim),
 * layers.2 (emb_dim, 4 emb_dim). Of the configuration it needs emb_dim, bias, gelu, init, and for
 * GRA_INIT_GPT2 n_layers. */
struct gra_feed_forward {
    struct gra_linear up, down;         /* layers.0, layers.2 */
    gra_gelu_form     gelu;
};
void        gra_feed_forward_init(struct gra_feed_forward *f, gra_scope scope, const gra_gpt_config *config);
gra_tensor *gra_feed_forward_forward(gra_tape *t, const struct gra_feed_forward *f, gra_tensor *x);

/* ---- TransformerBlock, pre-norm: x = x + drop(att(norm1(x))); y = x + drop(ff(norm2(x))) ----------------
 * (Radford et al. 2019; Raschka 4.5.) (batch, time, emb_dim) -> the same. att: a MultiHeadAttention;
 * ff: a FeedForward; norm1, norm2: LayerNorms with scale and shift. Of the configuration it needs
 * all but vocab_size and tied. */
struct gra_transformer_block {
    struct gra_multi_head_attention att;
    struct gra_feed_forward         ff;
    struct gra_layer_norm           norm1, norm2;
    struct gra_dropout              drop_shortcut;
};
void        gra_transformer_block_init(struct gra_transformer_block *b, gra_scope scope,
                                       const gra_gpt_config *config);
gra_tensor *gra_transformer_block_forward(gra_tape *t, const struct gra_transformer_block *b, gra_tensor *x);

/* ---- GPT: ids (batch, time) -> logits (batch, time, vocab_size) -----------------------------------------
 * logits = out_head(final_norm(blocks(drop(tok_emb[ids] + pos_emb)))) (Radford et al. 2018, 2019;
 * Raschka 4.6). tok_emb.weight, pos_emb.weight, trf_blocks.0 ..., final_norm.scale and shift,
 * out_head.weight (without a bias; when tied a further name of tok_emb.weight, in files alone).
 * gra_save and gra_load write and read a GPT as any other model. */
struct gra_gpt {
    gra_gpt_config                  config;
    struct gra_embedding            tok_emb;
    struct gra_positional_embedding pos_emb;
    struct gra_dropout              drop_emb;
    struct gra_transformer_block   *trf_blocks;         /* n_layers, in the model's memory */
    struct gra_layer_norm           final_norm;
    struct gra_linear               out_head;
};
void        gra_gpt_init(struct gra_gpt *g, gra_scope scope, const gra_gpt_config *config);
gra_tensor *gra_gpt_forward(gra_tape *t, const struct gra_gpt *g, const int *ids, int batch, int time);

/* ---- the key-value cache: a GPT, some tokens at a time ----------------------------------------------------
 * Of the tokens that came before, attention reads keys and values alone. Kept in a cache, they need not be
 * computed again: a token then costs one row of products, not `time` of them. For GRA_EVAL, causal attention
 * and one sequence; the cache is the one thing here that the caller owns and closes.
 *
 *     gra_kv_cache cache;
 *     gra_kv_cache_open(&cache, &gpt);
 *     logits = gra_gpt_forward_cached(t, &gpt, prompt, n, &cache);     of the token after the prompt
 *     logits = gra_gpt_forward_cached(t, &gpt, &id, 1, &cache);        after that one, ...
 *     gra_kv_cache_close(&cache);
 *
 * Positions are learned from the first token on, so a window that slides begins anew: clear the cache
 * and hand it the tokens that stay. Clear it too when parameters have changed. */
typedef struct gra_kv_cache {
    gra_real *rows;             /* of each block its keys, then its values: (context_length, width) each */
    int       blocks, context_length, width;
    int       time;                     /* tokens so far: rows that are filled */
} gra_kv_cache;
int         gra_kv_cache_open(gra_kv_cache *c, const struct gra_gpt *g);    /* 0, or -1: out of memory, or the
                                           init of g failed */
void        gra_kv_cache_clear(gra_kv_cache *c);        /* for a new sequence */
void        gra_kv_cache_close(gra_kv_cache *c);

gra_tensor *gra_gpt_forward_cached(gra_tape *t, const struct gra_gpt *g, const int *ids, int time,
                                   gra_kv_cache *cache);/* adds `time` ids to the sequence: the last row of
                                           gra_gpt_forward's logits, (1, 1, vocab_size) */

/* What it is made of: forward's rows for the new tokens x (1, time, dim), whose keys and values are
 * appended to those of block `block`. The caller advances cache->time when all blocks are done. */
gra_tensor *gra_multi_head_attention_forward_cached(gra_tape *t, const struct gra_multi_head_attention *a,
                                                    gra_tensor *x, const gra_kv_cache *cache, int block);
gra_tensor *gra_transformer_block_forward_cached(gra_tape *t, const struct gra_transformer_block *b,
                                                 gra_tensor *x, const gra_kv_cache *cache, int block);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
