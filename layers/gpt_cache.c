/* GPT's cache: the keys and values of a sequence, block by block. It is the one thing here that the caller
 * owns, since it outlives a step and is no part of the model. */
#include "layers.h"
#include "../core/op.h"
#include <stdlib.h>

int gra_gpt_cache_open(gra_gpt_cache *c, const struct gra_gpt *g)
{
    enum { LINE = 64 };
    const gra_gpt_config *config = &g->config;
    size_t n;
    *c = (gra_gpt_cache){ 0 };
    if (!g->trf_blocks ||
        !gra_shape_size(GRA_SHAPE(2, config->n_layers, config->context_length, config->emb_dim), &n))
        return -1;
    real *rows = aligned_alloc(LINE, (n * sizeof(real) + LINE - 1) / LINE * LINE);
    if (!rows)
        return -1;
    *c = (gra_gpt_cache){ .gpt = g, .rows = rows };
    return 0;
}

void gra_gpt_cache_clear(gra_gpt_cache *c)
{
    c->time = 0;
}

void gra_gpt_cache_close(gra_gpt_cache *c)
{
    free(c->rows);
    *c = (gra_gpt_cache){ 0 };
}

gra_past gra_gpt_cache_past(const gra_gpt_cache *c, int block)
{
    const gra_gpt_config *config = &c->gpt->config;
    const size_t size = (size_t)config->context_length * (size_t)config->emb_dim;
    real *keys = c->rows + 2 * (size_t)block * size;
    return (gra_past){ .keys = keys, .values = keys + size, .time = c->time };
}
