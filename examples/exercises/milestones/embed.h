/* embed: the functions of exercise 12 as an op of the tape: y (n, dim) from the table w (vocab, dim). */
#ifndef MILESTONES_EMBED_H
#define MILESTONES_EMBED_H

#include "../exercises.h"

struct embed_args {
    const int *ids;
};

static inline void embed_forward(gra_tensor *y)
{
    const struct embed_args *args = (const void *)y->args;
    embedding(y->in[0]->data, args->ids, y->data, y->shape.dim[0], y->shape.dim[1]);
}

static inline void embed_backward(gra_tensor *y)
{
    const struct embed_args *args = (const void *)y->args;
    embedding_backward(args->ids, y->grad, y->in[0]->grad, y->shape.dim[0], y->shape.dim[1]);
}

/* The ids are not copied: they must stay until the backward. */
static inline gra_tensor *embed(gra_tape *t, gra_tensor *w, const int *ids, int n)
{
    static const gra_op op = { .name = "my_embedding", .forward = embed_forward, .backward = embed_backward,
                               .args = sizeof(struct embed_args) };
    gra_tensor *y = gra_result(t, &op, GRA_SHAPE(n, gra_dim(w, 1)), w);
    ((struct embed_args *)y->args)->ids = ids;
    return gra_run(y);
}

#endif
