/* ladder: see ladder.h. */
#include "ladder.h"
#include "../../lib/files.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void path_of(char path[LADDER_PATH], const char *folder, const struct exercise *e, const char *ending)
{
    snprintf(path, LADDER_PATH, LADDER_FOLDER "%s%s%s", folder, e->name, ending);
}

/* The title is in the first line of the start file: the beginning of a comment, the title, a dot. */
static void read_title(struct exercise *e)
{
    char path[LADDER_PATH], line[200] = "";
    path_of(path, "start/", e, ".c");
    FILE *f = fopen(path, "r");
    const char *title = f && fgets(line, sizeof line, f) && !strncmp(line, "/* ", 3) ? line + 3 : e->name;
    size_t n = strcspn(title, "\n");
    while (n && strchr(". */", title[n - 1]))
        n--;
    snprintf(e->title, sizeof e->title, "%.*s", (int)n, title);
    if (f)
        fclose(f);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct exercise *)a)->name, ((const struct exercise *)b)->name);
}

int ladder_read(struct ladder *l)
{
    DIR *d = opendir(LADDER_FOLDER "start");
    l->n = 0;
    for (struct dirent *f; d && l->n < LADDER_MOST && (f = readdir(d));) {
        const char *s = f->d_name;
        const size_t n = strlen(s);
        struct exercise *e = &l->at[l->n];
        if (isdigit((unsigned char)s[0]) && isdigit((unsigned char)s[1]) && s[2] == '_' && n > 5 &&
            n < sizeof e->name && !strcmp(s + n - 2, ".c")) {
            snprintf(e->name, sizeof e->name, "%.*s", (int)n - 2, s);
            read_title(e);
            l->n++;
        }
    }
    if (d)
        closedir(d);
    qsort(l->at, (size_t)l->n, sizeof *l->at, by_name);
    return l->n ? 0 : -1;
}

int ladder_find(const struct ladder *l, const char *which)
{
    char *end;
    const long number = strtol(which, &end, 10);
    const bool is_number = isdigit((unsigned char)*which) && !*end;
    for (int i = 0; i < l->n; i++) {
        const char *name = l->at[i].name;
        if (is_number ? strtol(name, NULL, 10) == number : !strcmp(name, which) || !strcmp(name + 3, which))
            return i;
    }
    return -1;
}

void ladder_answer(const struct exercise *e, char path[LADDER_PATH])
{
    path_of(path, "", e, ".c");
}

int ladder_reset(const struct exercise *e)
{
    char from[LADDER_PATH], to[LADDER_PATH];
    size_t n;
    path_of(from, "start/", e, ".c");
    ladder_answer(e, to);
    char *text = file_read_plain(from, &n);
    const int status = text ? file_replace(to, text, n) : -1;
    free(text);
    return status;
}

int ladder_begin(const struct exercise *e)
{
    char path[LADDER_PATH];
    ladder_answer(e, path);
    if (access(path, F_OK) == 0 || errno != ENOENT)
        return 0;
    return ladder_reset(e);
}

bool ladder_has_solutions(void)
{
    return access(LADDER_FOLDER "solutions", F_OK) == 0;
}

char *ladder_solution(const struct exercise *e)
{
    char path[LADDER_PATH];
    size_t n;
    path_of(path, "solutions/", e, ".c");
    return file_read_plain(path, &n);
}

char *ladder_hint(const struct exercise *e, int number)
{
    char path[LADDER_PATH];
    size_t n;
    path_of(path, "hints/", e, ".txt");
    char *text = file_read_plain(path, &n), *second = text ? strstr(text, "\n\n") : NULL;
    if (number == 1 && second)
        *second = 0;
    else if (number == 2 && second)
        memmove(text, second + 2, strlen(second + 2) + 1);
    else if (number != 1)
        free(text), text = NULL;
    for (char *c = text; c && (c = strchr(c, '\n'));)           /* one long line, which page breaks */
        *c = c[1] ? ' ' : 0;
    return text;
}
