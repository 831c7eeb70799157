/* 38 conv1d: the same weights at every place.
 *
 * A convolution multiplies `kernel` neighbouring numbers by weights, and does the same `stride` numbers
 * further on, and so on. So a few weights detect a pattern wherever it is. As in PyTorch's conv1d, with
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
 * The backward needs no new formula: each product w x of the forward adds dy x to dw, and dy w to dx. dx, dw
 * and db already hold other gradients.
 */
/* 38 conv1d, solved.
 *
 * x with its padding has length + 2 padding numbers. The first place begins at 0, the last at length + 2
 * padding - kernel or a little before, in steps of stride: hence m.
 *
 * Each product w x of the forward has two gradients, dy x and dy w, so the backward visits the same products:
 * the same loops, the same condition. A weight is used at all m places, so dw is a sum over t; a number of x
 * is used by all places that see it, in all channels of y. In the padding w is multiplied by 0: nothing is
 * added to dw, and there is no dx. If the stride is larger than the kernel, some x are never used, and their
 * gradient is 0.
 */
#include "exercises.h"

int conv1d_length(const struct conv1d *c, int length)
{
//| (void)c, (void)length;                                      /* TO DO */
//| return 0;
    const int room = length + 2 * c->padding - c->kernel;
    return room < 0 ? 0 : room / c->stride + 1;
}

void conv1d(const struct conv1d *c, const double *x, const double *w, const double *b, double *y, int length)
{
//| (void)c, (void)x, (void)w, (void)b, (void)y, (void)length;  /* TO DO */
    const int m = conv1d_length(c, length);
    for (int o = 0; o < c->out; o++)
        for (int t = 0; t < m; t++) {
            double sum = b[o];
            for (int ch = 0; ch < c->in; ch++)
                for (int k = 0; k < c->kernel; k++) {
                    const int i = t * c->stride + k - c->padding;
                    if (i >= 0 && i < length)
                        sum += w[(o * c->in + ch) * c->kernel + k] * x[ch * length + i];
                }
            y[o * m + t] = sum;
        }
}

void conv1d_backward(const struct conv1d *c, const double *x, const double *w, const double *dy, double *dx,
                     double *dw, double *db, int length)
{
//| (void)c, (void)x, (void)w, (void)dy, (void)dx, (void)dw, (void)db, (void)length;    /* TO DO */
    const int m = conv1d_length(c, length);
    for (int o = 0; o < c->out; o++)
        for (int t = 0; t < m; t++) {
            const double d = dy[o * m + t];
            db[o] += d;
            for (int ch = 0; ch < c->in; ch++)
                for (int k = 0; k < c->kernel; k++) {
                    const int i = t * c->stride + k - c->padding, at = (o * c->in + ch) * c->kernel + k;
                    if (i < 0 || i >= length)
                        continue;
                    dw[at] += d * x[ch * length + i];
                    dx[ch * length + i] += d * w[at];
                }
        }
}
