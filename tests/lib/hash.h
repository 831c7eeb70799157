/* hash.h: the 64-bit FNV-1a hash of a sequence of numbers: start with HASH_START and add each in turn. The
 * least significant byte of each number comes first, whatever the machine's byte order. */
#ifndef TESTS_HASH_H
#define TESTS_HASH_H

#include <stdint.h>

#define HASH_START 0xcbf29ce484222325u

static inline uint64_t hash_bits(uint64_t hash, uint64_t bits, int bytes)
{
    for (int i = 0; i < bytes; i++)
        hash = (hash ^ (bits >> 8 * i & 255)) * 0x100000001b3u;
    return hash;
}

#endif
