/* alloc: malloc, calloc, realloc and aligned_alloc, counted. The Makefile links with
 * -Wl,--wrap=malloc,... and defines GRADUS_WRAP where the linker knows that. */
#include "alloc.h"

#include <stdatomic.h>

static atomic_long calls;
static atomic_size_t largest;

#ifdef GRADUS_WRAP
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static void count(size_t size)
{
    atomic_fetch_add(&calls, 1);
    for (size_t most = atomic_load(&largest); size > most;)
        if (atomic_compare_exchange_weak(&largest, &most, size))
            break;
}

void *__wrap_malloc(size_t size)
{
    count(size);
    return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    count(n * size);
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    count(size);
    return __real_realloc(p, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    count(size);
    return __real_aligned_alloc(alignment, size);
}

bool alloc_counted(void) { return true; }
#else
bool alloc_counted(void) { return false; }
#endif

long   alloc_calls(void)   { return atomic_load(&calls); }
size_t alloc_largest(void) { return atomic_exchange(&largest, 0); }
