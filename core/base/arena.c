/* arena: a bump allocator over a growing list of blocks. Every piece starts on a cache line.
 *
 * AddressSanitizer reports reads and writes of free memory, which is poisoned here, for example if a program
 * reads a tensor of an earlier step. */
#include "base.h"
#include "system.h"

#include <stdint.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#define POISONS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONS
#endif
#endif
#ifdef POISONS
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

#define LINE        ((size_t)64)
#define FIRST_BLOCK ((size_t)64 << 10)

struct gra_block {
    struct gra_block *next;
    size_t            size, used;       /* bytes after this header */
};

/* LINE + size cannot overflow: a piece has at most SIZE_MAX / 4 bytes, and a block at most twice as many. */
static struct gra_block *new_block(size_t size)
{
    struct gra_block *b = aligned_alloc(LINE, LINE + size);
    if (!b)
        return NULL;
    *b = (struct gra_block){ .size = size };
    POISON((char *)b + LINE, size);
    return b;
}

static void free_block(struct gra_block *b)
{
    UNPOISON((char *)b + LINE, b->size);
    free_aligned(b);
}

/* Adds a block of at least `bytes` bytes after `last`, which is NULL in an empty arena. */
static struct gra_block *append(gra_arena *a, struct gra_block *last, size_t bytes)
{
    size_t size = last ? 2 * last->size : FIRST_BLOCK;
    if (size < bytes)
        size = bytes;
    struct gra_block *b = new_block(size);
    if (!b && size > bytes)             /* no memory for a block of double size: request only `bytes` */
        b = new_block(bytes);
    if (b)
        *(last ? &last->next : &a->first) = b;
    return b;
}

void *gra_arena_alloc(gra_arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 4)
        return NULL;
    bytes = (bytes + LINE - 1) / LINE * LINE;
    struct gra_block *b = a->at;
    while (b && b->size - b->used < bytes && b->next)   /* skip blocks, kept by rewind, that are too small */
        b = b->next;
    if (!b || b->size - b->used < bytes)
        b = append(a, b, bytes);
    if (!b)
        return NULL;
    a->at = b;
    void *piece = (char *)b + LINE + b->used;
    b->used += bytes;
    UNPOISON(piece, bytes);
    return piece;
}

/* Makes sure that one block has this many bytes, which then fit however full the earlier blocks are. */
bool gra_arena_reserve(gra_arena *a, size_t bytes)
{
    struct gra_block *last = NULL;
    for (struct gra_block *b = a->first; b; b = b->next) {
        if (b->size >= bytes)
            return true;
        last = b;
    }
    if (!append(a, last, bytes))
        return false;
    if (!a->at)
        a->at = a->first;
    return true;
}

size_t gra_arena_used(const gra_arena *a)
{
    size_t used = 0;
    for (const struct gra_block *b = a->first; b; b = b->next)
        used += b->used;
    return used;
}

gra_arena_mark gra_arena_here(const gra_arena *a)
{
    return (gra_arena_mark){ a->at, a->at ? a->at->used : 0 };
}

void gra_arena_back(gra_arena *a, gra_arena_mark to)
{
    a->at = to.at ? to.at : a->first;
    for (struct gra_block *b = a->at; b; b = b->next, to.used = 0) {
        POISON((char *)b + LINE + to.used, b->used - to.used);
        b->used = to.used;
    }
}

void gra_arena_rewind(gra_arena *a) { gra_arena_back(a, (gra_arena_mark){ 0 }); }

/* Blocks grow, so the last block is often large enough; otherwise one block with room for all that was used
 * replaces them. */
void gra_arena_merge(gra_arena *a)
{
    const size_t used = gra_arena_used(a);
    while (a->first && (a->first->next || a->first->size < used)) {
        struct gra_block *next = a->first->next;
        free_block(a->first);
        a->first = next;
    }
    if (!a->first && used)
        a->first = new_block(used);     /* NULL if out of memory: gra_arena_alloc tries again */
    gra_arena_rewind(a);
}

void gra_arena_free(gra_arena *a)
{
    for (struct gra_block *b = a->first, *next; b; b = next) {
        next = b->next;
        free_block(b);
    }
    *a = (gra_arena){ 0 };
}
