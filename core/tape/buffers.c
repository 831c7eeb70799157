/* buffers: the memory of a step: its arenas, and recycled buffers of values or gradients. */
#include "tape.h"

static void *alloc_from(gra_tape *t, gra_arena *arena, size_t bytes)
{
    void *p = t->error.failed ? NULL : gra_arena_alloc(arena, bytes);
    if (!p)
        gra_fail(t, "out of memory: this step needs %zu more bytes", bytes);
    return p;
}

void *gra_header_alloc(gra_tape *t, size_t bytes)
{
    return alloc_from(t, &t->headers[t->arena_index], bytes);
}

void *gra_alloc_in(gra_tape *t, gra_arena *arena, size_t bytes)
{
    if (!t->guards_memory || bytes > SIZE_MAX / 4)      /* too large: alloc_from reports it */
        return alloc_from(t, arena, bytes);
    char *room = alloc_from(t, arena, bytes + 2 * GRA_WATCH_ROOM);
    for (int i = 0; room && i < GRA_WATCHES; i++)
        if (t->watch[i] && t->watch[i]->on_alloc)
            t->watch[i]->on_alloc(t->watcher[i], room + GRA_WATCH_ROOM, bytes);
    return room ? room + GRA_WATCH_ROOM : NULL;
}

void *gra_alloc(gra_tape *t, size_t bytes)
{
    gra_need_tape(t, __func__);
    return gra_alloc_in(t, t->inside ? &t->inner : &t->arena, bytes);
}

/* ---- recycled buffers ---- */

struct gra_free_grad {              /* a free list of gradient buffers, linked through the buffers */
    struct gra_free_grad *next;
    size_t                size;         /* how many values */
};

real *gra_grad_take(gra_tape *t, size_t size)
{
    for (struct gra_free_grad **g = &t->free_grads; *g; g = &(*g)->next)
        if ((*g)->size == size) {
            struct gra_free_grad *found = *g;
            *g = found->next;
            return (real *)found;
        }
    size_t bytes = size * sizeof(real);
    if (bytes < sizeof(struct gra_free_grad) && !t->guards_memory)
        bytes = sizeof(struct gra_free_grad);
    return gra_alloc_in(t, &t->arena, bytes);
}

void gra_grad_give_back(gra_tape *t, size_t size, real *grad)
{
    struct gra_free_grad *g = (struct gra_free_grad *)(void *)grad;
    if (t->guards_memory)
        return;
    *g = (struct gra_free_grad){ t->free_grads, size };
    t->free_grads = g;
}

void gra_free_values(gra_tape *t, gra_tensor *y)
{
    if (!y->forgotten || !y->data || t->guards_memory)
        return;
    gra_grad_give_back(t, y->size, y->data);
    y->data = NULL;
}

static size_t in_reals(size_t n) { return n * (sizeof(double) / sizeof(real)); }

double *gra_sums_take(gra_tape *t, size_t n)
{
    void *sums = gra_grad_take(t, in_reals(n));
    return sums ? memset(sums, 0, n * sizeof(double)) : NULL;
}

void gra_sums_give_back(gra_tape *t, size_t n, double *sums)
{
    gra_grad_give_back(t, in_reals(n), (real *)(void *)sums);
}
