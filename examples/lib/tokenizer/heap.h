/* heap: the smallest item first, by its two numbers. */
#ifndef EXAMPLES_TOKENIZER_HEAP_H
#define EXAMPLES_TOKENIZER_HEAP_H

#include <stdint.h>
#include <stdlib.h>

typedef struct heap_item { uint64_t first, second; } heap_item;
typedef struct heap {                   /* all zeros: empty; free the items */
    heap_item *items;
    size_t     n, room;
} heap;

static inline int heap_before(heap_item a, heap_item b)
{
    return a.first != b.first ? a.first < b.first : a.second < b.second;
}

static inline int heap_push(heap *h, heap_item x)       /* 0; -1: out of memory */
{
    const size_t room = h->n < h->room ? h->room : 2 * h->room + 64;
    heap_item *items = room == h->room ? h->items : realloc(h->items, room * sizeof x);
    if (!items)
        return -1;
    h->items = items;
    h->room = room;
    size_t i = h->n++;
    for (; i && heap_before(x, items[(i - 1) / 2]); i = (i - 1) / 2)
        items[i] = items[(i - 1) / 2];
    items[i] = x;
    return 0;
}

static inline heap_item heap_pop(heap *h)               /* of a heap that is not empty */
{
    heap_item *items = h->items;
    const heap_item top = items[0], x = items[--h->n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
        child += child + 1 < h->n && heap_before(items[child + 1], items[child]);
        if (!heap_before(items[child], x))
            break;
        items[i] = items[child];
    }
    items[i] = x;
    return top;
}

#endif
