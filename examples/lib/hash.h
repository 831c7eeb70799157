/* hash: one number for many bytes, to tell whether they are still the same: FNV-1a, eight bytes at a time.
 *
 *     uint64_t h = hash_bytes(HASH_BEGIN, text, n);
 */
#ifndef EXAMPLES_HASH_H
#define EXAMPLES_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN 14695981039346656037u
#define HASH_TEXT  17

uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n);   /* h and then these */
char    *hash_text(uint64_t h, char text[HASH_TEXT]);           /* 16 digits */

#endif
