/* exercises.h: the functions that the exercises ask for, in the order of the ladder. An answer defines the
 * functions of one exercise; this header declares them for the answer and for the judge. */
#ifndef EXERCISES_H
#define EXERCISES_H

#include "../../core/op.h"
#include "../../layers/gpt.h"

/* 01 central_difference */
double central_difference(double (*f)(double x), double x, double h);
double best_step(double f, double f3);
void   numeric_gradient(double (*f)(const double *x, int n), double *x, int n, double h, double *g);

/* 02 chain_rule */
struct neuron {
    double z, y, e, loss;
    double de, dy, dt, dz, dw, db, dx;          /* dloss/de, dloss/dy, ... */
};
void neuron(double w, double b, double x, double t, struct neuron *n);

/* 03 used_twice */
struct value {
    double data, grad;                          /* a number, and dloss/d(data) */
};
double used_twice(struct value *x, struct value *w, struct value *u, struct value *v, double dloss);

/* 04 scalar_tape */
enum { TAPE_ROOM = 200 };
struct scalar {
    double value, grad;
    struct scalar *in[2];                       /* the nodes it was computed from; NULL: none */
    double slope[2];                            /* how fast value grows with in[0]->value, in[1]->value */
};
struct scalar_tape {
    struct scalar node[TAPE_ROOM];              /* in the order of creation */
    int n;                                      /* the number of nodes */
};
struct scalar *tape_leaf(struct scalar_tape *t, double value);
struct scalar *tape_add(struct scalar_tape *t, struct scalar *a, struct scalar *b);
struct scalar *tape_mul(struct scalar_tape *t, struct scalar *a, struct scalar *b);
struct scalar *tape_tanh(struct scalar_tape *t, struct scalar *a);
void           tape_backward(struct scalar_tape *t, struct scalar *y);

/* 05 mul_broadcast */
gra_tensor *mul_broadcast(gra_tape *t, gra_tensor *a, gra_tensor *b);

/* 06 matmul */
gra_tensor *matmul(gra_tape *t, gra_tensor *a, gra_tensor *b);

/* 07 relu */
gra_tensor *my_relu(gra_tape *t, gra_tensor *x);
bool        can_be_checked(double x, double h);

/* 08 softmax */
void softmax(const double *x, double *y, int n);
void softmax_backward(const double *y, const double *dy, double *dx, int n);

/* 09 cross_entropy */
gra_tensor *cross_entropy(gra_tape *t, gra_tensor *x, const int *target);

/* 10 layer_norm */
gra_tensor *layer_norm(gra_tape *t, gra_tensor *x, gra_tensor *w, gra_tensor *b);

/* 11 gelu */
gra_tensor *gelu(gra_tape *t, gra_tensor *x);

/* 12 embedding */
void embedding(const double *w, const int *ids, double *y, int n, int dim);
void embedding_backward(const int *ids, const double *dy, double *dw, int n, int dim);

/* 13 dropout */
gra_tensor *dropout(gra_tape *t, gra_tensor *x, double p);

/* 14 scores */
void project(const double *W, const double *b, const double *x, double *q, int d, int D);
void scores(const double *q, const double *k, double *s, int n, int m, int d);

/* 15 one_head */
void attention_weights(const double *q, const double *k, double *a, int m, int d);
void weighted_sum(const double *a, const double *v, double *y, int m, int e);
void one_head(const double *q, const double *k, const double *v, double *y, int n, int m, int d, int e);

/* 16 in_matrices */
struct head_parameters {
    gra_tensor *W_q, *b_q, *W_k, *b_k, *W_v, *b_v;    /* W (d, D), (d, D), (e, D); b (d, 1), (d, 1), (e, 1) */
};
gra_tensor *in_columns(gra_tape *t, const struct head_parameters *p, gra_tensor *X);    /* (D, N) -> (e, N) */
gra_tensor *in_rows(gra_tape *t, const struct head_parameters *p, gra_tensor *X);       /* (N, D) -> (N, e) */

/* 17 causal_mask */
gra_tensor *masked_before(gra_tape *t, gra_tensor *s);
gra_tensor *masked_after(gra_tape *t, gra_tensor *s);
gra_tensor *causal_attention(gra_tape *t, gra_tensor *q, gra_tensor *k, gra_tensor *v);

/* 18 attention_backward */
void attention_backward(const double *q, const double *k, const double *v, const double *a, const double *dy,
                        double *dq, double *dk, double *dv, int n, int m, int d, int e);

/* 19 two_heads */
gra_tensor *split_heads(gra_tape *t, gra_tensor *x, int heads);
gra_tensor *merge_heads(gra_tape *t, gra_tensor *x);
gra_tensor *multi_head(gra_tape *t, gra_tensor *q, gra_tensor *k, gra_tensor *v, gra_tensor *W_c, int heads);

/* 20 positions */
struct positions {
    gra_tensor *weight;                                 /* (context_length, dim) */
};
void        positions_init(struct positions *p, gra_scope scope, int context_length, int dim);
gra_tensor *positions_forward(gra_tape *t, const struct positions *p, gra_tensor *x, int first);

/* 21 momentum */
void momentum_step(double *p, const double *g, double *v, int n, double lr, double momentum);

/* 22 adamw */
struct adamw {
    double lr, beta1, beta2, eps, weight_decay;
};
void adamw_step(double *p, const double *g, double *m, double *v, int n, int t, const struct adamw *how);

/* 23 clipping */
double clip_norm(double *const *g, const int *size, int count, double max_norm);

/* 24 warmup_cosine */
double warmup_cosine(int step, int warmup, int steps, double lr, double min_lr);

/* 25 accumulation */
typedef gra_tensor *mean_loss(gra_tape *t, int from, int to, void *arg);
double accumulate(gra_tape *t, gra_model *m, int n, int micro, mean_loss *loss, void *arg);

/* 26 tied_weights */
void tied_backward(const double *e, const int *ids, const double *h, const double *dlogits, double *de,
                   int n, int vocab, int dim);

/* 27 rms_norm */
struct rms_norm {
    gra_tensor *weight;                         /* (dim) */
};
void        rms_norm_init(struct rms_norm *l, gra_scope scope, int dim);
gra_tensor *rms_norm_forward(gra_tape *t, const struct rms_norm *l, gra_tensor *x);

/* 28 swiglu */
struct swiglu {
    struct gra_linear gate, up, down;
};
void        swiglu_init(struct swiglu *l, gra_scope scope, int dim, int hidden);
gra_tensor *swiglu_forward(gra_tape *t, const struct swiglu *l, gra_tensor *x);

/* 29 rotary */
gra_tensor *rotary(gra_tape *t, gra_tensor *x);         /* (..., time, dim) -> the same */

/* 30 grouped_query */
struct grouped_query {
    struct gra_linear query, key, value, out;
    int               heads, kv_heads;
};
void        grouped_query_init(struct grouped_query *l, gra_scope scope, int dim, int heads, int kv_heads);
gra_tensor *grouped_query_forward(gra_tape *t, const struct grouped_query *l, gra_tensor *x);

/* 31 kv_cache */
struct tiny_model {                    /* token and position embeddings, one attention head, an output head */
    struct gra_embedding            tokens;             /* (vocabulary, dim) */
    struct gra_positional_embedding positions;          /* (context, dim) */
    struct gra_linear               query, key, value;  /* (dim, dim) */
    struct gra_linear               head;               /* (vocabulary, dim) */
};
struct kv_cache {
    double *keys, *values;              /* room for (context, dim) each */
    int     time;                       /* tokens so far: rows that are filled */
};
gra_tensor *tiny_logits(gra_tape *t, const struct tiny_model *m, const int *ids, int n);
gra_tensor *tiny_logits_cached(gra_tape *t, const struct tiny_model *m, const int *ids, int n,
                               struct kv_cache *cache);

/* 32 wrong_backward */
gra_tensor *standardize(gra_tape *t, gra_tensor *x);

/* 33 first_nan */
struct gated_net {
    gra_tensor *embedding;              /* (vocab, dim) */
    gra_tensor *weight, *bias;          /* (vocab, dim), (vocab) */
};
gra_tensor *gated_loss(gra_tape *t, const struct gated_net *net, const int *ids, const int *next, int n);

/* 34 does_not_learn */
enum { XOR_HIDDEN = 8 };
struct next_token {
    struct gra_embedding tokens;        /* (vocab, dim) */
    struct gra_linear    head;          /* (vocab, dim), and a bias */
};
struct xor_net {
    struct gra_linear hidden, out;      /* (XOR_HIDDEN, 2) and (1, XOR_HIDDEN), with biases */
};
double      line_step(gra_tape *t, gra_model *m, gra_sgd *opt, const struct gra_linear *line, const double *x,
                      const double *y, int n);
gra_tensor *next_loss(gra_tape *t, const struct next_token *net, const int *ids, int n);
void        xor_init(struct xor_net *net, gra_scope scope);

/* 35 byte_pairs */
struct merge {
    int left, right;                    /* merge number r makes the token 256 + r of these two */
};
int most_frequent_pair(const int *ids, int n, struct merge *pair);
int merge_pair(int *ids, int n, struct merge pair, int id);
int learn_merges(int *ids, int n, struct merge *merges, int most);
int encode_ids(int *ids, int n, const struct merge *merges, int count);

/* 36 sampling */
struct sampling {
    double temperature;                 /* 0: always the most likely token */
    int    top_k;                       /* 1 or more; may exceed the number of tokens */
    double top_p;                       /* 0 < top_p <= 1 */
};
void softmax_at(const double *logits, double *p, int n, double temperature);
void keep_top_k(double *p, int n, int k);
void keep_top_p(double *p, int n, double top_p);
int  draw_from(const double *p, int n, double u);
int  sample_token(const double *logits, int n, const struct sampling *how, double u);

/* 37 gru */
enum { GRU_MOST = 8 };
struct gru {
    int           in, hidden;                   /* hidden <= GRU_MOST */
    const double *w_ih, *w_hh, *b_ih, *b_hh;    /* (3 hidden, in), (3 hidden, hidden), (3 hidden) twice */
};
struct gru_gradients {
    double *w_ih, *w_hh, *b_ih, *b_hh;          /* of the parameters, */
    double *x, *h0;                             /* of the tokens (time, in), of the first state (hidden) */
};
void gru_cell(const double *gi, const double *gh, const double *h, double *gates, double *next, int hidden);
void gru_cell_backward(const double *gates, const double *gh, const double *h, const double *dnext,
                       double *dgi, double *dgh, double *dh, int hidden);
void gru_backward(const struct gru *g, const double *x, const double *h, const double *gates,
                  const double *gh, const double *dy, const struct gru_gradients *d, int time);

/* 38 conv1d */
struct conv1d {
    int in, out;                                /* channels */
    int kernel, stride, padding;
};
int  conv1d_length(const struct conv1d *c, int length);
void conv1d(const struct conv1d *c, const double *x, const double *w, const double *b, double *y, int length);
void conv1d_backward(const struct conv1d *c, const double *x, const double *w, const double *dy, double *dx,
                     double *dw, double *db, int length);

/* 39 cost */
double parameter_count(const gra_gpt_config *c);
double state_bytes(const gra_gpt_config *c);
double activation_count(const gra_gpt_config *c, int batch, int time);
double attention_weight_count(const gra_gpt_config *c, int batch, int time);
double operation_count(const gra_gpt_config *c, int batch, int time);
double largest_batch(const gra_gpt_config *c, int time, double bytes);

/* 40 random_check */
enum { RANDOM_MOST = 16 };              /* n is at most this */
typedef double random_loss(const double *x, int n, gra_rng *rng, double *dx, void *arg);
double dropout_noise(double x, double p, double h);
void   same_draws_gradient(random_loss *f, void *arg, double *x, int n, double h, gra_rng *rng, double *g);
double check_random(random_loss *f, void *arg, double *x, int n, double h, gra_rng *rng);
double noisy_dropout(const double *x, int n, gra_rng *rng, double *dx, void *arg);

#endif
