/* screen_text: text in lines that fit a terminal of 80 columns. */
#ifndef RUNNER_PAGE_H
#define RUNNER_PAGE_H

#include <stddef.h>

enum { PAGE_COLUMNS = 79, PAGE_LINES = 1000 };

enum page_style { PLAIN, GOOD, BAD, BOLD };

struct page {
    int n;
    int mark;                           /* a line that should be visible without scrolling; at first 0 */
    struct page_line {
        enum page_style style;
        char text[PAGE_COLUMNS + 1];
    } line[PAGE_LINES];
};

void page_clear(struct page *p);

/* Adds n bytes of text, with `before` in front of the first line and as many spaces in front of the other
 * lines. Long lines are broken between words; unprintable bytes become dots. Without text: an empty line. */
void page_add(struct page *p, enum page_style style, const char *before, const char *text, size_t n);
void page_addf(struct page *p, enum page_style style, const char *before, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
