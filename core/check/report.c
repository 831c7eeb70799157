/* report: the result of a gradient check: the worst element, what else is wrong, what is right, what was not
 * tested. */
#include "checking.h"

#define NAME "64"                       /* at most 64 characters of a tensor's name are shown */
enum { MOST_NAMES = 4 };

/* ---- lists: "w, b, k and 7 more" ---------------------------------------------------------------- */

typedef struct list {
    gra_line line;
    int            count;
} list;

/* Adds an entry: the first few are named, the rest are counted. */
static void next(list *l, const char *format, ...) GRA_PRINTF(2, 3);
static void next(list *l, const char *format, ...)
{
    char name[256];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    if (l->count++ < MOST_NAMES)
        gra_line_put(&l->line, "%s%s", l->count > 1 ? ", " : "", name);
}

static void say_list(gra_check_report *report, const char *what, list *l)
{
    if (l->count > MOST_NAMES)
        gra_line_put(&l->line, " and %d more", l->count - MOST_NAMES);
    if (l->count)
        gra_check_say(report, "%s: %s", what, l->line.s);
}

/* ---- the report --------------------------------------------------------------------------------- */

/* "w (3, 4), element 5 (row 1, column 1)" */
static void put_element(gra_line *s, const gra_checked *x, size_t i)
{
    gra_line_put(s, "%." NAME "s %s", x->name, GRA_SHAPE_STRING(x->shape));
    if (x->shape.ndim == 0)
        return;
    gra_line_put(s, ", element %zu", i);
    if (x->shape.ndim == 2)
        gra_line_put(s, " (row %zu, column %zu)", i / (size_t)x->shape.dim[1], i % (size_t)x->shape.dim[1]);
    if (x->shape.ndim > 2)
        gra_line_put(s, " (at %s", GRA_SHAPE_STRING(gra_place_of(x->shape, i)) + 1);
}

/* "2 of 10 elements of x (below 3e-07, the tolerance times the largest gradient; 8 others are exactly 0)" */
static void next_small(list *l, const gra_checking *k, const gra_checked *x, size_t below, size_t zero)
{
    char zeros[64] = "";
    if (zero)
        snprintf(zeros, sizeof zeros, "; %zu other%s exactly 0", zero, zero == 1 ? " is" : "s are");
    next(l, "%zu of %zu elements of %." NAME "s (below %.2g, the tolerance times %s%s)", below, x->size,
         x->name, k->tolerance * gra_check_measure(x), x->largest >= x->floor ? "the largest gradient" :
         "1e-7 of the loss", zeros);
}

/* Lists the tensors that were not tested, the gradients that are too small to be judged (beside large
 * gradients they may have any value), and the gradients that are known less exactly than the tolerance. */
static void say_untested(const gra_checking *k)
{
    list zero = { .count = 0 }, small = { .count = 0 }, rough = { .count = 0 };
    for (int i = 0; i < k->count; i++) {
        const gra_checked *x = &k->tensor[i];
        const double least = k->tolerance * gra_check_measure(x);
        size_t below = 0, unsure = 0, none = 0;
        for (size_t j = 0; j < x->size; j++) {
            const double g = fmax(fabs((double)x->analytic[j]), fabs((double)x->numeric[j]));
            if (g <= fmax(least, (double)x->unsure[j]))
                *(g > 0 ? &below : &none) += 1;
            else
                unsure += (double)x->unsure[j] > least;
        }
        if (x->kinks)
            gra_check_say(k->report, "%s has a kink at %." NAME "s[%zu] = %g (%zu of %zu elements)%s: change "
                          "this value", x->inner ? "an op in f" : "f", x->name, x->kink,
                          (double)x->data[x->kink], x->kinks, x->size,
                          x->inner ? ", or its backward is wrong just there"
                                   : ": no derivative can be taken there");
        if (x->untested)
            next(&zero, "%." NAME "s", x->name);
        if (below)
            next_small(&small, k, x, below, none);
        if (unsure)
            next(&rough, "%zu of %zu elements of %." NAME "s", unsure, x->size, x->name);
    }
    say_list(k->report, "nothing was tested, as every gradient is 0, in", &zero);
    say_list(k->report, "too small to be judged: they could be anything", &small);
    say_list(k->report, "judged less exactly than the tolerance, since differences of the loss are rough "
             "there", &rough);
}

/* Tells how many elements of the worst tensor are wrong, and which other tensors are wrong or right. */
static void say_wrong(const gra_checking *k, const gra_checked *worst)
{
    list others = { .count = 0 }, right = { .count = 0 };
    size_t count = 0;
    for (size_t i = 0; i < worst->size; i++)
        if (!(gra_check_error(worst, i) <= k->tolerance))
            count++;
    gra_check_say(k->report, "wrong there: %zu of %zu elements", count, worst->size);
    for (int i = 0; i < k->count; i++) {
        const gra_checked *x = &k->tensor[i];
        if (i == k->constant || x == worst)
            continue;
        if (x->error <= k->tolerance)
            next(&right, "%." NAME "s", x->name);
        else
            next(&others, "%." NAME "s (error %.2g)", x->name, x->error);
    }
    say_list(k->report, "wrong too", &others);
    say_list(k->report, "right", &right);
}

void gra_check_tell(gra_checking *k, gra_checked *worst, bool untested)
{
    gra_line s = { .at = 0 };
    if (!worst) {
        gra_check_say(k->report, "gradient check: nothing to compare: every input is empty, and every "
                      "parameter is frozen");
        return;
    }
    if (k->size == 0) {
        gra_check_say(k->report, "gradient check: nothing was tested: f's result is empty: %s",
                      GRA_SHAPE_STRING(k->shape));
        return;
    }
    const bool failed = !(worst->error <= k->tolerance);
    put_element(&s, worst, worst->worst);
    gra_check_say(k->report, "gradient check %s: %s%s: analytic %.6g, numeric %.6g (error %.2g)",
                  failed ? "FAILED" : untested ? "incomplete" : "passed", failed ? "" : "the worst is ", s.s,
                  k->report->analytic, k->report->numeric, worst->error);
    if (!failed) {
        gra_check_say(k->report, "compared: %zu elements of %d tensor%s", k->report->elements, k->count,
                      k->count == 1 ? "" : "s");
        say_untested(k);
        return;
    }
    if (k->when[0])
        gra_check_say(k->report, "%s", k->when);
    say_wrong(k, worst);
    if (k->explain)
        k->explain(k, worst);
}
