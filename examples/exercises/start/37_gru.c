/* 37 gru: a network with a memory, and its gradient through time.
 *
 * Before attention, a text was read token by token into a state h of fixed size. The gated recurrent unit
 * (Cho et al. 2014; PyTorch's nn.GRU) decides for each number of the state how much of it to keep. In step t,
 * two linear layers give 3 * hidden numbers each, those for r, then those for z, then those for n:
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
 * of h where it is in the last formula (gh depends on h too, but here it is an input like gi). On paper
 * first: which of r, z, n, gi_n, gh_n and h are in each formula?
 *
 * gru_backward is the gradient through time. The forward has kept the states h[0] to h[time] (each a row of
 * hidden numbers; h[0] is the first state), and for each t the rows gates[t] and gh[t] (3 hidden numbers).
 * The outputs are h[1] to h[time], and dy[t] is the gradient of the loss with respect to h[t + 1] where the
 * loss uses it directly; step t + 1 uses it too. Add the gradients of all six arrays to d->w_ih, ... d->h0.
 * linear_backward, below, is given. hidden is at most GRU_MOST.
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

void gru_cell(const double *gi, const double *gh, const double *h, double *gates, double *next, int hidden)
{
    const double *gi_r = gi, *gi_z = gi + hidden,
        *gi_n = gi + 2 * hidden;      /* and likewise of gh, gates */
    (void)gi_r, (void)gi_z, (void)gi_n, (void)gh, (void)h, (void)gates, (void)next;     /* TO DO */
}

void gru_cell_backward(const double *gates, const double *gh, const double *h, const double *dnext,
                       double *dgi, double *dgh, double *dh, int hidden)
{
    (void)gates, (void)gh, (void)h, (void)dnext, (void)dgi, (void)dgh, (void)dh, (void)hidden;  /* TO DO */
}

void gru_backward(const struct gru *g, const double *x, const double *h, const double *gates,
                  const double *gh, const double *dy, const struct gru_gradients *d, int time)
{
    double dgi[3 * GRU_MOST], dgh[3 * GRU_MOST];
    (void)g, (void)x, (void)h, (void)gates, (void)gh, (void)dy, (void)d, (void)time;            /* TO DO */
    (void)dgi, (void)dgh, (void)linear_backward;
}
