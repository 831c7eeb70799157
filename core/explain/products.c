/* products: explanations of a gradient that is a matrix product, in an op of several: one of its two matrices
 * is not the expected one, or is not transposed. The other, G, is made of dy and is not known. */
#include "explaining.h"

enum { WIDEST = 16 };                   /* the longest row that is looked at: many pairs are tried */

/* A tensor, or the output, as a stack of matrices, or of their transposes; NULL data: the matrix 1. */
typedef struct matrix {
    const char *name;
    const real *data;
    size_t      count, rows, columns;
    bool        transposed;
} matrix;

/* Matrix i of twice the tensors and the output. */
static matrix matrix_of(const gra_checking *k, int i)
{
    const gra_checked *x = &k->tensor[i / 2];
    const int last = x->shape.ndim - 1;
    matrix m = { .name = x->name, .data = x->data, .transposed = i % 2, .rows = 1, .columns = 1 };
    if (last > 0 && x->size > 0) {
        m.rows = (size_t)x->shape.dim[last - !m.transposed];
        m.columns = (size_t)x->shape.dim[last - m.transposed];
        m.count = x->size / (m.rows * m.columns);
    }
    return m;
}

/* Where the element in row r of the whole stack is. */
static size_t place(const matrix *m, size_t r, size_t c)
{
    const size_t start = r / m->rows * m->rows * m->columns;
    return start + (m->transposed ? c * m->rows + r % m->rows : r % m->rows * m->columns + c);
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

/* n = G K and a = G Q: each row of (n, a) lies in the space of the rows of (K, Q), of which there are
 * fewer than it has elements. x determines what a row is: one of x's matrix or of the transposed one, for
 * each output; or where the product comes first, as dy K^T, one of dy's for each element of x. */
static bool other_matrix(const gra_wrong *w, const matrix *k, const matrix *q, const matrix *x, bool of_dy)
{
    const size_t all = of_dy ? w->cols : w->rows, outer = of_dy ? 1 : w->cols, step = of_dy ? w->cols : 1;
    double space[2 * WIDEST][2 * WIDEST], v[2 * WIDEST];
    const size_t n = k->columns;
    size_t count = 0;
    for (size_t r = 0; r < k->rows * k->count; r++) {
        double length = 0;
        for (size_t i = 0; i < n; i++) {
            v[i] = (double)k->data[place(k, r, i)];
            v[n + i] = q->data ? (double)q->data[place(q, r, i)] : r % n == i;
            length += v[i] * v[i] + v[n + i] * v[n + i];
        }
        /* a row that depends on those before becomes next to nothing */
        const double left = left_of(v, space, count, 2 * n) + 1e-9 * sqrt(length) + 1e-300;
        for (size_t i = 0; i < 2 * n; i++)
            space[count][i] = v[i] / left;
        count++;
    }
    for (size_t o = 0; o < all; o++)
        for (size_t r = 0; r < x->rows * x->count; r++) {
            for (size_t i = 0; i < n; i++) {
                v[i] = w->n[o * outer + place(x, r, i) * step];
                v[n + i] = w->a[o * outer + place(x, r, i) * step];
            }
            if (!(left_of(v, space, count, 2 * n) <= w->near))      /* so too where there is a NaN */
                return false;
        }
    return true;
}

bool gra_wrong_matrix(gra_wrong *w)
{
    const gra_checking *c = w->check;
    const int count = 2 * (c->count + 1), of_x = 2 * (int)(w->x - c->tensor);
    for (int at = 0; w->whole && at < 4 * count * (count + 1); at++) {
        const bool of_dy = at / 2 % 2;
        const int of_k = at / 4 % count, of_q = at / 4 / count;
        const matrix x = matrix_of(c, (of_dy ? 2 * c->count : of_x) + at % 2), k = matrix_of(c, of_k);
        /* 1: the product is missing */
        matrix q = { .rows = k.columns, .columns = k.columns, .count = k.count };
        if (of_q < count)
            q = matrix_of(c, of_q);
        if (x.columns < 2 || x.columns > WIDEST || k.columns != x.columns || q.columns != x.columns ||
            k.rows * k.count != q.rows * q.count || k.rows * k.count >= 2 * k.columns ||
            of_k == of_q || !other_matrix(w, &k, &q, &x, of_dy))
            continue;
        const bool flip = x.transposed != of_dy;
        const char *const t = k.transposed != flip ? "^T" : "";
        if (q.data)
            gra_fits(w, "a matrix product with the wrong matrix: the backward has %s%s where %s%s is "
                     "expected, and the other factor is right", q.name, q.transposed != flip ? "^T" : "",
                     k.name, t);
        else
            gra_fits(w, "a matrix product is missing: what is here is right, and must be multiplied by %s%s",
                     k.name, t);
        return true;
    }
    return false;
}

/* For one output G has one row, t, with elements g_s: so row s of n = G^T Q is g_s Q_t; and a = G Q is the
 * sum of g_s Q_s in row t, and 0 elsewhere. n and a start at the matrix, q at Q. */
static bool order_of_row(const gra_wrong *w, const matrix *m, const real *q, size_t t, const double *n,
                         const double *a)
{
    double length = 0, sum[WIDEST] = { 0 };
    for (size_t i = 0; i < m->columns; i++)
        length += pow((double)q[t * m->columns + i], 2);
    for (size_t s = 0; s < m->rows; s++) {
        double g = 0;
        for (size_t i = 0; i < m->columns; i++)
            g += n[s * m->columns + i] * (double)q[t * m->columns + i] / length;
        for (size_t i = 0; i < m->columns; i++) {
            sum[i] += g * (double)q[s * m->columns + i];
            if (!gra_fit(w, n[s * m->columns + i], g * (double)q[t * m->columns + i]) ||
                (s != t && !gra_fit(w, a[s * m->columns + i], 0)))
                return false;
        }
    }
    for (size_t i = 0; i < m->columns; i++)
        if (!gra_fit(w, a[t * m->columns + i], sum[i]))
            return false;
    return true;
}

static bool other_order(const gra_wrong *w, const matrix *q, const double *n, const double *a)
{
    const size_t size = q->rows * q->columns;
    for (size_t start = 0; start < w->size; start += size) {
        bool fit = true;
        for (size_t e = start; e < start + size; e++)
            fit &= gra_zero(w, e);
        for (size_t r = 0; !fit && r < q->rows * q->count; r++)
            fit = order_of_row(w, q, q->data + r / q->rows * size, r % q->rows, n + start, a + start);
        if (!fit)
            return false;
    }
    return true;
}

bool gra_other_order(gra_wrong *w)
{
    const gra_checking *c = w->check;
    const matrix x = matrix_of(c, 2 * (int)(w->x - c->tensor));
    for (int i = 0; w->whole && x.rows > 1 && x.columns <= WIDEST && i < c->count; i++) {
        const matrix q = matrix_of(c, 2 * i);
        if (q.rows != x.rows || q.columns != x.columns)
            continue;
        const bool missing = other_order(w, &q, w->n, w->a);
        if (!missing && !other_order(w, &q, w->a, w->n))
            continue;
        gra_fits(w, "a matrix is %s: the gradient of %s is G%s %s, and the backward has G%s %s, with a G "
                 "that is right (as dS, the gradient of attention's scores)",
                 missing ? "not transposed that should be" : "transposed that should not be", w->x->name,
                 missing ? "^T" : "", q.name, missing ? "" : "^T", q.name);
        return true;
    }
    return false;
}
