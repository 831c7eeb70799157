/* grade: see grade.h. */
#include "grade.h"
#include "../../lib/files.h"
#include "../../lib/say.h"
#include "../../lib/utf8.h"
#include "handed.h"
#include "report.h"
#include "signals.h"
#include "terminal.h"
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 1200, CELL = 8000 };

static struct class {
    const struct ladder        *ladder;
    const struct grade_options *options;
    const char                 *folder, *build;
    int                         students;
    struct student {
        const char   *name;
        struct handed handed;
    }                          *student;
    bool                        asked[LADDER_MOST];
    int                         parts[LADDER_MOST];     /* of each exercise; 0: unknown */
    int                         rows;
} g;

/* ---- rows --------------------------------------------------------------------------------------- */

struct row {
    const char         *student, *exercise, *file, *remark, *finding;
    enum verdict_result result;
    int                 right, parts;                   /* parts 0: unknown */
    const char         *solved;                         /* of the row of sums: "2 of 3"; otherwise NULL */
};

static void append(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(char *text, const char *format, ...)
{
    const size_t at = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + at, CELL - at, format, args);
    va_end(args);
}

/* Appends a finding as one line: a full stop between its lines, and no source that a compiler shows. */
static void append_line(char *text, const char *finding)
{
    for (size_t n; *finding; finding += n + (finding[n] == '\n')) {
        finding += strspn(finding, " ");
        n = strcspn(finding, "\n");
        const char *bar = strstr(finding, " | ");
        if (!n || (bar && bar < finding + n) || *finding == '|')
            continue;
        const size_t at = strlen(text);
        const char last = at ? text[at - 1] : ' ';
        append(text, "%s", last == ' ' ? "" : strchr(".:,;?!", last) ? " " : ". ");
        const bool begins = strlen(text) == at + 2 && !strncmp(finding, "it ", 3);
        append(text, "%s%.*s", begins ? "I" : "", (int)(n - begins), finding + begins);
    }
}

static void print_json(const struct row *r)
{
    const char *const names[] = { "student", "exercise", "file", "remark", "finding" };
    const char *const texts[] = { r->student, r->exercise, r->file, r->remark, r->finding };
    printf("%s\n  { \"judged\": %s, \"passed\": %s, \"parts_passed\": %d, \"parts\": ", g.rows ? "," : "[",
           r->result == NOT_JUDGED ? "false" : "true", r->result == PASSED ? "true" : "false", r->right);
    printf(r->parts ? "%d" : "null", r->parts);
    for (int i = 0; i < 5; i++) {
        printf(",\n    \"%s\": ", names[i]);
        report_string(stdout, texts[i], strlen(texts[i]));
    }
    printf(" }");
}

/* The bytes of the character at s, of which n bytes are left, and the columns that a terminal needs for it;
 * 0: none that may be shown. Some file systems keep accents as characters of their own, after the letter. */
static size_t character(const char *s, size_t n, int *columns)
{
    static const struct { unsigned from, to; int columns; } ranges[] = {
        { 0, 0x1f, -1 }, { 0x7f, 0x9f, -1 }, { 0x200b, 0x200f, -1 }, { 0x2028, 0x202e, -1 },
        { 0x2060, 0x206f, -1 }, { 0xfeff, 0xfeff, -1 }, { 0xfff9, 0xfffb, -1 },         /* they control */
        { 0x300, 0x36f, 0 }, { 0x1ab0, 0x1aff, 0 }, { 0x1dc0, 0x1dff, 0 }, { 0x20d0, 0x20ff, 0 },
        { 0xfe00, 0xfe0f, 0 }, { 0x3099, 0x309a, 0 },                                   /* accents */
        { 0x1100, 0x115f, 2 }, { 0x2e80, 0xa4cf, 2 }, { 0xac00, 0xd7a3, 2 }, { 0xf900, 0xfaff, 2 },
        { 0xfe30, 0xfe6f, 2 }, { 0xff00, 0xff60, 2 }, { 0xffe0, 0xffe6, 2 }, { 0x1f300, 0x1faff, 2 },
        { 0x20000, 0x3fffd, 2 } };
    const unsigned char *u = (const unsigned char *)s;
    const size_t length = utf8_length(u, n);
    unsigned code = length > 1 ? u[0] & (0x7fu >> length) : u[0];
    for (size_t i = 1; i < length; i++)
        code = code << 6 | (u[i] & 0x3f);
    *columns = length ? 1 : -1;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && *columns == 1; i++)
        if (code >= ranges[i].from && code <= ranges[i].to)
            *columns = ranges[i].columns;
    const bool shown = *columns >= 0;
    *columns = shown ? *columns : 1;
    return shown ? length : 0;
}

/* Writes text into `width` columns, "." for what may not be shown, and ".." at the end of what is cut.
 * Returns the columns used; *bytes: how many bytes those are. */
static int fit(char *to, size_t room, const char *text, int width, size_t *bytes)
{
    const size_t n = strlen(text);
    size_t before = 0;                                  /* bytes in front of the last two columns */
    int at = 0, cut_at = 0, columns;
    *bytes = 0;
    for (size_t i = 0; i < n;) {
        const size_t length = character(text + i, n - i, &columns);
        if (at + columns > width || *bytes + 8 > room) {
            memcpy(to + before, "..", 2);
            *bytes = before + 2;
            return cut_at + 2;
        }
        memcpy(to + *bytes, length ? text + i : ".", length ? length : 1);
        at += columns;
        *bytes += length ? length : 1, i += length ? length : 1;
        if (at <= width - 2)
            before = *bytes, cut_at = at;
    }
    return at;
}

/* Prints cells: on a terminal in columns, which are cut at their width, otherwise separated by tabs. */
static void print_cells(const char *const cell[5])
{
    static const int width[] = { 13, 21, 6, 9 };
    const bool aligned = isatty(STDOUT_FILENO);
    static char line[2 * CELL];
    int rows, columns, from = 0;
    size_t at = 0, n;
    terminal_size(&rows, &columns);
    for (int i = 0; i < 5; i++) {
        const int left = (columns > 80 ? columns : 80) - from - 1;
        int used = fit(line + at, sizeof line - at, cell[i], !aligned ? CELL - 500 : i < 4 ? width[i] : left,
                       &n);
        at += n;
        for (; aligned && i < 4 && used <= width[i]; used++)
            line[at++] = ' ';
        if (!aligned && i < 4)
            line[at++] = '\t';
        from += used;
    }
    while (at && line[at - 1] == ' ')
        at--;
    printf("%.*s\n", (int)at, line);
}

static void print_row(const struct row *r)
{
    static char finding[CELL];
    static const char *const results[] = { "yes", "no", "-" };
    char parts[40] = "-";
    if (r->parts)
        snprintf(parts, sizeof parts, "%d of %d", r->right, r->parts);
    else if (r->result != NOT_JUDGED)
        snprintf(parts, sizeof parts, "%d", r->right);
    finding[0] = 0;
    append_line(finding, r->remark);
    append_line(finding, r->finding);
    const size_t n = strlen(finding);
    if (n && finding[n - 1] == ':')
        finding[n - 1] = 0;
    if (!g.options->json)
        print_cells((const char *[]){ r->student, r->exercise, r->solved ? r->solved : results[r->result],
                                      parts, finding });
    else if (!r->solved) {
        print_json(r);
        g.rows++;
    }
    fflush(stdout);
}

/* ---- a student ---------------------------------------------------------------------------------- */

static struct page feedback, first;                    /* for a student: the list, the first finding */

static void show_first(const char *name, const struct verdict *v)
{
    page_addf(&first, PLAIN, "", "\n%s:\n\n", name);
    report_page(&first, v, "", 12);
}

/* Judges one file and prints its row, which is returned. */
static struct row judge_file(const struct student *s, const struct handed_file *f, bool competes,
                             struct verdict *v)
{
    const char *name = g.ladder->at[f->exercise].name;
    static char remark[PATH + 200], finding[sizeof v->finding + 20];
    char path[PATH];
    struct row r = { s->name, name, f->path, remark, finding, NOT_JUDGED, 0, g.parts[f->exercise], NULL };
    int judged;
    snprintf(path, sizeof path, "%s/%s/%s", g.folder, s->name, f->path);
    verdict_of(v, g.build, name, path, g.options->seconds);
    report_parts(v, &r.right, &judged);
    r.result = v->result;
    snprintf(finding, sizeof finding, "%s%s", v->result == NOT_JUDGED ? "not judged: " : "", v->finding);
    snprintf(remark, sizeof remark, f->renamed ? "%s: it should be called %s.c" : competes ? "%s:" : "",
             f->path, name);
    if (!signals_end())
        print_row(&r);
    return r;
}

/* All files of a student that answer an exercise. Returns the best row. */
static struct row judge_exercise(const struct student *s, int exercise)
{
    static struct verdict v, wrong;
    const char *name = g.ladder->at[exercise].name;
    struct row best = { s->name, name, "", "", "not handed in", NOT_JUDGED, 0, g.parts[exercise], NULL };
    const struct handed_file *file = s->handed.file, *end = file + s->handed.n;
    int n = 0;
    for (const struct handed_file *f = file; f < end; f++)
        n += f->exercise == exercise;
    if (!n)
        print_row(&best);
    for (const struct handed_file *f = file; f < end && !signals_end(); f++) {
        if (f->exercise != exercise)
            continue;
        const struct row r = judge_file(s, f, n > 1, &v);
        best.right = r.right > best.right ? r.right : best.right;
        if (r.result < best.result)
            best.result = r.result, wrong = v;
    }
    char parts[40] = "not handed in";
    if (n)
        snprintf(parts, sizeof parts, best.parts ? "%d of %d parts" : "%d parts", best.right, best.parts);
    page_addf(&feedback, PLAIN, "", "  %s  %-24s%s", !n ? "--" : best.result == PASSED ? "ok" : "NO", name,
              parts);
    if (n && best.result == NOT_PASSED && !first.n)
        show_first(name, &wrong);
    return best;
}

/* The files that are not judged. */
static void print_others(const struct student *s)
{
    static char unasked[CELL];
    struct row r = { s->name, "-", "", "", "", NOT_JUDGED, 0, 0, NULL };
    unasked[0] = 0;
    for (int i = 0; i < s->handed.n; i++) {
        const struct handed_file *f = &s->handed.file[i];
        char remark[PATH + 20];
        if (f->exercise >= 0 && !g.asked[f->exercise])
            append(unasked, "%s%s", unasked[0] ? ", " : "", f->path);
        if (f->exercise >= 0)
            continue;
        snprintf(remark, sizeof remark, "%s: not judged:", f->path);
        r.file = f->path, r.remark = remark, r.finding = f->why;
        print_row(&r);
        page_addf(&feedback, PLAIN, "  --  ", "%s: not judged: %s", f->path, f->why);
    }
    r.file = unasked, r.remark = "not asked for:", r.finding = unasked;
    if (unasked[0])
        print_row(&r);
}

/* 0; -1 after a warning. */
static int write_feedback(const struct student *s, const char *title)
{
    char path[FILE_PATH], name[300];
    size_t room = sizeof feedback, n = 0;
    char *text = malloc(2 * room);
    if (!text)
        return warn("out of memory");
    n += (size_t)snprintf(text, room, "%s: %s\n\n", s->name, title);
    for (int i = 0; i < feedback.n; i++)
        n += (size_t)snprintf(text + n, 2 * room - n, "%s\n", feedback.line[i].text);
    for (int i = 0; i < first.n; i++)
        n += (size_t)snprintf(text + n, 2 * room - n, "%s\n", first.line[i].text);
    snprintf(name, sizeof name, "%s.txt", s->name);
    const int status = file_write(file_path(path, g.options->out, name), text, n);
    free(text);
    return status;
}

static int grade_student(const struct student *s)
{
    char solved[40], title[200];
    int asked = 0, passed = 0, right = 0, parts = 0;
    page_clear(&feedback);
    page_clear(&first);
    for (int i = 0; i < g.ladder->n && !signals_end(); i++) {
        if (!g.asked[i])
            continue;
        const struct row best = judge_exercise(s, i);
        asked++, passed += best.result == PASSED, right += best.right, parts += best.parts;
    }
    if (signals_end())
        return 0;
    print_others(s);
    snprintf(solved, sizeof solved, "%d of %d", passed, asked);
    print_row(&(struct row){ s->name, "all", "", "", "", NOT_JUDGED, right, parts, solved });
    snprintf(title, sizeof title, "%s exercise%s passed", solved, asked == 1 ? "" : "s");
    if (parts)
        snprintf(title + strlen(title), 60, ", %d of %d parts", right, parts);
    return g.options->out ? write_feedback(s, title) : 0;
}

/* ---- a class ------------------------------------------------------------------------------------ */

static int not_hidden(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* The exercises of --only. 0; -1 after a warning. */
static int read_only(void)
{
    char only[1000];
    snprintf(only, sizeof only, "%s", g.options->only ? g.options->only : "");
    for (char *word = strtok(only, " ,"); word; word = strtok(NULL, " ,")) {
        const int exercise = ladder_find(g.ladder, word);
        if (exercise < 0)
            return warn("there is no exercise '%s': `learn --list` lists them", word);
        g.asked[exercise] = true;
    }
    return 0;
}

/* Finds the students and what they have handed in. 0; -1 after a warning. */
static int read_class(void)
{
    struct dirent **list = NULL;
    struct stat s;
    char path[PATH];
    const int n = scandir(g.folder, &list, not_hidden, alphasort);
    if (n < 0)
        return warn("%s cannot be read: %s", g.folder, strerror(errno));
    g.student = calloc((size_t)n + 1, sizeof *g.student);
    for (int i = 0; g.student && i < n; i++) {
        const char *name = list[i]->d_name;
        const size_t length = strlen(name);
        if (snprintf(path, sizeof path, "%s/%s", g.folder, name) >= PATH || lstat(path, &s))
            continue;
        if (length > 2 && !strcmp(name + length - 2, ".c"))
            warn("%s is not judged: it is in no student's folder", path);
        else if (stat(path, &s) == 0 && S_ISDIR(s.st_mode)) {      /* a link to a folder has a row, too */
            struct student *to = &g.student[g.students++];
            to->name = strdup(name);
            handed_find(&to->handed, g.ladder, path);
            for (int j = 0; j < to->handed.n && !g.options->only; j++)
                if (to->handed.file[j].exercise >= 0)
                    g.asked[to->handed.file[j].exercise] = true;
        }
    }
    for (int i = 0; i < n; i++)
        free(list[i]);
    free(list);
    return g.students ? 0 : warn("%s contains no students' folders", g.folder);
}

/* How many parts each exercise has is seen from its solution, where there is one. */
static void count_parts(void)
{
    static struct verdict v;
    char path[LADDER_PATH];
    int right;
    for (int i = 0; i < g.ladder->n && !signals_end(); i++) {
        snprintf(path, sizeof path, LADDER_FOLDER "solutions/%s.c", g.ladder->at[i].name);
        if (!g.asked[i] || access(path, R_OK))
            continue;
        verdict_of(&v, g.build, g.ladder->at[i].name, path, g.options->seconds);
        if (v.result == PASSED)
            report_parts(&v, &right, &g.parts[i]);
        else if (!signals_end())
            warn("the solution of %s does not pass here: %s", g.ladder->at[i].name, v.finding);
    }
}

int grade(const struct ladder *l, const char *folder, const char *build, const struct grade_options *options)
{
    int status = 0;
    g = (struct class){ .ladder = l, .options = options, .folder = folder, .build = build };
    if (read_only() || (options->out && folder_make(options->out)) || read_class())
        return 2;
    count_parts();
    if (!options->json)
        print_cells((const char *[]){ "student", "exercise", "passed", "parts", "finding" });
    for (int i = 0; i < g.students && !signals_end(); i++)
        if (grade_student(&g.student[i]))
            status = 2;
    if (options->json)
        printf("%s]\n", g.rows ? "\n" : "[");
    for (int i = 0; i < g.students; i++) {
        free((char *)(size_t)g.student[i].name);
        handed_free(&g.student[i].handed);
    }
    free(g.student);
    signals_die();
    return fflush(stdout) ? 2 : status;
}
