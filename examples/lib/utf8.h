/* utf8: valid UTF-8. */
#ifndef EXAMPLES_UTF8_H
#define EXAMPLES_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The length in bytes of the UTF-8 character at s, of which n bytes are left; 0: not one (a stray byte, an
 * overlong form, a surrogate, beyond U+10FFFF). */
static inline size_t utf8_length(const unsigned char *s, size_t n)
{
    const unsigned c = s[0];
    const size_t length = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3
                          : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    if (length > n)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    const bool bad = (c == 0xe0 && s[1] < 0xa0) || (c == 0xed && s[1] >= 0xa0) ||
                     (c == 0xf0 && s[1] < 0x90) || (c == 0xf4 && s[1] >= 0x90);
    return bad ? 0 : length;
}

/* How many of the last bytes of s begin a character that more bytes could complete. */
static inline size_t utf8_unfinished(const char *s, size_t n)
{
    for (size_t k = 1; k <= 3 && k <= n; k++) {
        const unsigned char c = (unsigned char)s[n - k];
        if ((c & 0xc0) != 0x80)
            return k < (c < 0xc2 || c > 0xf4 ? 1u : c < 0xe0 ? 2u : c < 0xf0 ? 3u : 4u) ? k : 0;
    }
    return 0;
}

#endif
