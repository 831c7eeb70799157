/* screen_text: see screen_text.h. */
#include "screen_text.h"
#include "../../lib/message.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TAB = 4 };

void page_clear(struct page *p)
{
    p->n = p->mark = 0;
}

/* Appends one line: `before` and n bytes of text. */
static void append(struct page *p, enum page_style style, const char *before, const char *text, size_t n)
{
    if (p->n == PAGE_LINES)
        return;
    struct page_line *l = &p->line[p->n++];
    l->style = style;
    snprintf(l->text, sizeof l->text, "%s%.*s", before, (int)n, text);
    for (size_t end = strlen(l->text); end && l->text[end - 1] == ' ';)
        l->text[--end] = 0;
}

/* The number of bytes that fit in a line: up to the last blank, or the whole width within a long word. */
static size_t fitting(const char *text, size_t n, size_t width)
{
    const size_t at = say_fitting(text, n, width);
    return n <= width || (at > width / 3 && at <= width) ? at : width;
}

static void add_line(struct page *p, enum page_style style, char *before, const char *text, size_t n)
{
    const size_t width = PAGE_COLUMNS - strlen(before);
    do {
        const size_t fits = fitting(text, n, width);
        append(p, style, before, text, fits);
        memset(before, ' ', strlen(before));
        text += fits, n -= fits;
        while (n && fits && *text == ' ')
            text++, n--;
    } while (n);
}

void page_add(struct page *p, enum page_style style, const char *before, const char *text, size_t n)
{
    char margin[PAGE_COLUMNS / 2], line[4000];
    size_t at = 0;
    snprintf(margin, sizeof margin, "%s", before);
    if (!n)
        append(p, style, "", "", 0);
    for (size_t i = 0; n && i <= n; i++) {
        const unsigned char c = i < n ? (unsigned char)text[i] : '\n';
        if (c == '\n') {
            if (i < n || at)                                    /* no line after the last newline */
                add_line(p, style, margin, line, at);
            at = 0;
        } else if (c == '\t' && at + TAB < sizeof line)
            memset(line + at, ' ', TAB), at += TAB;
        else if (at < sizeof line)
            line[at++] = c >= ' ' && c < 127 ? (char)c : '.';
    }
}

void page_addf(struct page *p, enum page_style style, const char *before, const char *format, ...)
{
    char text[7000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    page_add(p, style, before, text, strlen(text));
}
