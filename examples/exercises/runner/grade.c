/* grade: see grade.h. */
#include "grade.h"
#include "../../lib/files.h"
#include "../../lib/json_out.h"
#include "../../lib/message.h"
#include "../../lib/utf8.h"
#include "handed.h"
#include "verdict_text.h"
#include "signals.h"
#include "terminal.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 1200 };

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
    out json;                                           /* all rows */
} g;

/* ---- rows --------------------------------------------------------------------------------------- */

struct row {
    const char         *student, *exercise, *file, *remark, *finding;
    enum verdict_result result;
    int                 right, parts;                   /* parts 0: unknown */
    const char         *solved;                         /* in the row of sums: "2 of 3"; otherwise NULL */
};

/* Appends a finding as one line: full stops between its lines, without the source that compilers show. */
static void append_line(out *o, const char *finding)
{
    for (size_t n; *finding; finding += n + (finding[n] == '\n')) {
        finding += strspn(finding, " ");
        n = strcspn(finding, "\n");
        const char *bar = strstr(finding, " | ");
        if (!n || (bar && bar < finding + n) || *finding == '|')
            continue;
        const char last = o->n ? o->bytes[o->n - 1] : ' ';
        const bool stops = last != ' ' && !strchr(".:,;?!", last),
                   begins = stops && !strncmp(finding, "it ", 3);
        out_text(o, last == ' ' ? "" : stops ? begins ? ". I" : ". " : " ");
        out_bytes(o, finding + begins, n - begins);
    }
}

static void add_json(const struct row *r)
{
    out *o = &g.json;
    out_text(o, o->n > 1 ? ",\n{" : "\n{");
    out_key(o, "judged"), out_text(o, r->result == NOT_JUDGED ? "false" : "true");
    out_key(o, "passed"), out_text(o, r->result == PASSED ? "true" : "false");
    out_key(o, "parts_passed"), out_format(o, "%d", r->right);
    out_key(o, "parts"), out_format(o, r->parts ? "%d" : "null", r->parts);
    out_member(o, "student", r->student);
    out_member(o, "exercise", r->exercise);
    out_member(o, "file", r->file);
    out_member(o, "remark", r->remark);
    out_member(o, "finding", r->finding);
    out_text(o, "}");
}

/* Prints text in at most `width` columns: "." for a character that may not be shown, ".." at the end of a
 * text that is too long. Returns the number of columns used. */
static int print_cell(const char *text, int width)
{
    int all = 0, at = 0;
    for (const char *s = text; *s; s++)
        all += ((unsigned char)*s & 0xc0) != 0x80;      /* the first byte of a UTF-8 character */
    const int most = all > width ? width - 2 : width;
    for (size_t i = 0, n = strlen(text), length; i < n; i += length) {
        length = utf8_length((const unsigned char *)text + i, n - i);
        const bool shown = length && (unsigned char)text[i] >= ' ' && text[i] != 0x7f;
        length = length ? length : 1;
        if (++at > most)
            return at - 1 + printf("..");
        fwrite(shown ? text + i : ".", 1, shown ? length : 1, stdout);
    }
    return at;
}

/* Prints cells: on a terminal in columns, which are cut at their width, otherwise separated by tabs. */
static void print_cells(const char *const cell[5])
{
    enum { BEFORE = 13 + 1 + 21 + 1 + 6 + 1 + 9 + 1 };
    int width[] = { 13, 21, 6, 9, 0 }, rows, columns, blanks = 0;
    const bool aligned = isatty(STDOUT_FILENO);
    terminal_size(&rows, &columns);
    width[4] = (columns > 80 ? columns : 80) - BEFORE - 1;
    for (int i = 0; i < 5; i++) {
        if (*cell[i] || !aligned)
            printf("%*s", aligned ? blanks : 0, ""), blanks = 0;
        blanks += width[i] + 1 - print_cell(cell[i], aligned ? width[i] : INT_MAX);
        if (!aligned)
            putchar(i < 4 ? '\t' : '\n');
    }
    if (aligned)
        putchar('\n');
}

static void print_row(const struct row *r)
{
    static out finding;
    static const char *const results[] = { "yes", "no", "-" };
    char parts[40] = "-";
    if (r->parts)
        snprintf(parts, sizeof parts, "%d of %d", r->right, r->parts);
    else if (r->result != NOT_JUDGED)
        snprintf(parts, sizeof parts, "%d", r->right);
    out_clear(&finding);
    append_line(&finding, r->remark);
    append_line(&finding, r->finding);
    finding.n -= finding.n && finding.bytes[finding.n - 1] == ':';
    const char *text = out_end(&finding);
    if (!g.options->json)
        print_cells((const char *[]){ r->student, r->exercise, r->solved ? r->solved : results[r->result],
                                      parts, text ? text : "" });
    else if (!r->solved)
        add_json(r);
    fflush(stdout);
}

/* ---- a student ---------------------------------------------------------------------------------- */

static out feedback, first; /* for a student: the list, and the first finding */

static void add_first(const char *name, const struct verdict *v)
{
    static struct page page;
    page_clear(&page);
    report_page(&page, v, "", 12);
    out_format(&first, "\n%s:\n\n", name);
    for (int i = 0; i < page.n; i++)
        out_format(&first, "%s\n", page.line[i].text);
}

/* Judges one file, prints its row, and returns it. */
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
    if (f->renamed)
        snprintf(remark, sizeof remark, "%s: it should be called %s.c", f->path, name);
    else
        snprintf(remark, sizeof remark, "%s%s", competes ? f->path : "", competes ? ":" : "");
    if (!signals_end())
        print_row(&r);
    return r;
}

/* Judges all files of a student that answer an exercise. Returns the best row. */
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
    out_format(&feedback, "  %s  %-24s", !n ? "--" : best.result == PASSED ? "ok" : "NO", name);
    out_format(&feedback,
               !n           ? "not handed in\n"
               : best.parts ? "%d of %d parts\n"
                            : "%d parts\n",
               best.right, best.parts);
    if (n && best.result == NOT_PASSED && !first.n)
        add_first(name, &wrong);
    return best;
}

/* The files that are not judged. */
static void print_others(const struct student *s)
{
    out unasked = { NULL, 0, 0, false };
    struct row r = { s->name, "-", "", "", "", NOT_JUDGED, 0, 0, NULL };
    for (const struct handed_file *f = s->handed.file; f < s->handed.file + s->handed.n; f++) {
        char remark[PATH + 20];
        if (f->exercise >= 0 && !g.asked[f->exercise])
            out_text(&unasked, unasked.n ? ", " : ""), out_text(&unasked, f->path);
        if (f->exercise >= 0)
            continue;
        snprintf(remark, sizeof remark, "%s: not judged:", f->path);
        r.file = f->path, r.remark = remark, r.finding = f->why;
        print_row(&r);
        out_format(&feedback, "  --  %s %s\n", remark, f->why);
    }
    r.file = r.finding = out_end(&unasked), r.remark = "not asked for:";
    if (unasked.n > 1)
        print_row(&r);
    free(unasked.bytes);
}

/* 0; -1 after a warning. */
static int write_feedback(const struct student *s, const char *title)
{
    char path[FILE_PATH], name[300];
    out text = { NULL, 0, 0, false };
    out_format(&text, "%s: %s\n\n", s->name, title);
    out_bytes(&text, feedback.bytes, feedback.n);
    out_bytes(&text, first.bytes, first.n);
    snprintf(name, sizeof name, "%s.txt", s->name);
    const int status = text.failed ? warn("out of memory")
                                   : file_write(file_path(path, g.options->out, name), text.bytes, text.n);
    free(text.bytes);
    return status;
}

static int grade_student(const struct student *s)
{
    char solved[40], title[200];
    int asked = 0, passed = 0, right = 0, parts = 0;
    out_clear(&feedback);
    out_clear(&first);
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
            return warn("there is no exercise '%s': `build/learn --list` lists them", word);
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
            warn("%s is not judged: it is not in a student's folder", path);
        else if (stat(path, &s) == 0 && S_ISDIR(s.st_mode)) {      /* a link to a folder also has a row */
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

/* Counts the parts of each exercise by judging its solution, if there is one. */
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
    out_text(&g.json, "[");
    if (!options->json)
        print_cells((const char *[]){ "student", "exercise", "passed", "parts", "finding" });
    for (int i = 0; i < g.students && !signals_end(); i++)
        if (grade_student(&g.student[i]))
            status = 2;
    if (options->json)
        printf("%.*s\n]\n", (int)g.json.n, g.json.bytes);
    free(g.json.bytes);
    for (int i = 0; i < g.students; i++) {
        free((char *)(size_t)g.student[i].name);
        handed_free(&g.student[i].handed);
    }
    free(g.student);
    signals_die();
    return fflush(stdout) ? 2 : status;
}
