/* Embedding: y_i = W[ids_i], a row of W (num_embeddings, embedding_dim) for each id.
 * Positional: y_t = x_t + W[first + t], a row of W (context_length, embedding_dim) for each position. */
#include "given.h"

static gra_tensor *make_rows(gra_scope scope, const char *layer, const char *name, int rows, int dim,
                             gra_init init)
{
    gra_given_size(scope.model, layer, name, rows);
    gra_given_size(scope.model, layer, "embedding_dim", dim);
    return gra_param(scope, "weight", init.fill ? init : gra_init_normal(0, 1), GRA_SHAPE(rows, dim));
}

void gra_embedding_init(struct gra_embedding *l, gra_scope scope, int num_embeddings, int embedding_dim)
{
    gra_embedding_init_with(l, scope, num_embeddings, embedding_dim, (gra_init){ 0 });
}

void gra_embedding_init_with(struct gra_embedding *l, gra_scope scope, int num_embeddings, int embedding_dim,
                             gra_init weight)
{
    if (gra_given_to_init(scope, "embedding", l))
        l->weight = make_rows(scope, "embedding", "num_embeddings", num_embeddings, embedding_dim, weight);
}

gra_tensor *gra_embedding_forward(gra_tape *t, const struct gra_embedding *l, const int *ids,
                                  gra_shape shape)
{
    if (!gra_given_to_forward(t, "embedding", l))
        return gra_empty(t);
    return gra_embedding(t, l->weight, ids, shape);
}

void gra_positional_embedding_init(struct gra_positional_embedding *l, gra_scope scope, int context_length,
                                   int embedding_dim)
{
    gra_positional_embedding_init_with(l, scope, context_length, embedding_dim, (gra_init){ 0 });
}

void gra_positional_embedding_init_with(struct gra_positional_embedding *l, gra_scope scope,
                                        int context_length, int embedding_dim, gra_init weight)
{
    if (gra_given_to_init(scope, "positional_embedding", l))
        l->weight = make_rows(scope, "positional_embedding", "context_length", context_length, embedding_dim,
                              weight);
}

gra_tensor *gra_positional_embedding_forward_from(gra_tape *t, const struct gra_positional_embedding *l,
                                                  gra_tensor *x, int first)
{
    if (!gra_given_to_forward(t, "positional_embedding", l) ||
        GRA_BAD_INPUTS(t, "positional_embedding", x, l->weight))
        return gra_empty(t);
    const int context_length = l->weight->shape.dim[0], dim = l->weight->shape.dim[1], time = gra_dim(x, -2);
    if (x->shape.ndim < 2 || gra_dim(x, -1) != dim)
        return gra_fail(t, "positional_embedding: got x %s, expected (..., time, %d)", GRA_SHAPE_OF(x), dim);
    if (first < 0)
        return gra_fail(t, "positional_embedding: got first %d, expected 0 or more", first);
    if (time > context_length - first)
        return gra_fail(t, "positional_embedding: got %lld tokens, expected at most the context length "
                        "%d", (long long)first + time, context_length);
    gra_tensor *rows = gra_slice(t, l->weight, 0, first, first + time);         /* (time, dim) */
    return gra_add(t, x, rows);                         /* each sequence of the batch gets the same rows */
}

gra_tensor *gra_positional_embedding_forward(gra_tape *t, const struct gra_positional_embedding *l,
                                             gra_tensor *x)
{
    return gra_positional_embedding_forward_from(t, l, x, 0);
}
