/* hash: h = (h ^ the next eight bytes) * prime. Every step can be undone, so two texts of one length that
 * differ in one place alone never have the same hash. */
#include "hash.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    static const uint64_t prime = 1099511628211u;
    const char *at = bytes;
    uint64_t word;
    for (; n >= sizeof word; n -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        h = (h ^ word) * prime;
    }
    for (; n > 0; n--)
        h = (h ^ (unsigned char)*at++) * prime;
    return h;
}

char *hash_text(uint64_t h, char text[HASH_TEXT])
{
    snprintf(text, HASH_TEXT, "%016" PRIx64, h);
    return text;
}
