/* report: see report.h. */
#include "report.h"
#include "../../lib/utf8.h"
#include <stdbool.h>
#include <string.h>

/* Advances to the next part, and gives its length; false: there is none. */
static bool next_part(const char **s, size_t *n)
{
    *s += *n;
    *s += **s == '\n';
    *n = strcspn(*s, "\n");
    return *n;
}

void report_parts(const struct verdict *v, int *passed, int *judged)
{
    const char *s = v->parts;
    *passed = *judged = 0;
    for (size_t n = 0; next_part(&s, &n);)
        ++*judged, *passed += v->result == PASSED || s[n + 1];
}

void report_page(struct page *p, const struct verdict *v, const char *praise, int printed)
{
    const char *s = v->parts;
    for (size_t n = 0; next_part(&s, &n);) {
        const bool ok = v->result == PASSED || s[n + 1];
        page_add(p, ok ? GOOD : BAD, ok ? "  ok  " : "  NO  ", s, n);
    }
    if (v->parts[0])
        page_add(p, PLAIN, "", "", 0);
    p->mark = p->n;
    if (v->result == PASSED)
        page_addf(p, GOOD, "", "%s", praise);
    else
        page_addf(p, PLAIN, "", "%s", v->finding);
    if (v->result != PASSED && v->warnings[0]) {
        page_addf(p, BOLD, "", "\nThe compiler warns:");
        page_add(p, PLAIN, "  ", v->warnings, strlen(v->warnings));
    }
    if (v->nprinted) {
        page_addf(p, BOLD, "", "\nYour program printed:");
        const int first = p->n;
        page_add(p, PLAIN, "  ", v->printed, v->nprinted);
        if (p->n > first + printed) {
            p->n = first + printed;
            page_addf(p, PLAIN, "  ", "... (these are the first lines)");
        }
    }
}

void report_string(FILE *f, const char *text, size_t n)
{
    fputc('"', f);
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        const size_t length = utf8_length((const unsigned char *)text + i, n - i);
        if (length > 1) {
            fwrite(text + i, 1, length, f);
            i += length - 1;
        } else if (c == '\n')
            fputs("\\n", f);
        else if (c < ' ' || c > 126)
            fprintf(f, "\\u%04x", c);
        else
            fprintf(f, c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
    fputc('"', f);
}

static void json_field(FILE *f, const char *name, const char *text, size_t n)
{
    fprintf(f, ",\n  \"%s\": ", name);
    report_string(f, text, n);
}

void report_json(FILE *f, const struct verdict *v, const char *name, const char *file)
{
    fprintf(f, "{\n  \"exercise\": %d", (name[0] - '0') * 10 + name[1] - '0');
    json_field(f, "name", name, strlen(name));
    json_field(f, "file", file, strlen(file));
    fprintf(f, ",\n  \"judged\": %s", v->result == NOT_JUDGED ? "false" : "true");
    fprintf(f, ",\n  \"passed\": %s,\n  \"parts\": [", v->result == PASSED ? "true" : "false");
    const char *s = v->parts, *comma = "";
    for (size_t n = 0; next_part(&s, &n); comma = ",") {
        fprintf(f, "%s\n    { \"part\": ", comma);
        report_string(f, s, n);
        fprintf(f, ", \"passed\": %s }", v->result == PASSED || s[n + 1] ? "true" : "false");
    }
    fprintf(f, "%s]", v->parts[0] ? "\n  " : "");
    json_field(f, "finding", v->finding, strlen(v->finding));
    json_field(f, "warnings", v->warnings, strlen(v->warnings));
    json_field(f, "printed", v->printed, v->nprinted);
    fputs("\n}\n", f);
}
