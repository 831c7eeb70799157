/* gpt.h: a GPT made of the layers: its configuration, feed-forward, block, model and key-value cache.
 *
 * Parameter names, shapes and the order in which random numbers are drawn are those of Raschka's GPTModel.
 * The rules of layers.h for init, forward and errors hold here too. */
#ifndef GRADUS_GPT_H
#define GRADUS_GPT_H

#include "layers.h"

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)                /* exported, although compiled with -fvisibility=hidden */
#endif

/* ---- FeedForward: y = gelu(x W_0^T + b_0) W_2^T + b_2; (..., dim) -> the same --------------------------
 * (Vaswani et al. 2017, with GPT's GELU; Raschka 4.3.) layers.0 (hidden, dim), layers.2 (dim, hidden). */
typedef enum gra_gelu_form {
    GRA_GELU_ERF,                       /* nn.GELU() */
    GRA_GELU_TANH                       /* nn.GELU(approximate="tanh"): GPT-2's and Raschka's */
} gra_gelu_form;

typedef struct gra_feed_forward_config {
    int           dim, hidden;          /* hidden 0: 4 dim */
    bool          bias;
    gra_gelu_form gelu;
    gra_init      up_init, down_init;  /* initial weights; biases are then 0. All fields zero: as nn.Linear */
} gra_feed_forward_config;

struct gra_feed_forward {
    struct gra_linear up, down;         /* layers.0, layers.2 */
    gra_gelu_form     gelu;
};
void        gra_feed_forward_init(struct gra_feed_forward *f, gra_scope scope,
                                  const gra_feed_forward_config *config);
gra_tensor *gra_feed_forward_forward(gra_tape *t, const struct gra_feed_forward *f, gra_tensor *x);

/* ---- TransformerBlock, pre-norm: x = x + drop(att(norm1(x))); y = x + drop(ff(norm2(x))) ----------------
 * (Radford et al. 2019; Raschka 4.5.) (batch, time, dim) -> the same. att: a MultiHeadAttention; ff: a
 * FeedForward; norm1, norm2: LayerNorms with scale and shift. */
typedef struct gra_transformer_block_config {
    gra_attention_config    att;        /* d_in and d_out are dim */
    gra_feed_forward_config ff;
    double                  drop_rate;  /* of each branch's contribution to x */
    bool                    shift;      /* a bias of the norms */
} gra_transformer_block_config;

struct gra_transformer_block {
    struct gra_multi_head_attention att;
    struct gra_feed_forward         ff;
    struct gra_layer_norm           norm1, norm2;
    struct gra_dropout              drop_shortcut;
};
void        gra_transformer_block_init(struct gra_transformer_block *b, gra_scope scope,
                                       const gra_transformer_block_config *config);
gra_tensor *gra_transformer_block_forward(gra_tape *t, const struct gra_transformer_block *b, gra_tensor *x);

/* ---- GPT: ids (batch, time) -> logits (batch, time, vocab_size) -----------------------------------------
 * logits = out_head(final_norm(blocks(drop(tok_emb[ids] + pos_emb)))) (Radford et al. 2018, 2019; Raschka
 * 4.6). tok_emb.weight, pos_emb.weight, trf_blocks.0 ..., final_norm.scale and shift, out_head.weight
 * (without a bias; when tied, another name of tok_emb.weight in files). gra_save and gra_load treat a GPT
 * as any other model. */
typedef enum gra_gpt_init_kind {
    GRA_INIT_TORCH,                     /* the layers' own defaults */

    /* Weights N(0, 0.02), biases 0; out_proj and layers.2, which write to the residual stream,
     * N(0, 0.02 / sqrt(2 n_layers)) (Radford et al. 2019). */
    GRA_INIT_GPT2,
    GRA_INIT_ZEROS                      /* for a model to be loaded: draws nothing */
} gra_gpt_init_kind;

typedef struct gra_gpt_config {
    int    vocab_size, context_length, emb_dim, n_heads, n_layers;
    double drop_rate;
    bool   bias;                        /* shifts of norms, biases of Linears (but queries, keys, values) */
    bool   qkv_bias;                    /* biases of queries, keys, values; nanoGPT's bias=False: none */

    /* The output head is the token embedding. Begin such a model with GRA_INIT_GPT2: with N(0, 1), torch's,
     * the logits are large. */
    bool   tied;
    gra_gelu_form     gelu;
    gra_gpt_init_kind init;
    bool   recompute;                   /* each block is a gra_checkpoint: less memory, more time */
} gra_gpt_config;

gra_transformer_block_config gra_gpt_block_config(const gra_gpt_config *config);    /* of one of its blocks */

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
 * Attention reads only the keys and values of previous tokens. A cache keeps these, so a new token costs the
 * matrix products of one row instead of `time` rows. The cache works with GRA_EVAL, causal attention and one
 * sequence. It is the only object here that the caller owns and closes.
 *
 *     gra_kv_cache cache;
 *     gra_kv_cache_open(&cache, &gpt);
 *     logits = gra_gpt_forward_cached(t, &gpt, prompt, n, &cache);     for the token after the prompt
 *     logits = gra_gpt_forward_cached(t, &gpt, &id, 1, &cache);        for the token after `id`, ...
 *     gra_kv_cache_close(&cache);
 *
 * Positions count from the first token. To slide the window, clear the cache and pass the remaining tokens to
 * it. Also clear it when parameters have changed. */
int         gra_kv_cache_open(gra_kv_cache *c, const struct gra_gpt *g);     /* 0; -1: no memory, or no GPT */
void        gra_kv_cache_clear(gra_kv_cache *c);        /* for a new sequence */
void        gra_kv_cache_close(gra_kv_cache *c);        /* NULL is allowed */

/* Adds `time` ids to the sequence; returns the last row of the logits, (1, 1, vocab_size). */
gra_tensor *gra_gpt_forward_cached(gra_tape *t, const struct gra_gpt *g, const int *ids, int time,
                                   gra_kv_cache *cache);
gra_tensor *gra_transformer_block_forward_cached(gra_tape *t, const struct gra_transformer_block *b,
                                                 gra_tensor *x, const gra_kv_cache *cache, int block);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
