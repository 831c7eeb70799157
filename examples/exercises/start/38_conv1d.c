/* 38 conv1d: the same weights at every place.
 *
 * A convolution multiplies `kernel` neighbouring numbers by weights, and does the same `stride` numbers
 * further on, and so on: a few weights detect something wherever it is. As in PyTorch's conv1d, with
 * channels, x is (in, length), w (out, in, kernel), b (out), y (out, m), and
 *
 *     y[o][t] = b[o] + sum over c and k of w[o][c][k] x[c][t stride + k - padding]
 *
 * Where that index is below 0, or length or more, it is in the padding, and x is 0. There are as many places
 * t = 0, ... m - 1 as fit into x with `padding` zeros at both ends: the last index of the last place is at
 * most length + padding - 1.
 *
 * An example with one channel: x = 1 2 3 4, w = 1 10 100, b = 0 and padding 1 give y = 210 321 432 43 with
 * stride 1, and 210 432 with stride 2.
 *
 * Write conv1d_length, which returns m for a length of x (0 if no place fits), the forward, and the backward.
 * It needs no new formula: each product w x of the forward adds dy x to dw, and dy w to dx. dx, dw and db
 * already hold other gradients.
 */
#include "exercises.h"

int conv1d_length(const struct conv1d *c, int length)
{
    (void)c, (void)length;                                      /* TO DO */
    return 0;
}

void conv1d(const struct conv1d *c, const double *x, const double *w, const double *b, double *y, int length)
{
    (void)c, (void)x, (void)w, (void)b, (void)y, (void)length;  /* TO DO */
}

void conv1d_backward(const struct conv1d *c, const double *x, const double *w, const double *dy, double *dx,
                     double *dw, double *db, int length)
{
    (void)c, (void)x, (void)w, (void)dy, (void)dx, (void)dw, (void)db, (void)length;    /* TO DO */
}
