/* 38 conv1d: the same weights at every place.
 *
 * A convolution looks at `kernel` neighbouring numbers at a time and slides on by `stride`: the same few
 * weights detect something wherever it is. With channels, as PyTorch's conv1d has it: x (in, length), w (out,
 * in, kernel), b (out) and y (out, m), where
 *
 *     y[o][t] = b[o] + sum over channels c and k of w[o][c][k] x[c][t stride + k - padding]
 *
 * An index of x below 0, or of length and above, is in the padding: x is 0 there. m is as large as possible
 * without reading beyond the padding at the right: the last place t = m - 1 still has its last number at an
 * index of at most length + padding - 1.
 *
 * An example with one channel, x = 1 2 3 4, w = 1 10 100, b = 0, padding 1: y = 210 321 432 43 with stride 1,
 * and 210 432 with stride 2.
 *
 * Write conv1d_length, which returns m for a length of x (0 if no place fits), then the forward, and the
 * gradients. No formula is given for them: the forward says how often each x, w and b was used, and each use
 * of a number adds to its gradient dy times what it was multiplied by. dx, dw and db hold other gradients
 * already.
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
