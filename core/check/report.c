/* report: what a gradient check found: the worst element, what else is wrong, what is right, what was not
 * tested, and what explains it. */
#include "checking.h"

/* "w (3, 4), element 5 (row 1, column 1)" */
static void put_element(gra_check_line *s, const gra_checked *x, size_t i)
{
    gra_check_put(s, "%s %s", x->name, gra_shape_text(x->shape, (char[GRA_SHAPE_TEXT]){ 0 }));
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

/* Where nothing was tested, or next to nothing. */
static void say_untested(const gra_checking *k)
{
    for (int i = 0; i < k->count; i++)
        if (k->tensor[i].untested)
            gra_check_say(k->report, "%s: every gradient is 0: nothing was tested there", k->tensor[i].name);
}

/* Beside large gradients small ones may be anything. */
static void say_small(const gra_checking *k)
{
    gra_check_line small = { .at = 0 }, unsure = { .at = 0 };
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
        if (below)
            gra_check_put(&small, "%s%zu of %zu elements of %s (below %.2g)", small.at ? ", " : "", below, x->size,
                          x->name, least);
        if (rough)
            gra_check_put(&unsure, "%s%zu of %zu elements of %s", unsure.at ? ", " : "", rough, x->size, x->name);
    }
    if (small.at)
        gra_check_say(k->report, "too small to be judged beside the largest gradient, or beside the loss, so that "
                      "they could be anything: %s", small.s);
    if (unsure.at)
        gra_check_say(k->report, "judged less exactly than to the tolerance, since differences of the loss are rough "
                      "there: %s", unsure.s);
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
    gra_check_line others = { .at = 0 }, right = { .at = 0 };
    for (int i = 0; i < k->count; i++) {
        const gra_checked *x = &k->tensor[i];
        if (x->error <= k->tolerance && i != k->constant)
            gra_check_put(&right, "%s%s", right.at ? ", " : "", x->name);
        else if (x != worst && i != k->constant)
            gra_check_put(&others, "%s%s (error %.2g)", others.at ? ", " : "", x->name, x->error);
    }
    if (others.at)
        gra_check_say(k->report, "wrong too: %s", others.s);
    if (right.at)
        gra_check_say(k->report, "right: %s", right.s);
    gra_check_explain(k, worst);
}
