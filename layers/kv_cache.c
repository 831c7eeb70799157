/* The key-value cache: the keys and values of a sequence, block by block. The caller owns it, since it
 * outlives a step and is not part of the model. */
#include "../core/base/system.h"
#include "given.h"
#include "gpt.h"
#include <stdlib.h>

int gra_kv_cache_open(gra_kv_cache *c, const struct gra_gpt *g)
{
    enum { LINE = 64 };
    if (!c || !g)                       /* there is no tape to keep the error */
        gra_fail(NULL, "gra_kv_cache_open: got NULL for the %s, expected the address of its struct",
                 c ? "GPT" : "cache");
    const int blocks = g->config.n_layers, context = g->config.context_length, width = g->config.emb_dim;
    size_t n;
    *c = (gra_kv_cache){ 0 };
    if (!g->trf_blocks || !gra_shape_size(GRA_SHAPE(2, blocks, context, width), &n))
        return -1;
    real *rows = aligned_alloc(LINE, (n * sizeof(real) + LINE - 1) / LINE * LINE);
    if (!rows)
        return -1;
    *c = (gra_kv_cache){ .rows = rows, .blocks = blocks, .context_length = context, .width = width };
    return 0;
}

void gra_kv_cache_clear(gra_kv_cache *c)
{
    c->time = 0;
}

void gra_kv_cache_close(gra_kv_cache *c)
{
    if (!c)
        return;
    free_aligned(c->rows);
    *c = (gra_kv_cache){ 0 };
}
