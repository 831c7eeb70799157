/* handed: see handed.h. */
#include "handed.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH = 12, PATH = 1200 };

struct search {
    struct handed       *handed;
    const struct ladder *ladder;
    size_t               begin;         /* where a path goes on after the student's folder */
};

/* Adds a file. NULL: no memory. */
static struct handed_file *add(struct search *s, const char *path, int exercise)
{
    struct handed *h = s->handed;
    struct handed_file *more = realloc(h->file, (size_t)(h->n + 1) * sizeof *h->file);
    char *copy = more ? strdup(strlen(path) < s->begin ? "." : path + s->begin) : NULL;
    if (more)
        h->file = more;
    if (!copy)
        return NULL;
    h->file[h->n] = (struct handed_file){ .path = copy, .exercise = exercise };
    return &h->file[h->n++];
}

static void add_unjudged(struct search *s, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add_unjudged(struct search *s, const char *path, const char *format, ...)
{
    struct handed_file *f = add(s, path, -1);
    va_list args;
    va_start(args, format);
    if (f)
        vsnprintf(f->why, sizeof f->why, format, args);
    va_end(args);
}

static bool ends_in_c(const char *name)
{
    const size_t n = strlen(name);
    return n > 2 && name[n - 2] == '.' && (name[n - 1] == 'c' || name[n - 1] == 'C');
}

/* Is s an addition that browsers and file managers put before ".c": " (1)", "-1", " - copy"? */
static bool is_addition(const char *s)
{
    if (!*s || !strchr(" (-_", *s))
        return false;
    while (*s && strcmp(s, ".c"))
        if (!strncmp(s, "copy", 4) || !strncmp(s, "Copy", 4))
            s += 4;
        else if (strchr(" ()-_0123456789", *s))
            s++;
        else
            return false;
    return *s;
}

static int exercise_of(const struct ladder *l, const char *name, bool *renamed)
{
    for (int i = 0; i < l->n; i++) {
        const size_t n = strlen(l->at[i].name);
        if (strncmp(name, l->at[i].name, n))
            continue;
        *renamed = strcmp(name + n, ".c");
        if (!*renamed || is_addition(name + n))
            return i;
    }
    return -1;
}

static void take_file(struct search *s, const char *path, const char *name)
{
    bool renamed = false;
    const int exercise = exercise_of(s->ladder, name, &renamed);
    if (exercise >= 0) {
        struct handed_file *f = add(s, path, exercise);
        if (f)
            f->renamed = renamed;
        return;
    }
    for (int i = 0; i < s->ladder->n; i++)
        if (strstr(name, s->ladder->at[i].name + 3) ||
            (strncmp(name, s->ladder->at[i].name, 2) == 0 && !isalnum((unsigned char)name[2]))) {
            add_unjudged(s, path, "no exercise has this name: is it %s.c?", s->ladder->at[i].name);
            return;
        }
    add_unjudged(s, path, "no exercise has this name");
}

/* If a folder is a copy of gradus' folder, or of examples or examples/exercises in it: the name of that
 * folder here, "" or with a slash at its end; otherwise NULL. */
static const char *copy_of(const char *folder)
{
    static const char *const names[] = { "", "examples/", LADDER_FOLDER };
    char path[PATH + 100];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%sexercises.h", folder, &LADDER_FOLDER[strlen(names[i])]);
        if (access(path, F_OK) == 0)
            return names[i];
    }
    return NULL;
}

/* Whether a name in a copy of gradus' folder `own` belongs to gradus, so that no answer can be there. */
static bool is_own(const char *own, const char *name, bool is_folder)
{
    char path[PATH];
    const int n = snprintf(path, sizeof path, "%s%s%s", own, name, is_folder ? "/" : "");
    const bool on_the_way = is_folder ? !strncmp(LADDER_FOLDER, path, (size_t)n)
                                      : !strcmp(own, LADDER_FOLDER);
    return !on_the_way && (access(path, F_OK) == 0 || !strcmp(path, "build/"));
}

static void find(struct search *s, const char *folder, int depth)
{
    char path[PATH];
    struct stat about;
    if (lstat(folder, &about) == 0 && S_ISLNK(about.st_mode)) {
        add_unjudged(s, folder, "symbolic links are not followed");
        return;
    }
    const char *own = copy_of(folder);
    DIR *d = depth ? opendir(folder) : NULL;
    if (!d)
        add_unjudged(s, folder, "%s", depth ? strerror(errno) : "this folder is too deep");
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.' || snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= PATH ||
            lstat(path, &about))
            continue;
        if (own && is_own(own, e->d_name, S_ISDIR(about.st_mode)))
            continue;
        if (S_ISDIR(about.st_mode))
            find(s, path, depth - 1);
        else if (S_ISLNK(about.st_mode))
            add_unjudged(s, path, "symbolic links are not followed");
        else if (ends_in_c(e->d_name) && !S_ISREG(about.st_mode))
            add_unjudged(s, path, "it is not a file");
        else if (ends_in_c(e->d_name))
            take_file(s, path, e->d_name);
    }
    if (d)
        closedir(d);
}

static int by_exercise(const void *a, const void *b)
{
    const struct handed_file *x = a, *y = b;
    return x->exercise != y->exercise ? x->exercise - y->exercise : strcmp(x->path, y->path);
}

void handed_find(struct handed *h, const struct ladder *l, const char *folder)
{
    *h = (struct handed){ .n = 0 };
    find(&(struct search){ h, l, strlen(folder) + 1 }, folder, DEPTH);
    if (h->n)
        qsort(h->file, (size_t)h->n, sizeof *h->file, by_exercise);
}

void handed_free(struct handed *h)
{
    for (int i = 0; i < h->n; i++)
        free(h->file[i].path);
    free(h->file);
}
