/* 09: makemore, parts 1, 3 and 5: a table, a perceptron with batch norm, and a tree of layers invent names.
 *
 *     make && build/examples/09_makemore              learns the names below, in a few steps
 *     build/examples/09_makemore names.txt 3          learns yours: part 1, 3 or 5, with all its steps
 *
 * From the 32,033 names of Andrej Karpathy's makemore and the seeds of his notebooks (2022) this program
 * prints the notebooks' numbers, which PyTorch computed, to four digits or more:
 *
 *     part 1   loss 2.4818 (published: 2.4818), then mor. axx. minaymoryles. kondlaisah. anchthizarie.
 *     part 3   train 2.0674147, val 2.1056839 (2.0674145, 2.1056840), and the same 20 losses on the way
 *     part 5   train 1.7690282, val 1.9936513 (1.7690284, 1.9936515), and 19 of the 20 losses */
#include "core/gradus.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LETTERS = 27, BATCH = 32, MOST = 40000, LONGEST = 8, HIDDEN = 200 };

static char text[1 << 18] = "ada\nalan\nbarbara\nclaude\ndonald\nfrances\ngrace\njohn\nken\nlinus\nrobin\n";
static char *name[MOST];
static int   names;

static bool read_names(const char *path)
{
    FILE *f = path ? fopen(path, "rb") : NULL;
    if (path && !f) {
        perror(path);
        return false;
    }
    if (f) {
        text[fread(text, 1, sizeof text - 1, f)] = '\0';
        fclose(f);
    }
    for (char *s = strtok(text, "\r\n"); s && names < MOST; s = strtok(NULL, "\r\n"))
        if (strspn(s, "abcdefghijklmnopqrstuvwxyz") == strlen(s))
            name[names++] = s;
    return names > 9;
}

/* ---- windows of `block` letters, and the letter that follows; 0 begins and ends a name ---- */

typedef struct split { int n, *x, *y; } split;

static split windows(const int *order, int from, int to, int block)
{
    split s = { 0, NULL, NULL };
    for (int i = from; i < to; i++)
        s.n += (int)strlen(name[order[i]]) + 1;
    s.x = calloc((size_t)s.n * (size_t)block, sizeof(int));
    s.y = calloc((size_t)s.n, sizeof(int));
    for (int i = from, k = 0; s.x && s.y && i < to; i++) {
        const char *c = name[order[i]];
        const int length = (int)strlen(c);
        for (int j = 0; j <= length; j++, k++) {
            s.y[k] = c[j] ? c[j] - 'a' + 1 : 0;
            for (int b = 0; b < block; b++)
                s.x[k * block + b] = j - block + b < 0 ? 0 : c[j - block + b] - 'a' + 1;
        }
    }
    return s;
}

/* ---- batch norm: by the batch in training, otherwise by running statistics ---- */

struct batch_norm { gra_tensor *gain, *bias, *mean, *spread; };         /* spread: std, or the variance */

static struct batch_norm batch_norm(gra_scope s, int dim)
{
    return (struct batch_norm){ gra_param(s, "weight", gra_init_ones(), GRA_SHAPE(dim)),
                                gra_param(s, "bias", gra_init_zeros(), GRA_SHAPE(dim)),
                                gra_buffer(s, "running_mean", gra_init_zeros(), GRA_SHAPE(dim)),
                                gra_buffer(s, "running_spread", gra_init_ones(), GRA_SHAPE(dim)) };
}

static void follow(gra_tensor *running, const gra_tensor *now, gra_real momentum)
{
    for (size_t i = 0; i < running->size; i++)
        running->data[i] = (1 - momentum) * running->data[i] + momentum * now->data[i];
}

static gra_tensor *normalised(gra_tape *t, const struct batch_norm *l, gra_tensor *x, bool by_std)
{
    gra_tensor *mean = l->mean, *spread = l->spread;
    if (gra_tape_mode(t) == GRA_TRAIN) {
        gra_tensor *rows = gra_reshape(t, x, GRA_SHAPE(-1, gra_dim(x, -1)));
        mean = gra_mean_dim(t, rows, 0, false);
        spread = gra_var_dim(t, rows, 0, 1, false);
        spread = by_std ? gra_sqrt(t, spread) : spread;
        follow(l->mean, mean, (gra_real)(by_std ? 0.001 : 0.1));
        follow(l->spread, spread, (gra_real)(by_std ? 0.001 : 0.1));
    }
    x = gra_sub(t, x, mean);
    if (by_std)
        x = gra_div(t, gra_mul(t, l->gain, x), spread);
    else
        x = gra_mul(t, l->gain, gra_div(t, x, gra_sqrt(t, gra_add_scalar(t, spread, 1e-5))));
    return gra_add(t, x, l->bias);
}

/* ---- parts 3 and 5 ---- */

typedef struct net {
    int part, block, layers;
    gra_tensor *emb, *w[3], *out, *out_bias;
    struct batch_norm norm[3];
} net;

static gra_tensor *weight(gra_scope s, const char *what, int in, int out, double gain)
{
    gra_tensor *w = gra_param(s, what, gra_init_normal(0, 1), GRA_SHAPE(in, out));
    for (size_t i = 0; i < w->size; i++)
        w->data[i] *= (gra_real)gain;
    return w;
}

static net make(gra_model *model, int part)
{
    const int emb = part == 3 ? 10 : 24, hidden = part == 3 ? HIDDEN : 128;
    net m = { .part = part, .block = part == 3 ? 3 : 8, .layers = part == 3 ? 1 : 3 };
    gra_scope s = gra_root(model);
    m.emb = gra_param(s, "emb", gra_init_normal(0, 1), GRA_SHAPE(LETTERS, emb));
    for (int l = 0; l < m.layers; l++) {
        gra_scope layer = gra_enter(s, "layer%d", l);
        const int in = part == 3 ? 3 * emb : 2 * (l ? hidden : emb);
        m.w[l] = weight(layer, "weight", in, hidden, 1);
        for (size_t i = 0; i < m.w[l]->size; i++)       /* rounded as in the notebooks */
            m.w[l]->data[i] = m.w[l]->data[i] * (gra_real)(part == 3 ? 5.0 / 3 : 1) / (gra_real)sqrt(in);
        m.norm[l] = batch_norm(gra_enter(layer, "norm"), hidden);
    }
    m.out = weight(s, "out.weight", hidden, LETTERS, part == 3 ? 0.01 : 1);
    for (size_t i = 0; part == 5 && i < m.out->size; i++)
        m.out->data[i] = m.out->data[i] / (gra_real)sqrt(hidden) * (gra_real)0.1;
    const gra_init drawn = part == 3 ? gra_init_normal(0, 1) : gra_init_zeros();
    m.out_bias = gra_param(s, "out.bias", drawn, GRA_SHAPE(LETTERS));       /* part 3 draws it, but uses 0 */
    memset(m.out_bias->data, 0, LETTERS * sizeof(gra_real));
    return m;
}

static gra_tensor *loss_of(gra_tape *t, const net *m, const int *x, const int *y, int n)
{
    gra_tensor *h = gra_embedding(t, m->emb, x, GRA_SHAPE(n, m->block));
    for (int l = 0; l < m->layers; l++) {               /* three letters side by side, or pairs of pairs */
        const int left = m->part == 3 ? 1 : gra_dim(h, 1) / 2;
        h = gra_reshape(t, h, left > 1 ? GRA_SHAPE(n, left, -1) : GRA_SHAPE(n, -1));
        h = gra_tanh(t, normalised(t, &m->norm[l], gra_matmul(t, h, m->w[l]), m->part == 3));
    }
    return gra_cross_entropy(t, gra_add(t, gra_matmul(t, h, m->out), m->out_bias), y);
}

/* In batches: a step keeps all that it computes until the next gra_begin. */
static double evaluate(gra_tape *t, const net *m, split s)
{
    double sum = 0;
    for (int i = 0, n; i < s.n; i += n) {
        n = s.n - i < 4096 ? s.n - i : 4096;
        gra_begin(t, GRA_EVAL, NULL);
        sum += n * gra_item(loss_of(t, m, s.x + i * m->block, s.y + i, n));
    }
    return sum / s.n;
}

static void train(gra_tape *t, int part, int steps)
{
    gra_rng g, python;
    int order[MOST], x[BATCH * LONGEST], y[BATCH];
    gra_manual_seed(&g, part == 3 ? 2147483647 : 42);
    gra_python_seed(&python, 42);
    for (int i = 0; i < names; i++)
        order[i] = i;
    gra_python_shuffle(&python, order, names);
    gra_model *model = gra_model_open(t, &g);
    const net m = make(model, part);
    const split learn = windows(order, 0, names * 8 / 10, m.block);
    const split val = windows(order, names * 8 / 10, names * 9 / 10, m.block);
    gra_sgd sgd;
    gra_sgd_init(&sgd, model, NULL);
    printf("part %d: %zu parameters, %d windows\n", part, gra_param_values(model), learn.n);
    for (int step = 0; step < steps; step++) {
        for (int b = 0; b < BATCH; b++) {
            const size_t k = gra_randint(&g, (uint64_t)learn.n);
            memcpy(x + b * m.block, learn.x + k * (size_t)m.block, sizeof(int) * (size_t)m.block);
            y[b] = learn.y[k];
        }
        gra_begin(t, GRA_TRAIN, &g);
        gra_tensor *loss = loss_of(t, &m, x, y, BATCH);
        gra_zero_grad(model);
        gra_backward(t, loss);
        sgd.lr = step < (part == 3 ? 100000 : 150000) ? 0.1 : 0.01;
        gra_sgd_step(&sgd);
        if (step % (steps < 20 ? 1 : steps / 20) == 0)
            printf("%7d/%7d: %.4f\n", step, steps, gra_item(loss));
    }
    printf("train %.7f, val %.7f\n", evaluate(t, &m, learn), evaluate(t, &m, val));
    free(learn.x), free(learn.y), free(val.x), free(val.y);
    gra_model_close(model);
}

/* ---- part 1: 27 rows of 27 logits ---- */

static void table(gra_tape *t, int steps)
{
    int order[MOST];
    gra_rng g;
    for (int i = 0; i < names; i++)
        order[i] = i;
    const split all = windows(order, 0, names, 1);
    int *at = calloc((size_t)all.n, sizeof *at);        /* where probs[arange(n), y] lie */
    for (int i = 0; i < all.n; i++)
        at[i] = i * LETTERS + all.y[i];
    gra_manual_seed(&g, 2147483647);
    gra_model *model = gra_model_open(t, &g);
    gra_tensor *w = gra_param(gra_root(model), "W", gra_init_normal(0, 1), GRA_SHAPE(LETTERS, LETTERS));
    gra_sgd sgd;
    gra_sgd_init(&sgd, model, NULL);
    sgd.lr = 50;
    printf("part 1: %d windows\n", all.n);
    for (int step = 0; step < steps; step++) {
        gra_begin(t, GRA_TRAIN, &g);
        gra_tensor *p = gra_softmax(t, gra_embedding(t, w, all.x, GRA_SHAPE(all.n)), 1);
        p = gra_embedding(t, gra_reshape(t, p, GRA_SHAPE(-1, 1)), at, GRA_SHAPE(all.n));
        gra_tensor *loss = gra_add(t, gra_neg(t, gra_mean(t, gra_log(t, p))),
                                   gra_scale(t, gra_mean(t, gra_mul(t, w, w)), 0.01));
        gra_zero_grad(model);
        gra_backward(t, loss);
        gra_sgd_step(&sgd);
        if (step % (steps < 10 ? 1 : steps / 10) == 0 || step == steps - 1)
            printf("%3d: %.5f\n", step, gra_item(loss));
    }
    gra_manual_seed(&g, 2147483647);
    for (int i = 0, letter = 0; i < 5; i += !letter) {
        gra_begin(t, GRA_EVAL, NULL);
        gra_tensor *p = gra_softmax(t, gra_embedding(t, w, &letter, GRA_SHAPE(1)), -1);
        letter = gra_multinomial(&g, p->data, LETTERS, true);
        putchar(letter ? 'a' + letter - 1 : '.');
        if (!letter)
            putchar('\n');
    }
    free(at), free(all.x), free(all.y);
    gra_model_close(model);
}

int main(int argc, char **argv)
{
    const int part = argc > 2 ? atoi(argv[2]) : 0;
    if (!read_names(argc > 1 ? argv[1] : NULL)) {
        fprintf(stderr, "makemore: expected ten or more names in small letters, one per line\n");
        return 1;
    }
    gra_tape *t = gra_open(1);
    if (part == 0 || part == 1)
        table(t, argc > 1 ? 267 : 20);                  /* where the notebook stopped */
    for (int p = 3; p <= 5; p += 2)
        if (part == 0 || part == p)
            train(t, p, argc > 1 ? 200000 : 20);
    gra_close(t);
    return 0;
}
