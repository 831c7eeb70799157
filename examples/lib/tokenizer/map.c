/* map: open addressing. The keys are numbers or hashes; their high bits choose the slot. */
#include "map.h"
#include <stdlib.h>

static size_t find_slot(const map *m, uint64_t key)
{
    size_t i = (size_t)(key * 0x9E3779B97F4A7C15u >> 32) & (m->room - 1);
    while (m->slots[i].next && m->slots[i].key != key)
        i = (i + 1) & (m->room - 1);
    return i;
}

int64_t map_find(const map *m, uint64_t key)
{
    return m->room ? (int64_t)m->slots[find_slot(m, key)].next - 1 : -1;
}

int map_add(map *m, uint64_t key, size_t index)
{
    if (2 * m->used >= m->room) {
        map more = { .room = m->room ? 2 * m->room : 16, .used = m->used };
        more.slots = index < UINT32_MAX ? calloc(more.room, sizeof *more.slots) : NULL;
        if (!more.slots)
            return -1;
        for (size_t i = 0; i < m->room; i++)
            if (m->slots[i].next)
                more.slots[find_slot(&more, m->slots[i].key)] = m->slots[i];
        free(m->slots);
        *m = more;
    }
    m->slots[find_slot(m, key)] = (struct slot){ key, (uint32_t)index + 1 };
    m->used++;
    return 0;
}

/* Arrays double when their number of items is a power of two. */
void *one_more(void *array, size_t used, size_t bytes)
{
    const size_t least = 16;
    if (used < least ? used > 0 : (used & (used - 1)) != 0)
        return array;
    return realloc(array, (used < least ? least : 2 * used) * bytes);
}
