/* products: explanations in which a matrix product has the wrong matrix, or the transpose of the right one. */
#include "explaining.h"

enum { WIDEST = 64 };

/* The size of the last dimension but `before`, as if there were one more. */
static size_t from_last(const gra_checked *x, int before)
{
    return x->shape.ndim > before ? (size_t)x->shape.dim[x->shape.ndim - 1 - before] : 1;
}

/* Takes from v its parts along the orthonormal rows of q; the length of what is left. */
static double left_of(double *v, double q[][2 * WIDEST], size_t count, size_t n)
{
    double left = 0;
    for (int twice = 0; twice < 2; twice++)
        for (size_t r = 0; r < count; r++) {
            double dot = 0;
            for (size_t i = 0; i < n; i++)
                dot += v[i] * q[r][i];
            for (size_t i = 0; i < n; i++)
                v[i] -= dot * q[r][i];
        }
    for (size_t i = 0; i < n; i++)
        left += v[i] * v[i];
    return sqrt(left);
}

/* n = g K and a = g Q, for a matrix g that is not known: each row of (n, a) lies in the space of the rows of
 * (K, Q), of which there are fewer than it has elements. */
static bool same_mixture(const gra_wrong *w, const gra_checked *wanted, const gra_checked *used, size_t n)
{
    double q[WIDEST][2 * WIDEST], v[2 * WIDEST];
    size_t count = 0;
    for (size_t r = 0; r < wanted->size / n; r++) {
        double length = 0;
        for (size_t i = 0; i < n; i++) {
            v[i] = (double)wanted->data[r * n + i];
            v[n + i] = (double)used->data[r * n + i];
            length += v[i] * v[i] + v[n + i] * v[n + i];
        }
        const double left = left_of(v, q, count, 2 * n);
        for (size_t i = 0; left > 1e-6 * sqrt(length) && i < 2 * n; i++)
            q[count][i] = v[i] / left;
        count += left > 1e-6 * sqrt(length);
    }
    for (size_t start = 0; start < w->size; start += n) {
        memcpy(v, w->n + start, n * sizeof *v);
        memcpy(v + n, w->a + start, n * sizeof *v);
        if (left_of(v, q, count, 2 * n) > 1e-5 * w->largest)
            return false;
    }
    return count < 2 * n;
}

bool gra_wrong_matrix(gra_wrong *w)
{
    const gra_checking *k = w->check;
    const size_t n = w->x->shape.ndim > 1 ? from_last(w->x, 0) : 0;
    for (int i = 0; gra_whole(w) && n > 1 && n <= WIDEST && i < k->count; i++)
        for (int j = 0; j < k->count; j++) {
            const gra_checked *wanted = &k->tensor[i], *used = &k->tensor[j];
            if (i == j || wanted->size != used->size || wanted->shape.ndim < 2 || used->shape.ndim < 2 ||
                from_last(wanted, 0) != n || from_last(used, 0) != n || wanted->size / n >= 2 * n ||
                wanted->size / n > WIDEST || !same_mixture(w, wanted, used, n))
                continue;
            gra_fits(w, "the product with the wrong matrix: dy is mixed as it should be, but then %s stands where %s "
                     "is wanted", used->name, wanted->name);
            return true;
        }
    return false;
}

/* For one output n is a matrix product with one row of a tensor Q, as dS^T q is: row s of it is g_s Q_t. And a, as
 * dS q, is sum_s g_s Q_s in row t alone; or the other way round. x and Q are stacks of matrices of
 * one shape. */
static bool other_order(const gra_wrong *w, const gra_checked *q, const double *n, const double *a)
{
    const size_t width = from_last(w->x, 0), rows = from_last(w->x, 1);
    size_t used = 0;
    for (size_t start = 0; start < w->size; start += rows * width) {
        bool fit = false, zero = true;
        for (size_t e = start; e < start + rows * width; e++)
            zero &= gra_none(w, n[e]) && gra_none(w, a[e]);
        for (size_t at = 0; !fit && !zero && at < q->size / width; at++) {
            const size_t t = at % rows;
            const real *const of = q->data + (at - t) * width;
            double length = 0, sum[WIDEST] = { 0 };
            for (size_t i = 0; i < width; i++)
                length += (double)of[t * width + i] * (double)of[t * width + i];
            fit = length > 0;
            for (size_t s = 0; fit && s < rows; s++) {
                double g = 0;
                for (size_t i = 0; i < width; i++)
                    g += n[start + s * width + i] * (double)of[t * width + i] / length;
                for (size_t i = 0; i < width; i++) {
                    fit = fit && gra_fit(w, n[start + s * width + i], g * (double)of[t * width + i]) &&
                          (s == t || gra_none(w, a[start + s * width + i]));
                    sum[i] += g * (double)of[s * width + i];
                }
            }
            for (size_t i = 0; fit && i < width; i++)
                fit = gra_fit(w, a[start + t * width + i], sum[i]);
        }
        if (!fit && !zero)
            return false;
        used += !zero;
    }
    return used > 0;
}

bool gra_other_order(gra_wrong *w)
{
    const gra_checking *k = w->check;
    const gra_checked *x = w->x;
    for (int i = 0; gra_whole(w) && x->shape.ndim >= 2 && from_last(x, 0) <= WIDEST && i < k->count; i++) {
        const gra_checked *q = &k->tensor[i];
        if (q->shape.ndim < 2 || from_last(q, 0) != from_last(x, 0) || from_last(q, 1) != from_last(x, 1))
            continue;
        const bool wanted = other_order(w, q, w->n, w->a);
        if (!wanted && !other_order(w, q, w->a, w->n))
            continue;
        gra_fits(w, "a product with dS where its transpose is wanted: the gradient of %s is dS%s %s, for a matrix dS "
                 "(the gradient of the scores) that is right; the backward has dS%s %s", x->name, wanted ? "^T" : "", q->name,
                 wanted ? "" : "^T", q->name);
        return true;
    }
    return false;
}
