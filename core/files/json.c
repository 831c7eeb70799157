/* json: reads objects, strings and counts, and skips the rest. A string must be valid UTF-8, without
 * \u0000. */
#include "json.h"

#include <string.h>

void gra_json_fail(gra_json *j, const char *wrong)
{
    if (!j->wrong)
        j->wrong = wrong;
}

static void skip_blanks(gra_json *j)
{
    while (!j->wrong && j->at < j->end && *j->at && strchr(" \t\n\r", *j->at))
        j->at++;
}

bool gra_json_accept(gra_json *j, char c)
{
    skip_blanks(j);
    if (j->wrong || j->at == j->end || *j->at != c)
        return false;
    j->at++;
    return true;
}

void gra_json_expect(gra_json *j, char c)
{
    static const struct { char c; const char *wrong; } mark[] = {
        { '{', "expected {" }, { '}', "expected , or }" }, { ':', "expected :" },
        { '[', "expected [" }, { ']', "expected , or ]" }, { ',', "expected ," },
        { '"', "expected a string" },
    };
    if (gra_json_accept(j, c))
        return;
    for (size_t i = 0; i < sizeof mark / sizeof *mark; i++)
        if (mark[i].c == c)
            gra_json_fail(j, mark[i].wrong);
}

void gra_json_finish(gra_json *j)
{
    skip_blanks(j);
    if (j->at < j->end)
        gra_json_fail(j, "expected nothing after the last }");
}

/* ---- characters ---- */

static int32_t hex4(const char **s, const char *end)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    int32_t value = 0;
    if (end - *s < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        const char *d = memchr(digits, (*s)[i], sizeof digits - 1);
        if (!d)
            return -1;
        value = value * 16 + (int32_t)((d - digits) % 16);
    }
    *s += 4;
    return value;
}

/* The rest of an escape, after its backslash. Characters past the first 65536 are written as two escapes, a
 * high and a low surrogate; a single surrogate is invalid. */
static int32_t escape(const char **s, const char *end)
{
    static const char letter[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    const char c = *s < end ? *(*s)++ : '\0';
    const char *known = c ? strchr(letter, c) : NULL;
    if (known)
        return means[known - letter];
    if (c != 'u')
        return -1;
    int32_t high = hex4(s, end);
    if (high < 0xd800 || high >= 0xe000)
        return high;
    if (high >= 0xdc00 || end - *s < 2 || (*s)[0] != '\\' || (*s)[1] != 'u')
        return -1;
    *s += 2;
    int32_t low = hex4(s, end);
    return low >= 0xdc00 && low < 0xe000 ? 0x10000 + (high - 0xd800) * 1024 + (low - 0xdc00) : -1;
}

static int32_t character(const char **s, const char *end)
{
    if (**s != '\\')
        return gra_utf8(s, end);
    ++*s;
    return escape(s, end);
}

/* ---- values ---- */

/* The first byte encodes how many bytes of the form 10xxxxxx follow. */
static char *put_utf8(char *to, int32_t c)
{
    static const unsigned char lead[] = { 0x00, 0xc0, 0xe0, 0xf0 };
    const int more = (c >= 0x80) + (c >= 0x800) + (c >= 0x10000);
    for (int i = more; i > 0; i--, c /= 64)
        to[i] = (char)(0x80 | c % 64);
    to[0] = (char)(lead[more] | c);
    return to + more + 1;
}

/* A character is never longer than its escape, so the string can be decoded in place. */
char *gra_json_string(gra_json *j)
{
    gra_json_expect(j, '"');
    char *s = j->at, *to = s;
    while (!j->wrong && j->at < j->end && *j->at != '"') {
        const char *next = j->at;
        const bool control = (unsigned char)*next < 0x20;
        const int32_t c = control ? -1 : character(&next, j->end);
        if (c <= 0)
            gra_json_fail(j, control  ? "got a control character in a string"
                             : c == 0 ? "got \\u0000 in a string"
                                      : "got an invalid escape in a string");
        else {
            to = put_utf8(to, c);
            j->at += next - j->at;
        }
    }
    if (j->at == j->end)
        gra_json_fail(j, "expected the end of a string");
    if (j->wrong)
        return NULL;
    j->at++;
    *to = '\0';                         /* in place of the closing quote, or before it */
    return s;
}

uint64_t gra_json_count(gra_json *j)
{
    uint64_t value = 0;
    skip_blanks(j);
    const char *s = j->at;
    while (!j->wrong && j->at < j->end && *j->at >= '0' && *j->at <= '9') {
        unsigned digit = (unsigned)(*j->at - '0');
        if (value > (UINT64_MAX - digit) / 10)
            gra_json_fail(j, "expected a number of at most 64 bits");
        else
            j->at++;
        value = value * 10 + digit;
    }
    if (j->at == s || (*s == '0' && j->at - s > 1))
        gra_json_fail(j, "expected a whole number: 0, 1, 2 ...");
    return j->wrong ? 0 : value;
}

static void skip_string(gra_json *j)
{
    for (j->at++; j->at < j->end && *j->at != '"'; j->at++)
        j->at += *j->at == '\\' && j->end - j->at > 1;
    if (j->at == j->end)
        gra_json_fail(j, "expected the end of a string");
    else
        j->at++;
}

/* Of objects and arrays, only the brackets are matched. */
gra_json gra_json_skip(gra_json *j)
{
    static const char ends[] = " \t\n\r{[}],:\"";
    skip_blanks(j);
    gra_json value = *j;
    int depth = 0;
    if (j->wrong)
        return value;
    do {
        skip_blanks(j);
        const char c = j->at < j->end ? *j->at : '\0';
        if (c == '"') {
            skip_string(j);
        } else if (c && strchr(depth ? "{[}],:" : "{[", c)) {
            depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
            j->at++;
        } else {
            const char *word = j->at;
            while (j->at < j->end && *j->at && !strchr(ends, *j->at))
                j->at++;
            if (j->at == word)
                gra_json_fail(j, "expected a value");
        }
    } while (!j->wrong && depth > 0);
    value.end = j->at;
    return value;
}
