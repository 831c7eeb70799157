/* reports: see reports.h. */
#include "reports.h"
#include "lib/suites.h"

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

#ifdef GRADUS_DOUBLE

gra_check_report report;

int checked(gra_check_fn *f, void *arg, int nin, const gra_check_in *in)
{
    return gra_check(t, &(gra_check_options){ .nin = nin, .in = in, .f = f, .arg = arg }, &report);
}

void expect(int status, int wanted, const char *phrase)
{
    ck_assert_msg(status == wanted, "%d, wanted %d: %s", status, wanted, report.text);
    ck_assert_msg(says(phrase), "\"%s\" is missing:\n%s", phrase, report.text);
}

#endif
