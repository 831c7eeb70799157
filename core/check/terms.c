/* terms: explanations in which a term of a sum is missing or wrong. */
#include "explaining.h"
#include <stdlib.h>

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

/* a - n is the same along a dimension of x. */
bool gra_offset(gra_wrong *w)
{
    for (int d = 0; d < w->x->shape.ndim; d++) {
        size_t inner = 1, length = (size_t)w->x->shape.dim[d];
        for (int i = d + 1; i < w->x->shape.ndim; i++)
            inner *= (size_t)w->x->shape.dim[i];
        bool along = length > 1;
        for (size_t e = 0; along && e < w->size; e++) {
            const size_t start = e - e / inner % length * inner;
            along = gra_fit(w, w->a[e] - w->n[e], w->a[start] - w->n[start]);
        }
        if (!along)
            continue;
        gra_fits(w, "an offset that is constant along dimension %d: a term with the sum or the mean over it is missing "
                 "or too much", d);
        return true;
    }
    return false;
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

/* ---- one element of each row: a target --------------------------------------------------------- */

/* In each line of the last dimension of x no entry is off, or one, always by the same; or two, by the same with
 * either sign. */
bool gra_one_each_row(gra_wrong *w)
{
    const size_t length = w->x->shape.ndim ? (size_t)w->x->shape.dim[w->x->shape.ndim - 1] : 1;
    size_t lines[3] = { 0 }, first = 0, lost = 0;
    double off = 0;
    for (size_t start = 0; start < w->size && length > 2; start += length) {
        double sum = 0;
        size_t count = 0, used = 0;
        for (size_t e = start; e < start + length; e++) {
            const double by = w->a[e] - w->n[e];
            used += !gra_none(w, w->n[e]);
            if (gra_fit(w, by, 0))
                continue;
            if (off == 0) {
                off = by;
                first = e;
            }
            if (!gra_fit(w, fabs(by), fabs(off)))
                return false;
            count++;
            sum += by;
        }
        if (count > 2 || (count && used < 2) || (count == 2 && !gra_fit(w, sum, 0)) ||
            (count == 1 && !gra_fit(w, sum, off)))
            return false;
        lines[count]++;
        lost += count == 1;
    }
    if (lines[1] + lines[2] < 2 || (lines[2] && lost))
        return false;
    gra_check_line s = { .at = 0 };
    gra_put_place(&s, w, false, first % w->cols);
    const double c = gra_whole(w) || w->check->size != 1 ? 1 : (double)w->check->c[0];
    if (lines[2])
        gra_fits(w, "in each row two elements are off, one by as much as the other is with the other sign, the rest is "
                 "right: what is added or subtracted at one index (the target's) stands at another; look at %s", s.s);
    else
        gra_fits(w, "in each row one element is off, always by %.6g dy, the rest is right: what is added or subtracted "
                 "at one index (the -1 at the target) is missing, or has another factor; look at %s", off / c, s.s);
    return true;
}

/* ---- softmax(x) less 1 at the target ----------------------------------------------------------- */

enum { SOFTMAX, EXP, LOG_SOFTMAX, X, ONE_MINUS, SQUARE, OTHER_DIM, NEXT_ROW, LAST_ROW, FIRST_ROW, BASES };
static const char *const base_name[BASES] = {
    "", "e^x stands where softmax(x) is wanted", "log softmax(x) stands where softmax(x) is wanted",
    "x stands where softmax(x) is wanted", "p (1 - p) stands where p = softmax(x) is wanted",
    "the square of softmax(x) stands where softmax(x) is wanted", "the softmax is over another dimension",
    "the softmax is that of the next row", "the softmax is that of the row before",
    "the softmax is that of the first row",
};

/* Rows of n values: their softmax p, and where n = k (p - 1 at the target) k and the target of each row; k = 0: n
 * is 0. False: it is another gradient. */
static bool targets(const gra_checked *x, size_t n, double *p, double *k, size_t *target)
{
    for (size_t r = 0; r < x->size / n; r++) {
        const real *d = x->numeric + r * n;
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += exp((double)x->data[r * n + i]);
        for (size_t i = 0; i < n; i++)
            p[r * n + i] = exp((double)x->data[r * n + i]) / sum;
        bool found = false;
        for (size_t t = 0; t < n && !found; t++) {
            k[r] = -(double)d[t] / (1 - p[r * n + t]);
            target[r] = t;
            found = true;
            for (size_t i = 0; i < n && found; i++)
                found = fabs((double)d[i] - k[r] * (p[r * n + i] - (i == t))) <= 1e-6 * x->largest;
        }
        if (!found)
            return false;
        if (fabs(k[r]) <= 1e-6 * x->largest)
            k[r] = 0;
    }
    return true;
}

static double base(const gra_checked *x, size_t n, const double *p, int kind, size_t e)
{
    const double v = (double)x->data[e];
    double sum = 0;
    switch (kind) {
    case EXP:         return exp(v);
    case LOG_SOFTMAX: return log(p[e]);
    case X:           return v;
    case ONE_MINUS:   return p[e] * (1 - p[e]);
    case SQUARE:      return p[e] * p[e];
    case NEXT_ROW:    return p[(e + n) % x->size];
    case LAST_ROW:    return p[(e + x->size - n) % x->size];
    case FIRST_ROW:   return p[e % n];
    case OTHER_DIM:
        for (size_t i = e % n; i < x->size; i += n)
            sum += exp((double)x->data[i]);
        return exp(v) / sum;
    default:          return p[e];
    }
}

/* a = k (alpha b - beta at the target), for a base b other than softmax(x), or factors other than 1. */
static bool fits_base(gra_wrong *w, size_t n, const double *p, const double *k, const size_t *target, int kind)
{
    const gra_checked *x = w->x;
    double ab = 0, bb = 0, at = 0, kk = 0;
    for (size_t e = 0; e < x->size; e++)
        if (target[e / n] != e % n) {
            const double b = k[e / n] * base(x, n, p, kind, e);
            ab += (double)x->analytic[e] * b;
            bb += b * b;
        }
    const double alpha = bb > 0 ? ab / bb : 0;
    for (size_t r = 0; r < x->size / n; r++) {
        const size_t e = r * n + target[r];
        at += k[r] * (alpha * k[r] * base(x, n, p, kind, e) - (double)x->analytic[e]);
        kk += k[r] * k[r];
    }
    const double beta = kk > 0 ? at / kk : 0;
    for (size_t e = 0; e < x->size; e++) {
        const double hot = target[e / n] == e % n;
        if (fabs((double)x->analytic[e] - k[e / n] * (alpha * base(x, n, p, kind, e) - beta * hot)) >
            1e-6 * x->largest)
            return false;
    }
    gra_check_line s = { .at = 0 };
    if (fabs(alpha) < 1e-5)
        gra_check_put(&s, "the softmax is missing");
    else {
        gra_check_put(&s, "%s", base_name[kind]);
        if (fabs(alpha - 1) > 1e-5) {
            gra_check_put(&s, "%sthe softmax has a factor of ", s.at ? "; " : "");
            gra_put_constant(&s, w, alpha);
        }
    }
    if (fabs(beta - 1) > 1e-5) {
        gra_check_put(&s, "%s%s", s.at ? "; " : "", fabs(beta) < 1e-5 ? "the -1 at the target is missing"
                      : fabs(beta + 1) < 1e-5 ? "1 is added at the target, not subtracted"
                                              : "the -1 at the target has a factor of ");
        if (fabs(beta) >= 1e-5 && fabs(beta + 1) >= 1e-5)
            gra_put_constant(&s, w, beta);
    }
    gra_fits(w, "the gradient is softmax(%s), less 1 at one index of each row (the target), times dy and a constant: %s",
             x->name, s.s);
    return true;
}

/* a = k (p - what is the same for all of a row), or n times p or 1 - p. */
static bool fits_row(gra_wrong *w, size_t n, const double *p, const double *k, const size_t *target)
{
    const gra_checked *x = w->x;
    const double near = 1e-6 * x->largest;
    bool one = true, class = true, square = true, rest = true, alone = true, first = true;
    for (size_t e = 0; e < x->size; e++) {
        const double a = (double)x->analytic[e], d = (double)x->numeric[e], by = k[e / n];
        one &= fabs(a - by * (p[e] - 1)) <= near;
        class &= fabs(a - by * (p[e] - (double)target[e / n])) <= near;
        square &= fabs(a - d * p[e]) <= near;
        rest &= fabs(a - d * (1 - p[e])) <= near;
        alone &= fabs(a + (target[e / n] == e % n ? by / p[e] : 0)) <= near;
        double ones = 0;
        for (size_t r = 0; e < n && r < x->size / n; r++)
            ones += target[r] == e ? k[r] : 0;
        first &= fabs(a - by * p[e] + ones) <= near;
    }
    if (alone)
        gra_fits(w, "only the element at the target gets a gradient, dy times -1/p and a constant: that is the gradient "
                 "of p = softmax(%s); the others depend on it too, through the softmax's sum", x->name);
    if (!(one || class || square || rest || first))
        return alone;
    gra_fits(w, "the gradient is softmax(%s), less 1 at one index of each row (the target), times dy and a constant: %s",
             x->name, one     ? "1 is subtracted at every index"
                      : first ? "the 1 of each row is subtracted in row 0: the row's offset r * n is forgotten"
                      : class ? "the number of the target is subtracted everywhere, in place of 1 at its index"
                      : square ? "it is multiplied by the softmax once more"
                               : "it is multiplied by 1 - softmax once more");
    return true;
}

bool gra_softmax_less_target(gra_wrong *w)
{
    const gra_checked *x = w->x;
    const size_t n = x->shape.ndim ? (size_t)x->shape.dim[x->shape.ndim - 1] : 1, rows = n ? x->size / n : 0;
    if (n < 3 || w->overwrites)
        return false;
    double *p = calloc(x->size + rows, sizeof *p);
    size_t *target = calloc(rows, sizeof *target);
    bool fit = false;
    if (p && target && targets(x, n, p, p + x->size, target)) {
        fit = fits_row(w, n, p, p + x->size, target);
        for (int kind = 0; kind < BASES && !fit; kind++)
            fit = fits_base(w, n, p, p + x->size, target, kind);
    }
    free(p);
    free(target);
    return fit;
}
