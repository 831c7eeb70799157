/* session: see session.h. */
#include "session.h"
#include "../../lib/message.h"
#include "milestone.h"
#include "verdict_text.h"
#include "signals.h"
#include "terminal.h"
#include "watch.h"
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICK = 150, HEADER = 4, FOOTER = 2, PRINTED = 100 };     /* milliseconds; lines */

static struct session {
    const struct ladder *ladder;
    struct progress     *progress;
    const char          *build;
    int                  seconds;
    char                 path[LADDER_PATH];     /* the learner's file */
    struct watch         seen;                  /* the file's state at the last look */
    bool                 judged;                /* the verdict is for the current file */
    struct verdict       verdict;
    enum { JUDGEMENT, READING } shows;          /* the judgement, or a requested text or list */
    struct page          page;                  /* the text between header and footer */
    int                  top;                   /* the text's first visible line */
    int                  hints;                 /* how many hints of the current exercise are shown */
    int                  asks;                  /* the key whose question is open: 'o', 's' or 'r'; else 0 */
    char                 typed[20];
    char                 says[80];              /* shown instead of the keys, until the next key */
    bool                 quits;
} s;

static const struct exercise *current(void)
{
    return &s.ladder->at[s.progress->current];
}

static bool is_solved(void)
{
    return s.progress->solved[s.progress->current];
}

/* ---- the screen --------------------------------------------------------------------------------- */

static int body_rows(int rows)
{
    return rows > HEADER + FOOTER ? rows - HEADER - FOOTER : 1;
}

/* A line with one text at its left end, and one at its right end. */
static void two(struct page_line *line, enum page_style style, int columns, const char *left,
                const char *right)
{
    const int width = columns <= PAGE_COLUMNS ? columns - 1 : PAGE_COLUMNS, n = (int)strlen(right);
    line->style = style;
    snprintf(line->text, sizeof line->text, "%-*.*s", width, width, left);
    if (n && n < width) {
        line->text[width - n - 1] = ' ';
        memcpy(line->text + width - n, right, (size_t)n);
    }
}

static const char *state(void)
{
    static const char *const words[] = { "passed", "not passed yet", "not judged" };
    return !s.seen.exists ? "the file is gone" : !s.judged ? "judging ..." : words[s.verdict.result];
}

static void footer(struct page_line line[FOOTER], int columns, int rows)
{
    char more[80] = "", asks[100];
    const int body = body_rows(rows);
    if (s.page.n > body)
        snprintf(more, sizeof more, "lines %d to %d of %d: space and arrows scroll", s.top + 1,
                 s.top + body < s.page.n ? s.top + body : s.page.n, s.page.n);
    two(&line[0], PLAIN, columns, more, "");
    if (s.asks == 'o')
        snprintf(asks, sizeof asks, "open exercise: %s_   (its number and Enter; Escape cancels)", s.typed);
    else if (s.asks == 's')
        snprintf(asks, sizeof asks, "It is not solved yet. Show a solution anyway? y / n");
    else if (s.asks == 'r')
        snprintf(asks, sizeof asks, "Start over? The start file replaces your answer. y / n");
    else if (s.says[0])
        snprintf(asks, sizeof asks, "%s", s.says);
    else if (s.shows == READING)
        snprintf(asks, sizeof asks, "Enter back   n next   l list   o open   q quit");
    else
        snprintf(asks, sizeof asks, "n next   h hint   l list   o open   %sr reset   q quit",
                 ladder_has_solutions() ? "s solution   " : "");
    two(&line[1], BOLD, columns, asks, "");
}

static void draw(void)
{
    static struct page_line lines[HEADER + PAGE_LINES + FOOTER];
    char bar[60];
    int rows, columns, n = 0;
    terminal_size(&rows, &columns);
    const int body = body_rows(rows);
    if (s.top > s.page.n - body)
        s.top = s.page.n - body;
    if (s.top < 0)
        s.top = 0;
    progress_bar(s.progress, s.ladder, bar, sizeof bar);
    two(&lines[n++], BOLD, columns, "gradus: learn by gradients", bar);
    two(&lines[n++], BOLD, columns, current()->title, is_solved() ? "solved" : "");
    const bool passed = s.verdict.result == PASSED;
    const enum page_style style = !s.judged || !s.seen.exists ? PLAIN : passed ? GOOD : BAD;
    two(&lines[n++], style, columns, s.path, state());
    two(&lines[n++], PLAIN, columns, "", "");
    for (int i = 0; i < body && i < PAGE_LINES; i++)
        if (s.top + i < s.page.n)
            lines[n++] = s.page.line[s.top + i];
        else
            two(&lines[n++], PLAIN, columns, "", "");
    footer(&lines[n], columns, rows);
    terminal_draw(lines, n + FOOTER, rows, columns);
}

/* ---- the text between header and footer --------------------------------------------------------- */

static void add_hints(void)
{
    for (int i = 1; i <= s.hints; i++) {
        char *hint = ladder_hint(current(), i);
        page_addf(&s.page, BOLD, "", "\nHint %d of 2:", i);
        page_addf(&s.page, PLAIN, "  ", "%s", hint ? hint : "there is no hint here");
        free(hint);
    }
}

static const char *praise(void)
{
    static char text[300];
    char offer[200];
    const char *passed = progress_count(s.progress, s.ladder) == s.ladder->n
                             ? "Passed: you have solved all exercises."
                       : ladder_has_solutions()
                             ? "Passed. n: the next exercise. s: a solution with its reasoning, to compare."
                             : "Passed. n: the next exercise.";
    milestone_offer(offer, sizeof offer, s.progress, s.ladder, s.progress->current);
    snprintf(text, sizeof text, "%s%s%s", passed, *offer ? "\n\n" : "", offer);
    return text;
}

/* The judgement, scrolled so that the finding is visible, or the hint that was just requested. */
static void show_judgement(bool hint)
{
    int rows, columns;
    s.shows = JUDGEMENT;
    page_clear(&s.page);
    if (!s.seen.exists)
        page_addf(&s.page, PLAIN, "", "%s is gone. It is judged when it is back; r starts over.", s.path);
    else if (s.judged)
        report_page(&s.page, &s.verdict, praise(), PRINTED);
    int last = s.page.mark + 4, passed = 0, parts;          /* the beginning of the finding */
    if (s.judged)
        report_parts(&s.verdict, &passed, &parts);
    if (s.seen.exists && passed == 0)
        page_addf(&s.page, PLAIN, "", "%sEdit %s: the text at its top says what to do. It is judged each "
                  "time you save it.", s.judged ? "\n" : "", s.path);
    if (!s.judged || s.verdict.result != PASSED)
        add_hints();
    if (hint)
        last = s.page.n;
    terminal_size(&rows, &columns);
    s.top = last > body_rows(rows) ? last - body_rows(rows) : 0;
}

static void show_text(char *text, const char *none)
{
    s.shows = READING;
    s.top = 0;
    page_clear(&s.page);
    page_addf(&s.page, PLAIN, "", "%s", text ? text : none);
    free(text);
}

static void show_list(void)
{
    const int rows = (s.ladder->n + 1) / 2;
    s.shows = READING;
    s.top = 0;
    page_clear(&s.page);
    for (int i = 0; i < rows; i++) {
        char line[2][40] = { "", "" };
        for (int j = 0; j < 2 && i + j * rows < s.ladder->n; j++) {
            const int at = i + j * rows;
            snprintf(line[j], sizeof *line, "%s %s %.2s %.31s", at == s.progress->current ? ">" : " ",
                     s.progress->solved[at] ? "ok" : "  ", s.ladder->at[at].name, s.ladder->at[at].name + 3);
        }
        page_addf(&s.page, PLAIN, "", "%-38s%s", line[0], line[1]);
    }
}

/* ---- what keys do ------------------------------------------------------------------------------- */

static void save_progress(void)
{
    if (progress_write(s.progress, s.ladder))
        snprintf(s.says, sizeof s.says, "your progress cannot be saved: %.40s", strerror(errno));
}

static void open_exercise(int at)
{
    s.progress->current = at;
    s.judged = false;
    s.hints = 0;
    ladder_answer(current(), s.path);
    if (ladder_begin(current()))
        snprintf(s.says, sizeof s.says, "your answer cannot be written: %.40s", strerror(errno));
    save_progress();
    s.seen = watch_look(s.path);
    show_judgement(false);
}

/* Called while an answer is compiled and run: is something else to be done first? */
static bool interrupted(void)
{
    const struct watch now = watch_look(s.path);
    return signals_end() || terminal_pressed() || !watch_same(&now, &s.seen);
}

static void judge(void)
{
    s.says[0] = 0;
    draw();
    child_stop = interrupted;
    verdict_of(&s.verdict, s.build, current()->name, s.path, s.seconds);
    child_stop = signals_end;
    if (s.verdict.result == NOT_JUDGED && interrupted())
        return;                                 /* it is judged again in a moment */
    s.judged = true;
    if (s.verdict.result == PASSED && !is_solved()) {
        s.progress->solved[s.progress->current] = true;
        save_progress();
    }
    show_judgement(false);
}

static void show_solution(void)
{
    show_text(ladder_solution(current()), "there is no solution here");
}

static void answer_asked(int key)
{
    const int asks = s.asks;
    const size_t n = strlen(s.typed);
    if (asks == 'o' && isdigit(key) && n < 2) {
        s.typed[n] = (char)key, s.typed[n + 1] = 0;
        return;
    }
    if (asks == 'o' && key == KEY_BACKSPACE) {
        s.typed[n ? n - 1 : 0] = 0;
        return;
    }
    s.asks = 0;
    if (asks == 's' && (key == 'y' || key == 'Y'))
        show_solution();
    else if (asks == 'r' && (key == 'y' || key == 'Y')) {
        if (ladder_reset(current()))
            snprintf(s.says, sizeof s.says, "your answer cannot be written: %.40s", strerror(errno));
        open_exercise(s.progress->current);
    } else if (asks == 'o' && key == KEY_ENTER && n) {
        const int at = ladder_find(s.ladder, s.typed);
        if (at >= 0)
            open_exercise(at);
        else
            snprintf(s.says, sizeof s.says, "there is no exercise %s: l lists them", s.typed);
    }
}

static void ask(int what, int first)
{
    s.asks = what;
    s.typed[0] = (char)first, s.typed[1] = 0;
}

static bool scroll(int key)
{
    int rows, columns;
    terminal_size(&rows, &columns);
    const int page = body_rows(rows) - 1;
    const int by = key == KEY_UP || key == 'k' ? -1 : key == KEY_DOWN || key == 'j' ? 1
                 : key == KEY_PAGE_UP || key == 'b' ? -page : key == KEY_PAGE_DOWN || key == ' ' ? page : 0;
    s.top += by;                                /* draw keeps it within the page */
    return by;
}

static void press(int key)
{
    s.says[0] = 0;
    if (key == KEY_INTERRUPT)
        s.quits = true;
    else if (key == KEY_SUSPEND)
        terminal_end(), kill(0, SIGTSTP);       /* also stops make, which waits for us */
    else if (s.asks)
        answer_asked(key);
    else if (key == 'q')
        s.quits = true;
    else if (key == 'n' && s.progress->current + 1 < s.ladder->n)
        open_exercise(s.progress->current + 1);
    else if (key == 'n')
        snprintf(s.says, sizeof s.says, "this is the last exercise");
    else if (key == 'h' && s.judged && s.verdict.result == PASSED)
        snprintf(s.says, sizeof s.says, "it has passed%s",
                 ladder_has_solutions() ? ": s shows a solution with its reasoning" : "");
    else if (key == 'h') {
        s.hints = s.hints < 2 ? s.hints + 1 : 2;
        show_judgement(true);
    } else if (key == 'l')
        show_list();
    else if (key == 'o' || isdigit(key))
        ask('o', key == 'o' ? 0 : key);
    else if (key == 's' && !ladder_has_solutions())
        snprintf(s.says, sizeof s.says, "there is no such key: the last line lists them");
    else if (key == 's' && !is_solved())
        ask('s', 0);
    else if (key == 's')
        show_solution();
    else if (key == 'r')
        ask('r', 0);
    else if (!scroll(key) && s.shows == READING)
        show_judgement(false);
}

/* One turn of the loop: looks at the file, judges it if it was saved, and waits a moment for a key. */
static void turn(void)
{
    const struct watch now = watch_look(s.path);
    if (!watch_same(&now, &s.seen)) {
        s.seen = now;
        s.judged = false;
        show_judgement(false);
    }
    if (!s.judged && s.seen.exists && s.shows == JUDGEMENT && !s.asks && !terminal_pressed())
        judge();
    draw();
    const int key = terminal_key(TICK);
    if (key != KEY_NONE)
        press(key);
    if (signals_stop())
        terminal_suspend();
    if (signals_redraw())
        terminal_begin();
}

int session(const struct ladder *l, struct progress *p, const char *build, int seconds)
{
    s = (struct session){ .ladder = l, .progress = p, .build = build, .seconds = seconds };
    if (terminal_begin()) {
        warn("this is not a terminal: %s", strerror(errno));
        return 2;
    }
    signals_of_terminal();
    open_exercise(p->current);
    while (!s.quits && !signals_end())
        turn();
    terminal_end();
    signals_die();
    return 0;
}
