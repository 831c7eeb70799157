/* suites: see suites.h. */
#include "suites.h"

#include <string.h>

/* In the order in which failures are best read: what others build on comes first. */
const char *const suites[] = {
    "tests", "random", "shape", "print", "tape", "threads", "bf16", "memory", "model", "buffer",
    "checkpoint",
    "check", "causes", "verdicts", "crashes", "ops", "sums", "answers", "beside", "absent",
    "mistakes", "mutants", "attention", "golden", "layers", "seeds", "layer_errors", "cache", "trace",
    "view", "optim", "save", "load", "npy", "import", "sample", "tokenizer", "expression", "faults",
    NULL,
};

/* ---- the tests, by file and line ---- */

static struct listed *first;

void list(struct listed *l)
{
    struct listed **at = &first;
    for (; *at; at = &(*at)->next) {
        const int order = strcmp((*at)->file, l->file);
        if (order > 0 || (order == 0 && (*at)->line > l->line))
            break;
    }
    l->next = *at;
    *at = l;
}

static bool belongs_to(const struct listed *l, const char *suite)
{
    char file[64];
    snprintf(file, sizeof file, "test_%s.c", suite);
    const char *slash = strrchr(l->file, '/');
    return strcmp(slash ? slash + 1 : l->file, file) == 0;
}

Suite *suite_of(const char *name)
{
    Suite *s = suite_create(name);
    TCase *c = NULL;
    for (const struct listed *l = first; l; l = l->next) {
        if (!belongs_to(l, name))
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

const char *test_of_no_suite(void)
{
    for (const struct listed *l = first; l; l = l->next) {
        int i = 0;
        while (suites[i] && !belongs_to(l, suites[i]))
            i++;
        if (!suites[i])
            return l->file;
    }
    return NULL;
}

/* ---- their names ---- */

bool suite_known(const char *name)
{
    for (int i = 0; suites[i]; i++)
        if (strcmp(suites[i], name) == 0)
            return true;
    return false;
}

void list_suites(FILE *f)
{
    for (int i = 0, column = 80; suites[i]; i++) {
        const int width = (int)strlen(suites[i]) + 1;
        if (column + width > 76) {
            fputs("\n   ", f);
            column = 3;
        }
        fprintf(f, " %s", suites[i]);
        column += width;
    }
    fputc('\n', f);
}
