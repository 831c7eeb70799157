/* terms: explanations in which a term of a sum is missing or wrong. */
#include "explaining.h"

/* ---- a term with a sum over dy ----------------------------------------------------------------- */

typedef struct weighted {               /* a guess at the weights v_j in sum_j v_j dy_j, over a row of the output */
    const char *name;                   /* of the weights; "": 1 */
    const char *less;                   /* y - less, or NULL */
    const real *data, *subtract;        /* element j % size; NULL: 1, 0 */
    size_t      size, subtracted;
} weighted;

static double weight(const weighted *v, size_t j)
{
    return (v->data ? (double)v->data[j % v->size] : 1) -
           (v->subtract ? (double)v->subtract[j % v->subtracted] : 0);
}

static size_t row_length(const gra_wrong *w)
{
    const gra_checking *k = w->check;
    return gra_whole(w) && k->shape.ndim ? (size_t)k->shape.dim[k->shape.ndim - 1] : 1;
}

/* a = k n + u v, where u depends on the row of the output and on the element of x alone. */
static bool beside(const gra_wrong *w, const weighted *v, double k)
{
    const size_t length = row_length(w);
    bool any = false;
    for (size_t first = 0; first < w->rows; first += length)
        for (size_t i = 0; i < w->cols; i++) {
            double vr = 0, vv = 0;
            for (size_t j = first; j < first + length; j++) {
                const size_t e = j * w->cols + i;
                vr += weight(v, j) * (w->a[e] - k * w->n[e]);
                vv += weight(v, j) * weight(v, j);
            }
            const double u = vv > 0 ? vr / vv : 0;
            for (size_t j = first; j < first + length; j++) {
                const size_t e = j * w->cols + i;
                if (!gra_fit(w, w->a[e], k * w->n[e] + u * weight(v, j)))
                    return false;
                any |= !gra_none(w, u * weight(v, j));
            }
        }
    return any;
}

/* The k for which a - k n is nearest to some u v: that of the parts of a and n at right angles to v. */
static double factor_beside(const gra_wrong *w, const weighted *v)
{
    const size_t length = row_length(w);
    double an = 0, nn = 0;
    for (size_t first = 0; first < w->rows; first += length)
        for (size_t i = 0; i < w->cols; i++) {
            double va = 0, vn = 0, vv = 0;
            for (size_t j = first; j < first + length; j++) {
                va += weight(v, j) * w->a[j * w->cols + i];
                vn += weight(v, j) * w->n[j * w->cols + i];
                vv += weight(v, j) * weight(v, j);
            }
            for (size_t j = first; vv > 0 && j < first + length; j++) {
                const double n = w->n[j * w->cols + i] - vn / vv * weight(v, j);
                an += (w->a[j * w->cols + i] - va / vv * weight(v, j)) * n;
                nn += n * n;
            }
        }
    return nn > 0 ? an / nn : 1;
}

static void tell_row_term(gra_wrong *w, const weighted *v, double k)
{
    gra_check_line s = { .at = 0 }, rest = { .at = 0 };
    if (v->less)
        gra_check_put(&s, " (%s - %s)", v->name, v->less);
    else if (v->data)
        gra_check_put(&s, " %s", v->name);
    if (fabs(k - 1) > 1e-4) {
        gra_check_put(&rest, "; and a constant factor of ");
        gra_put_constant(&rest, w, k);
    }
    gra_fits(w, "a term with the sum (or mean) over dimension %d of dy%s is missing or wrong; the other terms are "
             "right%s", w->check->shape.ndim - 1, s.s, rest.s);
}

/* a = n + u v, for some weights v of each row of the output; u for at least three elements of x. */
static bool one_sum(const gra_wrong *w)
{
    const size_t length = row_length(w);
    size_t most_u = 0, most_v = 0;
    for (size_t first = 0; first < w->rows; first += length) {
        size_t top = first * w->cols, of_u = 0, of_v = 0;
        for (size_t e = first * w->cols; e < (first + length) * w->cols; e++)
            if (fabs(w->a[e] - w->n[e]) > fabs(w->a[top] - w->n[top]))
                top = e;
        const double off = w->a[top] - w->n[top];
        for (size_t e = first * w->cols; off != 0 && e < (first + length) * w->cols; e++) {
            const size_t u = top / w->cols * w->cols + e % w->cols, v = e / w->cols * w->cols + top % w->cols;
            if (!gra_fit(w, w->a[e] - w->n[e], (w->a[u] - w->n[u]) * (w->a[v] - w->n[v]) / off))
                return false;
            of_u += e == u && !gra_fit(w, w->a[e], w->n[e]);
            of_v += e == v && !gra_fit(w, w->a[e], w->n[e]);
        }
        most_u = of_u > most_u ? of_u : most_u;
        most_v = of_v > most_v ? of_v : most_v;
    }
    return most_u >= 3 && most_v >= 3;
}

bool gra_row_term(gra_wrong *w)
{
    const gra_checking *k = w->check;
    const size_t length = row_length(w);
    if (length < 3)
        return false;
    for (int factor = 0; factor < 2; factor++)
        for (int less = -1; less < k->count; less++)
            for (int t = -2; t < k->count; t++) {       /* 1, y, tensors; y less a tensor */
                weighted v = { .name = t == -1 ? "y" : t >= 0 ? k->tensor[t].name : "" };
                if (t == -1) {
                    v.data = k->y;
                    v.size = k->size;
                } else if (t >= 0) {
                    v.data = k->tensor[t].data;
                    v.size = k->tensor[t].size;
                }
                if (less >= 0) {
                    v.less = k->tensor[less].name;
                    v.subtract = k->tensor[less].data;
                    v.subtracted = k->tensor[less].size;
                }
                if ((less >= 0 && (t != -1 || v.subtracted != length)) ||
                    (v.data && v.size != length && v.size != k->size))
                    continue;
                const double by = factor ? factor_beside(w, &v) : 1;
                if (!beside(w, &v, by))
                    continue;
                tell_row_term(w, &v, by);
                return true;
            }
    if (!one_sum(w))
        return false;
    gra_fits(w, "one sum over dimension %d of dy is missing or wrong, or its weights are: in each row all that is off is "
             "a multiple of one such sum", k->shape.ndim - 1);
    return true;
}

/* ---- sums along a dimension of x --------------------------------------------------------------- */

/* The sums of a line of x along dimension d, in row j: false after the last one. */
static bool line_sums(const gra_wrong *w, int d, size_t line, double *a, double *n)
{
    const int *shape;
    gra_dims_of(w, false, &shape);
    size_t inner = 1, length = (size_t)shape[d];
    for (int i = d + 1; i < w->x->shape.ndim; i++)
        inner *= (size_t)shape[i];
    if (line >= w->size / length)
        return false;
    const size_t start = line / inner * inner * length + line % inner;
    *a = *n = 0;
    for (size_t i = 0; i < length; i++) {
        *a += w->a[start + i * inner];
        *n += w->n[start + i * inner];
    }
    return true;
}

/* Sums over a dimension: of the right gradient they are zero, or they are those of the wrong one. */
void gra_sum_clues(gra_wrong *w)
{
    for (int d = 0; d < w->x->shape.ndim && !w->placed; d++) {
        double a, n, off = 0, sum = 0, zero = 0;
        for (size_t line = 0; w->x->shape.dim[d] > 1 && line_sums(w, d, line, &a, &n); line++) {
            off = fmax(off, fabs(a - n));
            sum = fmax(sum, fabs(a));
            zero = fmax(zero, fabs(n));
        }
        if (zero <= w->near && sum > 10 * w->near)
            gra_clue(w, "the true gradient of %s sums to 0 along dimension %d, yours does not: look at the term "
                     "that makes it so, which subtracts a sum or a mean over it (softmax, norm, cross-entropy)",
                     w->x->name, d);
        else if (off <= w->near && zero > 1e-2 * w->largest)
            gra_clue(w, "right only after summing over dimension %d: the sums agree, the places do not", d);
    }
}
