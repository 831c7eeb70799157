/* moved: the backward's column a has the numbers of n, but at other places: those of another index, of
 * another output, of the transposed matrix; or it has other elements of the tensor that n has. */
#include "explaining.h"
#include <stdlib.h>

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
        gra_fits(w, "the places i and j are exchanged in what dy_j gives to %.60s_i: a matrix is taken "
                 "instead of its transpose, or a factor of place i instead of that of j", w->x->name);
    return layout || jacobian;
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
    if (transposed(w))
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
        gra_put_place(&name[i], t[i]->name, &t[i]->shape, at[i]);
    }
    gra_put_entry(&where, w, example);
    gra_fits(w, "a wrong index: the backward has %s where %s is expected, in %s", name[0].s, name[1].s,
             where.s);
    return true;
}
