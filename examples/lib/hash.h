/* hash: FNV-1a, to compare texts and parameters. */
#ifndef EXAMPLES_HASH_H
#define EXAMPLES_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START 14695981039346656037u

/* Mixes n bytes into the hash h, which begins as HASH_START. */
static inline uint64_t hash(uint64_t h, const void *bytes, size_t n)
{
    for (const unsigned char *byte = bytes, *end = byte + n; byte < end; byte++)
        h = (h ^ *byte) * 1099511628211u;
    return h;
}

#endif
