/* moved: explanations in which the right values stand at the wrong places. */
#include "explaining.h"
#include <stdlib.h>

static bool holds(const gra_checked *x, const gra_checked *of)
{
    for (size_t i = 0; i < x->size; i++)
        if (fabs((double)x->analytic[i] - (double)of->numeric[i]) > 1e-6 * fmax(x->largest, of->largest))
            return false;
    return true;
}

bool gra_swapped(gra_wrong *w)
{
    gra_checked *x = w->x;
    for (int i = 0; i < w->check->count; i++) {
        const gra_checked *other = &w->check->tensor[i];
        if (other == x || other->size != x->size || x->size < 2 || !(other->largest > 0) || !holds(x, other))
            continue;
        gra_fits(w, "%s holds the gradient of %s%s", x->name, other->name,
                 holds(other, x) ? ", and the other way round: the two are exchanged" : "");
        return true;
    }
    return false;
}

/* The last two dimensions m x k were filled as if they were k x m; or the Jacobian is the other way round. */
bool gra_transposed(gra_wrong *w)
{
    const gra_checked *x = w->x;
    size_t m = 1, k = 1;
    bool layout = x->shape.ndim >= 2, jacobian = gra_whole(w) && w->rows == w->cols;
    if (layout) {
        m = (size_t)x->shape.dim[x->shape.ndim - 2];
        k = (size_t)x->shape.dim[x->shape.ndim - 1];
    }
    layout &= m > 1 && k > 1;
    for (size_t e = 0; e < w->size && (layout || jacobian); e++) {
        const size_t i = e % w->cols, j = e / w->cols;
        layout = layout && gra_fit(w, w->a[e - i % (m * k) + i % k * m + i % (m * k) / k], w->n[e]);
        jacobian = jacobian && gra_fit(w, w->a[i * w->cols + j], w->n[e]);
    }
    if (layout)
        gra_fits(w, "transposed: %s", m == k ? "element (i, j) holds the gradient of (j, i)"
                              : "the values are those of the other order of the last two dimensions");
    else if (jacobian)
        gra_fits(w, "the places i and j are exchanged in what dy_j gives to %s_i: a matrix is taken in place of its "
                 "transpose, or a factor of place i in place of that of j", x->name);
    return layout || jacobian;
}

/* Entry e, moved so that its index along dimension d is q. */
static size_t moved_along(const gra_wrong *w, bool out, int d, size_t e, size_t q)
{
    const int *shape;
    const int ndim = gra_dims_of(w, out, &shape);
    size_t step = out ? w->cols : 1;
    for (int i = ndim - 1; i > d; i--)
        step *= (size_t)shape[i];
    return e + (q - gra_index_along(w, out, d, out ? e / w->cols : e % w->cols)) * step;
}

/* Along dimension d, does index p of a hold what index q of n should? */
static bool slice_is(const gra_wrong *w, bool out, int d, size_t p, size_t q, bool *zero)
{
    *zero = true;
    for (size_t e = 0; e < w->size; e++) {
        if (gra_index_along(w, out, d, out ? e / w->cols : e % w->cols) != p)
            continue;
        const double n = w->n[moved_along(w, out, d, e, q)];
        if (!gra_fit(w, w->a[e], n))
            return false;
        *zero &= gra_none(w, n);
    }
    return true;
}

/* Index p holds what index p + shift should, as far as there is one: at least two of them. */
static bool shifted(gra_wrong *w, bool out, int d, size_t n, long shift)
{
    size_t count = 0;
    for (size_t p = 0; p < n; p++) {
        const long q = (long)p + shift;
        bool zero;
        if (q < 0 || q >= (long)n)
            continue;
        if (!slice_is(w, out, d, p, (size_t)q, &zero))
            return false;
        count += !zero;
    }
    if (count < 2)
        return false;
    char place[40] = "row i";
    if (out || w->x->shape.ndim != 2)
        snprintf(place, sizeof place, "index i of dimension %d", d);
    else if (d)
        snprintf(place, sizeof place, "column i");
    if (out)
        gra_fits(w, "the wrong dy: for %s of the output that of i %c %ld is taken", place, shift < 0 ? '+' : '-',
                 labs(shift));
    else
        gra_fits(w, "%s of %s holds the gradient of i %c %ld", place, w->x->name, shift < 0 ? '-' : '+', labs(shift));
    return true;
}

bool gra_permuted(gra_wrong *w)
{
    const int *shape;
    for (int out = 0; out < (gra_whole(w) ? 2 : 1); out++)
        for (int d = 0; d < gra_dims_of(w, out, &shape); d++) {
            const long n = shape[d];
            for (long shift = 1; shift < n - 1 && 2 * shift <= n; shift++)
                if (shifted(w, out, d, (size_t)n, shift) || shifted(w, out, d, (size_t)n, -shift))
                    return true;
            gra_check_line s = { .at = 0 };
            size_t found = 0, sum = 0;                  /* of the places they come from: each once */
            for (size_t p = 0; p < (size_t)n; p++)
                for (size_t q = 0, last = found; q < (size_t)n && found == last; q++) {
                    bool zero;
                    if (!slice_is(w, out, d, p, q, &zero) || zero)
                        continue;
                    found++;
                    sum += q;
                    if (p != q)
                        gra_check_put(&s, "%s%zu that of %zu", s.at ? ", " : "", p, q);
                }
            if (found < 2 || found < (size_t)n || sum != (size_t)(n * (n - 1) / 2))
                continue;
            gra_fits(w, "the indices along dimension %d of %s are mixed up: index %s", d,
                     out ? "dy" : w->x->name, s.s);
            return true;
        }
    return false;
}

/* Along dimension d of the output one index of dy is used for all of them; or along one of x, one index gets what is
 * all of theirs. */
bool gra_one_index(gra_wrong *w)
{
    const int *shape;
    for (int out = 1; gra_whole(w) && out >= 0; out--)
        for (int d = 0; d < gra_dims_of(w, out, &shape); d++)
            for (size_t p = 0; p < (size_t)shape[d] && shape[d] > 1; p++) {
                bool fit = true;
                for (size_t e = 0; fit && e < w->size; e++) {
                    double sum = 0;
                    if (gra_index_along(w, out, d, out ? e / w->cols : e % w->cols) == p)
                        for (size_t q = 0; q < (size_t)shape[d]; q++)
                            sum += w->n[moved_along(w, out, d, e, q)];
                    fit = gra_fit(w, w->a[e], sum);
                }
                if (!fit)
                    continue;
                if (out)
                    gra_fits(w, "the dy of index %zu of dimension %d is used in place of that of each index", p, d);
                else
                    gra_fits(w, "right values at the wrong places: what belongs to any index along dimension %d of %s is "
                             "added to index %zu of it", d, w->x->name, p);
                return true;
            }
    return false;
}

static int ascending(const void *p, const void *q)
{
    const double a = *(const double *)p, b = *(const double *)q;
    return (a > b) - (a < b);
}

/* Does each line of a hold the values of that line of n, in another order? */
static bool same_values(const gra_wrong *w, bool columns, double *a, double *n)
{
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

/* The first wrong entry that should be what it is not, and where in its line that value stands. */
static bool tell_moved(gra_wrong *w, bool columns)
{
    gra_check_line is = { .at = 0 }, should = { .at = 0 };
    const size_t line = columns ? w->rows : w->cols, step = columns ? w->cols : 1;
    for (size_t e = 0; e < w->size; e++) {
        if (gra_none(w, w->n[e]) || gra_fit(w, w->a[e], w->n[e]))
            continue;
        const size_t start = columns ? e % w->cols : e / w->cols * w->cols;
        for (size_t i = 0; i < line; i++) {
            const size_t at = start + i * step;
            if (!gra_fit(w, w->a[at], w->n[e]) || gra_fit(w, w->a[at], w->n[at]))
                continue;
            gra_put_place(&is, w, columns, columns ? at / w->cols : at % w->cols);
            gra_put_place(&should, w, columns, columns ? e / w->cols : e % w->cols);
            gra_check_line whose = { .at = 0 };
            gra_put_place(&whose, w, !columns, columns ? e % w->cols : e / w->cols);
            if (columns)
                gra_fits(w, "the right factors, times the wrong dy: %s takes %s where %s is wanted", whose.s, is.s,
                         should.s);
            else
                gra_fits(w, "right values at the wrong places: what %s gives to %s belongs to %s", whose.s, is.s,
                         should.s);
            return true;
        }
    }
    return false;
}

bool gra_moved(gra_wrong *w)
{
    double *a = calloc(2 * (w->rows + w->cols), sizeof *a);
    bool fit = false;
    for (int columns = 0; a && gra_whole(w) && columns < 2 && !fit; columns++)
        fit = same_values(w, columns, a, a + w->rows + w->cols) && tell_moved(w, columns);
    free(a);
    return fit;
}

