/* map: from keys of 64 bits to indices. */
#ifndef EXAMPLES_TOKENIZER_MAP_H
#define EXAMPLES_TOKENIZER_MAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct map {                    /* all zeros: empty */
    struct slot { uint64_t key; uint32_t next; } *slots;        /* next: 1 + index; 0: free */
    size_t room, used;                  /* room: 0 or a power of two, at least twice the used slots */
} map;

int64_t map_find(const map *m, uint64_t key);                   /* the index; -1: none */
int     map_add(map *m, uint64_t key, size_t index);            /* the key is new. 0; -1: out of memory */

/* An array to which items are added one by one, with room for one more after the first `used` items, of so
 * many bytes each; NULL: out of memory, and the array is unchanged. */
void   *one_more(void *array, size_t used, size_t bytes);

#endif
