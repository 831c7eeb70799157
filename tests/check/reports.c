/* reports: see reports.h. */
#include "reports.h"
#include <stdio.h>

bool report_says(const gra_check_report *r, const char *phrase)
{
    char text[sizeof r->text];
    size_t n = 0;
    for (const char *p = r->text; *p; p++) {
        text[n++] = *p == '\n' ? ' ' : *p;
        if (strncmp(p, "\n  ", 3) == 0)
            p += 2;
    }
    text[n] = '\0';
    const char *at = text;
    while (at && *phrase) {
        const char *end = strstr(phrase, " ... ");
        n = end ? (size_t)(end - phrase) : strlen(phrase);
        char part[256];
        snprintf(part, sizeof part, "%.*s", (int)n, phrase);
        at = strstr(at, part);
        at += at ? n : 0;
        phrase += end ? n + 5 : n;
    }
    return at != NULL;
}
