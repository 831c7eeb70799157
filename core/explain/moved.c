/* moved: the backward's column a has the numbers of n, but at other places: those of another index, of the
 * transposed matrix, of another output, or of another tensor. */
#include "explaining.h"
#include <stdlib.h>

/* ---- the gradient of another input --------------------------------------------------------------- */

bool gra_copied(gra_wrong *w)
{
    for (int c = 0; c < w->columns; c++) {
        const gra_term t = { &w->column[c], GRA_PLAIN };
        bool fit = t.c->gradient;
        for (size_t e = 0; fit && e < w->size; e++)
            fit = gra_fit(w, w->a[e], gra_value(w, t, e));
        if (!fit)
            continue;
        gra_fits(w, "it is the gradient of %s: the two gradients are exchanged, or %.60s has the formula of "
                 "%s", t.c->name, w->x->name, t.c->name);
        return true;
    }
    return false;
}

/* ---- a matrix and its transpose ----------------------------------------------------------------- */

/* The last two dimensions m x k were filled as if they were k x m; or the Jacobian is the other way round. */
static bool transposed(gra_wrong *w)
{
    const gra_shape *const x = &w->x->shape;
    const size_t m = x->ndim > 1 ? (size_t)x->dim[x->ndim - 2] : 1;
    const size_t k = x->ndim > 1 ? (size_t)x->dim[x->ndim - 1] : 1;
    bool layout = m > 1 && k > 1, jacobian = w->whole && w->rows == w->cols;
    for (size_t e = 0; e < w->size && (layout || jacobian); e++) {
        const size_t i = e % w->cols, j = e / w->cols;
        layout = layout && gra_fit(w, w->a[e - i % (m * k) + i % k * m + i % (m * k) / k], w->n[e]);
        jacobian = jacobian && gra_fit(w, w->a[i * w->cols + j], w->n[e]);
    }
    if (layout)
        gra_fits(w, "transposed: the values are those of the other order of the last two dimensions");
    else if (jacobian)
        gra_fits(w, "the places i and j are exchanged in what dy_j gives to %.60s_i: a matrix is taken instead "
                 "of its transpose, or a factor of place i instead of that of j", w->x->name);
    return layout || jacobian;
}

/* ---- an index along one dimension --------------------------------------------------------------- */

/* Is a at index p of dimension d of x what n is at p + shift, or at shift - p, as far as there is such an
 * index: for at least two p? */
static bool is_shifted(const gra_wrong *w, int d, int sign, int shift)
{
    const int length = w->x->shape.dim[d];
    long step = 1;
    int seen = -1;
    bool enough = false;
    for (int i = w->x->shape.ndim - 1; i > d; i--)
        step *= w->x->shape.dim[i];
    for (size_t e = 0; e < w->size; e++) {
        const int p = (int)gra_index(w, GRA_OF_X + d, e), from = sign * p + shift;
        if (from < 0 || from >= length)
            continue;
        const double n = w->n[(size_t)((long)e + (from - p) * step)];
        if (!gra_fit(w, w->a[e], n))
            return false;
        enough |= !gra_none(w, n) && seen >= 0 && seen != p;
        seen = gra_none(w, n) ? seen : p;
    }
    return enough;
}

static bool shifted(gra_wrong *w)
{
    for (int d = 0; d < w->x->shape.ndim; d++) {
        const int length = w->x->shape.dim[d];
        for (int shift = -length / 2; length > 2 && shift <= length / 2; shift++)
            if (shift != 0 && is_shifted(w, d, 1, shift)) {
                gra_fits(w, "shifted: what dy gives to %.60s at index i of dimension %d belongs to i %c %d",
                         w->x->name, d, shift < 0 ? '-' : '+', abs(shift));
                return true;
            }
        if (length > 2 && is_shifted(w, d, -1, length - 1)) {
            gra_fits(w, "reversed: what dy gives to %.60s at index i of dimension %d belongs to %d - i",
                     w->x->name, d, length - 1);
            return true;
        }
    }
    return false;
}

/* ---- any other places --------------------------------------------------------------------------- */

static int ascending(const void *p, const void *q)
{
    const double a = *(const double *)p, b = *(const double *)q;
    return (a > b) - (a < b);
}

/* Does each row (or column) of the Jacobian have the values of the right one, in another order? */
static bool same_values(const gra_wrong *w, bool columns)
{
    double *const a = w->scratch, *const n = a + w->rows + w->cols;
    const size_t lines = columns ? w->cols : w->rows, length = columns ? w->rows : w->cols;
    for (size_t l = 0; l < lines; l++) {
        for (size_t i = 0; i < length; i++) {
            const size_t e = columns ? i * w->cols + l : l * w->cols + i;
            a[i] = w->a[e];
            n[i] = w->n[e];
        }
        qsort(a, length, sizeof *a, ascending);
        qsort(n, length, sizeof *n, ascending);
        for (size_t i = 0; i < length; i++)
            if (!gra_fit(w, a[i], n[i]))
                return false;
    }
    return true;
}

/* The first wrong entry, and where in its row (or column) its value is. */
static void tell_moved(gra_wrong *w, bool columns)
{
    gra_check_line is = { .at = 0 }, should = { .at = 0 }, whose = { .at = 0 };
    const size_t length = columns ? w->rows : w->cols, step = columns ? w->cols : 1;
    size_t e = 0, at = 0;
    double nearest = (double)INFINITY;
    for (size_t i = w->size; i-- > 0;)
        if (!gra_none(w, w->n[i]) && !gra_right(w, i))
            e = i;
    const size_t start = columns ? e % w->cols : e / w->cols * w->cols;
    for (size_t i = start; i < start + length * step; i += step)
        if (!gra_right(w, i) && fabs(w->a[i] - w->n[e]) < nearest) {
            nearest = fabs(w->a[i] - w->n[e]);
            at = i;
        }
    gra_put_element(&is, w, columns, columns ? at / w->cols : at % w->cols);
    gra_put_element(&should, w, columns, columns ? e / w->cols : e % w->cols);
    gra_put_element(&whose, w, !columns, columns ? e % w->cols : e / w->cols);
    if (columns)
        gra_fits(w, "the right factors, times the wrong dy: %s takes %s where %s is expected", whose.s, is.s,
                 should.s);
    else
        gra_fits(w, "right values at the wrong places: what %s gives to %s belongs to %s", whose.s, is.s,
                 should.s);
}

bool gra_moved(gra_wrong *w)
{
    if (transposed(w) || shifted(w))
        return true;
    for (int columns = 0; w->whole && w->rows > 1 && columns < 2; columns++)
        if (same_values(w, columns)) {
            tell_moved(w, columns);
            return true;
        }
    return false;
}

/* ---- an element of another index ----------------------------------------------------------------- */

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
    size_t wrong = 0, taken[2] = { 0 };
    gra_check_line name[2] = { { .at = 0 }, { .at = 0 } }, at = { .at = 0 };
    size_t example = 0;
    for (size_t i = 0; w->whole && i < w->entries; i++) {
        const size_t e = w->entry[i];
        double element[2] = { 0 };
        const double value[2] = { w->a[e], w->n[e] };
        for (int right = 0; right < 2; right++) {
            const gra_checked *t = of[right];
            element[right] = gra_none(w, value[right]) ? 0 : owner(w, value[right], &t);
            if (element[right] < 0 || (of[right] && t != of[right]))
                return false;
            of[right] = t;
        }
        if (gra_none(w, value[0]) || gra_none(w, value[1]) || gra_right(w, e))
            continue;
        wrong++;
        example = e;
        taken[0] = (size_t)element[0];
        taken[1] = (size_t)element[1];
    }
    if (wrong < 4)
        return false;
    for (int right = 0; right < 2; right++)
        gra_put_place(&name[right], of[right], taken[right]);
    gra_put_entry(&at, w, example);
    gra_fits(w, "a wrong index: the backward has %s where %s is expected, in %s", name[0].s, name[1].s, at.s);
    return true;
}
