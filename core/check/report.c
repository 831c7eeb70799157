/* report: what a gradient check found: the worst element, what else is wrong, what is right, what was not
 * tested, and what explains it. */
#include "checking.h"

#define NAME "64"                       /* of a name so many characters are shown */

/* "w (3, 4), element 5 (row 1, column 1)" */
static void put_element(gra_check_line *s, const gra_checked *x, size_t i)
{
    gra_check_put(s, "%." NAME "s %s", x->name, gra_shape_text(x->shape, (char[GRA_SHAPE_TEXT]){ 0 }));
    if (x->shape.ndim == 0)
        return;
    gra_check_put(s, ", element %zu", i);
    if (x->shape.ndim == 2)
        gra_check_put(s, " (row %zu, column %zu)", i / (size_t)x->shape.dim[1], i % (size_t)x->shape.dim[1]);
    size_t below = x->size, rest = i;
    for (int d = 0; x->shape.ndim > 2 && d < x->shape.ndim; d++) {
        below /= (size_t)x->shape.dim[d];
        gra_check_put(s, "%s%zu%s", d ? ", " : " (at ", rest / below, d == x->shape.ndim - 1 ? ")" : "");
        rest %= below;
    }
}

static size_t wrong_elements(const gra_checking *k, const gra_checked *x)
{
    size_t count = 0;
    for (size_t i = 0; i < x->size; i++)
        if (!(gra_check_error(x, i) <= k->tolerance))
            count++;
    return count;
}

/* "w, b, k and 7 more" */
typedef struct list {
    gra_check_line line;
    int            count;
} list;

enum { MOST_NAMES = 4 };

/* The next of a list. False: enough are named already. */
static bool next(list *l)
{
    if (l->count++ >= MOST_NAMES)
        return false;
    if (l->count > 1)
        gra_check_put(&l->line, ", ");
    return true;
}

static void say_list(gra_check_report *report, const char *what, list *l)
{
    if (l->count > MOST_NAMES)
        gra_check_put(&l->line, " and %d more", l->count - MOST_NAMES);
    if (l->count)
        gra_check_say(report, "%s: %s", what, l->line.s);
}

/* Where nothing was tested, or next to nothing. */
static void say_untested(const gra_checking *k)
{
    int count = 0;
    for (int i = 0; i < k->count; i++)
        if (k->tensor[i].untested && count++ < MOST_NAMES)
            gra_check_say(k->report, "%s: every gradient is 0: nothing was tested there", k->tensor[i].name);
    if (count > MOST_NAMES)
        gra_check_say(k->report, "nor was anything in %d more", count - MOST_NAMES);
}

/* Beside large gradients small ones may be anything. */
static void say_small(const gra_checking *k)
{
    list small = { .count = 0 }, unsure = { .count = 0 };
    for (int i = 0; i < k->count; i++) {
        const gra_checked *x = &k->tensor[i];
        const double least = k->tolerance * gra_check_measure(x);
        size_t below = 0, rough = 0;
        for (size_t j = 0; j < x->size; j++) {
            const double g = fmax(fabs((double)x->analytic[j]), fabs((double)x->numeric[j]));
            if (g <= fmax(least, (double)x->unsure[j]))
                below += g > 0;
            else
                rough += (double)x->unsure[j] > least;
        }
        if (below && next(&small))
            gra_check_put(&small.line, "%zu of %zu elements of %." NAME "s (below %.2g)", below, x->size, x->name, least);
        if (rough && next(&unsure))
            gra_check_put(&unsure.line, "%zu of %zu elements of %." NAME "s", rough, x->size, x->name);
    }
    say_list(k->report, "too small to be judged beside the largest gradient, or beside the loss, so that they could be "
             "anything", &small);
    say_list(k->report, "judged less exactly than to the tolerance, since differences of the loss are rough there",
             &unsure);
}

void gra_check_tell(gra_checking *k, gra_checked *worst, bool untested)
{
    gra_check_line s = { .at = 0 };
    if (!worst) {
        gra_check_say(k->report, "gradient check: nothing to compare: no input of any size, and no parameter "
                      "unfrozen");
        return;
    }
    if (k->size == 0) {
        gra_check_say(k->report, "gradient check: nothing was tested: what f returned is empty: %s",
                      gra_shape_text(k->shape, (char[GRA_SHAPE_TEXT]){ 0 }));
        return;
    }
    bool failed = !(worst->error <= k->tolerance);
    put_element(&s, worst, worst->worst);
    gra_check_say(k->report, "gradient check %s: %s%s: analytic %.6g, numeric %.6g (error %.2g)",
                  failed ? "FAILED" : untested ? "incomplete" : "passed", failed ? "" : "the worst is ", s.s,
                  k->report->analytic, k->report->numeric, worst->error);
    if (!failed) {
        gra_check_say(k->report, "compared: %zu elements of %d tensor%s", k->report->elements, k->count,
                      k->count == 1 ? "" : "s");
        say_untested(k);
        say_small(k);
        return;
    }
    if (k->when[0])
        gra_check_say(k->report, "%s", k->when);
    gra_check_say(k->report, "wrong there: %zu of %zu elements", wrong_elements(k, worst), worst->size);
    list others = { .count = 0 }, right = { .count = 0 };
    for (int i = 0; i < k->count; i++) {
        const gra_checked *x = &k->tensor[i];
        if (i == k->constant || x == worst)
            continue;
        if (x->error <= k->tolerance) {
            if (next(&right))
                gra_check_put(&right.line, "%." NAME "s", x->name);
        } else if (next(&others)) {
            gra_check_put(&others.line, "%." NAME "s (error %.2g)", x->name, x->error);
        }
    }
    say_list(k->report, "wrong too", &others);
    say_list(k->report, "right", &right);
    gra_check_explain(k, worst);
}
