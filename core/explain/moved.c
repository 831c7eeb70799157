/* moved: the backward's column a has the numbers of n, but at other places: the numbers of another index, of
 * another output, of the transposed matrix. */
#include "explaining.h"
#include <stdlib.h>

/* Is the Jacobian transposed? */
static bool transposed(gra_wrong *w)
{
    bool fit = w->whole && w->rows == w->cols;
    for (size_t e = 0; e < w->size && fit; e++)
        fit = gra_fit(w, w->a[e % w->cols * w->cols + e / w->cols], w->n[e]);
    if (fit)
        gra_fits(w, "the places i and j are exchanged in what dy_j gives to %.60s_i: a matrix is taken "
                 "instead of its transpose, or the factor at place i instead of that at j", w->x->name);
    return fit;
}

static int ascending(const void *p, const void *q)
{
    const double a = *(const double *)p, b = *(const double *)q;
    return (a > b) - (a < b);
}

/* Does each row (or column) of the Jacobian have the right values in another order? */
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

/* Finds the first wrong entry, and where in its row (or column) its value is. */
static void tell_moved(gra_wrong *w, bool columns)
{
    size_t e = 0;
    while (gra_none(w, w->n[e]) || gra_right(w, e))
        e++;
    const size_t step = columns ? w->cols : 1;
    size_t at = columns ? e % w->cols : e - e % w->cols;
    while (at + step < w->size && (gra_right(w, at) || !gra_fit(w, w->a[at], w->n[e])))
        at += step;
    gra_fits(w, columns ? "the right factors, times the wrong dy: %s takes %s where %s is expected"
                        : "right values at the wrong places: what %s gives to %s belongs to %s",
             gra_element(w, !columns, columns ? e % w->cols : e / w->cols).s,
             gra_element(w, columns, columns ? at / w->cols : at % w->cols).s,
             gra_element(w, columns, columns ? e / w->cols : e % w->cols).s);
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
