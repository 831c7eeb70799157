/* arena: a bump allocator over a growing list of blocks. Every piece starts on a cache line. A step
 * that needed several blocks leaves one block as large as all of them to the next step, so a loop of
 * equal steps soon allocates nothing at all. */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>

#define LINE        ((size_t)64)
#define FIRST_BLOCK ((size_t)64 << 10)

struct gra_block {
    struct gra_block *older;
    size_t            size, used;       /* of the memory behind this header */
};

/* size: at most half of SIZE_MAX, as twice what there is and a piece are. */
static struct gra_block *new_block(size_t size)
{
    struct gra_block *b = aligned_alloc(LINE, LINE + size);
    if (b)
        *b = (struct gra_block){ .size = size };
    return b;
}

void *gra_arena_alloc(gra_arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 4)
        return NULL;
    bytes = (bytes + LINE - 1) / LINE * LINE;
    struct gra_block *b = a->block;
    if (!b || b->size - b->used < bytes) {
        size_t size = b ? 2 * b->size : FIRST_BLOCK;
        if (size < bytes)
            size = bytes;
        b = new_block(size);
        if (!b && size > bytes)         /* no room to grow generously: take what is needed */
            b = new_block(bytes);
        if (!b)
            return NULL;
        b->older = a->block;
        a->block = b;
    }
    void *piece = (char *)b + LINE + b->used;
    b->used += bytes;
    return piece;
}

static void free_blocks(struct gra_block *b)
{
    while (b) {
        struct gra_block *older = b->older;
        free(b);
        b = older;
    }
}

static void part_with(gra_arena *a, struct gra_block *b)
{
    struct gra_block *last = b;
    while (last->older)
        last = last->older;
    if (a->keeps) {
        last->older = a->kept;
        a->kept = b;
    } else {
        free_blocks(b);
    }
}

void gra_arena_rewind(gra_arena *a)
{
    struct gra_block *b = a->block;
    if (!b)
        return;
    if (b->older) {
        size_t all = LINE;              /* what was really used, blocks' unused ends left out, and a line */
        for (struct gra_block *o = b; o; o = o->older)
            all += o->used;
        part_with(a, b->older);
        b->older = NULL;
        if (all > b->size) {
            part_with(a, b);
            b = new_block(all);
            a->block = b;               /* NULL: the next piece asks again */
        }
    }
    if (b)
        b->used = 0;
}

void gra_arena_free(gra_arena *a)
{
    free_blocks(a->block);
    free_blocks(a->kept);
    a->block = a->kept = NULL;
}
