/* reports: see reports.h. */
#include "reports.h"

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
    return strstr(text, phrase) != NULL;
}
