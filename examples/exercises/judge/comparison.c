/* comparison: an answer's numbers beside the right numbers, and how the wrong numbers are related to the
 * right ones (see judge.h). */
#include "comparison.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ------------------------------------------------------------------------------------ */

static bool near(const struct comparison *c, double a, double b)
{
    const double d = a - b;
    return a == b || (d <= c->tolerance && -d <= c->tolerance) || (a != a && b != b);
}

static bool equal(const struct comparison *c, const double *a, const double *b)
{
    for (size_t i = 0; i < c->n; i++)
        if (!near(c, a[i], b[i]))
            return false;
    return true;
}

/* "[1, 2]", the place of element i; "" if there is only one. */
static const char *place(const struct comparison *c, size_t i, char *text, size_t room)
{
    size_t below = c->n, at = 0;
    text[0] = 0;
    for (int d = 0; d < c->shape.ndim && c->n > 1; d++) {
        below /= (size_t)c->shape.dim[d];
        at += (size_t)snprintf(text + at, room - at, "%s%zu%s", d ? ", " : "[",
                               i / below % (size_t)c->shape.dim[d], d == c->shape.ndim - 1 ? "]" : "");
    }
    return text;
}

static double largest(const struct comparison *c)
{
    double most = 0;
    for (size_t i = 0; i < c->n; i++)
        most = isfinite(c->want[i]) ? fmax(most, fabs(c->want[i])) : most;
    return most;
}

size_t judge_size(gra_shape shape)
{
    size_t n = 1;
    for (int d = 0; d < shape.ndim; d++)
        n *= (size_t)shape.dim[d];
    return n;
}

struct comparison judge_comparison(gra_shape shape, const double *got, const double *want, double tolerance)
{
    struct comparison c = { shape, judge_size(shape), got, want, 0 };
    c.tolerance = tolerance * fmax(1, largest(&c));
    return c;
}

bool judge_agrees(const struct comparison *c)
{
    return equal(c, c->got, c->want);
}

/* Is every number the same factor times the expected number, or off by the same amount? */
static bool one_factor(const struct comparison *c, double *factor)
{
    size_t most = 0, zeros = 0;
    for (size_t i = 0; i < c->n; i++) {
        most = fabs(c->want[i]) > fabs(c->want[most]) ? i : most;
        zeros += near(c, c->want[i], 0);
    }
    *factor = c->got[most] / c->want[most];
    if (zeros + 2 > c->n || !isfinite(*factor))         /* a single number always has a factor */
        return false;
    for (size_t i = 0; i < c->n; i++)
        if (!near(c, c->got[i], *factor * c->want[i]))
            return false;
    return true;
}

static bool one_difference(const struct comparison *c, double *difference)
{
    *difference = c->got[0] - c->want[0];
    for (size_t i = 0; i < c->n; i++)
        if (!near(c, c->got[i], *difference + c->want[i]))
            return false;
    return c->n > 1 && isfinite(*difference);
}

/* Are the n numbers at first, first + step, ... right? */
static bool line_is_right(const struct comparison *c, size_t first, size_t n, size_t step)
{
    for (size_t i = first; n-- > 0; i += step)
        if (!near(c, c->got[i], c->want[i]))
            return false;
    return true;
}

#define AS_IF "as if a loop were too short or a case were missing"

/* For a matrix, or a list as a matrix of one row: if some rows and columns are right and everything else is
 * `untouched`, says which are right. "Only these are right" is untrue if a row or column outside is right
 * too, because `untouched` is expected there. */
static void bounds(const struct comparison *c, double untouched, char *text, size_t room)
{
    const size_t cols = c->shape.ndim ? (size_t)c->shape.dim[c->shape.ndim - 1] : 1, rows = c->n / cols;
    size_t from[2] = { rows, cols }, to[2] = { 0, 0 };
    text[0] = 0;
    for (size_t i = 0; i < c->n; i++)
        if (near(c, c->got[i], c->want[i]) && !near(c, c->want[i], untouched))
            for (int d = 0; d < 2; d++) {
                const size_t at = d ? i % cols : i / cols;
                from[d] = at < from[d] ? at : from[d];
                to[d] = at + 1 > to[d] ? at + 1 : to[d];
            }
    if (c->shape.ndim > 2 || to[0] == 0)
        return;
    for (size_t i = 0; i < c->n; i++) {
        const bool in = i / cols >= from[0] && i / cols < to[0] && i % cols >= from[1] && i % cols < to[1];
        if (!near(c, c->got[i], in ? c->want[i] : untouched))
            return;
    }
    for (size_t r = 0; r < rows; r++)
        if ((r < from[0] || r >= to[0]) && line_is_right(c, r * cols, cols, 1))
            return;
    for (size_t j = 0; j < cols; j++)
        if ((j < from[1] || j >= to[1]) && line_is_right(c, j, rows, cols))
            return;
    char part[2][60] = { "", "" };
    for (int d = 0; d < 2; d++)
        if (from[d] > 0 || to[d] < (d ? cols : rows))
            snprintf(part[d], sizeof part[d], "%s %zu to %zu of 0 to %zu",
                     c->shape.ndim < 2 ? "numbers" : d ? "columns" : "rows", from[d], to[d] - 1,
                     (d ? cols : rows) - 1);
    if (part[0][0] || part[1][0])
        snprintf(text, room, "only %s%s%s are right, and the rest is %s, " AS_IF,
                 part[0], part[0][0] && part[1][0] ? " and " : "", part[1], untouched == 0 ? "0" : "missing");
}

/* The numbers seen as rows, each as long as the last dimension; with one dimension each number is a row. */
static size_t row_length(const struct comparison *c)
{
    return c->shape.ndim < 2 ? 1 : (size_t)c->shape.dim[c->shape.ndim - 1];
}

/* Why were some numbers never written? */
static void unwritten_for(const struct comparison *c, char *text, size_t room)
{
    bool zeros = true;
    for (size_t i = 0; i < c->n; i++)
        zeros &= near(c, c->got[i], c->want[i]) || (c->got[i] == JUDGE_UNWRITTEN && c->want[i] == 0);
    bounds(c, JUDGE_UNWRITTEN, text, room);
    if (zeros)
        snprintf(text, room, "write 0 there too");
}

/* Says whether only the first or last of n lines is right or wrong. A line of zeros may be right for any
 * reason, as 0 times a wrong factor is 0. */
static void one_of(const struct comparison *c, size_t n, size_t apart, size_t length, size_t step,
                   const char *where, const char *line, char *text, size_t room)
{
    size_t right = 0;
    bool zeros = true;
    for (size_t k = 0; k < n; k++)
        if (line_is_right(c, k * apart, length, step)) {
            right++;
            for (size_t i = 0; i < length; i++)
                zeros &= c->want[k * apart + i * step] == 0;
        }
    const bool first = line_is_right(c, 0, length, step);
    const bool last = line_is_right(c, (n - 1) * apart, length, step);
    if (n > 2 && right == 1 && !zeros && (first || last))
        snprintf(text, room, "%sonly the %s %s is right: what is different for the others?", where,
                 first ? "first" : "last", line);
    else if (n > 2 && right == n - 1 && (!first || !last))
        snprintf(text, room, "%sonly the %s %s is wrong", where, first ? "last" : "first", line);
}

/* Which part is right? This is said if nothing else explains the numbers. */
static void narrowed(const struct comparison *c, char *text, size_t room)
{
    const size_t cols = row_length(c), rows = c->n / cols;
    text[0] = 0;
    one_of(c, rows, cols, cols, 1, "", c->shape.ndim < 2 ? "number" : "row", text, room);
    if (!text[0])
        one_of(c, cols, 1, rows, cols, "in all rows ", "number", text, room);
}

/* A number is so much larger than the expected numbers that a wrong formula is not the cause. */
static bool too_large(const struct comparison *c, size_t first, size_t worst, char *text, size_t room)
{
    static const double guard = 1e3 * JUDGE_UNWRITTEN;              /* judge_room's */
    const double x = c->got[worst];
    char at[100], which[140] = "";
    if (!isfinite(x) || fabs(x) < 1e6 || fabs(x) < 1e5 * largest(c))
        return false;
    if (fabs(c->got[first]) < 1e-3 * fabs(x))
        snprintf(which, sizeof which, "at %s it is %.3g. ", place(c, worst, at, sizeof at), x);
    return snprintf(text, room, fabs(x - guard) < 1e5
                    ? "%sAn index is too large: the number was read past the end of an array"
                    : "%sSuch a large number was usually read past the end of an array, or from memory that "
                      "was never set (does each sum begin at 0?). If not, look for a division by nearly 0, "
                      "or e^x of a large x",
                    which) > 0;
}

/* Is each number right to a few digits, not only compared with the largest number? */
static bool nearly(const struct comparison *c, char *text, size_t room)
{
    double worst = 0, most = largest(c);
    for (size_t i = 0; i < c->n; i++) {
        const double off = fabs(c->got[i] - c->want[i]) / fmax(fabs(c->want[i]), 0.1 * most);
        if (!(off <= 3e-4))
            return false;
        worst = fmax(worst, off);
    }
    return snprintf(text, room, "it is right to %.0f digits. Usual causes: %sa constant with too few digits, "
                    "an approximation, or a small number (an eps) that is wrong, missing or not needed",
                    fmin(15, floor(-log10(worst))), worst < 2e-6 ? "a float (use double), " : "") > 0;
}

/* How the wrong numbers are related to the right ones; "" if nothing was found. A relation is stated as a
 * fact; a mistake that often leads to it is called a usual cause. */
static void common(const struct comparison *c, char *text, size_t room)
{
    double x;
    size_t zeros = 0, right = 0, left_out = 0, worst = 0, wrong = c->n;     /* wrong: the first */
    for (size_t i = 0; i < c->n; i++) {
        worst = fabs(c->got[i]) > fabs(c->got[worst]) ? i : worst;
        zeros += c->got[i] == 0;
        right += near(c, c->got[i], c->want[i]);
        wrong = wrong == c->n && !near(c, c->got[i], c->want[i]) ? i : wrong;
        left_out += c->got[i] == 0 && !near(c, 0, c->want[i]);
    }
    bounds(c, 0, text, room);
    if (text[0] || too_large(c, wrong, worst, text, room))
        return;
    if (zeros == c->n)                                    /* if most should be 0, this proves little */
        snprintf(text, room, "it is 0%s%s", c->n > 1 ? " throughout" : "", 2 * right >= c->n ? "" :
                 ". Usual causes: nothing is computed, or a factor is 0 (in C, 1 / n is 0 for an int n > 1: "
                 "write 1.0 / n)");
    else if (nearly(c, text, room))
        return;
    else if (c->n == 1 && near(c, -c->got[0], c->want[0]))
        snprintf(text, room, "the sign is wrong");
    else if (c->n == 1 && (near(c, c->got[0], 2 * c->want[0]) || near(c, 2 * c->got[0], c->want[0])))
        snprintf(text, room, "it is %s what is expected",
                 near(c, 2 * c->got[0], c->want[0]) ? "half" : "twice");
    else if (one_factor(c, &x) && fabs(x + 1) < 1e-9)
        snprintf(text, room, "the sign is wrong everywhere");
    else if (one_factor(c, &x))
        snprintf(text, room, "it is %.6g times what is expected, everywhere", x);
    else if (one_difference(c, &x))
        snprintf(text, room, "it is too %s by %.6g, everywhere", x > 0 ? "large" : "small", fabs(x));
    else if (right && right + left_out == c->n)
        snprintf(text, room, "each wrong number is 0, and the rest is right, " AS_IF);
}

int judge_digits(double got, double want)
{
    char a[40], b[40];
    int digits = 5;
    do {
        digits++;
        snprintf(a, sizeof a, "%.*g", digits, got);
        snprintf(b, sizeof b, "%.*g", digits, want);
    } while (digits < 17 && !strcmp(a, b));
    return digits;
}

static char clue[300];                                  /* for the next comparison */

void judge_clue(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!clue[0])
        vsnprintf(clue, sizeof clue, format, args);
    va_end(args);
}

void judge_finding(const struct comparison *c, const char *name, const char *best)
{
    const double *got = c->got, *want = c->want;
    char at[100], why[300];
    size_t wrong = 0, unwritten = 0, first = 0, first_unwritten = 0;
    bool added = false;
    for (size_t i = c->n; i-- > 0;)
        if (!near(c, got[i], want[i])) {
            wrong++;
            if (got[i] == JUDGE_UNWRITTEN)
                unwritten++, first_unwritten = i;
            added |= got[i] != JUDGE_UNWRITTEN && fabs(got[i] - JUDGE_UNWRITTEN) < 1e5 && fabs(want[i]) < 1e5;
            first = i;
        }
    if (!wrong) {
        clue[0] = 0;
        return;
    }
    place(c, unwritten && !added ? first_unwritten : first, at, sizeof at);
    if (unwritten && !added) {
        unwritten_for(c, why, sizeof why);
        judge_wrong("%s%s was never written%s%s%s", name, at,
                    unwritten == c->n && c->n > 1 ? ", nor was any other element" : "",
                    best ? "\nlikely: " : why[0] ? "\n" : "", best ? best : why);
    }
    if (added && fabs(got[first] - JUDGE_UNWRITTEN) < 1e5)
        judge_wrong("%s%s was computed from memory that was never set: set a number before you add to it or "
                    "read it", name, at);
    char many[60] = "";
    if (c->n > 1)
        snprintf(many, sizeof many, "; %zu of %zu %s wrong", wrong, c->n, wrong == 1 ? "is" : "are");
    const double shown = got[first] != got[first] ? fabs(got[first]) : got[first];      /* nan, not -nan */
    const int digits = judge_digits(shown, want[first]);
    if (best)
        judge_wrong("%s%s: got %.*g, expected %.*g%s\nlikely: %s", name, at, digits, shown, digits,
                    want[first], many, best);
    common(c, why, sizeof why);
    if (!why[0])
        snprintf(why, sizeof why, "%s", clue);
    if (!why[0] && !isfinite(shown) && isfinite(want[first]))
        snprintf(why, sizeof why, "usual causes of %s", shown != shown
                 ? "nan: 0 / 0, inf - inf, the root or logarithm of a negative number"
                 : "inf: a division by 0, e^x of a large x, the logarithm of 0");
    if (!why[0])
        narrowed(c, why, sizeof why);
    judge_wrong("%s%s: got %.*g, expected %.*g%s%s%s", name, at, digits, shown, digits, want[first], many,
                why[0] ? "\n" : "", why);
}

void judge_numbers(const char *name, gra_shape shape, const double *got, const double *want, double tolerance)
{
    const struct comparison c = judge_comparison(shape, got, want, tolerance);
    judge_finding(&c, name, NULL);
}

void judge_explained(const struct comparison *c, const char *name, const struct judge_mistake *m)
{
    static char text[1500];
    size_t at = 0;
    for (; m->says; m++)
        if (m->says[0] && equal(c, c->got, m->numbers) && !equal(c, c->want, m->numbers) && at < 700)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at ? "\nor: " : "", m->says);
    judge_finding(c, name, at ? text : NULL);
}
