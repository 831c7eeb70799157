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
 *
 * Errors: init leaves a sentence in the model (gra_model_error), forward in the tape (gra_error). A
 * layer whose init failed may be used: its forward is an error of the tape.
 */
#ifndef GRADUS_LAYERS_H
#define GRADUS_LAYERS_H

#include "../core/gradus.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Linear: y = x W^T + b; (..., in_features) -> (..., out_features) ---------------------------
 * weight (out_features, in_features), bias (out_features), both U(-k, k), k = 1/sqrt(in_features). */
struct gra_linear {
    gra_tensor *weight, *bias;          /* bias NULL: none */
};
void        gra_linear_init(struct gra_linear *l, gra_scope scope, int in_features, int out_features,
                            bool bias);
void        gra_linear_init_with(struct gra_linear *l, gra_scope scope, int in_features, int out_features,
                                 bool bias, gra_init weight);   /* the weight begins so, the bias at 0 */
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
void        gra_positional_embedding_init(struct gra_positional_embedding *l, gra_scope scope, int context_length,
                                          int embedding_dim);
void        gra_positional_embedding_init_with(struct gra_positional_embedding *l, gra_scope scope,
                                               int context_length, int embedding_dim, gra_init weight);
gra_tensor *gra_positional_embedding_forward(gra_tape *t, const struct gra_positional_embedding *l, gra_tensor *x);
gra_tensor *gra_positional_embedding_forward_from(gra_tape *t, const struct gra_positional_embedding *l,
                                                  gra_tensor *x, int first);       /* x_t + weight[first + t] */

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

/* ---- projections: how the Linears of the layers below begin --------------------------------------
 * All zero but bias = true is PyTorch's way, and what a plain init does. */
typedef struct gra_projections {
    bool     bias;                      /* out_proj and the feed-forward have biases */
    gra_init read, write;               /* of weights that read a residual stream, and of those that write
                                           to it; all zero: PyTorch's. With one given, biases begin at 0 */
} gra_projections;

/* ---- SelfAttention: y = softmax(q k^T / sqrt(d_out)) v;  one head that sees every position --------
 * q, k, v = Linears of x. (..., time, d_in) -> (..., time, d_out). (Raschka, Build a Large Language
 * Model, 3.4.) W_query, W_key, W_value: (d_out, d_in), with biases if qkv_bias. */
struct gra_self_attention {
    struct gra_linear query, key, value;
    int               d_in;
};
void        gra_self_attention_init(struct gra_self_attention *a, gra_scope scope, int d_in, int d_out,
                                    bool qkv_bias);
gra_tensor *gra_self_attention_forward(gra_tape *t, const struct gra_self_attention *a, gra_tensor *x);

/* The same with bare matrices, q = x W_query ... (Raschka's first version). W_query, W_key, W_value:
 * (d_in, d_out), U(0, 1). */
struct gra_self_attention_v1 {
    gra_tensor *query, *key, *value;
    int         d_in;
};
void        gra_self_attention_v1_init(struct gra_self_attention_v1 *a, gra_scope scope, int d_in, int d_out);
gra_tensor *gra_self_attention_v1_forward(gra_tape *t, const struct gra_self_attention_v1 *a, gra_tensor *x);

/* ---- CausalAttention: y = D v, D = dropout(softmax(q k^T / sqrt(d_out)));  one head ---------------
 * q, k, v = Linears of x; a position sees itself and those before it. (..., time, d_in) ->
 * (..., time, d_out); time <= context_length. (Raschka 3.5.) W_query, W_key, W_value: (d_out, d_in),
 * with biases if qkv_bias. */
struct gra_causal_attention {
    struct gra_linear query, key, value;
    int               d_in, context_length;
    double            dropout;
};
void        gra_causal_attention_init(struct gra_causal_attention *a, gra_scope scope, int d_in, int d_out,
                                      int context_length, double dropout, bool qkv_bias);
gra_tensor *gra_causal_attention_forward(gra_tape *t, const struct gra_causal_attention *a, gra_tensor *x);

/* ---- MultiHeadAttentionWrapper: y = concat(num_heads CausalAttentions of x) ------------------------
 * (..., time, d_in) -> (..., time, num_heads d_out). (Raschka 3.6, before the weight splits.)
 * heads.0 ...: CausalAttentions. */
struct gra_multi_head_attention_wrapper {
    struct gra_causal_attention *heads;        /* num_heads, in the model's memory */
    int                   num_heads;
};
void        gra_multi_head_attention_wrapper_init(struct gra_multi_head_attention_wrapper *a, gra_scope scope,
                                                  int d_in, int d_out, int context_length, double dropout,
                                                  int num_heads, bool qkv_bias);
gra_tensor *gra_multi_head_attention_wrapper_forward(gra_tape *t, const struct gra_multi_head_attention_wrapper *a,
                                                     gra_tensor *x);

/* ---- MultiHeadAttention: num_heads causal heads of d_out / num_heads columns, then a Linear --------
 * y = concat(heads) W_o^T + b_o (Vaswani et al. 2017; Raschka 3.6, with weight splits). Shapes as
 * CausalAttention. W_query, W_key, W_value as there; out_proj (d_out, d_out) with a bias. */
struct gra_multi_head_attention {
    struct gra_linear query, key, value, out_proj;
    int               d_in, context_length, num_heads;
    double            dropout;
    bool              keys_are_x, values_are_x;         /* of the variants below: no W_key, no W_value */
};
void        gra_multi_head_attention_init(struct gra_multi_head_attention *a, gra_scope scope, int d_in, int d_out,
                                          int context_length, double dropout, int num_heads, bool qkv_bias);
void        gra_multi_head_attention_init_with(struct gra_multi_head_attention *a, gra_scope scope, int d_in,
                                               int d_out, int context_length, double dropout, int num_heads,
                                               bool qkv_bias, const gra_projections *how);
gra_tensor *gra_multi_head_attention_forward(gra_tape *t, const struct gra_multi_head_attention *a, gra_tensor *x);

/* To go on with a sequence, its tokens so far need not be computed again: of them attention reads keys and
 * values alone. Given these, continue computes forward's last rows from the new tokens x (1, time, d_in)
 * alone, and puts their keys and values behind the others; past->time is the caller's to move. GRA_EVAL
 * only; with past NULL it is forward. */
typedef struct gra_past {
    gra_real *keys, *values;            /* (context_length, d_out) each, the caller's */
    int       time;                     /* how many tokens came before x: rows that are filled */
} gra_past;
gra_tensor *gra_multi_head_attention_continue(gra_tape *t, const struct gra_multi_head_attention *a, gra_tensor *x,
                                              const gra_past *past);

/* Variants that learn less; forward is the same. d_in = d_out. */
void gra_optimized_multi_head_attention_init(struct gra_multi_head_attention *a, gra_scope scope, int d_in,
                                             int d_out, int context_length, double dropout, int num_heads,
                                             bool qkv_bias);        /* values = x */
void gra_efficient_multi_head_attention_init(struct gra_multi_head_attention *a, gra_scope scope, int d_in,
                                             int d_out, int context_length, double dropout, int num_heads,
                                             bool qkv_bias);        /* keys = values = x */

/* ---- attention with learned positions: y = attention(x + E), E a positional embedding ---------------
 * (..., time, d_in) -> (..., time, d_out); time <= context_length. Parameters as in SelfAttention or
 * CausalAttention, then positional_encoding.weight (context_length, d_in). */
struct gra_positional_self_attention {
    struct gra_self_attention       att;
    struct gra_positional_embedding pos;
};
void        gra_positional_self_attention_init(struct gra_positional_self_attention *a, gra_scope scope, int d_in,
                                               int d_out, int context_length, bool qkv_bias);
gra_tensor *gra_positional_self_attention_forward(gra_tape *t, const struct gra_positional_self_attention *a,
                                                  gra_tensor *x);

struct gra_positional_causal_attention {
    struct gra_causal_attention     att;
    struct gra_positional_embedding pos;
};
void        gra_positional_causal_attention_init(struct gra_positional_causal_attention *a, gra_scope scope,
                                                 int d_in, int d_out, int context_length, double dropout,
                                                 bool qkv_bias);
gra_tensor *gra_positional_causal_attention_forward(gra_tape *t, const struct gra_positional_causal_attention *a,
                                                    gra_tensor *x);

/* Several causal ones side by side, heads.0 ..., then a Linear: out_proj (d_out, num_heads d_out), with
 * a bias if qkv_bias. */
struct gra_positional_multi_head_attention {
    struct gra_positional_causal_attention *heads;             /* num_heads, in the model's memory */
    struct gra_linear                out_proj;
    int                              num_heads;
};
void        gra_positional_multi_head_attention_init(struct gra_positional_multi_head_attention *a, gra_scope scope,
                                                     int d_in, int d_out, int context_length, double dropout,
                                                     int num_heads, bool qkv_bias);
gra_tensor *gra_positional_multi_head_attention_forward(gra_tape *t,
                                                        const struct gra_positional_multi_head_attention *a,
                                                        gra_tensor *x);

/* ---- FeedForward: y = gelu(x W_0^T + b_0) W_2^T + b_2; (..., emb_dim) -> the same -----------------
 * (Vaswani et al. 2017, with GELU as GPT has it; Raschka 4.3.) layers.0 (4 emb_dim, emb_dim),
 * layers.2 (emb_dim, 4 emb_dim), both with biases. */
typedef enum gra_gelu_form {
    GRA_GELU_ERF,                       /* nn.GELU() */
    GRA_GELU_TANH                       /* nn.GELU(approximate="tanh"): GPT-2's and Raschka's */
} gra_gelu_form;
struct gra_feed_forward {
    struct gra_linear up, down;         /* layers.0, layers.2 */
    gra_gelu_form     gelu;
};
void        gra_feed_forward_init(struct gra_feed_forward *f, gra_scope scope, int emb_dim, gra_gelu_form gelu);
void        gra_feed_forward_init_with(struct gra_feed_forward *f, gra_scope scope, int emb_dim, gra_gelu_form gelu,
                                       const gra_projections *how);
gra_tensor *gra_feed_forward_forward(gra_tape *t, const struct gra_feed_forward *f, gra_tensor *x);

/* ---- what a GPT is like --------------------------------------------------------------------------- */
typedef enum gra_gpt_init_kind {
    GRA_INIT_TORCH,                     /* the layers' own defaults */
    GRA_INIT_GPT2,                      /* weights N(0, 0.02), biases 0; out_proj and layers.2, which write to
                                           the residual stream, N(0, 0.02 / sqrt(2 n_layers)) (Radford et
                                           al. 2019) */
    GRA_INIT_ZEROS                      /* of a model that will be loaded: draws nothing */
} gra_gpt_init_kind;

typedef struct gra_gpt_config {
    int    vocab_size, context_length, emb_dim, n_heads, n_layers;
    double drop_rate;
    bool   bias;                        /* biases of Linears and shifts of norms, but for */
    bool   qkv_bias;                    /* those of queries, keys and values (both false: nanoGPT's bias=False) */
    bool   tied;                        /* the output head is the token embedding; begin such a model with
                                           GRA_INIT_GPT2: N(0, 1), torch's, makes large logits */
    gra_gelu_form     gelu;
    gra_gpt_init_kind init;
} gra_gpt_config;

/* ---- TransformerBlock, pre-norm: x = x + drop(att(norm1(x))); y = x + drop(ff(norm2(x))) ----------
 * (Radford et al. 2019; Raschka 4.5.) (batch, time, emb_dim) -> the same. att: a MultiHeadAttention;
 * ff: a FeedForward; norm1, norm2: LayerNorms with scale and shift. Of the configuration it needs
 * all but vocab_size and tied. */
struct gra_transformer_block {
    struct gra_multi_head_attention att;
    struct gra_feed_forward         ff;
    struct gra_layer_norm    norm1, norm2;
    struct gra_dropout       drop_shortcut;
};
void        gra_transformer_block_init(struct gra_transformer_block *b, gra_scope scope,
                                       const gra_gpt_config *config);
gra_tensor *gra_transformer_block_forward(gra_tape *t, const struct gra_transformer_block *b, gra_tensor *x);
gra_tensor *gra_transformer_block_continue(gra_tape *t, const struct gra_transformer_block *b, gra_tensor *x,
                                           const gra_past *past);       /* as the attention's */

/* ---- GPT: ids (batch, time) -> logits (batch, time, vocab_size) -------------------------------------
 * logits = out_head(final_norm(blocks(drop(tok_emb[ids] + pos_emb)))) (Radford et al. 2018, 2019;
 * Raschka 4.6). tok_emb.weight, pos_emb.weight, trf_blocks.0 ..., final_norm.scale and shift,
 * out_head.weight (without a bias; when tied a further name of tok_emb.weight, in files alone). */
struct gra_gpt {
    gra_gpt_config           config;
    struct gra_embedding     tok_emb;
    struct gra_positional_embedding pos_emb;
    struct gra_dropout       drop_emb;
    struct gra_transformer_block   *trf_blocks;                /* n_layers, in the model's memory */
    struct gra_layer_norm    final_norm;
    struct gra_linear        out_head;
};
void        gra_gpt_init(struct gra_gpt *g, gra_scope scope, const gra_gpt_config *config);
gra_projections gra_gpt_projections(const gra_gpt_config *config);     /* how its Linears begin */
gra_tensor *gra_gpt_forward(gra_tape *t, const struct gra_gpt *g, const int *ids, int batch, int time);

/* ---- files of GPTs ----------------------------------------------------------------------------------
 * A GPT from a safetensors file, by the names and shapes of Raschka's GPTModel (ours), of nanoGPT
 * ("transformer.h.0.attn.c_attn.weight") or of Hugging Face's GPT-2 ("h.0.attn.c_attn.weight", transposed;
 * with or without "transformer."), with or without the "_orig_mod." of torch.compile:
 *
 *     gra_model *model = gra_model_open(t, NULL);
 *     gra_gpt_config config;
 *     gra_gpt_read_config(model, "gpt2.safetensors", 0, &config);
 *     gra_gpt_init(&gpt, gra_root(model), &config);
 *     gra_gpt_load(model, &gpt, "gpt2.safetensors");
 *
 * Buffers (*.mask, *.attn.bias, *.attn.masked_bias) are skipped. Biases that the whole file does not have
 * are 0. A file without a head, or with one equal to the token embedding, is tied. GELU's form is what the
 * metadata say ("gelu": "erf" or "tanh"), else what the config.json beside the file says ("activation_function":
 * "gelu" is erf, "gelu_new" and "gelu_pytorch_tanh" are tanh), else GRA_GELU_ERF for nanoGPT and GRA_GELU_TANH for
 * the others. A config.json that asks for what a gra_gpt does not compute (another activation, another epsilon,
 * scale_attn_by_inverse_layer_idx ...), or that speaks of another size, is refused. All functions: 0, or -1 and
 * gra_model_error says why: a tensor that is missing, too much or of another shape, or a setting, is named, and
 * nothing has changed. */
int gra_gpt_read_config(gra_model *m, const char *path, int n_heads, gra_gpt_config *config);
                                        /* what the file is like; drop_rate is 0, init GRA_INIT_ZEROS. No tensor
                                           shows the number of heads: it is n_heads, or if that is 0 the metadata's
                                           "n_heads", or the "n_head" of a config.json beside the file, or
                                           emb_dim / 64, as in every GPT-2. m lends its error sentence alone */
int gra_gpt_load(gra_model *m, struct gra_gpt *g, const char *path);
                                        /* its values and its form of GELU; then g's gradients are 0. A file whose
                                           metadata, or else config.json, state another number of heads is refused */
int gra_gpt_save(gra_model *m, const gra_gpt_config *config, const char *path, const gra_meta *meta,
                 int nmeta);
                                        /* gra_save, with the metadata "gelu" and "n_heads" */

/* ---- GPT, a token at a time: what it remembers of a sequence ------------------------------------------
 * Each block's keys and values of the tokens so far, 2 n_layers (context_length, emb_dim): a token then
 * costs one row of products, not `time` of them.
 *
 *     gra_gpt_cache cache;
 *     gra_gpt_cache_open(&cache, &gpt);
 *     logits = gra_gpt_continue(t, &cache, prompt, n);                 of the token after the prompt
 *     logits = gra_gpt_continue(t, &cache, &id, 1);                    after that one, ...
 *     gra_gpt_cache_close(&cache);                                     the one thing that wants closing
 *
 * Positions are learned from the first token on, so a window that slides begins anew: clear the cache
 * and hand it the tokens that stay. Clear it too when parameters have changed. */
typedef struct gra_gpt_cache {
    const struct gra_gpt *gpt;                 /* whose; borrowed */
    gra_real      *rows;                /* of block i: keys at 2 i, values at 2 i + 1 times their size */
    int            time;                /* tokens so far, at most context_length */
} gra_gpt_cache;
int         gra_gpt_cache_open(gra_gpt_cache *c, const struct gra_gpt *g); /* 0, or -1: no memory, or g was not made */
void        gra_gpt_cache_clear(gra_gpt_cache *c);      /* a new sequence */
void        gra_gpt_cache_close(gra_gpt_cache *c);
gra_past    gra_gpt_cache_past(const gra_gpt_cache *c, int block);
gra_tensor *gra_gpt_continue(gra_tape *t, gra_gpt_cache *c, const int *ids, int time);  /* GRA_EVAL only: the last
                                           row of gra_gpt_forward's logits, (1, 1, vocab_size) */

#ifdef __cplusplus
}
#endif
#endif
