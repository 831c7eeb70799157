/* 10: what a backward keeps, and what it costs to keep less.
 *
 *     make && build/examples/10_compute_again
 *
 * What you will learn: a backward computes the derivative of each op from values of the forward. If a step
 * keeps all of them, memory grows with depth. Instead it may keep only a few values, and compute the rest
 * again when the backward needs them. With n layers in groups of k, the step keeps n/k inputs, and all values
 * of one group at a time. The memory n/k + k is least for k = sqrt(n), and the forward is computed twice
 * (Chen et al. 2016). If only the first input is kept, all layers before a layer are computed again for its
 * backward: n^2/2 layers, in the memory of a few. All these ways give the same gradient, bit for bit.
 * `build/train --recompute` keeps the input of each block. / */
#include "../core/gradus.h"
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LAYERS = 64, ROWS = 512, WIDTH = 256 };

struct group { gra_tensor *w; int layers; };

/* tanh(x w^T), some layers one after another, which share w: almost all of the memory is for the results. */
static gra_tensor *group(gra_tape *t, void *arg, gra_tensor *x)
{
    const struct group *g = arg;
    for (int i = 0; i < g->layers; i++)
        x = gra_tanh(t, gra_linear(t, x, g->w, NULL));
    return x;
}

/* For each layer's backward, all layers before that layer are computed again. */
static gra_tensor *nothing(gra_tape *t, void *arg, gra_tensor *x)
{
    const struct group *g = arg;                        /* the group before it in the array has one layer
                                                         * fewer */
    if (g->layers > 1)
        x = gra_checkpoint(t, nothing, (void *)(g - 1), x);
    return gra_tanh(t, gra_linear(t, x, g->w, NULL));
}

/* A step in a separate process, which prints its memory and time. k: layers in a group; LAYERS + 1: keep
 * all; 0: keep nothing. */
static int step(const char *kept, int k)
{
    gra_rng rng;
    gra_manual_seed(&rng, 1);
    gra_tape *t = gra_open(1);
    gra_model *model = gra_model_open(t, &rng);
    struct group g[LAYERS + 1];
    g[0].w = gra_param(gra_root(model), "w", gra_init_xavier(), GRA_SHAPE(WIDTH, WIDTH));
    for (int i = 0; i <= LAYERS; i++)
        g[i] = (struct group){ g[0].w, i };
    const clock_t begun = clock();
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *x = gra_constant_randn(t, &rng, GRA_SHAPE(ROWS, WIDTH));
    if (k == 0)
        x = gra_checkpoint(t, nothing, &g[LAYERS], x);
    else if (k > LAYERS)
        x = group(t, &g[LAYERS], x);
    else
        for (int i = 0; i < LAYERS; i += k)
            x = gra_checkpoint(t, group, &g[k], x);
    gra_backward(t, gra_mean(t, gra_mul(t, x, x)));
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%-30s %4ld MiB %7.2f s   dw[0] = %.9g\n", kept, (long)used.ru_maxrss / 1024,
           (double)(clock() - begun) / CLOCKS_PER_SEC, (double)gra_grad(g[0].w)[0]);
    gra_model_close(model);
    gra_close(t);
    return 0;
}

int main(void)
{
    static const struct { const char *kept; int k; } rows[] = {
        { "all", LAYERS + 1 },              { "the input of each layer", 1 },
        { "of every 4th", 4 },              { "of every 8th, the square root", 8 },
        { "of every 16th", 16 },            { "of the first: all again", LAYERS },
        { "of the first: layer by layer", 0 },
    };
    printf("what is kept of %d layers      memory    time\n", LAYERS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fflush(stdout);
        if (fork() == 0)
            return step(rows[i].kept, rows[i].k);
        wait(NULL);
    }
    return 0;
}
