/* 37 gru, solved.
 *
 *     h_(t+1) = (1 - z) n + z h        dn = dnext (1 - z),   dz = dnext (h - n),   dh = dnext z
 *     n = tanh(gi_n + r gh_n)          a = dn (1 - n^2):     dgi_n = a,   dgh_n = a r,   dr = a gh_n
 *     r = sigmoid(gi_r + gh_r)         dgi_r = dgh_r = dr r (1 - r), and the same for z
 *
 * Through time each state has two uses, by the loss and by the next step, so its gradient is a sum of two:
 * dy[t] and the dh that step t + 1 leaves. That dh is a sum as well: h enters step t + 1 where it is kept by
 * z, and through W_hh. Where z is near 1, dh is near dnext, and the gradient passes many steps without
 * shrinking: that is what the gate is for. All steps have the same weights, whose gradients add up.
 */
#include "exercises.h"

static void linear_backward(const double *w, const double *x, const double *dy, double *dw, double *db,
                            double *dx, int out, int in)
{
    for (int o = 0; o < out; o++) {
        db[o] += dy[o];
        for (int i = 0; i < in; i++) {
            dw[o * in + i] += dy[o] * x[i];
            dx[i] += dy[o] * w[o * in + i];
        }
    }
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

void gru_cell(const double *gi, const double *gh, const double *h, double *gates, double *next, int hidden)
{
    for (int i = 0; i < hidden; i++) {
        const int iz = hidden + i, in = 2 * hidden + i;
        const double r = sigmoid(gi[i] + gh[i]), z = sigmoid(gi[iz] + gh[iz]);
        const double n = tanh(gi[in] + r * gh[in]);
        gates[i] = r, gates[iz] = z, gates[in] = n;
        next[i] = (1 - z) * n + z * h[i];
    }
}

void gru_cell_backward(const double *gates, const double *gh, const double *h, const double *dnext,
                       double *dgi, double *dgh, double *dh, int hidden)
{
    for (int i = 0; i < hidden; i++) {
        const int iz = hidden + i, in = 2 * hidden + i;
        const double r = gates[i], z = gates[iz], n = gates[in];
        const double a = dnext[i] * (1 - z) * (1 - n * n);
        dgi[in] = a;
        dgh[in] = a * r;
        dgi[i] = dgh[i] = a * gh[in] * r * (1 - r);
        dgi[iz] = dgh[iz] = dnext[i] * (h[i] - n) * z * (1 - z);
        dh[i] = dnext[i] * z;
    }
}

void gru_backward(const struct gru *g, const double *x, const double *h, const double *gates,
                  const double *gh, const double *dy, const struct gru_gradients *d, int time)
{
    const int in = g->in, hidden = g->hidden;
    double dgi[3 * GRU_MOST], dgh[3 * GRU_MOST], dnext[GRU_MOST], dh[GRU_MOST] = { 0 };
    for (int t = time - 1; t >= 0; t--) {
        for (int i = 0; i < hidden; i++)
            dnext[i] = dy[t * hidden + i] + dh[i];
        gru_cell_backward(gates + t * 3 * hidden, gh + t * 3 * hidden, h + t * hidden, dnext, dgi, dgh, dh,
                          hidden);
        linear_backward(g->w_ih, x + t * in, dgi, d->w_ih, d->b_ih, d->x + t * in, 3 * hidden, in);
        linear_backward(g->w_hh, h + t * hidden, dgh, d->w_hh, d->b_hh, dh, 3 * hidden, hidden);
    }
    for (int i = 0; i < hidden; i++)
        d->h0[i] += dh[i];
}
