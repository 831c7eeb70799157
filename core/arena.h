/* arena.h: memory that is taken piece by piece and given back all at once. */
#ifndef GRADUS_ARENA_H
#define GRADUS_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gra_arena {
    struct gra_block *first, *at;       /* the blocks in the order in which they are filled; `at` is being filled */
} gra_arena;

void  *gra_arena_alloc(gra_arena *a, size_t bytes); /* 64-byte aligned, not zeroed; NULL: out of memory */
bool   gra_arena_reserve(gra_arena *a, size_t bytes); /* from the next rewind on, so many bytes need no malloc */
size_t gra_arena_used(const gra_arena *a);          /* bytes */
void   gra_arena_rewind(gra_arena *a);              /* empty it. Its blocks stay where they are, to be filled again in order */
void   gra_arena_merge(gra_arena *a);               /* empty it. Several blocks become one that holds as much */
void   gra_arena_free(gra_arena *a);

#endif
