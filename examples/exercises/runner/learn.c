/* learn: the runner of the exercises. In a terminal it shows one exercise after another and judges at each
 * save (session); with flags it judges once, for scripts and for teachers. The program runs in the
 * repository's root, and finds in its own folder what make has built for it. */
#include "../../lib/begin.h"
#include "../../lib/message.h"
#include "grade.h"
#include "ladder.h"
#include "milestone.h"
#include "solved.h"
#include "verdict_text.h"
#include "session.h"
#include "signals.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *program_name = "learn";

enum { OK, WRONG, TROUBLE, SECONDS = 10 };

static const char help[] =
    "usage: build/learn [FLAG ...] [EXERCISE [FILE]]\n"
    "\n"
    "Without EXERCISE, learn shows the current exercise and judges it at each save.\n"
    "With EXERCISE (7, 07, relu or 07_relu), learn judges the answer in FILE, or else\n"
    "in examples/exercises, and exits with 0 (passed), 1 (failed) or 2 (not judged).\n"
    "\n"
    "  --json               prints the judgement as one JSON object\n"
    "  --seconds N          gives each answer N seconds of processor time (10)\n"
    "  --list               lists the exercises, and which are solved\n"
    "  --hint EXERCISE [2]  prints the first hint, or the second\n"
    "%s"
    "  --reset EXERCISE     starts over: the start file replaces your answer\n"
    "  --grade DIR          judges a folder of students' folders and prints a table;\n"
    "                       --json: as JSON; --only \"8 9\": these exercises;\n"
    "                       --out DIR: also writes a text for each student\n"
    "  --help               prints this\n";

static const char solution_help[] = "  --solution EXERCISE  prints a solution with its reasoning\n";

enum what { JUDGE, LIST, HINT, SOLUTION, RESET, GRADE, HELP };

struct flags {
    enum what   what;
    bool        json;
    int         seconds;
    const char *only, *out;             /* for GRADE; NULL: not given */
    const char *words[3];               /* the arguments that are not flags */
    int         n;
};

static int read_flags(struct flags *f, int argc, char **argv)
{
    static const char *const names[] = { "", "--list", "--hint", "--solution", "--reset", "--grade",
                                         "--help" };
    *f = (struct flags){ .seconds = SECONDS };
    for (int i = 1; i < argc; i++) {
        const char *s = argv[i];
        enum what what = LIST;
        while (what <= HELP && strcmp(s, names[what]))
            what++;
        if (what <= HELP)
            f->what = what;
        else if (!strcmp(s, "--json"))
            f->json = true;
        else if (!strcmp(s, "--seconds")) {
            f->seconds = i + 1 < argc ? atoi(argv[++i]) : 0;
            if (f->seconds < 1 || f->seconds > 3600)
                return warn("%s: got %s, expected seconds from 1 to 3600", s, i < argc ? argv[i] : "nothing");
        } else if (!strcmp(s, "--only") || !strcmp(s, "--out")) {
            if (i + 1 == argc)
                return warn("%s: got nothing, expected %s", s, s[3] == 'n' ? "exercises" : "a folder");
            *(s[3] == 'n' ? &f->only : &f->out) = argv[++i];
        } else if (s[0] == '-')
            return warn("'%s' is not a flag: `build/learn --help` lists them", s);
        else if (f->n == 3)
            return warn("'%s' is one argument too many: `build/learn --help` shows the usage", s);
        else
            f->words[f->n++] = s;
    }
    if ((f->only || f->out) && f->what != GRADE)
        return warn("%s needs --grade", f->only ? "--only" : "--out");
    return OK;
}

static void print_page(const struct page *p)
{
    for (int i = 0; i < p->n; i++)
        puts(p->line[i].text);
}

/* Judges once. Only the learner's own file counts as progress. */
static int judge(const struct ladder *l, struct progress *had, int at, const char *file, const char *build,
                 const struct flags *f)
{
    static struct verdict v;
    static struct page page;
    char own[LADDER_PATH];
    const struct exercise *e = &l->at[at];
    ladder_answer(e, own);
    if (!file && ladder_begin(e))
        return warn("%s cannot be written", own);
    verdict_of(&v, build, e->name, file ? file : own, f->seconds);
    signals_die();
    if (!file && v.result == PASSED && !had->solved[at]) {
        had->solved[at] = true;
        progress_write(had, l);
    }
    if (f->json)
        report_json(stdout, &v, e->name, file ? file : own);
    else if (v.result == NOT_JUDGED)
        return warn("%s", v.finding);
    else {
        char praise[300], offer[200];
        milestone_offer(offer, sizeof offer, had, l, at);
        snprintf(praise, sizeof praise, "Exercise %.2s: passed.%s%s", e->name, *offer ? "\n\n" : "", offer);
        page_addf(&page, PLAIN, "", "%s\n%s\n\n", e->title, file ? file : own);
        report_page(&page, &v, praise, 12);
        if (v.result != PASSED)
            page_addf(&page, PLAIN, "", "\nExercise %.2s: not passed.", e->name);
        print_page(&page);
    }
    return fflush(stdout) ? TROUBLE : (int)v.result;
}

static int list(const struct ladder *l, const struct progress *p)
{
    char bar[60];
    progress_bar(p, l, bar, sizeof bar);
    puts(bar);
    for (int i = 0; i < l->n; i++)
        printf("%s %s %.70s\n", i == p->current ? ">" : " ", p->solved[i] ? "ok" : "  ", l->at[i].title);
    return OK;
}

static int print_hint(const struct exercise *e, int number)
{
    static struct page page;
    char *text = ladder_hint(e, number);
    if (!text)
        return warn("there is no such hint for %s", e->name);
    page_addf(&page, PLAIN, "", "%s", text);
    print_page(&page);
    free(text);
    return OK;
}

static int print_solution(const struct exercise *e)
{
    char *text = ladder_solution(e);
    if (!text)
        return warn("there is no solution of %s in this folder", e->name);
    fputs(text, stdout);
    free(text);
    return OK;
}

/* The folder of this program: build, or the folder that make has as B=. */
static const char *own_folder(char *program)
{
    char *slash = strrchr(program, '/');
    if (!slash)
        return "build";
    *slash = 0;
    return program;
}

/* The exit status; -1: TROUBLE, after a warning. */
static int learn(int argc, char **argv)
{
    static struct ladder l;
    struct progress p;
    struct flags f;
    if (read_flags(&f, argc, argv))
        return TROUBLE;
    const char *build = own_folder(argv[0]), *term = getenv("TERM");
    if (f.what == HELP)
        return printf(help, ladder_has_solutions() ? solution_help : "") < 0 ? TROUBLE : OK;
    if (ladder_read(&l))
        return warn("there is no %sstart here: run it in the folder of gradus", LADDER_FOLDER);
    progress_read(&p, &l);
    signals_begin();
    child_stop = signals_end;
    if (f.what == LIST)
        return list(&l, &p);
    if (f.what == GRADE && (!f.n || !*f.words[0]))
        return warn("--grade needs a folder: run make grade DIR=folder");
    if (f.what == GRADE)
        return grade(&l, f.words[0], build, &(struct grade_options){ f.only, f.out, f.json, f.seconds });
    const bool clever = term && *term && strcmp(term, "dumb");
    if (f.what == JUDGE && !f.n && !f.json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && clever)
        return session(&l, &p, build, f.seconds);
    const int at = f.n ? ladder_find(&l, f.words[0]) : p.current;
    if (at < 0)
        return warn("there is no exercise '%s': `build/learn --list` lists them", f.words[0]);
    if (f.what == HINT)
        return print_hint(&l.at[at], f.n > 1 ? atoi(f.words[1]) : 1);
    if (f.what == SOLUTION)
        return print_solution(&l.at[at]);
    if (f.what == RESET)
        return ladder_reset(&l.at[at]) ? warn("the answer cannot be written: %s", strerror(errno)) : OK;
    return judge(&l, &p, at, f.words[1], build, &f);
}

int main(int argc, char **argv)
{
    begin_program(argv);
    const int status = learn(argc, argv);
    return status < 0 ? TROUBLE : status;
}
