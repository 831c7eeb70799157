/* utf8: which bytes are a character of UTF-8. */
#ifndef EXAMPLES_UTF8_H
#define EXAMPLES_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* How many bytes the UTF-8 character at s has, of n that are left; 0: it is none (a stray byte, a longer form
 * than needed, half of a UTF-16 pair, beyond U+10FFFF). */
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

#endif
