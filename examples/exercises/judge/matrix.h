/* matrix.h: small row-major matrices for the judges of attention. Each function returns new memory, so that
 * what is expected, and what each mistake would give, is one expression. */
#ifndef EXERCISES_MATRIX_H
#define EXERCISES_MATRIX_H

#include "judge.h"

static inline double *mat_product(const double *a, const double *b, int n, int k, int m)  /* (n, k) (k, m) */
{
    double *c = judge_room((size_t)(n * m));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            c[i * m + j] = 0;
            for (int l = 0; l < k; l++)
                c[i * m + j] += a[i * k + l] * b[l * m + j];
        }
    return c;
}

static inline double mat_dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static inline double *mat_transposed(const double *a, int n, int m)                     /* (n, m) -> (m, n) */
{
    double *c = judge_room((size_t)(n * m));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            c[j * n + i] = a[i * m + j];
    return c;
}

static inline double *mat_scaled(const double *a, double s, int size)
{
    double *c = judge_room((size_t)size);
    for (int i = 0; i < size; i++)
        c[i] = s * a[i];
    return c;
}

static inline double *mat_sum(const double *a, const double *b, int size)
{
    double *c = judge_room((size_t)size);
    for (int i = 0; i < size; i++)
        c[i] = a[i] + b[i];
    return c;
}

static inline double *mat_columns_plus(const double *a, const double *b, int n, int m)  /* a_ij + b_i */
{
    double *c = judge_room((size_t)(n * m));
    for (int i = 0; i < n * m; i++)
        c[i] = a[i] + b[i / m];
    return c;
}

static inline double *mat_softmax_rows(const double *s, int n, int m)
{
    double *a = judge_room((size_t)(n * m));
    for (int i = 0; i < n; i++) {
        double top = -INFINITY, sum = 0;
        for (int j = 0; j < m; j++)
            top = fmax(top, s[i * m + j]);
        for (int j = 0; j < m; j++)
            sum += a[i * m + j] = exp(s[i * m + j] - top);
        for (int j = 0; j < m; j++)
            a[i * m + j] /= sum;
    }
    return a;
}

static inline double *mat_softmax_columns(const double *s, int n, int m)
{
    return mat_transposed(mat_softmax_rows(mat_transposed(s, n, m), m, n), m, n);
}

/* q k^T times a scale: q (n, d), k (m, d) -> (n, m). */
static inline double *mat_scores(const double *q, const double *k, int n, int m, int d, double scale)
{
    return mat_scaled(mat_product(q, mat_transposed(k, m, d), n, d, m), scale, n * m);
}

/* Is got - before one factor times g, everywhere? */
static inline bool mat_times(const double *got, const double *before, const double *g, int size,
                             double *factor)
{
    int most = 0;
    for (int i = 1; i < size; i++)
        most = fabs(g[i]) > fabs(g[most]) ? i : most;
    *factor = (got[most] - before[most]) / g[most];
    bool fits = size > 1 && isfinite(*factor) && *factor != 0;
    for (int i = 0; i < size; i++)
        fits = fits && fabs(got[i] - before[i] - *factor * g[i]) < 1e-9;
    return fits;
}

/* Reading a matrix at wrong places, as slips of a reference: number l of row j of a (rows, cols) is at
 * j*cols + l, but is read here from j*p + l*q, where p and q are any two of the sizes, 1 and 0:
 *
 *     k = mat_read("k", "jl", 'd', k, m, d, "md", (int[]){ m, d });       (width d, sizes m and d)
 *
 * With "jl!" the row's index is never left out, as then the exercise's numbers say nothing. `a` is memory of
 * judge_room. */
static inline void mat_factor(char *text, size_t room, char index, int which, const char *letters)
{
    const size_t at = strlen(text);
    const char *plus = at ? " + " : "";
    if (which == 1)
        snprintf(text + at, room - at, "%s%c", plus, index);
    else if (which > 1)
        snprintf(text + at, room - at, "%s%c*%c", plus, index, letters[which - 2]);
}

static inline const double *mat_read(const char *name, const char *index, char width, const double *a,
                                     int rows, int cols, const char *letters, const int *sizes)
{
    const int ways = 2 + (int)strlen(letters);
    for (int way = 0; way < ways * ways; way++) {
        const int row = way / ways, col = way % ways, by_row = row < 2 ? row : sizes[row - 2];
        const int by_col = col < 2 ? col : sizes[col - 2], last = (rows - 1) * by_row + (cols - 1) * by_col;
        if ((by_row == cols && by_col == 1) || (row == 0 && (col > 1 || index[2] == '!'))
            || last >= rows * cols + 8)                 /* 8 guards may be read */
            continue;
        char place[40] = "";
        mat_factor(place, sizeof place, index[0], row, letters);
        mat_factor(place, sizeof place, index[1], col, letters);
        if (slip_of("%s[%s] was read%s: number %c of row %c is at %s[%c*%c + %c]", name,
                    place[0] ? place : "0", row == 1 && col > 1 ? ", by columns" : "", index[1], index[0],
                    name, index[0], width, index[1])) {
            double *read = judge_room((size_t)(rows * cols));
            for (int i = 0; i < rows * cols; i++)
                read[i] = a[i / cols * by_row + i % cols * by_col];
            return read;
        }
    }
    return a;
}

#endif
