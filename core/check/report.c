/* report: what a gradient check found: the worst element, what explains it, what else is wrong. */
#include "checking.h"

/* "w (3, 4), element 5 (row 1, column 1)" */
static void put_element(gra_check_line *s, const gra_checked *x, size_t i)
{
    gra_check_put(s, "%s %s", x->name, gra_shape_text(x->ndim, x->shape, (char[GRA_SHAPE_TEXT]){ 0 }));
    if (x->ndim == 0)
        return;
    gra_check_put(s, ", element %zu", i);
    if (x->ndim == 2)
        gra_check_put(s, " (row %zu, column %zu)", i / (size_t)x->shape[1], i % (size_t)x->shape[1]);
    size_t below = x->size, rest = i;
    for (int d = 0; x->ndim > 2 && d < x->ndim; d++) {
        below /= (size_t)x->shape[d];
        gra_check_put(s, "%s%zu%s", d ? ", " : " (at ", rest / below, d == x->ndim - 1 ? ")" : "");
        rest %= below;
    }
}

static size_t wrong_elements(const gra_checking *k, const gra_checked *x)
{
    size_t count = 0;
    for (size_t i = 0; i < x->size; i++)
        if (!(gra_check_error(k, x, i) <= k->tolerance))
            count++;
    return count;
}

void gra_check_tell(gra_checking *k, gra_checked *worst)
{
    gra_check_line s = { .at = 0 };
    if (!worst) {
        gra_check_say(k->report, "gradient check: nothing to compare: no input, and no parameter unfrozen");
        return;
    }
    bool failed = !(worst->error <= k->tolerance);
    put_element(&s, worst, worst->worst);
    gra_check_say(k->report,
                  "gradient check %s: %s%s: the backward says %.6g, the loss says %.6g (error %.2g)",
                  failed ? "FAILED" : "passed", failed ? "" : "the worst is ", s.s, k->report->analytic,
                  k->report->numeric, worst->error);
    if (!failed) {
        gra_check_say(k->report, "compared: %zu elements of %d tensor%s", k->report->elements, k->count,
                      k->count == 1 ? "" : "s");
        return;
    }
    gra_check_say(k->report, "wrong there: %zu of %zu elements", wrong_elements(k, worst), worst->size);
    gra_check_explain(k, worst);
    gra_check_line others = { .at = 0 };
    for (int i = 0; i < k->count; i++)
        if (&k->tensor[i] != worst && !(k->tensor[i].error <= k->tolerance))
            gra_check_put(&others, "%s%s (error %.2g)", others.at ? ", " : "", k->tensor[i].name,
                          k->tensor[i].error);
    if (others.at)
        gra_check_say(k->report, "wrong too: %s", others.s);
}
