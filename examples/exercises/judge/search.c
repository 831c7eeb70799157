/* search: finds the mistake that gives the answer's numbers (see rules.h). A mistake is named only if it
 * gives them both in the part that is wrong and in a telling case, which has random numbers and sizes that
 * differ from one another. So a mistake that fits by chance is not named. */
#include "rules.h"
#include "judge.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How many nodes one search for pairs may compute, in well under a second. This limit is a count, not a time,
 * so that each machine finds the same pair. */
enum { PAIR_WORK = 12000000 };

struct fit {
    bool fits, changes;                 /* changes: differs from the right numbers in some case */
};

static double off(double a, double b)
{
    return a == b || (a != a && b != b) ? 0 : fabs(a - b);
}

/* The memory past the end of a tensor is not known: there any number that is too large to be right matches. A
 * case in which the answer is right proves nothing; nor do zeros and numbers that are not finite, unless the
 * mistake is a special. */
static struct fit compare(struct formula *f, int output, const struct seen *seen, int cases, bool special)
{
    struct fit fit = { true, false };
    bool proof = false;
    for (int c = 0; c < cases && (fit.fits || !fit.changes); c++) {
        f->now = seen[c].numbers;
        for (size_t i = 0; i < f->now->count[output] && (fit.fits || !fit.changes); i++) {
            f->past_end = false;
            const double made = formula_element(f, output, i), got = seen[c].got[i];
            const bool same = off(made, got) <= seen[c].tolerance
                           || (isfinite(made) && off(made, got) <= 1e-12 * fabs(made));
            fit.fits = fit.fits && (same || (f->past_end && f->tensors && !(fabs(got) < 1e5)));
            proof = proof || (same && seen[c].wrong && !(f->past_end && f->tensors) && made != JUDGE_UNWRITTEN
                              && (special || (fabs(made) > 1e-9 && isfinite(made))));
            fit.changes = fit.changes || !(off(made, seen[c].want[i]) <= seen[c].tolerance);
        }
    }
    fit.fits = fit.fits && fit.changes && proof;
    return fit;
}

static void turn(struct formula *f, const struct mistake *m, const struct seen *seen, int cases, bool on)
{
    for (int c = 0; c < cases; c++) {
        f->now = seen[c].numbers;
        mistake_turn(f, m, on);
    }
}

/* Element i of the output with this value of the unknown, minus the answer's element i. */
static double distance(struct formula *f, int output, const struct mistake *m, double unknown, size_t i,
                       const struct seen *seen)
{
    f->node[m->unknown].number = unknown;
    f->now = seen->numbers;
    mistake_turn(f, m, true);
    const double d = formula_element(f, output, i) - seen->got[i];
    mistake_turn(f, m, false);
    return d;
}

/* Is it a number that somebody may have written: p/q, or one digit and a power of ten? */
static bool is_plain(double x)
{
    const double size = fabs(x), power = pow(10, floor(log10(size) + 1e-9));
    for (int q = 1; q <= 8; q++)
        if (size < 1000 && size > 1e-3 && fabs(size * q - round(size * q)) < 1e-7 && round(size * q) > 0)
            return true;
    return isfinite(x) && size > 0 && fabs(size / power - round(size / power)) < 1e-5;
}

/* Finds the unknown number of a mistake by the secant method, from its right value. */
static bool solve(struct formula *f, int output, const struct mistake *m, const struct seen *seen)
{
    const double right = f->node[m->unknown].number;
    double a = right, b = right * 1.5, at_a, at_b;
    size_t i = 0;
    while (i < seen->numbers->count[output] && fabs(seen->got[i] - seen->want[i]) <= 10 * seen->tolerance)
        i++;
    if (i == seen->numbers->count[output] || !isfinite(seen->got[i]))
        return false;
    at_a = distance(f, output, m, a, i, seen);
    for (int k = 0; k < 30; k++) {
        at_b = distance(f, output, m, b, i, seen);
        if (!isfinite(at_b) || at_a == at_b)
            break;
        const double c = b - at_b * (b - a) / (at_b - at_a);
        a = b, at_a = at_b;
        b = c;
    }
    for (int digits = 15; digits > 3; digits -= 3) {    /* as it was written */
        char text[40];
        snprintf(text, sizeof text, "%.*g", digits, b);
        if (digits < 15 && fabs(strtod(text, NULL) - b) <= 1e-6 * fabs(b))
            b = strtod(text, NULL);
    }
    f->node[m->unknown].number = is_plain(b) && fabs(b - right) > 1e-12 * fabs(right) ? b : right;
    return f->node[m->unknown].number != right;
}

static const char *with_number(const struct formula *f, const struct mistake *m)
{
    static char text[2][500];
    static int which;
    const char *at = m->unknown == NONE ? NULL : strchr(m->says, '%');
    if (!at)
        return m->says;
    which = !which;
    snprintf(text[which], sizeof text[which], "%.*s%.6g%s", (int)(at - m->says), m->says,
             f->node[m->unknown].number, at + 1);
    return text[which];
}

/* May an answer have both mistakes? Yes, if both are likely, or are the same mistake in two places, and
 * neither is in a line that a special replaces. */
static bool may_be_both(const struct formula *f, const struct mistake *a, const struct mistake *b)
{
    for (int i = 0; i < a->swaps; i++)
        for (int j = 0; j < b->swaps; j++)
            if (a->node[i] == b->node[j]
                || ((a->special || b->special) && f->node[a->node[i]].line == f->node[b->node[j]].line))
                return false;
    return a->unknown == NONE && b->unknown == NONE
        && ((a->rank == 0 && b->rank == 0) || (a->rank == 1 && b->rank == 1 && a->rule == b->rule));
}

static const char *search_pair(struct formula *f, int output, const struct seen *seen, int cases,
                               const struct mistake *const *of, int n)
{
    static char text[1200];
    const unsigned long long end = f->work + PAIR_WORK;
    for (int i = 0; i < n && f->work < end; i++) {
        turn(f, of[i], seen, cases, true);
        for (int j = i + 1; j < n && f->work < end; j++) {
            if (!may_be_both(f, of[i], of[j]))
                continue;
            turn(f, of[j], seen, cases, true);
            turn(f, of[i], seen, cases, true);          /* its lines may read of[j]'s lines */
            const bool fits = compare(f, output, seen, cases, false).fits;
            turn(f, of[j], seen, cases, false);
            if (fits) {
                snprintf(text, sizeof text, strcmp(of[i]->says, of[j]->says) ? "two things:\n  %s\n  %s"
                         : "%s, in two places", of[i]->says, of[j]->says);
                turn(f, of[i], seen, cases, false);
                return text;
            }
        }
        turn(f, of[i], seen, cases, false);
    }
    return NULL;
}

const char *search_mistake(struct formula *f, int output, const struct seen *seen, int cases,
                           const struct mistakes *of)
{
    const struct mistake **changing = malloc(((size_t)of->n + 1) * sizeof *changing);
    const char *says = NULL;
    int n = 0;
    if (!changing)
        judge_wrong("the judge is out of memory");
    for (int i = 0; i < of->n && !says; i++) {
        const struct mistake *m = &of->all[i];
        const double right = m->unknown == NONE ? 0 : f->node[m->unknown].number;
        if (m->unknown != NONE && !solve(f, output, m, seen))
            continue;
        turn(f, m, seen, cases, true);
        const struct fit fit = compare(f, output, seen, cases, m->special);
        turn(f, m, seen, cases, false);
        if (fit.fits)
            says = with_number(f, m);
        else if (m->unknown != NONE)
            f->node[m->unknown].number = right;
        if (fit.changes)
            changing[n++] = m;
    }
    if (!says)
        says = search_pair(f, output, seen, cases, changing, n);
    free(changing);
    return says;
}
