/* error: records an error, and aborts if nothing can keep the error. */
#include "base.h"

#include <stdlib.h>

/* A name from a file may contain any bytes: each byte that is not printable becomes a '?'. */
static void make_printable(char *s)
{
    for (const char *end = s + strlen(s); s < end;) {
        const char *next = s;
        const int32_t c = gra_utf8(&next, end);
        const size_t n = c < 0 ? 1 : (size_t)(next - s);
        if (!gra_is_printable(c))
            memset(s, '?', n);
        s += n;
    }
}

void gra_failure_about(gra_failure *e, const char *path)
{
    path = path && *path ? path : "a file without a name";
    /* only the end of a long path is shown, with the name of the file */
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
    fflush(stdout);                                     /* makes earlier output come first */
    va_start(args, format);
    fputs("gradus: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\n", stderr);
    va_end(args);
    abort();
}
