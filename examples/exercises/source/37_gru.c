/* 37 gru: a network with a memory, and its gradient through time.
 *
 * Before attention, a text was read token by token into a state h of fixed size. The gated recurrent unit
 * (Cho et al. 2014; PyTorch's nn.GRU) decides for each number of the state how much of it to keep. In step t,
 * two linear layers give 3 * hidden numbers each, first for r, then for z, then for n:
 *
 *     gi = W_ih x_t + b_ih,       gh = W_hh h_t + b_hh
 *
 *     r = sigmoid(gi_r + gh_r)                how much of the past is used in n
 *     z = sigmoid(gi_z + gh_z)                how much of h is kept
 *     n = tanh(gi_n + r gh_n)                 a new proposal
 *     h_(t+1) = (1 - z) n + z h_t             all of these element by element
 *
 * gru_cell computes r, z and n into gates (3 hidden), and h_(t+1) into next. With hidden = 1, gi = (0, 0, 1),
 * gh = (0, 0, 2) and h = 0.5: r = z = 0.5, n = tanh(2) = 0.964, next = 0.732.
 *
 * gru_cell_backward is given dnext = dloss/dnext, and writes dgi, dgh and dh: the gradients of gi, of gh, and
 * of h in the last formula (gh depends on h too, but here gh is an input like gi). On paper first: which of
 * r, z, n, gi_n, gh_n and h are in each formula?
 *
 * gru_backward is the gradient through time. The forward has kept the states h[0] to h[time] (each a row of
 * hidden numbers; h[0] is the first state), and for each t the rows gates[t] and gh[t] (3 hidden numbers).
 * The outputs are h[1] to h[time], and dy[t] is the gradient of the loss with respect to h[t + 1] where the
 * loss uses it directly; step t + 1 uses it too. Add the gradients of all six arrays to d->w_ih, ... d->h0.
 * linear_backward, below, is given. hidden is at most GRU_MOST.
 */
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

/* The gradients of y = W x + b, W (out, in), are added to dw, db and dx. */
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

//{
static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

//}
void gru_cell(const double *gi, const double *gh, const double *h, double *gates, double *next, int hidden)
{
//| const double *gi_r = gi, *gi_z = gi + hidden,
//|     *gi_n = gi + 2 * hidden;      /* and likewise of gh, gates */
//| (void)gi_r, (void)gi_z, (void)gi_n, (void)gh, (void)h, (void)gates, (void)next;     /* TO DO */
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
//| (void)gates, (void)gh, (void)h, (void)dnext, (void)dgi, (void)dgh, (void)dh, (void)hidden;  /* TO DO */
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
//| double dgi[3 * GRU_MOST], dgh[3 * GRU_MOST];
//| (void)g, (void)x, (void)h, (void)gates, (void)gh, (void)dy, (void)d, (void)time;            /* TO DO */
//| (void)dgi, (void)dgh, (void)linear_backward;
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
