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

/* Is a at index i of dimension d of x what n is at i + shift, as far as there is one: for at least two i? */
static bool is_shifted(const gra_wrong *w, int d, int shift)
{
    size_t step = 1, seen = w->size;
    bool enough = false;
    for (int o = w->x->shape.ndim - 1; o > d; o--)
        step *= (size_t)w->x->shape.dim[o];
    for (size_t e = 0; e < w->size; e++) {
        const size_t i = gra_index(w, GRA_OF_X + d, e);
        if ((int)i + shift < 0 || (int)i + shift >= w->x->shape.dim[d])
            continue;
        const double n = shift < 0 ? w->n[e - (size_t)-shift * step] : w->n[e + (size_t)shift * step];
        if (!gra_fit(w, w->a[e], n))
            return false;
        enough |= !gra_none(w, n) && seen < w->size && seen != i;
        seen = gra_none(w, n) ? seen : i;
    }
    return enough;
}

static bool shifted(gra_wrong *w)
{
    for (int d = 0; d < w->x->shape.ndim; d++) {
        const int far = w->x->shape.dim[d] > 2 ? w->x->shape.dim[d] / 2 : 0;
        for (int shift = -far; shift <= far; shift++)
            if (shift != 0 && is_shifted(w, d, shift)) {
                gra_fits(w, "shifted: what dy gives to %.60s at index i of dimension %d belongs to i %c %d",
                         w->x->name, d, shift < 0 ? '-' : '+', abs(shift));
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
    size_t e = 0;
    while (gra_none(w, w->n[e]) || gra_right(w, e))
        e++;
    const size_t step = columns ? w->cols : 1;
    size_t at = columns ? e % w->cols : e - e % w->cols;
    while (at + step < w->size && (gra_right(w, at) || !gra_fit(w, w->a[at], w->n[e])))
        at += step;
    gra_put_element(&is, w, columns, columns ? at / w->cols : at % w->cols);
    gra_put_element(&should, w, columns, columns ? e / w->cols : e % w->cols);
    gra_put_element(&whose, w, !columns, columns ? e % w->cols : e / w->cols);
    gra_fits(w, columns ? "the right factors, times the wrong dy: %s takes %s where %s is expected"
                        : "right values at the wrong places: what %s gives to %s belongs to %s",
             whose.s, is.s, should.s);
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

/* The one element of all tensors that has this value, and its tensor; false: there is none, or more. */
static bool owner(const gra_wrong *w, double v, const gra_checked **of, size_t *at)
{
    const gra_checking *k = w->check;
    int found = 0;
    for (int t = 0; t <= k->count; t++)
        for (size_t i = 0; i < k->tensor[t].size; i++)
            if (fabs((double)k->tensor[t].data[i] - v) <= 1e-7 * fabs(v)) {
                found++;
                *at = i;
                *of = &k->tensor[t];
            }
    return found == 1;
}

/* Where all numbers are elements of one tensor, and all expected ones are of one: an example. */
bool gra_taken(gra_wrong *w)
{
    const gra_checked *of[2] = { NULL, NULL }, *t[2];   /* of which the elements of a are, and those of n */
    size_t wrong = 0, example = 0, at[2];
    gra_check_line name[2] = { { .at = 0 }, { .at = 0 } }, where = { .at = 0 };
    for (size_t i = 0; w->whole && i < w->entries; i++) {
        const size_t e = w->entry[i];
        if (!owner(w, w->a[e], &t[0], &at[0]) || !owner(w, w->n[e], &t[1], &at[1]) ||
            (of[0] && (t[0] != of[0] || t[1] != of[1])))
            return false;
        memcpy(of, t, sizeof of);
        wrong += !gra_right(w, e);
        example = gra_right(w, e) ? example : e;
    }
    if (wrong < 4)
        return false;
    for (int i = 0; i < 2; i++) {
        owner(w, (i ? w->n : w->a)[example], &t[i], &at[i]);
        gra_put_place(&name[i], t[i], at[i]);
    }
    gra_put_entry(&where, w, example);
    gra_fits(w, "a wrong index: the backward has %s where %s is expected, in %s", name[0].s, name[1].s, where.s);
    return true;
}
