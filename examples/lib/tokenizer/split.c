/* split: the pieces that GPT-2 cuts a text into, each of which is encoded separately. At each place the piece
 * is the first of these that fits:
 *
 *     's 't 'm 'd 're 've 'll                             of English, lower case
 *     letters, or numbers, or other characters            with the blank before them, if there is one
 *     white space                                         all; before something else, all but the last
 *
 * Unicode's categories tell what kind a character is. A byte that is in no character counts as "other". */
#include "../utf8.h"
#include "internal.h"
#include "unicode.h"
#include <string.h>

typedef enum kind { OTHER, LETTER, NUMBER, SPACE, END } kind;

static bool is_in(const struct range *ranges, size_t n, uint32_t c)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (c > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && c >= ranges[low].first;
}

#define IS_IN(ranges, c) is_in(ranges, sizeof ranges / sizeof *ranges, c)

/* The kind of the character at s, and its length in bytes. */
static kind kind_at(const unsigned char *s, const unsigned char *end, size_t *length)
{
    *length = s < end;
    if (s == end)
        return END;
    uint32_t c = *s;
    if (c < 0x80)
        return (c | 32) >= 'a' && (c | 32) <= 'z' ? LETTER : c >= '0' && c <= '9' ? NUMBER
               : c == ' ' || (c >= '\t' && c <= '\r') ? SPACE : OTHER;
    const size_t n = utf8_length(s, (size_t)(end - s));
    if (n == 0)
        return OTHER;
    *length = n;
    c &= 0x7Fu >> n;
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (s[i] & 0x3Fu);
    return IS_IN(letters, c) ? LETTER : IS_IN(numbers, c) ? NUMBER : IS_IN(spaces, c) ? SPACE : OTHER;
}

/* The length of 's, 're and the like at s; 0: it is none. */
static size_t contraction(const unsigned char *s, const unsigned char *end)
{
    static const char *const all[] = { "'s", "'t", "'m", "'d", "'re", "'ve", "'ll" };
    for (size_t i = 0; i < sizeof all / sizeof *all && *s == '\''; i++) {
        const size_t n = strlen(all[i]);
        if ((size_t)(end - s) >= n && memcmp(s, all[i], n) == 0)
            return n;
    }
    return 0;
}

size_t split(const char *text, size_t size)
{
    const unsigned char *const begin = (const unsigned char *)text, *const end = begin + size, *s = begin;
    size_t n = contraction(s, end), m;
    if (n)
        return n;
    const kind next = *s == ' ' ? kind_at(s + 1, end, &m) : SPACE;
    s += next != SPACE && next != END;
    const kind run = kind_at(s, end, &n);
    const unsigned char *last = s;      /* the last character of the run */
    for (; kind_at(s, end, &n) == run; s += n)
        last = s;
    return (size_t)((run == SPACE && s < end && last > begin ? last : s) - begin);
}
