/* hash.h: FNV-1a, 64 bits: a hash of many numbers, which begins with HASH_START and takes each in turn. It is
 * of bits and not of bytes in memory, whose order is the machine's: the least significant byte comes
 * first. */
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
