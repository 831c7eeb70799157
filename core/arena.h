/* arena.h: memory that is taken piece by piece and given back all at once. */
#ifndef GRADUS_ARENA_H
#define GRADUS_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gra_arena {
    struct gra_block *block;            /* newest first; each is followed by its memory */
    bool              keeps;            /* what was its memory once stays the program's until gra_arena_free */
    struct gra_block *kept;
} gra_arena;

void *gra_arena_alloc(gra_arena *a, size_t bytes);  /* 64-byte aligned, not zeroed; NULL: out of memory */
void  gra_arena_rewind(gra_arena *a);               /* forget all of it; several blocks become one that holds as much */
void  gra_arena_free(gra_arena *a);

#endif
