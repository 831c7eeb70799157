/* indices: explanations in which an index is wrong: dy is multiplied by another element of the tensor than is
 * expected, or a sum runs along another dimension. */
#include "explaining.h"
/* The one element of all tensors that has this value, and its tensor; -1: there is none, or more. */
static double owner(const gra_wrong *w, double v, const gra_checked **of)
{
    const gra_checking *k = w->check;
    double found = -1;
    for (int t = 0; t <= k->count && v != 0 && fabs(v) != 1; t++)
        for (size_t i = 0; i < k->tensor[t].size; i++)
            if (fabs((double)k->tensor[t].data[i] - v) <= 1e-7 * fabs(v)) {
                if (found >= 0)
                    return -1;
                found = (double)i;
                *of = &k->tensor[t];
            }
    return found;
}

/* Where all numbers are elements of one tensor, and all expected ones are of one: an example. */
bool gra_taken(gra_wrong *w)
{
    const gra_checked *of[2] = { NULL, NULL };          /* of which the elements of a are, and those of n */
    size_t wrong = 0, example = 0, taken[2] = { 0 };
    gra_check_line line[2] = { { .at = 0 }, { .at = 0 } }, at = { .at = 0 };
    for (size_t e = 0; w->whole && e < w->size; e++) {
        double element[2] = { 0 };
        bool both = true;
        for (int right = 0; right < 2; right++) {
            const double v = right ? w->n[e] : w->a[e];
            const gra_checked *t = of[right];
            both &= !gra_none(w, v);
            element[right] = gra_none(w, v) ? 0 : owner(w, v, &t);
            if (element[right] < 0 || (of[right] && t != of[right]))
                return false;
            of[right] = t;
        }
        if (!both || gra_fit(w, w->a[e], w->n[e]))
            continue;
        wrong++;
        example = e;
        taken[0] = (size_t)element[0];
        taken[1] = (size_t)element[1];
    }
    if (wrong < 4)
        return false;
    for (int right = 0; right < 2; right++) {
        gra_check_put(&line[right], "%.80s", of[right]->name);
        gra_put_place(&line[right], &of[right]->shape, taken[right]);
    }
    gra_put_entry(&at, w, example);
    gra_fits(w, "a wrong index: the backward has %s where %s is expected, in %s", line[0].s, line[1].s, at.s);
    return true;
}

/* ---- another dimension ------------------------------------------------------------------------- */

/* The one dimension along which the indices of dy and x differ anywhere; -1: none does, or more. */
static int along(const gra_wrong *w, const double *jacobian)
{
    int found = -1;
    for (size_t e = 0; e < w->size; e++)
        for (int d = 0; d < w->x->shape.ndim && !gra_none(w, jacobian[e]); d++)
            if (gra_index(w, true, d, e / w->cols) != gra_index(w, false, d, e % w->cols) && d != found) {
                if (found >= 0)
                    return -1;
                found = d;
            }
    return found;
}

bool gra_other_dimension(gra_wrong *w)
{
    if (!w->whole || !gra_same_shape(w->x->shape, w->check->shape))
        return false;
    const int a = along(w, w->a), n = along(w, w->n);
    if (a < 0 || n < 0 || a == n)
        return false;
    gra_fits(w, "the wrong dimension: the backward sums along dimension %d, where a sum along dimension %d "
             "is expected", a, n);
    return true;
}
