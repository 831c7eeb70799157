/* sums.h: sums of long rows and columns, in double: their errors do not grow with their length. */
#ifndef GRADUS_SUMS_H
#define GRADUS_SUMS_H

#include "vmath.h"

enum { SUMS_WIDTH = 256, SUMS_BLOCK = 256 };    /* columns that are summed side by side; rows of a block */

/* sum_i x_i, in double, in GRA_LANES chains. */
static inline double sum_row(const real *x, size_t n)
{
    double s[GRA_LANES] = { 0 }, sum = 0;
    for (; n >= GRA_LANES; n -= GRA_LANES, x += GRA_LANES)
        for (int j = 0; j < GRA_LANES; j++)
            s[j] += (double)x[j];
    for (size_t j = 0; j < n; j++)
        s[j] += (double)x[j];
    for (int j = 0; j < GRA_LANES; j++)
        sum += s[j];
    return sum;
}

static inline void sum_block(const real *x, size_t n, size_t stride, size_t width, double *sum)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < width; j++)
            sum[j] += (double)x[i * stride + j];
}

/* sum[j] += x[i*stride + j] over all i < n, for j < width: in double, and in blocks, because libgradus64
 * has no wider type. */
static inline void sum_rows(const real *x, size_t n, size_t stride, size_t width, double *sum)
{
    if (stride == 1 && width == 1) {
        sum[0] += sum_row(x, n);
        return;
    }
    for (; n > SUMS_BLOCK; n -= SUMS_BLOCK, x += SUMS_BLOCK * stride) {
        double part[SUMS_WIDTH] = { 0 };
        sum_block(x, SUMS_BLOCK, stride, width, part);
        for (size_t j = 0; j < width; j++)
            sum[j] += part[j];
    }
    sum_block(x, n, stride, width, sum);
}

#endif
