/* verdict_text: see verdict_text.h. */
#include "verdict_text.h"
#include "../../lib/json_out.h"
#include <stdbool.h>
#include <stdlib.h>
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

void report_json(FILE *f, const struct verdict *v, const char *name, const char *file)
{
    out o = { NULL, 0, 0, false };
    const bool passed = v->result == PASSED;
    out_text(&o, "{");
    out_key(&o, "exercise"), out_format(&o, "%d", (name[0] - '0') * 10 + name[1] - '0');
    out_member(&o, "name", name);
    out_member(&o, "file", file);
    out_key(&o, "judged"), out_text(&o, v->result == NOT_JUDGED ? "false" : "true");
    out_key(&o, "passed"), out_text(&o, passed ? "true" : "false");
    out_key(&o, "parts"), out_text(&o, "[");
    const char *s = v->parts;
    for (size_t n = 0; next_part(&s, &n);) {
        out_comma(&o), out_text(&o, "{");
        out_key(&o, "part"), out_string(&o, s, n);
        out_key(&o, "passed"), out_text(&o, passed || s[n + 1] ? "true}" : "false}");
    }
    out_text(&o, "]");
    out_member(&o, "finding", v->finding);
    out_member(&o, "warnings", v->warnings);
    out_key(&o, "printed"), out_string(&o, v->printed, v->nprinted);
    out_text(&o, "}\n");
    fwrite(o.bytes, 1, o.n, f);
    free(o.bytes);
}
