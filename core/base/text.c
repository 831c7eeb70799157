/* text: printable text of names, which may contain any bytes, and texts that grow. */
#include "base.h"
#include <stdlib.h>

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

bool gra_is_printable(int32_t c)
{
    const bool directs = c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
                         (c >= 0x2066 && c <= 0x2069);
    return c >= 0x20 && !(c >= 0x7f && c < 0xa0) && !directs && c != 0xfffe && c != 0xffff;
}

/* The next character of a text that may contain any bytes: '?' for a character that is not printable. */
static int next_char(const char **s, const char *end, char c[4])
{
    const char *from = *s;
    const int32_t code = gra_utf8(s, end);
    *s += code < 0;
    if (!gra_is_printable(code)) {
        c[0] = '?';
        return 1;
    }
    memcpy(c, from, (size_t)(*s - from));
    return (int)(*s - from);
}

int gra_shortened(const char *s, int columns, char *text)
{
    static const char dots[] = "...";
    char c[4];
    int all = 0, at = 0;
    const char *end = s + strlen(s);
    for (const char *p = s; p < end; all++)
        next_char(&p, end, c);
    /* characters on both sides of the dots: more on the right, since the end of a path matters more */
    const int left = (columns - 3) / 4, right = columns - 3 - left;
    for (int i = 0; s < end; i++) {
        const int n = next_char(&s, end, c);
        if (all > columns && i == left) {
            memcpy(text + at, dots, 3);
            at += 3;
        }
        if (all <= columns || i < left || i >= all - right) {
            memcpy(text + at, c, (size_t)n);
            at += n;
        }
    }
    text[at] = '\0';
    return all < columns ? all : columns;
}

char *gra_tensor_text(const gra_tensor *x, char *text)
{
    char name[GRA_COLUMNS_TEXT] = "", shape[GRA_SHAPE_TEXT];
    if (x->name)
        gra_shortened(x->name, 40, name);
    snprintf(text, GRA_TENSOR_TEXT, x->name ? "\"%s\" %s" : "%s%s", name, gra_shape_text(x->shape, shape));
    return text;
}

void gra_decimal_point(char *text)
{
    for (char *c = text; *c; c++)
        if (*c == ',')
            *c = '.';
}

void gra_line_put(gra_line *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(s->s + s->at, sizeof s->s - s->at, format, args);
    va_end(args);
    if (n > 0)
        s->at += (size_t)n < sizeof s->s - s->at ? (size_t)n : sizeof s->s - s->at - 1;
}

void gra_text_put(gra_text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    const size_t n = length < 0 ? 0 : (size_t)length;
    if (!t->failed && t->n + n + 1 > t->room) {
        char *more = realloc(t->s, 2 * (t->n + n + 1));
        t->failed = !more;
        t->s = more ? more : t->s;
        t->room = more ? 2 * (t->n + n + 1) : t->room;
    }
    if (t->failed)
        return;
    va_start(args, format);
    vsnprintf(t->s + t->n, n + 1, format, args);
    va_end(args);
    t->n += n;
}
