/* optime: how long one op takes, forward and backward, as the tape runs it.
 *
 * The op is placed between two of our own: a source of random values, which notes when the sweep reaches it,
 * and a sink, which turns the result into one number and notes when the sweep leaves it. The time between is
 * that of the op's backward, including the allocation of its gradients. */
#include "bench.h"
#include <stdlib.h>

struct watch {
    double from, to;                    /* of the op's backward */
};

struct args {
    const real   *values;               /* of the source; for the sink, the gradient of the result */
    struct watch *watch;
};

void *need(void *p)
{
    if (!p) {
        fprintf(stderr, "bench: out of memory\n");
        exit(1);
    }
    return p;
}

real *values_of(size_t n)
{
    return need(aligned_alloc(64, (n * sizeof(real) / 64 + 1) * 64));
}

real *random_values(size_t n)
{
    uint32_t x = 1;
    real *v = values_of(n);
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;                 /* Numerical Recipes' generator: quick */
        v[i] = (real)((double)x / 2147483648.0 - 1);
    }
    return v;
}

static void source_forward(gra_tensor *y)
{
    const struct args *a = y->args;
    memcpy(y->data, a->values, y->size * sizeof(real));
}

static void source_backward(gra_tensor *y)
{
    const struct args *a = y->args;
    if (a->watch->to <= 0)              /* the first of several */
        a->watch->to = now();
}

static void sink_forward(gra_tensor *y)
{
    y->data[0] = y->in[0]->data[0];
}

static void sink_backward(gra_tensor *y)
{
    const struct args *a = y->args;
    memcpy(y->in[0]->grad, a->values, y->in[0]->size * sizeof(real));
    a->watch->from = now();
}

static gra_tensor *source(gra_tape *t, gra_tensor *seed, const op_case *c, struct args a)
{
    static const gra_op op = { .name = "source", .forward = source_forward, .backward = source_backward,
                               .args = sizeof(struct args) };
    gra_tensor *y = gra_result(t, &op, c->shape, seed);
    *(struct args *)y->args = a;
    return gra_run(y);
}

static gra_tensor *sink(gra_tape *t, gra_tensor *x, struct args a)
{
    static const gra_op op = { .name = "sink", .forward = sink_forward, .backward = sink_backward,
                               .args = sizeof(struct args) };
    gra_tensor *y = gra_result(t, &op, GRA_SCALAR, x);
    *(struct args *)y->args = a;
    return gra_run(y);
}

void time_op(const bench *b, int threads, const op_case *c, double *forward, double *backward)
{
    gra_rng rng;
    struct watch watch;
    size_t size;
    gra_manual_seed(&rng, 1);
    gra_shape_size(c->shape, &size);
    real *values = random_values(size);
    gra_tape *t = need(gra_open(threads));
    gra_model *m = need(gra_model_open(t, &rng));
    gra_tensor *seed = gra_param(gra_root(m), "seed", gra_init_ones(), GRA_SCALAR), *x[3];
    samples f = samples_begin(b->seconds, 5), g = f;
    for (int warm = 2; warm || samples_needed(&f);) {
        watch = (struct watch){ 0 };
        gra_begin(t, GRA_TRAIN, &rng);
        for (int i = 0; i < c->inputs; i++)
            x[i] = source(t, seed, c, (struct args){ values, &watch });
        double begun = now();
        gra_tensor *y = c->make(t, x, c->arg);
        double made = now();
        gra_backward(t, sink(t, y, (struct args){ values, &watch }));
        double ended = watch.to > 0 ? watch.to : now();
        if (warm) {                     /* the tape's memory grows in one step, is merged in the next */
            warm--;
            continue;
        }
        samples_add(&f, made - begun);
        samples_add(&g, ended - watch.from);
    }
    *forward = samples_fastest(&f);
    *backward = samples_fastest(&g);
    gra_model_close(m);
    gra_close(t);
    free(values);
}
