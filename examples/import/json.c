/* json: see json.h. */
#include "json.h"

#include <stdint.h>
#include <string.h>

/* ---- parts: each returns what follows; NULL: it is not there, or s was NULL ---- */

static const char *past(const char *s, char c)          /* blanks and c */
{
    s = s ? s + strspn(s, JSON_BLANKS) : NULL;
    return s && *s == c ? s + 1 : NULL;
}

static const char *past_string(const char *s)
{
    s = past(s, '"');
    for (; s && *s && *s != '"'; s++)
        s += *s == '\\' && s[1];
    return s && *s ? s + 1 : NULL;
}

/* A value of any kind; in objects and arrays it only matches brackets. */
static const char *past_value(const char *s)
{
    int depth = 0;
    do {
        s = s ? s + strspn(s, JSON_BLANKS) : NULL;
        if (s && *s == '"') {
            s = past_string(s);
        } else if (s && *s && strchr(depth ? "{[}],:" : "{[", *s)) {
            depth += *s == '{' || *s == '[' ? 1 : *s == '}' || *s == ']' ? -1 : 0;
            s++;
        } else if (s) {
            const size_t word = strcspn(s, " \t\r\n{[}],:\"");
            s = word ? s + word : NULL;
        }
    } while (s && depth > 0);
    return s;
}

/* ---- members ---- */

bool json_open(struct json *j, const char *s, char bracket)
{
    *j = (struct json){ .at = past(s, bracket), .close = bracket == '{' ? '}' : ']' };
    return j->at;
}

bool json_next(struct json *j)
{
    const char *end = past(j->at, j->close);
    const bool first = !j->value;
    if (!end && !first)
        j->at = past(j->at, ',');
    j->name = j->close == '}' && j->at ? j->at + strspn(j->at, JSON_BLANKS) : NULL;
    const char *value = end ? NULL : j->name ? past(past_string(j->name), ':') : j->at;
    j->value = value ? value + strspn(value, JSON_BLANKS) : NULL;
    j->at = end ? end : past_value(j->value);
    return !end && j->at;
}

bool json_is(const char *s, const char *word)
{
    const size_t n = strlen(word);
    return s && *s == '"' && strncmp(s + 1, word, n) == 0 && s[n + 1] == '"';
}

/* ---- strings ---- */

/* The number in \uXXXX; -1: it is none. */
static int32_t unit(const char *s)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    int32_t value = 0;
    if (s[0] != '\\' || s[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        const char *digit = s[i] ? strchr(digits, s[i]) : NULL;
        if (!digit)
            return -1;
        value = value << 4 | ((digit - digits) & 15);
    }
    return value;
}

/* The character of \uXXXX, or of two that are a pair of surrogates; -1: it is none. Moves *s behind it. */
static int32_t escape(const char **s)
{
    const int32_t high = unit(*s), low = high >> 10 == 0xD800 >> 10 ? unit(*s + 6) : 0;
    *s += low ? 12 : 6;
    if (!low)
        return high >> 10 == 0xDC00 >> 10 ? -1 : high;
    return low >> 10 == 0xDC00 >> 10 ? 0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF) : -1;
}

static char *put_utf8(char *to, int32_t c)
{
    static const unsigned char first[] = { 0x00, 0xC0, 0xE0, 0xF0 };
    const int more = (c >= 0x80) + (c >= 0x800) + (c >= 0x10000);
    for (int i = more; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3F));
    to[0] = (char)(first[more] | c);
    return to + more + 1;
}

ptrdiff_t json_string(const char *s, char *to)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *const begin = to;
    for (s = past(s, '"'); s && *s != '"';) {
        const char *known = *s == '\\' && s[1] ? strchr(letters, s[1]) : NULL;
        if (*s != '\\' || known) {
            *to++ = known ? meanings[known - letters] : *s;
            s += known ? 2 : 1;
            continue;
        }
        const int32_t c = escape(&s);
        if (c < 0)
            return -1;
        to = put_utf8(to, c);
    }
    return to - begin;
}

void json_show(char to[JSON_SHOWN], const char *from, const char *end)
{
    size_t n = (size_t)(end - from) < JSON_SHOWN - 1 ? (size_t)(end - from) : JSON_SHOWN - 1;
    for (size_t i = 0; i < n; i++)
        to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
    to[n] = 0;
}
