/* error: see error.h. */
#include "error.h"

#include <stdlib.h>
#include <string.h>

int32_t gra_utf8(const char **s, const char *end)
{
    static const struct { unsigned char mask, lead; int32_t least; } form[] = {
        { 0x80, 0x00, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 },
    };
    const unsigned char *byte = (const unsigned char *)*s;
    for (int n = 0; n < 4 && n < end - *s; n++) {
        if ((byte[0] & form[n].mask) != form[n].lead)
            continue;
        int32_t c = byte[0] & ~form[n].mask;
        for (int i = 1; i <= n; i++) {
            if ((byte[i] & 0xc0) != 0x80)
                return -1;
            c = c * 64 + (byte[i] & 0x3f);
        }
        bool surrogate = c >= 0xd800 && c < 0xe000;
        if (c < form[n].least || c > 0x10ffff || surrogate)
            return -1;
        *s += n + 1;
        return c;
    }
    return -1;
}

bool gra_shows(int32_t c)
{
    const bool turns = c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
                       (c >= 0x2066 && c <= 0x2069);
    return c >= 0x20 && !(c >= 0x7f && c < 0xa0) && !turns && c != 0xfffe && c != 0xffff;
}

/* A name from a file may hold any bytes: of what does not show each byte becomes a '?'. */
static void make_printable(char *s)
{
    for (const char *end = s + strlen(s); s < end;) {
        const char *next = s;
        const int32_t c = gra_utf8(&next, end);
        const size_t n = c < 0 ? 1 : (size_t)(next - s);
        if (!gra_shows(c))
            memset(s, '?', n);
        s += n;
    }
}

void gra_failure_about(gra_failure *e, const char *path)
{
    path = path && *path ? path : "a file without a name";
    /* of a longer path only the end is shown: the file name */
    const size_t n = strlen(path), most = 300;
    snprintf(e->text, sizeof e->text, "%s%s: ", n > most ? "..." : "", n > most ? path + n - most : path);
    e->subject = strlen(e->text);
    e->failed = false;
}

void gra_failure_set_args(gra_failure *e, const char *format, va_list args)
{
    if (e->failed)
        return;
    vsnprintf(e->text + e->subject, sizeof e->text - e->subject, format, args);
    make_printable(e->text + e->subject);
    e->failed = true;
}

bool gra_failure_set(gra_failure *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    gra_failure_set_args(e, format, args);
    va_end(args);
    return false;
}

void        gra_failure_clear(gra_failure *e)      { e->failed = false; }
const char *gra_failure_text(const gra_failure *e) { return e->failed ? e->text : NULL; }

void gra_abort(const char *format, ...)
{
    va_list args;
    fflush(stdout);                                     /* what was printed before stands before it */
    va_start(args, format);
    fputs("gradus: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\n", stderr);
    va_end(args);
    abort();
}
