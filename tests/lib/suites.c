/* suites: see suites.h. */
#include "suites.h"

#include <string.h>

/* ---- the tests, by file and line ---- */

static struct listed *first;

void list(struct listed *l)
{
    struct listed **at = &first;
    const char *slash = strrchr(l->file, '/'), *name = slash ? slash + 1 : l->file;
    name += strncmp(name, "test_", 5) == 0 ? 5 : 0;
    snprintf(l->suite, sizeof l->suite, "%.*s", (int)strcspn(name, "."), name);
    for (; *at; at = &(*at)->next) {
        const int order = strcmp((*at)->file, l->file);
        if (order > 0 || (order == 0 && (*at)->line > l->line))
            break;
    }
    l->next = *at;
    *at = l;
}

Suite *suite_of(const char *name)
{
    Suite *s = suite_create(name);
    TCase *c = NULL;
    for (const struct listed *l = first; l; l = l->next) {
        if (strcmp(l->suite, name) != 0)
            continue;
        if (!c || !l->add) {
            c = tcase_create(l->add ? name : l->name);
            suite_add_tcase(s, c);
        }
        if (l->add)
            l->add(c);
        if (l->before)
            tcase_add_checked_fixture(c, l->before, l->after);
        if (l->tag && *l->tag)
            tcase_set_tags(c, l->tag);
    }
    return s;
}

/* ---- their names ---- */

const char *next_suite(const char *name)
{
    const struct listed *l = first;
    while (name && strcmp(l->suite, name) != 0)
        l = l->next;
    while (name && l && strcmp(l->suite, name) == 0)
        l = l->next;
    return l ? l->suite : NULL;
}

bool suite_known(const char *name)
{
    const char *known = next_suite(NULL);
    while (known && strcmp(known, name) != 0)
        known = next_suite(known);
    return known;
}

void list_suites(FILE *f)
{
    int column = 80;
    for (const char *name = NULL; (name = next_suite(name));) {
        const int width = (int)strlen(name) + 1;
        if (column + width > 76) {
            fputs("\n   ", f);
            column = 3;
        }
        fprintf(f, " %s", name);
        column += width;
    }
    fputc('\n', f);
}
