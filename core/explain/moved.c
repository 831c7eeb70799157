/* moved: explanations in which the right values are at the wrong places, or are those of another input;
 * or in which dy is multiplied by another element of a tensor, or a sum runs along another dimension. */
#include "explaining.h"
#include <stdlib.h>

/* ---- the gradient of another input --------------------------------------------------------------- */

static bool is_gradient_of(gra_wrong *w, gra_checked *other)
{
    gra_checking *k = w->check;
    for (size_t i = 0; i < w->cols; i++) {
        gra_check_parts(k, other, i);
        for (size_t j = 0; j < w->rows; j++)
            if (!gra_fit(w, w->a[j * w->cols + i], (double)(k->parts[j] / k->c[j])))
                return false;
    }
    return true;
}

/* The two were exchanged, or one formula was copied. */
bool gra_of_another(gra_wrong *w)
{
    gra_checking *k = w->check;
    for (int t = 0; t < k->count && w->whole; t++) {
        gra_checked *other = &k->tensor[t];
        if (other == w->x || !gra_same_shape(other->shape, w->x->shape) || !is_gradient_of(w, other))
            continue;
        gra_fits(w, "it is the gradient of %.80s: the two gradients are exchanged, or %.80s has the formula "
                 "of %.80s", other->name, w->x->name, other->name);
        return true;
    }
    return false;
}

/* ---- a matrix and its transpose ----------------------------------------------------------------- */

/* The last two dimensions m x k were filled as if they were k x m; or the Jacobian is the other way round. */
bool gra_transposed(gra_wrong *w)
{
    const gra_checked *x = w->x;
    const int ndim = x->shape.ndim;
    const size_t m = ndim > 1 ? (size_t)x->shape.dim[ndim - 2] : 1;
    const size_t k = ndim > 1 ? (size_t)x->shape.dim[ndim - 1] : 1;
    bool layout = m > 1 && k > 1, jacobian = w->whole && w->rows == w->cols;
    for (size_t e = 0; e < w->size && (layout || jacobian); e++) {
        const size_t i = e % w->cols, j = e / w->cols;
        layout = layout && gra_fit(w, w->a[e - i % (m * k) + i % k * m + i % (m * k) / k], w->n[e]);
        jacobian = jacobian && gra_fit(w, w->a[i * w->cols + j], w->n[e]);
    }
    if (layout)
        gra_fits(w, "transposed: the values are those of the other order of the last two dimensions");
    else if (jacobian)
        gra_fits(w, "the places i and j are exchanged in what dy_j gives to %s_i: a matrix is taken instead "
                 "of its transpose, or a factor of place i instead of that of j", x->name);
    return layout || jacobian;
}

/* ---- an index along one dimension --------------------------------------------------------------- */

typedef struct map {                    /* a at index p of dimension d is n at sign p + stride q + shift, */
    int  d, o, sign, stride, shift;     /* with q for the index of dy along dimension o */
} map;

/* Does it hold, as far as there is such an index: for at least two p? */
static bool holds(const gra_wrong *w, const map *m)
{
    const gra_shape *const x = &w->x->shape;
    int seen = -1;
    bool enough = false, changes = false;
    long step = 1;
    for (int i = x->ndim - 1; i > m->d; i--)
        step *= x->dim[i];
    for (size_t e = 0; e < w->size; e++) {
        const int p = (int)gra_index(w, false, m->d, e % w->cols);
        const int q = m->stride ? (int)gra_index(w, true, m->o, e / w->cols) : 0;
        const int from = m->sign * p + m->stride * q + m->shift;
        if (from < 0 || from >= x->dim[m->d]) {
            if ((m->stride || m->sign < 0) && !gra_none(w, w->a[e]))
                return false;
            continue;
        }
        const double n = w->n[(size_t)((long)e + (from - p) * step)];
        if (!gra_fit(w, w->a[e], n))
            return false;
        enough |= !gra_none(w, n) && seen >= 0 && seen != p;
        seen = gra_none(w, n) ? seen : p;
        changes |= from != p && !gra_none(w, n);
    }
    return enough && changes;
}

static void tell_map(gra_wrong *w, const map *m)
{
    gra_check_line dy = { .s = "dy" }, to = { .at = 0 };
    if (m->stride)
        gra_check_put(&to, abs(m->stride) > 1 ? " %c %d o" : " %c o", m->stride < 0 ? '-' : '+',
                      abs(m->stride));
    if (m->shift)
        gra_check_put(&to, " %c %d", m->shift < 0 ? '-' : '+', abs(m->shift));
    if (m->stride)
        snprintf(dy.s, sizeof dy.s, "dy at index o of dimension %d", m->o);
    gra_fits(w, "%s: what %s gives to %s at index i of dimension %d belongs to %si%s",
             m->sign < 0 ? "reversed" : m->stride ? "a wrong stride" : "shifted", dy.s, w->x->name,
             m->d, m->sign < 0 ? "-" : "", to.s);
}

/* The plainest first: no stride. */
bool gra_mapped(gra_wrong *w)
{
    static const int stride[] = { 0, 1, -1, 2, -2, 3, -3 };
    enum { DIMS = GRA_MAX_DIMS, MAPS = 7 * DIMS * DIMS };
    for (int at = 0; at < 2 * MAPS; at++) {
        map m = { .d = at / DIMS % DIMS, .o = at % DIMS, .sign = at < MAPS ? 1 : -1,
                  .stride = stride[at % MAPS / DIMS / DIMS] };
        const bool of_dy = w->whole && !w->single && m.o < w->check->shape.ndim &&
                           w->check->shape.dim[m.o] > 2;        /* any two places have a stride */
        if (m.d >= w->x->shape.ndim || w->x->shape.dim[m.d] < 3 || (m.stride ? !of_dy : m.o > 0))
            continue;
        const int far = m.sign > 0 ? w->x->shape.dim[m.d] / 2 : 2 * w->x->shape.dim[m.d];
        for (m.shift = -far; m.shift <= far; m.shift++)
            if (holds(w, &m)) {
                tell_map(w, &m);
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

/* Does each row (or column) of a hold the values of that of n, in another order? */
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

/* The first wrong entry, and where in its row (or column) its value is. */
static void tell_moved(gra_wrong *w, bool columns)
{
    gra_check_line is = { .at = 0 }, should = { .at = 0 }, whose = { .at = 0 };
    const size_t length = columns ? w->rows : w->cols, step = columns ? w->cols : 1;
    size_t e = 0, at = 0;
    double nearest = (double)INFINITY;
    for (size_t i = w->size; i-- > 0;)
        if (!gra_none(w, w->n[i]) && !gra_fit(w, w->a[i], w->n[i]))
            e = i;
    const size_t start = columns ? e % w->cols : e / w->cols * w->cols;
    for (size_t i = start; i < start + length * step; i += step)
        if (!gra_fit(w, w->a[i], w->n[i]) && fabs(w->a[i] - w->n[e]) < nearest) {
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
    double *const a = w->scratch, *const n = a + w->rows + w->cols;
    for (int columns = 0; w->whole && w->rows > 1 && columns < 2; columns++)
        if (same_values(w, columns, a, n)) {
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
