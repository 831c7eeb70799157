/* Milestone 3: a GPT of your own, beside the library's.
 * Answers: 06 09 10 11 12 15 18 19 20 22 23 24
 *
 *     make milestone N=3
 *
 * Your GPT learns the four lines of examples/05_next_token.c. Every op that computes is yours, including
 * attention with its backward, and so are the positions, AdamW, clipping and the learning rate. The library
 * provides the tape, the initial values, and ops that only add or move numbers: add, reshape, transpose,
 * slice.
 *
 * The library's GPT learns the same lines from the same initial values, in the same steps. If your gradients
 * are right, both have the same losses. */
#include "../../../layers/gpt.h"
#include "embed.h"
#include <time.h>

static const char text[] =
    "She sells sea shells by the sea shore.\n"
    "The shells she sells are sea shells, I'm sure.\n"
    "For if she sells sea shells by the sea shore,\n"
    "then I'm sure she sells sea shore shells.\n\n";

enum { LENGTH = sizeof text - 1, VOCAB = 128, CONTEXT = 48, BATCH = 4, STEPS = 320, HEADS = 4 };

/* ---- attention: exercises 15 and 18, as an op --------------------------------------------------- */

/* q, k, v and y (batch, heads, time, d). The weights of query i are row i of a matrix (time, time), for each
 * head: 0 for later keys. */
static size_t weights(const gra_tensor *y)
{
    return y->size / (size_t)y->shape.dim[3] * (size_t)y->shape.dim[2];
}

static void attention_forward(gra_tensor *y)
{
    const double *q = y->in[0]->data, *k = y->in[1]->data, *v = y->in[2]->data;
    const int time = y->shape.dim[2], d = y->shape.dim[3], heads = y->shape.dim[0] * y->shape.dim[1];
    memset(y->saved, 0, weights(y) * sizeof *y->saved);
    for (int h = 0; h < heads; h++)
        for (int i = 0; i < time; i++) {
            const int row = h * time + i, head = h * time * d;
            attention_weights(q + row * d, k + head, y->saved + row * time, i + 1, d);
            weighted_sum(y->saved + row * time, v + head, y->data + row * d, i + 1, d);
        }
}

static void attention_back(gra_tensor *y)
{
    gra_tensor *q = y->in[0], *k = y->in[1], *v = y->in[2];
    const int time = y->shape.dim[2], d = y->shape.dim[3], heads = y->shape.dim[0] * y->shape.dim[1];
    for (int h = 0; h < heads; h++) {
        const int at = h * time * d;
        attention_backward(q->data + at, k->data + at, v->data + at, y->saved + h * time * time, y->grad + at,
                           q->grad + at, k->grad + at, v->grad + at, time, time, d, d);
    }
}

static gra_tensor *attention(gra_tape *t, gra_tensor *q, gra_tensor *k, gra_tensor *v)
{
    static const gra_op op = { .name = "my_attention", .forward = attention_forward,
                               .backward = attention_back, .saved = weights };
    return gra_run(gra_result(t, &op, q->shape, q, k, v));
}

/* ---- the model: the parameters of a gra_gpt, and your ops --------------------------------------- */

/* x W^T + b for each row of x (..., dim). */
static gra_tensor *linear(gra_tape *t, const struct gra_linear *l, gra_tensor *x)
{
    gra_shape shape = x->shape;
    shape.dim[shape.ndim - 1] = gra_dim(l->weight, 0);
    gra_tensor *rows = gra_reshape(t, x, GRA_SHAPE(-1, gra_dim(x, -1)));
    gra_tensor *y = matmul(t, rows, gra_transpose(t, l->weight, 0, 1));
    return gra_reshape(t, l->bias ? gra_add(t, y, l->bias) : y, shape);
}

static gra_tensor *norm(gra_tape *t, const struct gra_layer_norm *l, gra_tensor *x)
{
    gra_tensor *rows = gra_reshape(t, x, GRA_SHAPE(-1, gra_dim(x, -1)));
    return gra_reshape(t, layer_norm(t, rows, l->weight, l->bias), x->shape);
}

static gra_tensor *block(gra_tape *t, const struct gra_transformer_block *b, gra_tensor *x)
{
    gra_tensor *y = norm(t, &b->norm1, x);
    gra_tensor *q = split_heads(t, linear(t, &b->att.query, y), HEADS);
    gra_tensor *k = split_heads(t, linear(t, &b->att.key, y), HEADS);
    gra_tensor *v = split_heads(t, linear(t, &b->att.value, y), HEADS);
    x = gra_add(t, x, linear(t, &b->att.out_proj, merge_heads(t, attention(t, q, k, v))));
    y = linear(t, &b->ff.up, norm(t, &b->norm2, x));
    return gra_add(t, x, linear(t, &b->ff.down, gelu(t, y)));
}

/* (batch * time, VOCAB) */
static gra_tensor *logits(gra_tape *t, const struct gra_gpt *g, const int *ids, int batch, int time)
{
    gra_tensor *x = embed(t, g->tok_emb.weight, ids, batch * time);
    x = gra_reshape(t, x, GRA_SHAPE(batch, time, gra_dim(x, 1)));
    x = positions_forward(t, &(struct positions){ g->pos_emb.weight }, x, 0);
    for (int i = 0; i < g->config.n_layers; i++)
        x = block(t, &g->trf_blocks[i], x);
    x = linear(t, &g->out_head, norm(t, &g->final_norm, x));
    return gra_reshape(t, x, GRA_SHAPE(batch * time, VOCAB));
}

/* ---- two runs: yours and the library's ---------------------------------------------------------- */

enum { PARAMETERS = 64 };               /* at most */

struct run {
    gra_tape      *t;
    gra_model     *m;
    struct gra_gpt gpt;
    gra_adamw      adamw;               /* the library's */
    double        *mean[PARAMETERS], *square[PARAMETERS];       /* yours: m and v of each parameter */
    double         first, loss, seconds;
};

static void open_run(struct run *r)
{
    gra_rng rng;
    gra_manual_seed(&rng, 1);
    r->t = gra_open(1);
    r->m = gra_model_open(r->t, &rng);
    gra_gpt_init(&r->gpt, gra_root(r->m), &(gra_gpt_config){
        .vocab_size = VOCAB, .context_length = CONTEXT, .emb_dim = 32, .n_heads = HEADS, .n_layers = 2,
        .bias = true, .init = GRA_INIT_GPT2 });
    gra_adamw_init(&r->adamw, r->m, NULL);
    for (int i = 0; i < gra_param_count(r->m); i++) {
        const size_t bytes = gra_param_at(r->m, i)->size * sizeof(double);
        r->mean[i] = gra_model_alloc(r->m, bytes);
        r->square[i] = gra_model_alloc(r->m, bytes);
    }
}

static void close_run(struct run *r)
{
    gra_model_close(r->m);
    gra_close(r->t);
}

static gra_tensor *your_loss(struct run *r, const int *ids, const int *next)
{
    return cross_entropy(r->t, logits(r->t, &r->gpt, ids, BATCH, CONTEXT), next);
}

static void your_update(struct run *r, int step)
{
    const struct adamw how = { .lr = warmup_cosine(step, 20, STEPS, 1e-2, 1e-3), .beta1 = 0.9, .beta2 = 0.999,
                               .eps = 1e-8, .weight_decay = 0.01 };
    const int n = gra_param_count(r->m);
    double *g[PARAMETERS];
    int size[PARAMETERS];
    for (int i = 0; i < n; i++) {
        g[i] = gra_param_at(r->m, i)->grad;
        size[i] = (int)gra_param_at(r->m, i)->size;
    }
    clip_norm(g, size, n, 1);
    for (int i = 0; i < n; i++)
        adamw_step(gra_param_at(r->m, i)->data, g[i], r->mean[i], r->square[i], size[i], step, &how);
}

static gra_tensor *its_loss(struct run *r, const int *ids, const int *next)
{
    return gra_cross_entropy(r->t, gra_gpt_forward(r->t, &r->gpt, ids, BATCH, CONTEXT), next);
}

/* The max_norm with which the library's gradients become as long as yours. Like PyTorch, the library divides
 * by the norm + 1e-6, which exercise 23 allows but does not ask for. */
static double its_max_norm(gra_model *m)
{
    double two = 2, norm = gra_clip_grad_norm(m, 0);
    clip_norm(&(double *){ &two }, &(int){ 1 }, 1, 1);
    const bool yours_adds = two < 1 - 1e-9;
    return yours_adds ? 1 : (norm + 1e-6) / norm;
}

static void its_update(struct run *r, int step)
{
    gra_clip_grad_norm(r->m, its_max_norm(r->m));
    r->adamw.lr = gra_warmup_cosine(step, 20, STEPS, 1e-2, 1e-3);
    gra_adamw_step(&r->adamw);
}

/* Runs one step, and returns the loss. */
static double train_step(struct run *r, int step, const int *ids, const int *next,
                         gra_tensor *loss_of(struct run *r, const int *ids, const int *next),
                         void update(struct run *r, int step))
{
    const clock_t began = clock();
    gra_begin(r->t, GRA_TRAIN, NULL);
    gra_tensor *loss = loss_of(r, ids, next);
    gra_zero_grad(r->m);
    gra_backward(r->t, loss);
    update(r, step);
    r->seconds += (double)(clock() - began) / CLOCKS_PER_SEC;
    r->loss = gra_item(loss);
    return r->loss;
}

/* Prints what your model writes after a prompt, taking the most likely character each time. */
static void write_text(struct run *r, const char *prompt)
{
    int ids[LENGTH], n = 0;
    for (; prompt[n]; n++)
        ids[n] = prompt[n];
    while (n < LENGTH) {
        const int time = n < CONTEXT ? n : CONTEXT;                 /* the model sees no more */
        gra_begin(r->t, GRA_EVAL, NULL);
        const double *last = logits(r->t, &r->gpt, ids + n - time, 1, time)->data + (time - 1) * VOCAB;
        int best = 0;
        for (int id = 1; id < VOCAB; id++)
            if (last[id] > last[best])
                best = id;
        ids[n++] = best;
    }
    for (int i = 0; i < n; i++)
        putchar(ids[i]);
}

int main(void)
{
    static struct run yours, its;
    double apart = 0;
    gra_rng rng;
    gra_manual_seed(&rng, 2);
    open_run(&yours);
    open_run(&its);
    printf("%zu parameters, %d characters, %d steps of %d rows of %d.\n\n", gra_param_values(yours.m), LENGTH,
           STEPS, BATCH, CONTEXT);

    for (int step = 1; step <= STEPS; step++) {
        int ids[BATCH * CONTEXT], next[BATCH * CONTEXT];
        for (int b = 0; b < BATCH; b++) {
            const int from = (int)gra_randint(&rng, LENGTH);        /* past its end the text starts over */
            for (int i = 0; i < CONTEXT; i++) {
                ids[b * CONTEXT + i] = text[(from + i) % LENGTH];
                next[b * CONTEXT + i] = text[(from + i + 1) % LENGTH];
            }
        }
        train_step(&yours, step, ids, next, your_loss, your_update);
        train_step(&its, step, ids, next, its_loss, its_update);
        if (step == 1)
            yours.first = yours.loss, its.first = its.loss;
        apart = fmax(apart, fabs(yours.loss - its.loss));
        if (step == 1 || step % (STEPS / 8) == 0)
            printf("step %-4d  loss %.4f\n", step, yours.loss);
    }

    printf("\n                         your GPT    the library's\n");
    printf("  loss of the first step %8.4f         %8.4f\n", yours.first, its.first);
    printf("  loss of the last step  %8.4f         %8.4f\n", yours.loss, its.loss);
    printf("  seconds of processor   %8.1f         %8.1f\n", yours.seconds, its.seconds);
    printf("  largest difference of the losses of a step: %.1g\n\n", apart);
    write_text(&yours, "The shells she sells");
    close_run(&yours);
    close_run(&its);
    const bool same = apart < 1e-6;
    printf("\n\n%s\n", same ? "Your GPT learns as the library's does: every part of it is yours."
                           : "The losses should agree to 1e-6: one of your answers computes wrong numbers.");
    return !same;
}
