/* grade: see grade.h. */
#include "grade.h"
#include "../../lib/say.h"
#include "signals.h"
#include "verdict.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH = 12, ANSWERS = 1000, PATH = 1200 };

/* What one student has handed in. */
struct answers {
    const struct ladder *ladder;
    int n;
    struct answer { int exercise; char path[PATH]; } *at;
};

/* Folders of a handout that have files with the names of answers, but no student's answers. */
static bool passed_over(const char *name)
{
    static const char *const names[] = { "start", "solutions", "judge", "runner", "hints", "tests", "build" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return name[0] == '.';
}

static int exercise_of(const struct ladder *l, const char *file)
{
    for (int i = 0; i < l->n; i++) {
        const size_t n = strlen(l->at[i].name);
        if (!strncmp(file, l->at[i].name, n) && !strcmp(file + n, ".c"))
            return i;
    }
    return -1;
}

/* Collects the answers in a folder and its subfolders, without following links. */
static void find(struct answers *a, const char *folder, int depth)
{
    char path[PATH];
    struct stat s;
    DIR *d = depth ? opendir(folder) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        const int n = snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        const int exercise = exercise_of(a->ladder, e->d_name);
        if (n >= PATH || passed_over(e->d_name) || lstat(path, &s))
            continue;
        if (S_ISDIR(s.st_mode))
            find(a, path, depth - 1);
        else if (exercise >= 0 && a->n < ANSWERS) {
            a->at[a->n].exercise = exercise;
            memcpy(a->at[a->n++].path, path, sizeof path);
        }
    }
    if (d)
        closedir(d);
}

static int by_exercise(const void *a, const void *b)
{
    const struct answer *x = a, *y = b;
    return x->exercise != y->exercise ? x->exercise - y->exercise : strcmp(x->path, y->path);
}

/* One row: on a terminal in columns, which are cut at their width, otherwise separated by tabs. */
static void row(const char *student, const char *exercise, const char *passed, const char *finding)
{
    const char *cells[] = { student, exercise, passed, finding };
    static const int width[] = { 14, 20, 7, 33 };
    const bool aligned = isatty(STDOUT_FILENO);
    char line[8000];
    int at = 0;
    for (int i = 0; i < 4; i++) {
        const size_t most = aligned ? (size_t)width[i] : 1900, n = strlen(cells[i]);
        const int from = at;
        for (size_t j = 0; j < n && j < most; j++) {
            const unsigned char c = (unsigned char)cells[i][j];
            const bool cut = n > most && j + 2 >= most;
            const bool unprintable = c < ' ' || c == 127 || (aligned && c > 127);
            line[at++] = cut ? '.' : c == '\n' ? ' ' : unprintable ? '.' : (char)c;
        }
        while (aligned && i < 3 && at - from <= width[i])
            line[at++] = ' ';
        if (!aligned && i < 3)
            line[at++] = '\t';
    }
    printf("%.*s\n", at, line);
    fflush(stdout);
}

static void grade_student(struct answers *a, const char *folder, const char *student, const char *build,
                          int seconds)
{
    static struct verdict v;
    char path[PATH], sum[60];
    int solved = 0, tried = 0, last = -1, last_solved = -1;
    a->n = 0;
    if (snprintf(path, sizeof path, "%s/%s", folder, student) < PATH)
        find(a, path, DEPTH);
    qsort(a->at, (size_t)a->n, sizeof *a->at, by_exercise);
    for (int i = 0; i < a->n && !signals_end(); i++) {
        const int exercise = a->at[i].exercise;
        verdict_of(&v, build, a->ladder->at[exercise].name, a->at[i].path, seconds);
        row(student, a->ladder->at[exercise].name, v.result == PASSED ? "yes" : "no", v.finding);
        tried += exercise != last;
        if (v.result == PASSED && exercise != last_solved)
            solved++, last_solved = exercise;
        last = exercise;
    }
    snprintf(sum, sizeof sum, "%d of %d", solved, tried);
    row(student, "all", sum, tried ? "" : "no exercise found");
}

static int not_hidden(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

int grade(const struct ladder *l, const char *folder, const char *build, int seconds)
{
    struct answers a = { l, 0, malloc(ANSWERS * sizeof *a.at) };
    struct dirent **list = NULL;
    struct stat s;
    char path[PATH];
    int students = 0;
    const int n = a.at ? scandir(folder, &list, not_hidden, alphasort) : -1;
    if (n < 0)
        warn("%s cannot be read: %s", folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        const bool fits = snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name) < PATH;
        const bool is = fits && !stat(path, &s) && S_ISDIR(s.st_mode);
        if (is && !students++)
            row("student", "exercise", "passed", "finding");
        if (is && !signals_end())
            grade_student(&a, folder, list[i]->d_name, build, seconds);
        free(list[i]);
    }
    if (n >= 0 && !students)
        warn("%s contains no students' folders", folder);
    free(list);
    free(a.at);
    signals_die();
    return students ? 0 : 2;
}
