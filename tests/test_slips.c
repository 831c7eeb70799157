/* What beginners write: wrong backwards of the ops of a transformer, and what the gradient check says of
 * each. Every op is written out here, with a forward that is right and a backward with numbered slips; slip
 * 0 is none. Each slip must be explained by the words in the table below, and where another one looks like
 * it, not by that one's. */
#include "../core/check/checking.h"
#include "suites.h"

#include <stdlib.h>

#ifdef GRADUS_DOUBLE

#define LENGTH(a) (sizeof(a) / sizeof *(a))

typedef struct args {
    int slip;
} args;

static int slip_of(const gra_tensor *y)
{
    return ((const args *)y->args)->slip;
}

/* dx[i] += v where x wants a gradient */
static void give(gra_tensor *x, size_t i, real v)
{
    if (x->grad)
        x->grad[i] += v;
}

static void put(gra_tensor *x, size_t i, real v)
{
    if (x->grad)
        x->grad[i] = v;
}

/* ---- linear: y = x w^T + b; x (3, 4), w (5, 4) or (4, 4), b (5) or (4) -------------------------------- */

static void linear_forward(gra_tensor *y)
{
    const real *x = y->in[0]->data, *w = y->in[1]->data, *b = y->in[2]->data;
    const int rows = y->shape.dim[0], out = y->shape.dim[1], in = y->in[0]->shape.dim[1];
    for (int r = 0; r < rows; r++)
        for (int o = 0; o < out; o++) {
            real sum = b[o];
            for (int i = 0; i < in; i++)
                sum += x[r * in + i] * w[o * in + i];
            y->data[r * out + o] = sum;
        }
}

enum {
    DW_NO_DY = 1, DB_NO_DY, DX_W_TRANSPOSED, DW_TRANSPOSED, DB_MEAN, DB_STORED, DW_STORED, DX_NO_W, DW_W_FOR_X,
    DX_SIGN, DW_MEAN, DB_TIMES_IN, DX_DY_OF_ROW_0, DW_FIRST_ROW, DX_X_FOR_W, DX_LAST_OUT_LOST, DB_WRONG_AXIS,
    DW_DY_TRANSPOSED, DX_NEXT_ROW, DB_X, DX_STORED
};

static void linear_backward(gra_tensor *y)
{
    gra_tensor *X = y->in[0], *W = y->in[1], *B = y->in[2];
    const real *x = X->data, *w = W->data, *dy = y->grad;
    const int rows = y->shape.dim[0], out = y->shape.dim[1], in = X->shape.dim[1], slip = slip_of(y);
    for (int r = 0; r < rows; r++)
        for (int o = 0; o < out; o++) {
            const real g = dy[r * out + o];
            for (int i = 0; i < in; i++) {
                const size_t xi = (size_t)(r * in + i), wi = (size_t)(o * in + i);
                switch (slip) {                                             /* dx */
                case DX_W_TRANSPOSED:  give(X, xi, g * w[i * out + o]); break;
                case DX_NO_W:          give(X, xi, g); break;
                case DX_SIGN:          give(X, xi, -g * w[wi]); break;
                case DX_DY_OF_ROW_0:   give(X, xi, dy[o] * w[wi]); break;
                case DX_X_FOR_W:       give(X, xi, g * x[xi]); break;
                case DX_LAST_OUT_LOST: give(X, xi, o < out - 1 ? g * w[wi] : 0); break;
                case DX_NEXT_ROW:      give(X, (size_t)((r + 1) % rows * in + i), g * w[wi]); break;
                case DX_STORED:        put(X, xi, g * w[wi]); break;
                default:               give(X, xi, g * w[wi]);
                }
                switch (slip) {                                             /* dw */
                case DW_NO_DY:         give(W, wi, x[xi]); break;
                case DW_TRANSPOSED:    give(W, (size_t)(i * out + o), g * x[xi]); break;
                case DW_STORED:        put(W, wi, g * x[xi]); break;
                case DW_W_FOR_X:       give(W, wi, g * w[wi]); break;
                case DW_MEAN:          give(W, wi, g * x[xi] / rows); break;
                case DW_FIRST_ROW:     give(W, wi, r == 0 ? g * x[xi] : 0); break;
                case DW_DY_TRANSPOSED: give(W, wi, dy[o * rows + r] * x[xi]); break;
                default:               give(W, wi, g * x[xi]);
                }
            }
            switch (slip) {                                                 /* db */
            case DB_NO_DY:      give(B, (size_t)o, 1); break;
            case DB_MEAN:       give(B, (size_t)o, g / rows); break;
            case DB_STORED:     put(B, (size_t)o, g); break;
            case DB_TIMES_IN:   give(B, (size_t)o, g * in); break;
            case DB_WRONG_AXIS: give(B, (size_t)r, g); break;
            case DB_X:          give(B, (size_t)o, g * x[r * in]); break;
            default:            give(B, (size_t)o, g);
            }
        }
}

/* ---- softmax: along the last dimension --------------------------------------------------------------- */

static void softmax_rows(const real *x, real *y, int rows, int n)
{
    for (int r = 0; r < rows; r++) {
        real sum = 0;
        for (int i = 0; i < n; i++)
            sum += y[r * n + i] = exp(x[r * n + i]);
        for (int i = 0; i < n; i++)
            y[r * n + i] /= sum;
    }
}

static void softmax_forward(gra_tensor *y)
{
    softmax_rows(y->in[0]->data, y->data, y->shape.dim[0], y->shape.dim[1]);
}

enum {
    S_NO_SUM = 1, S_DIAGONAL, S_NO_Y, S_SUM_UNWEIGHTED, S_X_FOR_Y, S_PLUS, S_SUM_OF_ALL, S_COLUMNS, S_SUM_NOT_TIMES_Y,
    S_NO_DY, S_MEAN, S_TWICE, S_ONE_MINUS_Y, S_FLIPPED, S_SUM_OF_LAST_ROW, S_EXP, S_STORED, S_SUM_WITHOUT_SELF,
    S_Y_SQUARED, S_DIAGONAL_MISSES, S_SUM_RUNS_ON
};

static void softmax_backward(gra_tensor *y)
{
    const real *v = y->data, *x = y->in[0]->data, *dy = y->grad;
    const int rows = y->shape.dim[0], n = y->shape.dim[1], slip = slip_of(y);
    real all = 0, last = 0, run = 0;
    for (int i = 0; i < rows * n; i++)
        all += dy[i] * v[i];
    for (int r = 0; r < rows; r++) {
        real s = 0, plain = 0, xs = 0;
        for (int i = r * n; i < r * n + n; i++) {
            s += dy[i] * v[i];
            plain += dy[i];
            xs += dy[i] * x[i];
        }
        run += s;
        for (int i = r * n; i < r * n + n; i++) {
            real column = 0, d = v[i] * (dy[i] - s);
            for (int q = 0; q < rows; q++)
                column += dy[q * n + i % n] * v[q * n + i % n];
            switch (slip) {
            case S_NO_SUM:          d = v[i] * dy[i]; break;
            case S_DIAGONAL:        d = v[i] * (1 - v[i]) * dy[i]; break;
            case S_NO_Y:            d = dy[i] - s; break;
            case S_SUM_UNWEIGHTED:  d = v[i] * (dy[i] - plain); break;
            case S_X_FOR_Y:         d = x[i] * (dy[i] - xs); break;
            case S_PLUS:            d = v[i] * (dy[i] + s); break;
            case S_SUM_OF_ALL:      d = v[i] * (dy[i] - all); break;
            case S_COLUMNS:         d = v[i] * (dy[i] - column); break;
            case S_SUM_NOT_TIMES_Y: d = v[i] * dy[i] - s; break;
            case S_NO_DY:           d = v[i] * (1 - v[i]); break;
            case S_MEAN:            d = v[i] * (dy[i] - s / n); break;
            case S_TWICE:           d *= 2; break;
            case S_ONE_MINUS_Y:     d = (1 - v[i]) * dy[i]; break;
            case S_FLIPPED:         d = -d; break;
            case S_SUM_OF_LAST_ROW: d = v[i] * (dy[i] - last); break;
            case S_EXP:             d = exp(x[i]) * (dy[i] - s); break;
            case S_SUM_WITHOUT_SELF: d = v[i] * (dy[i] - s + dy[i] * v[i]); break;
            case S_Y_SQUARED:       d = v[i] * v[i] * (dy[i] - s); break;
            case S_SUM_RUNS_ON:     d = v[i] * (dy[i] - run); break;
            case S_DIAGONAL_MISSES: d = v[i] * (dy[i] * v[i] - s); break;
            default:                break;
            }
            if (slip == S_STORED)
                put(y->in[0], (size_t)i, d);
            else
                give(y->in[0], (size_t)i, d);
        }
        last = s;
    }
}

/* ---- layer norm: of rows, y = z w + b, z = (x - mean) r; x (3, 4), w (4), b (4) ------------------------ */

static const real eps = 1e-5;

static void norm_of(const real *x, int n, real unbiased, real *mean, real *r)
{
    real m = 0, v = 0;
    for (int i = 0; i < n; i++)
        m += x[i] / n;
    for (int i = 0; i < n; i++)
        v += (x[i] - m) * (x[i] - m) / (n - unbiased);
    *mean = m;
    *r = 1 / sqrt(v + eps);
}

static void norm_forward(gra_tensor *y)
{
    const int rows = y->shape.dim[0], n = y->shape.dim[1];
    for (int k = 0; k < rows; k++) {
        real mean, r;
        norm_of(y->in[0]->data + k * n, n, 0, &mean, &r);
        for (int i = 0; i < n; i++)
            y->data[k * n + i] = (y->in[0]->data[k * n + i] - mean) * r * y->in[1]->data[i] + y->in[2]->data[i];
    }
}

enum {
    N_NO_MEAN = 1, N_NO_Z, N_NEITHER, N_NO_R, N_R_SQUARED, N_NO_W, N_W_AFTER, N_UNBIASED_MEANS, N_DW_X, N_DB_LAST,
    N_DW_Y, N_UNBIASED_R, N_Z_SIGN, N_SUMS, N_NO_EPS, N_DW_MEAN, N_CENTRED, N_DW_NO_DY, N_W_FIRST_ONLY,
    N_MEAN_SIGN, N_DW_NOT_SUMMED, N_W_TWICE, N_OTHER_ROW, N_ONE_ROW_R, N_DB_MEAN, N_Z_SUM
};

static void norm_backward(gra_tensor *y)
{
    gra_tensor *X = y->in[0], *W = y->in[1], *B = y->in[2];
    const real *w = W->data;
    const int rows = y->shape.dim[0], n = y->shape.dim[1], slip = slip_of(y);
    for (int k = 0; k < rows; k++) {
        const int from = slip == N_OTHER_ROW ? (k + 1) % rows : k;
        const real *x = X->data + k * n, *dy = y->grad + k * n;
        real mean, r, sg = 0, sgz = 0, z[8], g[8], r0, unused;
        norm_of(x, n, slip == N_UNBIASED_R, &mean, &r);
        if (slip == N_NO_EPS)
            r = 1 / sqrt(1 / (r * r) - eps);
        norm_of(X->data + from * n, n, 0, &unused, &r0);
        if (slip == N_ONE_ROW_R)
            norm_of(X->data, n, 0, &unused, &r0);
        for (int i = 0; i < n; i++) {
            z[i] = (x[i] - mean) * r;
            g[i] = slip == N_NO_W || slip == N_W_AFTER ? dy[i] : slip == N_W_TWICE ? dy[i] * w[i] * w[i] : dy[i] * w[i];
            sg += slip == N_W_FIRST_ONLY ? dy[i] : g[i];
            sgz += (slip == N_W_FIRST_ONLY ? dy[i] : g[i]) * z[i];
        }
        for (int i = 0; i < n; i++) {
            real d = r * (g[i] - sg / n - z[i] * sgz / n);
            const size_t at = (size_t)(k * n + i), wi = (size_t)i;
            switch (slip) {
            case N_NO_MEAN:        d = r * (g[i] - z[i] * sgz / n); break;
            case N_NO_Z:           d = r * (g[i] - sg / n); break;
            case N_NEITHER:        d = r * g[i]; break;
            case N_NO_R:           d /= r; break;
            case N_R_SQUARED:      d *= r; break;
            case N_W_AFTER:        d *= w[i]; break;
            case N_UNBIASED_MEANS: d = r * (g[i] - sg / (n - 1) - z[i] * sgz / (n - 1)); break;
            case N_Z_SIGN:         d = r * (g[i] - sg / n + z[i] * sgz / n); break;
            case N_MEAN_SIGN:      d = r * (g[i] + sg / n - z[i] * sgz / n); break;
            case N_SUMS:           d = r * (g[i] - sg - z[i] * sgz); break;
            case N_Z_SUM:          d = r * (g[i] - sg / n - z[i] * sgz); break;
            case N_CENTRED:        d = r * (g[i] - sg / n - (x[i] - mean) * sgz / n); break;
            case N_OTHER_ROW:
            case N_ONE_ROW_R:      d = d / r * r0; break;
            default:               break;
            }
            give(X, at, d);
            switch (slip) {
            case N_DW_X:           give(W, wi, dy[i] * x[i]); break;
            case N_DW_Y:           give(W, wi, dy[i] * y->data[at]); break;
            case N_DW_MEAN:        give(W, wi, dy[i] * z[i] / rows); break;
            case N_DW_NO_DY:       give(W, wi, z[i]); break;
            case N_DW_NOT_SUMMED:  put(W, wi, dy[i] * z[i]); break;
            default:               give(W, wi, dy[i] * z[i]);
            }
            switch (slip) {
            case N_DB_LAST:        give(B, wi, k == rows - 1 ? dy[i] : 0); break;
            case N_DB_MEAN:        give(B, wi, dy[i] / n); break;
            default:               give(B, wi, dy[i]);
            }
        }
    }
}

/* ---- attention: causal, q k v (2 heads, 3, 4) --------------------------------------------------------- */

enum { HEADS = 2, TIME = 3, DIM = 4 };

static void weights(const real *q, const real *k, bool causal, real scale, real p[TIME][TIME])
{
    for (int t = 0; t < TIME; t++) {
        real sum = 0;
        for (int s = 0; s < TIME; s++) {
            real dot = 0;
            for (int e = 0; e < DIM; e++)
                dot += q[t * DIM + e] * k[s * DIM + e];
            sum += p[t][s] = causal && s > t ? 0 : exp(dot * scale);
        }
        for (int s = 0; s < TIME; s++)
            p[t][s] /= sum;
    }
}

static void attention_forward(gra_tensor *y)
{
    for (int h = 0; h < HEADS; h++) {
        const size_t at = (size_t)(h * TIME * DIM);
        real p[TIME][TIME];
        weights(y->in[0]->data + at, y->in[1]->data + at, true, 0.5, p);
        for (int t = 0; t < TIME; t++)
            for (int e = 0; e < DIM; e++) {
                real sum = 0;
                for (int s = 0; s < TIME; s++)
                    sum += p[t][s] * y->in[2]->data[at + (size_t)(s * DIM + e)];
                y->data[at + (size_t)(t * DIM + e)] = sum;
            }
    }
}

enum {
    A_DQ_NO_SCALE = 1, A_NO_SCALE, A_SCALE_TWICE, A_NO_SUM, A_DV_TRANSPOSED, A_NO_MASK, A_DV_NO_MASK, A_SWAPPED,
    A_DK_NOT_TRANSPOSED, A_DK_K_FOR_Q, A_HEADS, A_SCALE_IS_D, A_DV_NO_P, A_DIAGONAL, A_DQ_STORED, A_NO_SOFTMAX,
    A_DV_SCORES, A_SUM_UNWEIGHTED, A_DK_NO_SCALE, A_DV_NO_DY, A_DP_TRANSPOSED, A_P_NO_SCALE, A_DQ_SIGN, A_DV_V,
    A_SUM_PLUS, A_DQ_TRANSPOSED, A_DQ_Q_FOR_K, A_WIDTH_2
};

static void attention_backward(gra_tensor *y)
{
    gra_tensor *Q = y->in[0], *K = y->in[1], *V = y->in[2];
    const int slip = slip_of(y);
    for (int h = 0; h < HEADS; h++) {
        const size_t at = (size_t)(h * TIME * DIM), other = slip == A_HEADS ? (size_t)((1 - h) * TIME * DIM) : at;
        const real *q = Q->data + at, *k = K->data + at, *v = V->data + at, *dy = y->grad + at;
        real p[TIME][TIME], full[TIME][TIME], dp[TIME][TIME], ds[TIME][TIME];
        weights(q, k, slip != A_NO_MASK, slip == A_P_NO_SCALE ? 1 : 0.5, p);
        weights(q, k, false, 0.5, full);
        for (int t = 0; t < TIME; t++) {
            real sum = 0, plain = 0;
            for (int s = 0; s < TIME; s++) {
                dp[t][s] = 0;
                for (int e = 0; e < DIM; e++)
                    dp[t][s] += dy[t * DIM + e] * (slip == A_DP_TRANSPOSED ? v[t * DIM + e] : v[s * DIM + e]);
                sum += p[t][s] * dp[t][s];
                plain += dp[t][s];
            }
            for (int s = 0; s < TIME; s++)
                switch (slip) {
                case A_NO_SUM:         ds[t][s] = p[t][s] * dp[t][s]; break;
                case A_DIAGONAL:       ds[t][s] = p[t][s] * (1 - p[t][s]) * dp[t][s]; break;
                case A_NO_SOFTMAX:     ds[t][s] = s > t ? 0 : dp[t][s]; break;
                case A_SUM_UNWEIGHTED: ds[t][s] = p[t][s] * (dp[t][s] - plain); break;
                case A_SUM_PLUS:       ds[t][s] = p[t][s] * (dp[t][s] + sum); break;
                default:               ds[t][s] = p[t][s] * (dp[t][s] - sum);
                }
        }
        const real both = slip == A_NO_SCALE ? 1 : slip == A_SCALE_TWICE || slip == A_SCALE_IS_D ? 0.25
                          : slip == A_WIDTH_2 ? 1 / sqrt(2) : 0.5;
        const real dq_scale = slip == A_DQ_NO_SCALE ? 1 : slip == A_DQ_SIGN ? -0.5 : both;
        const real dk_scale = slip == A_DK_NO_SCALE ? 1 : both;
        for (int t = 0; t < TIME; t++)
            for (int s = 0; s < TIME; s++)
                for (int e = 0; e < DIM; e++) {
                    const size_t te = at + (size_t)(t * DIM + e), se = at + (size_t)(s * DIM + e);
                    const real dq = ds[t][s] * k[s * DIM + e] * dq_scale;
                    const real dk = ds[t][s] * (slip == A_DK_K_FOR_Q ? k : q)[t * DIM + e] * dk_scale;
                    if (slip == A_SWAPPED) {
                        give(K, te, dq);
                        give(Q, se, dk);
                    } else {
                        if (slip == A_DQ_STORED)
                            put(Q, te, dq);
                        else if (slip == A_DQ_Q_FOR_K)
                            give(Q, te, ds[t][s] * q[s * DIM + e] * dq_scale);
                        else if (slip == A_DQ_TRANSPOSED)
                            give(Q, se, ds[t][s] * k[t * DIM + e] * dq_scale);
                        else
                            give(Q, te, dq);
                        if (slip == A_DK_NOT_TRANSPOSED)
                            give(K, te, ds[t][s] * q[s * DIM + e] * dk_scale);
                        else
                            give(K, se, dk);
                    }
                    const real g = dy[t * DIM + e];
                    switch (slip) {
                    case A_DV_TRANSPOSED: give(V, se, p[s][t] * g); break;
                    case A_DV_NO_MASK:    give(V, se, full[t][s] * g); break;
                    case A_HEADS:         give(V, other + (size_t)(s * DIM + e), p[t][s] * g); break;
                    case A_DV_NO_P:       give(V, se, s > t ? 0 : g); break;
                    case A_DV_SCORES:     give(V, se, s > t ? 0 : log(p[t][s]) * g); break;
                    case A_DV_NO_DY:      give(V, se, p[t][s]); break;
                    case A_DV_V:          give(V, se, p[t][s] * g * v[s * DIM + e]); break;
                    default:              give(V, se, p[t][s] * g);
                    }
                }
    }
}

/* ---- embedding: y_t = w[ids[t]]; w (5, 3) --------------------------------------------------------------- */

static const int ids[] = { 1, 3, 1, 0, 3, 3 };
enum { IDS = 6, VOCABULARY = 5, WIDTH = 3 };

static void embedding_forward(gra_tensor *y)
{
    for (int t = 0; t < IDS; t++)
        for (int e = 0; e < WIDTH; e++)
            y->data[t * WIDTH + e] = y->in[0]->data[ids[t] * WIDTH + e];
}

enum {
    E_LAST = 1, E_FIRST, E_NEXT, E_MEAN, E_DY_0, E_T_FOR_ID, E_NO_DY, E_STRIDE, E_PADDED, E_TIMES_WIDTH, E_ROW_SUM,
    E_REVERSED, E_LAST_KEPT, E_HALF, E_TIMES_W, E_LAST_COLUMN, E_ROW_0
};

static void embedding_backward(gra_tensor *y)
{
    gra_tensor *W = y->in[0];
    const real *dy = y->grad;
    const int slip = slip_of(y);
    for (int t = 0; t < IDS; t++) {
        int count = 0, before = 0, after = 0;
        for (int s = 0; s < IDS; s++) {
            count += ids[s] == ids[t];
            before += ids[s] == ids[t] && s < t;
            after += ids[s] == ids[t] && s > t;
        }
        for (int e = 0; e < WIDTH; e++) {
            const real g = dy[t * WIDTH + e];
            const size_t at = (size_t)(ids[t] * WIDTH + e);
            switch (slip) {
            case E_LAST:        put(W, at, g); break;
            case E_FIRST:       give(W, at, before ? 0 : g); break;
            case E_LAST_KEPT:   give(W, at, after ? 0 : g); break;
            case E_NEXT:        give(W, at + WIDTH, g); break;
            case E_MEAN:        give(W, at, g / count); break;
            case E_DY_0:        give(W, at, dy[e]); break;
            case E_T_FOR_ID:    give(W, (size_t)(t % VOCABULARY * WIDTH + e), g); break;
            case E_NO_DY:       give(W, at, 1); break;
            case E_STRIDE:      give(W, (size_t)(ids[t] + e * VOCABULARY), g); break;
            case E_PADDED:      give(W, at, ids[t] ? g : 0); break;
            case E_TIMES_WIDTH: give(W, at, g * WIDTH); break;
            case E_ROW_SUM:     give(W, at, dy[t * WIDTH] + dy[t * WIDTH + 1] + dy[t * WIDTH + 2]); break;
            case E_REVERSED:    give(W, (size_t)(ids[IDS - 1 - t] * WIDTH + e), g); break;
            case E_HALF:        give(W, at, t < IDS / 2 ? g : 0); break;
            case E_TIMES_W:     give(W, at, g * W->data[at]); break;
            case E_ROW_0:       give(W, (size_t)e, g); break;
            case E_LAST_COLUMN: give(W, at, e < WIDTH - 1 ? g : 0); break;
            default:            give(W, at, g);
            }
        }
    }
}

/* ---- dropout: p = 0.3; x (4, 5) ------------------------------------------------------------------------ */

static const int mask[20] = { 1, 0, 1, 1, 1,  0, 1, 1, 0, 1,  1, 1, 1, 0, 1,  1, 0, 1, 1, 1 };

static void dropout_forward(gra_tensor *y)
{
    for (size_t i = 0; i < y->size; i++)
        y->data[i] = mask[i % 20] * y->in[0]->data[i] / 0.7;
}

enum {
    D_NO_MASK = 1, D_INVERTED, D_NO_SCALE, D_SCALE_TWICE, D_P, D_NEITHER, D_OTHER_MASK, D_NO_DY, D_TIMES, D_SIGN_MASK,
    D_X, D_STORED, D_ONE_OVER_P, D_ONE_ROW
};

static void dropout_backward(gra_tensor *y)
{
    const real *x = y->in[0]->data, *dy = y->grad;
    for (size_t i = 0; i < y->size; i++) {
        const real m = mask[i];
        real d = m * dy[i] / 0.7;
        switch (slip_of(y)) {
        case D_NO_MASK:     d = dy[i] / 0.7; break;
        case D_INVERTED:    d = (1 - m) * dy[i] / 0.7; break;
        case D_NO_SCALE:    d = m * dy[i]; break;
        case D_SCALE_TWICE: d = m * dy[i] / 0.49; break;
        case D_P:           d = m * dy[i] * 0.3; break;
        case D_NEITHER:     d = dy[i]; break;
        case D_OTHER_MASK:  d = mask[(i + 3) % 20] * dy[i] / 0.7; break;
        case D_NO_DY:       d = m / 0.7; break;
        case D_TIMES:       d = m * dy[i] * 0.7; break;
        case D_SIGN_MASK:   d = y->data[i] > 0 ? dy[i] / 0.7 : 0; break;
        case D_X:           d = m * x[i] / 0.7; break;
        case D_ONE_OVER_P:  d = m * dy[i] / 0.3; break;
        case D_ONE_ROW:     d = mask[i % 5] * dy[i] / 0.7; break;
        default:            break;
        }
        if (slip_of(y) == D_STORED)
            put(y->in[0], i, d);
        else
            give(y->in[0], i, d);
    }
}

/* ---- cross-entropy: mean over rows; x (4, 5) ----------------------------------------------------------- */

static const int targets[4] = { 1, 0, -100, 3 };

static void loss_forward(gra_tensor *y)
{
    const int rows = y->in[0]->shape.dim[0], n = y->in[0]->shape.dim[1];
    real p[64], sum = 0;
    softmax_rows(y->in[0]->data, p, rows, n);
    for (int r = 0; r < rows; r++)
        if (targets[r] >= 0)
            sum -= log(p[r * n + targets[r]]);
    y->data[0] = sum / (rows - 1);
}

enum {
    L_NO_DY = 1, L_NO_MEAN, L_NO_TARGET, L_NEXT_TARGET, L_NOT_IGNORED, L_ALL_ROWS, L_FLIPPED, L_MEAN_OF_P, L_MEAN_OF_ONE,
    L_LAST_ROW, L_COLUMNS, L_EXP, L_LOG, L_CLASSES, L_TIMES_LOSS, L_P_ONE_MINUS_P, L_NO_P, L_TARGET_ONLY, L_PLUS_TARGET,
    L_TARGET_NO_DY, L_DY_SQUARED, L_P_OF_TARGET, L_COLUMN_0, L_STORED, L_LOGITS, L_ROW_0, L_ONLY_P
};

static void loss_backward(gra_tensor *y)
{
    const real *x = y->in[0]->data, dy = y->grad[0];
    const int rows = y->in[0]->shape.dim[0], n = y->in[0]->shape.dim[1], slip = slip_of(y);
    real p[64], column[64];
    const real g = dy / (rows - 1);
    softmax_rows(x, p, rows, n);
    for (int i = 0; i < n; i++) {
        real sum = 0;
        for (int r = 0; r < rows; r++)
            sum += exp(x[r * n + i]);
        for (int r = 0; r < rows; r++)
            column[r * n + i] = exp(x[r * n + i]) / sum;
    }
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < n; i++) {
            const size_t at = (size_t)(r * n + i);
            const real hot = i == targets[r], q = p[at];
            real d = g * (q - hot);
            if (targets[r] < 0 && slip != L_NOT_IGNORED)
                continue;
            switch (slip) {
            case L_NO_DY:         d = (q - hot) / (rows - 1); break;
            case L_NO_MEAN:       d = dy * (q - hot); break;
            case L_NO_TARGET:     d = g * q; break;
            case L_NEXT_TARGET:   d = g * (q - (i == targets[r] + 1)); break;
            case L_ALL_ROWS:      d = dy / rows * (q - hot); break;
            case L_FLIPPED:       d = g * (hot - q); break;
            case L_MEAN_OF_P:     d = g * q - dy * hot; break;
            case L_MEAN_OF_ONE:   d = dy * q - g * hot; break;
            case L_LAST_ROW:      d = g * (p[(r + rows - 1) % rows * n + i] - hot); break;
            case L_COLUMNS:       d = g * (column[at] - hot); break;
            case L_EXP:           d = g * (exp(x[at]) - hot); break;
            case L_LOG:           d = g * (log(q) - hot); break;
            case L_CLASSES:       d = dy / n * (q - hot); break;
            case L_TIMES_LOSS:    d *= y->data[0]; break;
            case L_P_ONE_MINUS_P: d = g * q * (1 - q); break;
            case L_NO_P:          d = -g * hot; break;
            case L_TARGET_ONLY:   d = g * hot * (q - hot); break;
            case L_PLUS_TARGET:   d = g * (q + hot); break;
            case L_TARGET_NO_DY:  d = g * q - hot / (rows - 1); break;
            case L_DY_SQUARED:    d *= dy; break;
            case L_P_OF_TARGET:   d = g * (hot * q - hot); break;
            case L_COLUMN_0:      d = g * (q - (i == 0)); break;
            case L_LOGITS:        d = g * (x[at] - hot); break;
            case L_ROW_0:
                d = g * q;
                if (i == targets[r])
                    give(y->in[0], (size_t)i, -g);
                break;
            case L_ONLY_P:        d = -g * hot / q; break;
            default:              break;
            }
            if (slip == L_STORED)
                put(y->in[0], at, d);
            else
                give(y->in[0], at, d);
        }
}

/* ---- GELU: y = x (1 + tanh(u)) / 2, u = a (x + b x^3), and y = x Phi(x); x (3, 5) ---------------------- */

static const real A = 0.7978845608028654, B = 0.044715, PI = 3.141592653589793;

static void gelu_forward(gra_tensor *y)
{
    for (size_t i = 0; i < y->size; i++) {
        const real x = y->in[0]->data[i];
        y->data[i] = x * (1 + tanh(A * (x + B * x * x * x))) / 2;
    }
}

enum {
    G_NO_SECOND = 1, G_NO_FIRST, G_NO_INNER, G_B_FOR_3B, G_NO_HALF, G_NO_DY, G_ONE_MINUS_T, G_TYPO, G_Y_FOR_X, G_NO_A,
    G_DY_Y, G_NO_X, G_SIGN, G_PLUS_T_SQUARED, G_NO_HALF_FIRST, G_NO_TANH, G_STORED, G_ROUNDED_PI, G_X_CUBED, G_ERF,
    G_FLIPPED
};

static void gelu_backward(gra_tensor *y)
{
    const real *dy = y->grad;
    const int slip = slip_of(y);
    for (size_t i = 0; i < y->size; i++) {
        const real x = slip == G_Y_FOR_X ? y->data[i] : y->in[0]->data[i];
        const real b = slip == G_TYPO ? 0.044175 : B, a = slip == G_ROUNDED_PI ? sqrt(2 / 3.14) : A;
        const real t = tanh(a * (x + b * x * x * x));
        const real inner = a * (1 + 3 * b * x * x), first = (1 + t) / 2, second = x * (1 - t * t) * inner / 2;
        real d = first + second;
        switch (slip) {
        case G_NO_SECOND:      d = first; break;
        case G_NO_FIRST:       d = second; break;
        case G_NO_INNER:       d = first + x * (1 - t * t) / 2; break;
        case G_B_FOR_3B:       d = first + x * (1 - t * t) * a * (1 + b * x * x) / 2; break;
        case G_NO_HALF:        d = first + 2 * second; break;
        case G_NO_HALF_FIRST:  d = 2 * first + second; break;
        case G_ONE_MINUS_T:    d = first + x * (1 - t) * inner / 2; break;
        case G_NO_A:           d = first + second / a; break;
        case G_DY_Y:           d = y->data[i]; break;
        case G_NO_X:           d = first + (1 - t * t) * inner / 2; break;
        case G_SIGN:           d = first - second; break;
        case G_PLUS_T_SQUARED: d = first + x * (1 + t * t) * inner / 2; break;
        case G_NO_TANH:        d = first + x * inner / 2; break;
        case G_X_CUBED:        d = first + x * (1 - t * t) * a * (1 + 3 * b * x) / 2; break;
        case G_ERF:            d = 0.5 * erfc(-x / sqrt(2)) + x * exp(-x * x / 2) / sqrt(2 * PI); break;
        case G_FLIPPED:        d = -d; break;
        default:               break;
        }
        d = slip == G_NO_DY ? d : d * dy[i];
        if (slip == G_STORED)
            put(y->in[0], i, d);
        else
            give(y->in[0], i, d);
    }
}

static void exact_forward(gra_tensor *y)
{
    for (size_t i = 0; i < y->size; i++)
        y->data[i] = y->in[0]->data[i] * erfc(-y->in[0]->data[i] / sqrt(2)) / 2;
}

enum {
    P_NO_SECOND = 1, P_NO_FIRST, P_NO_X, P_EXP_X2, P_NO_ROOT, P_EXP_PLUS, P_ROOT_2, P_NO_PHI, P_SIGN, P_CDF_NO_ROOT,
    P_HALF_FORGOTTEN, P_X_SQUARED, P_TANH, P_NO_DY
};

static void exact_backward(gra_tensor *y)
{
    for (size_t i = 0; i < y->size; i++) {
        const real x = y->in[0]->data[i], cdf = erfc(-x / sqrt(2)) / 2, pdf = exp(-x * x / 2) / sqrt(2 * PI);
        const real t = tanh(A * (x + B * x * x * x));
        real d = cdf + x * pdf;
        switch (slip_of(y)) {
        case P_NO_SECOND:      d = cdf; break;
        case P_NO_FIRST:       d = x * pdf; break;
        case P_NO_X:           d = cdf + pdf; break;
        case P_EXP_X2:         d = cdf + x * exp(-x * x) / sqrt(2 * PI); break;
        case P_NO_ROOT:        d = cdf + x * exp(-x * x / 2); break;
        case P_EXP_PLUS:       d = cdf + x * exp(x * x / 2) / sqrt(2 * PI); break;
        case P_ROOT_2:         d = cdf + x * exp(-x * x / 2) / sqrt(PI); break;
        case P_NO_PHI:         d = cdf + x; break;
        case P_SIGN:           d = cdf - x * pdf; break;
        case P_CDF_NO_ROOT:    d = erfc(-x) / 2 + x * pdf; break;
        case P_HALF_FORGOTTEN: d = 2 * cdf + x * pdf; break;
        case P_X_SQUARED:      d = cdf + x * x * pdf; break;
        case P_TANH:           d = (1 + t) / 2 + x * (1 - t * t) / 2 * A * (1 + 3 * B * x * x); break;
        default:               break;
        }
        give(y->in[0], i, slip_of(y) == P_NO_DY ? d : d * y->grad[i]);
    }
}

/* ---- tied: h = x w^T, y = h w; x (3, 4), w (2, 4) ------------------------------------------------------- */

static real hidden(const gra_tensor *y, int r, int k)
{
    const int n = y->shape.dim[1];
    real h = 0;
    for (int i = 0; i < n; i++)
        h += y->in[0]->data[r * n + i] * y->in[1]->data[k * n + i];
    return h;
}

static void tied_forward(gra_tensor *y)
{
    const int n = y->shape.dim[1];
    for (int i = 0; i < (int)y->size; i++) {
        y->data[i] = 0;
        for (int k = 0; k < y->in[1]->shape.dim[0]; k++)
            y->data[i] += hidden(y, i / n, k) * y->in[1]->data[k * n + i % n];
    }
}

enum { T_LAST_USE = 1, T_LAST_TWICE, T_FIRST_FLIPPED, T_HALF };

static void tied_backward(gra_tensor *y)
{
    const int n = y->shape.dim[1], slip = slip_of(y);
    const real *x = y->in[0]->data, *w = y->in[1]->data, *dy = y->grad;
    for (int r = 0; r < y->shape.dim[0]; r++)
        for (int k = 0; k < y->in[1]->shape.dim[0]; k++) {
            real dh = 0;
            for (int i = 0; i < n; i++)
                dh += dy[r * n + i] * w[k * n + i];
            for (int i = 0; i < n; i++) {
                const size_t ri = (size_t)(r * n + i), ki = (size_t)(k * n + i);
                const real first = dh * x[ri], last = dy[ri] * hidden(y, r, k);
                give(y->in[0], ri, dh * w[ki]);
                switch (slip) {
                case T_LAST_USE:      give(y->in[1], ki, last); break;
                case T_LAST_TWICE:    give(y->in[1], ki, first + 2 * last); break;
                case T_FIRST_FLIPPED: give(y->in[1], ki, last - first); break;
                case T_HALF:          give(y->in[1], ki, (first + last) / 2); break;
                default:              give(y->in[1], ki, first + last);
                }
            }
        }
}

/* ---- Huber's loss, |a - b| where no difference is small, and (a - b)^2: the mean; a and b (8) ----------- */

static real bound(const gra_tensor *y)          /* up to here it is a square; the name tells which of the two it is */
{
    return y->op->name[0] == 'h' ? 0.5 : 0;
}

static bool is_mse(const gra_tensor *y)
{
    return y->op->name[0] == 'm';
}

static void gap_forward(gra_tensor *y)
{
    y->data[0] = 0;
    for (int i = 0; i < 8; i++) {
        const real d = y->in[0]->data[i] - y->in[1]->data[i], q = fabs(d), most = bound(y);
        y->data[0] += (is_mse(y) ? d * d : q < most ? d * d / 2 : most > 0 ? most * (q - most / 2) : q) / 8;
    }
}

enum { B_DISTANCE = 1, B_ALWAYS_UP, B_SECOND_SIGN, B_TWICE, B_NO_B };

static void gap_backward(gra_tensor *y)
{
    for (size_t i = 0; i < 8; i++) {
        const real d = y->in[0]->data[i] - y->in[1]->data[i], most = bound(y), size = most > 0 ? most : 1;
        real g = is_mse(y) ? 2 * d : fabs(d) < most ? d : d > 0 ? size : -size;
        switch (slip_of(y)) {
        case B_DISTANCE:  g = d; break;
        case B_ALWAYS_UP: g = fabs(d) < most ? d : size; break;
        case B_TWICE:     g *= 2; break;
        case B_NO_B:      g = 2 * y->in[0]->data[i]; break;
        default:          break;
        }
        give(y->in[0], i, y->grad[0] * g / 8);
        give(y->in[1], i, (slip_of(y) == B_SECOND_SIGN ? 1 : -1) * y->grad[0] * g / 8);
    }
}

/* ---- log-softmax, and x / |x|: of rows; x (3, 4) -------------------------------------------------------- */

static void log_softmax_forward(gra_tensor *y)
{
    softmax_rows(y->in[0]->data, y->data, y->shape.dim[0], y->shape.dim[1]);
    for (size_t i = 0; i < y->size; i++)
        y->data[i] = log(y->data[i]);
}

static void unit_forward(gra_tensor *y)
{
    const int n = y->shape.dim[1];
    for (int i = 0; i < (int)y->size; i++) {
        real sum = 0;
        for (int q = i / n * n; q < i / n * n + n; q++)
            sum += y->in[0]->data[q] * y->in[0]->data[q];
        y->data[i] = y->in[0]->data[i] / sqrt(sum);
    }
}

enum { R_NO_P = 1, R_AS_SOFTMAX, R_Y_FOR_P, R_RUNS_ON, R_COLUMNS, R_TWICE_DIVIDED, R_NOT_DIVIDED };

/* With p = e^y and a plain sum, or p = y and a sum with y, divided by |x|. */
static void rows_backward(gra_tensor *y)
{
    const bool unit = y->op->name[0] == 'u';
    const int n = y->shape.dim[1], slip = slip_of(y);
    real run = 0;
    for (int r = 0; r < y->shape.dim[0]; r++) {
        real s = 0, sy = 0;
        for (int i = r * n; i < r * n + n; i++) {
            s += y->grad[i] * (unit ? y->data[i] : 1);
            sy += y->grad[i] * exp(y->data[i]);
        }
        run += s;
        for (int i = r * n; i < r * n + n; i++) {
            const real g = y->grad[i], p = unit ? y->data[i] : exp(y->data[i]);
            const real size = unit ? y->in[0]->data[i] / y->data[i] : 1;
            real d = (g - p * s) / size, column = 0;
            for (int q = i % n; q < (int)y->size; q += n)
                column += y->grad[q] * (unit ? y->data[q] : 1);
            switch (slip) {
            case R_NO_P:          d = (g - s) / size; break;
            case R_AS_SOFTMAX:    d = p * (g - sy); break;
            case R_Y_FOR_P:       d = g - y->data[i] * s; break;
            case R_RUNS_ON:       d = (g - p * run) / size; break;
            case R_COLUMNS:       d = (g - p * column) / size; break;
            case R_TWICE_DIVIDED: d /= size; break;
            case R_NOT_DIVIDED:   d *= size; break;
            default:              break;
            }
            give(y->in[0], (size_t)i, d);
        }
    }
}

/* ---- concat: a (3, 2) and b (3, 4) beside each other; mean over dimension 1 of x (2, 3, 4) --------------- */

static void concat_forward(gra_tensor *y)
{
    for (int i = 0; i < 18; i++)
        y->data[i] = i % 6 < 2 ? y->in[0]->data[i / 6 * 2 + i % 6] : y->in[1]->data[i / 6 * 4 + i % 6 - 2];
}

enum { C_NO_OFFSET = 1, C_STRIDE };

static void concat_backward(gra_tensor *y)
{
    const int offset = slip_of(y) == C_NO_OFFSET ? 0 : 2, stride = slip_of(y) == C_STRIDE ? 2 : 6;
    for (int i = 0; i < 6; i++)
        give(y->in[0], (size_t)i, y->grad[i / 2 * stride + i % 2]);
    for (int i = 0; i < 12; i++)
        give(y->in[1], (size_t)i, y->grad[i / 4 * 6 + offset + i % 4]);
}

static void mean_forward(gra_tensor *y)
{
    for (int i = 0; i < 8; i++)
        y->data[i] = (y->in[0]->data[i / 4 * 12 + i % 4] + y->in[0]->data[i / 4 * 12 + 4 + i % 4] +
                      y->in[0]->data[i / 4 * 12 + 8 + i % 4]) / 3;
}

enum { M_BY_COLUMNS = 1, M_SUM };

static void mean_backward(gra_tensor *y)
{
    for (int i = 0; i < 24; i++)
        give(y->in[0], (size_t)i, y->grad[i / 12 * 4 + i % 4] / (slip_of(y) == M_SUM ? 1 : slip_of(y) ? 4 : 3));
}

/* ---- cumulative sum of rows; x (3, 5) -------------------------------------------------------------------- */

static void cumsum_forward(gra_tensor *y)
{
    for (int i = 0; i < 15; i++)
        y->data[i] = y->in[0]->data[i] + (i % 5 ? y->data[i - 1] : 0);
}

enum { U_ALL = 1, U_NEVER_RESET, U_FORWARDS };

static void cumsum_backward(gra_tensor *y)
{
    for (int i = 0; i < 15; i++)
        for (int j = 0; j < 15; j++) {
            const bool row = i / 5 == j / 5;
            switch (slip_of(y)) {
            case U_ALL:         give(y->in[0], (size_t)i, row ? y->grad[j] : 0); break;
            case U_NEVER_RESET: give(y->in[0], (size_t)i, j >= i ? y->grad[j] : 0); break;
            case U_FORWARDS:    give(y->in[0], (size_t)i, row && j <= i ? y->grad[j] : 0); break;
            default:            give(y->in[0], (size_t)i, row && j >= i ? y->grad[j] : 0);
            }
        }
}

/* ---- the ops ---------------------------------------------------------------------------------------------- */

typedef struct op_of {
    gra_op       op;
    int          nin;
    gra_shape    shape;                             /* of the output */
    gra_check_in in[3];
} op_of;

#define OP(name, forward, backward) { name, forward, backward, NULL, sizeof(args), false, false, false }
static const op_of
    linear = { OP("linear", linear_forward, linear_backward), 3, { 2, { 3, 5 } },
               { { .name = "x", .shape = { 2, { 3, 4 } } }, { .name = "w", .shape = { 2, { 5, 4 } } },
                 { .name = "b", .shape = { 1, { 5 } } } } },
    square = { OP("linear", linear_forward, linear_backward), 3, { 2, { 3, 4 } },
               { { .name = "x", .shape = { 2, { 3, 4 } } }, { .name = "w", .shape = { 2, { 4, 4 } } },
                 { .name = "b", .shape = { 1, { 4 } } } } },
    softmax = { OP("softmax", softmax_forward, softmax_backward), 1, { 2, { 3, 4 } },
                { { .name = "x", .shape = { 2, { 3, 4 } } } } },
    norm = { OP("layer_norm", norm_forward, norm_backward), 3, { 2, { 3, 4 } },
             { { .name = "x", .shape = { 2, { 3, 4 } } }, { .name = "w", .shape = { 1, { 4 } } },
               { .name = "b", .shape = { 1, { 4 } } } } },
    attention = { OP("attention", attention_forward, attention_backward), 3, { 3, { HEADS, TIME, DIM } },
                  { { .name = "q", .shape = { 3, { HEADS, TIME, DIM } } },
                    { .name = "k", .shape = { 3, { HEADS, TIME, DIM } } },
                    { .name = "v", .shape = { 3, { HEADS, TIME, DIM } } } } },
    embedding = { OP("embedding", embedding_forward, embedding_backward), 1, { 2, { IDS, WIDTH } },
                  { { .name = "w", .shape = { 2, { VOCABULARY, WIDTH } } } } },
    dropout = { OP("dropout", dropout_forward, dropout_backward), 1, { 2, { 4, 5 } },
                { { .name = "x", .shape = { 2, { 4, 5 } } } } },
    loss = { OP("cross_entropy", loss_forward, loss_backward), 1, { 0, { 0 } },
             { { .name = "x", .shape = { 2, { 4, 5 } } } } },
    gelu = { OP("gelu", gelu_forward, gelu_backward), 1, { 2, { 3, 5 } },
             { { .name = "x", .shape = { 2, { 3, 5 } } } } },
    tied = { OP("tied", tied_forward, tied_backward), 2, { 2, { 3, 4 } },
             { { .name = "x", .shape = { 2, { 3, 4 } } }, { .name = "w", .shape = { 2, { 2, 4 } } } } },
    huber = { OP("huber_loss", gap_forward, gap_backward), 2, { 0, { 0 } },
              { { .name = "a", .shape = { 1, { 8 } } }, { .name = "b", .shape = { 1, { 8 } } } } },
    l1 = { OP("l1_loss", gap_forward, gap_backward), 2, { 0, { 0 } },
           { { .name = "a", .shape = { 1, { 9 } } }, { .name = "b", .shape = { 1, { 9 } } } } },
    mse = { OP("mse_loss", gap_forward, gap_backward), 2, { 0, { 0 } },
            { { .name = "a", .shape = { 1, { 8 } } }, { .name = "b", .shape = { 1, { 8 } } } } },
    log_softmax = { OP("log_softmax", log_softmax_forward, rows_backward), 1, { 2, { 3, 4 } },
                    { { .name = "x", .shape = { 2, { 3, 4 } } } } },
    unit = { OP("unit", unit_forward, rows_backward), 1, { 2, { 3, 4 } },
             { { .name = "x", .shape = { 2, { 3, 4 } } } } },
    concat = { OP("concat", concat_forward, concat_backward), 2, { 2, { 3, 6 } },
               { { .name = "a", .shape = { 2, { 3, 2 } } }, { .name = "b", .shape = { 2, { 3, 4 } } } } },
    mean = { OP("mean", mean_forward, mean_backward), 1, { 2, { 2, 4 } },
             { { .name = "x", .shape = { 3, { 2, 3, 4 } } } } },
    cumsum = { OP("cumsum", cumsum_forward, cumsum_backward), 1, { 2, { 3, 5 } },
               { { .name = "x", .shape = { 2, { 3, 5 } } } } },
    exact = { OP("gelu", exact_forward, exact_backward), 1, { 2, { 3, 5 } },
              { { .name = "x", .shape = { 2, { 3, 5 } } } } };

/* ---- what is said ---------------------------------------------------------------------------------------- */

#define NO_DY   "it fits: dy does not enter: the backward adds the same whatever y->grad is: multiply by y->grad"
#define BESIDE  "beside the diagonal, in what dy_j gives to other places (the term with a sum): "
#define TARGET  "the gradient is softmax(x), less 1 at one index of each row (the target), times dy and a constant: "
#define PRODUCT "the product rule has two terms, g + x g': "

static const struct {
    const op_of *op;
    int          slip;
    const char  *says, *not;            /* what looks like it, and is not so: NULL, or what must not be said */
} slips[] = {
    { &linear, DW_NO_DY, NO_DY "; the rest of the formula is right", NULL },
    { &linear, DB_NO_DY, NO_DY "; the rest of the formula is right", NULL },
    { &linear, DX_W_TRANSPOSED, "dy is multiplied by elements of w, but by the wrong ones", NULL },
    { &linear, DW_TRANSPOSED,
      "transposed: the values are those of the other order of the last two dimensions", NULL },
    { &linear, DB_MEAN,
      "a constant factor of 0.333333: 1/3, and 3 is the size of dimension 0 of the output", "only index" },
    { &linear, DB_STORED,
      "only index 2 of dimension 0 of the output is left, since each overwrites the one before", NULL },
    { &linear, DW_STORED,
      "only index 2 of dimension 0 of the output is left, since each overwrites the one before", NULL },
    { &linear, DX_NO_W,
      "a factor is missing: w, as w (", "diagonal" },
    { &linear, DW_W_FOR_X, "the wrong factor: w (0, 3) stands where x (0, 3) is wanted", NULL },
    { &linear, DX_SIGN, "it fits: the sign is flipped", "factor" },
    { &linear, DW_MEAN,
      "a constant factor of 0.333333: 1/3, and 3 is the size of dimension 0 of the output", "only index" },
    { &linear, DB_TIMES_IN,
      "a constant factor of 4: the size of dimension 1 of x and of dimension 1 of w (mean or sum?)", NULL },
    { &linear, DX_DY_OF_ROW_0,
      "the dy of index 0 of dimension 0 is used in place of that of each index", "only index" },
    { &linear, DW_FIRST_ROW,
      "only index 0 of dimension 0 of the output was added: w needs the sum over all of them", "is used in place" },
    { &linear, DX_X_FOR_W, "the wrong factor: x (0, 2) stands where w (0, 2) is wanted", NULL },
    { &linear, DX_LAST_OUT_LOST,
      "nothing arrives in index 4 of dimension 1 of the output; it is right elsewhere", NULL },
    { &linear, DB_WRONG_AXIS,
      "right values at the wrong places: what dy (0, 1) gives to b (0) belongs to b (1)", NULL },
    { &linear, DW_DY_TRANSPOSED,
      "the right factors, times the wrong dy: w (1, 0) takes dy (0, 3) where dy (0, 1) is wanted", NULL },
    { &linear, DX_NEXT_ROW, "row i of x holds the gradient of i - 1", "mask" },
    { &linear, DB_X, "dy is multiplied by elements of x, where something else is wanted", NULL },
    { &linear, DX_STORED, "what was in the gradient before is lost", NULL },
    { &square, DX_W_TRANSPOSED,
      "the places i and j are exchanged in what dy_j gives to x_i: a matrix is taken in place of its "
      "transpose", NULL },
    { &square, DW_TRANSPOSED, "transposed: element (i, j) holds the gradient of (j, i)", NULL },
    { &softmax, S_NO_SUM,
      "only the diagonal: x_i gets something from dy_i alone, but other outputs depend on x_i too: the "
      "term with a sum over dy is missing", "what dy_i gives is right" },
    { &softmax, S_DIAGONAL, "the term with a sum over dy is missing; what dy_i gives is right", NULL },
    { &softmax, S_NO_Y, "it fits: a factor is missing: y, as y (", NULL },
    { &softmax, S_SUM_UNWEIGHTED, BESIDE "a factor is missing: y", NULL },
    { &softmax, S_X_FOR_Y, BESIDE "the wrong factor: x_i x_j stands where y_i y_j is wanted", NULL },
    { &softmax, S_PLUS, BESIDE "the sign is flipped", "it fits: the sign is flipped" },
    { &softmax, S_SUM_OF_ALL, "it fits: rows are mixed: x at index i of dimension 0 gets something from dy at other "
      "indices of it, but each depends on its own alone", "mask" },
    { &softmax, S_SUM_RUNS_ON, "it fits: rows are mixed: x at index i of dimension 0 gets something from dy at other "
      "indices of it, but each depends on its own alone: a sum that is not begun anew for each", "mask" },
    { &softmax, S_COLUMNS,
      "a clue: a sum over dy is taken along dimension 0, where one along dimension 1 is wanted", "nothing arrives" },
    { &softmax, S_SUM_NOT_TIMES_Y, BESIDE "a factor is missing: y", NULL },
    { &softmax, S_NO_DY, NO_DY, "the rest of the formula is right" },
    { &softmax, S_MEAN, BESIDE "a constant factor of 0.25: 1/4", NULL },
    { &softmax, S_TWICE, "a factor of 2: counted twice, or a forgotten 1/2", NULL },
    { &softmax, S_ONE_MINUS_Y,
      "only the diagonal: x_i gets something from dy_i alone, but other outputs depend on x_i too: the "
      "term with a sum over dy is missing", "what dy_i gives is right" },
    { &softmax, S_FLIPPED, "it fits: the sign is flipped", "beside" },
    { &softmax, S_SUM_OF_LAST_ROW,
      "a term with the sum (or mean) over dimension 1 of dy y is missing or wrong; the other terms are "
      "right", NULL },
    { &softmax, S_EXP, "the sum of e^x of it is not divided by", NULL },
    { &softmax, S_STORED,
      "what was in the gradient before is lost: the backward says dx[i] = ... where dx[i] += ... is "
      "wanted", "is left" },
    { &softmax, S_SUM_WITHOUT_SELF,
      "it fits: a term too many, or one that is counted twice: what dy (1, 1) gives to x (1, 1) has y (1, 1) y (1, 1) "
      "too much, and so elsewhere", "missing" },
    { &softmax, S_Y_SQUARED, "it fits: a factor too many: y, as y (", NULL },
    { &softmax, S_DIAGONAL_MISSES, "nothing arrives in what dy_i gives to place i itself", NULL },
    { &norm, N_NO_MEAN,
      "a term with the sum (or mean) over dimension 1 of dy w is missing or wrong; the other terms are "
      "right", "(y - b)" },
    { &norm, N_NO_Z,
      "a term with the sum (or mean) over dimension 1 of dy (y - b) is missing or wrong; the other terms "
      "are right", "dy w" },
    { &norm, N_NEITHER, "the term with a sum over dy is missing", "what dy_i gives is right" },
    { &norm, N_NO_R,
      "a factor of its own for each row of x (0.5158, 1.49, 0.7277, ...): the standard deviation of it "
      "is not divided by", "too often" },
    { &norm, N_R_SQUARED, "the standard deviation of it is divided by once too often", "not divided by" },
    { &norm, N_NO_W, "it fits: a factor is missing: w", NULL },
    { &norm, N_W_AFTER, "or a factor of place i in place of that of j", NULL },
    { &norm, N_UNBIASED_MEANS, BESIDE "a constant factor of 1.33333: n / (n - 1) for n = 4", NULL },
    { &norm, N_DW_X, "dy is multiplied by elements of x, where something else is wanted", NULL },
    { &norm, N_DB_LAST,
      "only index 2 of dimension 0 of the output was added: b needs the sum over all of them", "is left" },
    { &norm, N_DW_Y, "dy is multiplied by elements of the output, where something else is wanted", NULL },
    { &norm, N_UNBIASED_R, "the other terms are right; and a constant factor of 0.8660", NULL },
    { &norm, N_Z_SIGN,
      "a term with the sum (or mean) over dimension 1 of dy (y - b) is missing or wrong; the other terms "
      "are right", "dy w" },
    { &norm, N_SUMS, BESIDE "a constant factor of 4: the size of dimension 1 of x", NULL },
    { &norm, N_NO_EPS, "a clue: nearly right: off by 2.3e-05 of the largest at most", "it fits" },
    { &norm, N_DW_MEAN,
      "a constant factor of 0.333333: 1/3, and 3 is the size of dimension 0 of the output", NULL },
    { &norm, N_CENTRED,
      "a term with the sum (or mean) over dimension 1 of dy (y - b) is missing or wrong; the other terms "
      "are right", "dy w" },
    { &norm, N_DW_NO_DY, NO_DY "; the rest of the formula is right", NULL },
    { &norm, N_W_FIRST_ONLY, BESIDE "a factor is missing: w", "it fits: a factor is missing" },
    { &norm, N_MEAN_SIGN,
      "a term with the sum (or mean) over dimension 1 of dy w is missing or wrong; the other terms are "
      "right", "(y - b)" },
    { &norm, N_DW_NOT_SUMMED,
      "only index 2 of dimension 0 of the output is left, since each overwrites the one before", NULL },
    { &norm, N_W_TWICE, "a factor too many: w", NULL },
    { &norm, N_OTHER_ROW, "is missing, or taken from elsewhere", "deviation" },
    { &norm, N_ONE_ROW_R, "the standard deviation of it is not divided by, or another's", NULL },
    { &norm, N_DB_MEAN, "a constant factor of 0.25: 1/4, and 4 is the size of dimension 0 of b", NULL },
    { &norm, N_Z_SUM,
      "a term with the sum (or mean) over dimension 1 of dy (y - b) is missing or wrong; the other terms "
      "are right", "dy w" },
    { &attention, A_DQ_NO_SCALE, "or sqrt(4), and 4 is the size of dimension 2 of", NULL },
    { &attention, A_NO_SCALE, "or sqrt(4), and 4 is the size of dimension 2 of", NULL },
    { &attention, A_SCALE_TWICE, "or 1/sqrt(4), and 4 is the size of dimension 2 of", NULL },
    { &attention, A_NO_SUM,
      "a term with the sum (or mean) over dimension 2 of dy y is missing or wrong; the other terms are "
      "right", NULL },
    { &attention, A_DV_TRANSPOSED, "a matrix is taken in place of its transpose", NULL },
    { &attention, A_NO_MASK,
      "a clue: the backward gives a gradient where the index along dimension 1 of v is above that along "
      "dimension 1 of dy, but there the output does not depend on v: a causal mask is forgotten", "it fits" },
    { &attention, A_DV_NO_MASK,
      "a clue: the backward gives a gradient where the index along dimension 1 of v is above that along "
      "dimension 1 of dy, but there the output does not depend on v: a causal mask is forgotten", "it fits" },
    { &attention, A_SWAPPED, "and the other way round: the two are exchanged", NULL },
    { &attention, A_DK_NOT_TRANSPOSED,
      "it fits: a product with dS where its transpose is wanted: the gradient of k is dS^T q, for a matrix dS (the "
      "gradient of the scores) that is right; the backward has dS q", "mask" },
    { &attention, A_DQ_Q_FOR_K,
      "the product with the wrong matrix: dy is mixed as it should be, but then q stands where k is wanted", "transpose" },
    { &attention, A_WIDTH_2,
      "a constant factor of 1.41421: sqrt(4)/sqrt(2), and 4 is the size of dimension 2 of q (the width of one head, or "
      "of all?); or sqrt(2)", "dimension 0" },
    { &attention, A_DQ_TRANSPOSED, "a product with dS where its transpose is wanted: the gradient of q is dS k", "mask" },
    { &attention, A_DK_K_FOR_Q, "the wrong factor: k (5, 2) stands where q (5, 2) is wanted", "transpose" },
    { &attention, A_HEADS,
      "the indices along dimension 0 of v are mixed up: index 0 that of 1, 1 that of 0", "mask" },
    { &attention, A_SCALE_IS_D, "or 1/sqrt(4), and 4 is the size of dimension 2 of", NULL },
    { &attention, A_DV_NO_P,
      "dy is multiplied by 1 everywhere: the local derivative, by which it is to be multiplied, is "
      "forgotten", NULL },
    { &attention, A_DIAGONAL,
      "the true gradient of k sums to 0 along dimension 1, yours does not", "it fits" },
    { &attention, A_DQ_STORED, "what was in the gradient before is lost", NULL },
    { &attention, A_NO_SOFTMAX,
      "a clue: the backward gives a gradient in index 0 of dimension 1, but there the output does not "
      "depend on q", "mask" },
    { &attention, A_DV_SCORES,
      "dy is multiplied by the logarithm of what it should be multiplied by", NULL },
    { &attention, A_SUM_UNWEIGHTED,
      "one sum over dimension 2 of dy is missing or wrong, or its weights are", "dy y" },
    { &attention, A_DK_NO_SCALE, "or sqrt(4), and 4 is the size of dimension 2 of", NULL },
    { &attention, A_DV_NO_DY, NO_DY "; the rest of the formula is right", NULL },
    { &attention, A_DP_TRANSPOSED, "all zero: the backward adds nothing here", "linear" },
    { &attention, A_P_NO_SCALE, "for v: right only after summing over dimension 1", "it fits" },
    { &attention, A_DQ_SIGN, "it fits: the sign is flipped", NULL },
    { &attention, A_DV_V, "a factor too many: v", NULL },
    { &attention, A_SUM_PLUS,
      "a term with the sum (or mean) over dimension 2 of dy y is missing or wrong; the other terms are "
      "right", NULL },
    { &embedding, E_LAST,
      "where several outputs use one element of w, only the last of them counts: add all of them up (+=)", NULL },
    { &embedding, E_FIRST,
      "where several outputs use one element of w, only the first of them counts", "is lost" },
    { &embedding, E_NEXT, "row i of w holds the gradient of i - 1", NULL },
    { &embedding, E_MEAN,
      "divided by the number of outputs that use it: a mean where the sum is wanted", NULL },
    { &embedding, E_DY_0, "the dy of index 0 of dimension 0 is used in place of that of each index", NULL },
    { &embedding, E_T_FOR_ID,
      "right values at the wrong places: what dy (0, 0) gives to w (0, 0) belongs to w (1, 0)", NULL },
    { &embedding, E_NO_DY, NO_DY "; the rest of the formula is right", NULL },
    { &embedding, E_STRIDE, "the values are those of the other order of the last two dimensions", NULL },
    { &embedding, E_PADDED, "zero in row 0; it is right elsewhere", NULL },
    { &embedding, E_TIMES_WIDTH, "a constant factor of 3: the size of dimension 1 of w", NULL },
    { &embedding, E_ROW_SUM, "it fits: columns are mixed: w at index i of dimension 1 gets something from dy at other "
      "indices of it", "mask" },
    { &embedding, E_REVERSED,
      "the wrong dy: for index i of dimension 0 of the output that of i + 3 is taken", NULL },
    { &embedding, E_LAST_KEPT,
      "where several outputs use one element of w, only the last of them counts", "is lost" },
    { &embedding, E_HALF,
      "nothing arrives in index 3 of dimension 0, index 4 of dimension 0, index 5 of dimension 0 of the "
      "output", NULL },
    { &embedding, E_TIMES_W, "a factor too many: w", NULL },
    { &embedding, E_ROW_0, "right values at the wrong places: what belongs to any index along dimension 0 of w is added "
      "to index 0 of it", "used in place" },
    { &embedding, E_LAST_COLUMN, "zero in column 2; it is right elsewhere", NULL },
    { &dropout, D_NO_MASK,
      "the loss does not depend on 5 of 20 elements of x, but the backward gives them a gradient: a mask "
      "is forgotten; it is right elsewhere", NULL },
    { &dropout, D_INVERTED,
      "zero exactly where it should not be: the mask is the wrong way round", "is not that of the forward" },
    { &dropout, D_NO_SCALE,
      "dy is multiplied by 1 where 1.42857 = 1/(1 - p) is right, with p = 0.3", NULL },
    { &dropout, D_SCALE_TWICE, "dy is multiplied by 2.04082 = 1/(1 - p)^2 where", NULL },
    { &dropout, D_P, "dy is multiplied by 0.3 = p where", NULL },
    { &dropout, D_NEITHER,
      "a mask is forgotten; elsewhere: a constant factor: dy is multiplied by 1 where 1.42857 = 1/(1 - p) "
      "is right", NULL },
    { &dropout, D_OTHER_MASK, "the mask is not that of the forward", "wrong way round" },
    { &dropout, D_NO_DY, NO_DY "; the rest of the formula is right", NULL },
    { &dropout, D_TIMES, "dy is multiplied by 0.7 = 1 - p where", NULL },
    { &dropout, D_SIGN_MASK, "zero where x < 0; it is right elsewhere", "mask" },
    { &dropout, D_X, NO_DY, "the rest of the formula is right" },
    { &dropout, D_STORED, "what was in the gradient before is lost", NULL },
    { &dropout, D_ONE_OVER_P, "dy is multiplied by 3.33333 = 1/p where", NULL },
    { &dropout, D_ONE_ROW, "the mask is not that of the forward", "wrong way round" },
    { &loss, L_NO_DY, NO_DY "; the rest of the formula is right", "factor" },
    { &loss, L_NO_MEAN,
      "a constant factor of 3: how many rows of x the loss depends on (mean or sum?)", NULL },
    { &loss, L_NO_TARGET, TARGET "the -1 at the target is missing", NULL },
    { &loss, L_NEXT_TARGET,
      "what is added or subtracted at one index (the target's) stands at another", NULL },
    { &loss, L_NOT_IGNORED,
      "the loss does not depend on 5 of 20 elements of x (those in row 2), but the backward gives them a "
      "gradient", NULL },
    { &loss, L_ALL_ROWS,
      "a constant factor of 0.75: 3/4: 3 of 4 rows have a gradient: divided by all rows and not by those that "
      "count (ignore_index?)", "(n - 1)" },
    { &loss, L_FLIPPED, "it fits: the sign is flipped", NULL },
    { &loss, L_MEAN_OF_P, TARGET "the -1 at the target has a factor of 3", NULL },
    { &loss, L_MEAN_OF_ONE, TARGET "the softmax has a factor of 3", NULL },
    { &loss, L_LAST_ROW, TARGET "the softmax is that of the row before", NULL },
    { &loss, L_COLUMNS, TARGET "the softmax is over another dimension", NULL },
    { &loss, L_EXP, TARGET "e^x stands where softmax(x) is wanted", NULL },
    { &loss, L_LOG, TARGET "log softmax(x) stands where softmax(x) is wanted", NULL },
    { &loss, L_CLASSES, 
      "a constant factor of 0.6: 3/5, and 3 is how many rows of x the loss depends on, 5 is the size of dimension 1 of "
      "x", "ignore_index" },
    { &loss, L_TIMES_LOSS, "a constant factor of 0.993507: the output itself", NULL },
    { &loss, L_P_ONE_MINUS_P, "p (1 - p) stands where p = softmax(x) is wanted", NULL },
    { &loss, L_NO_P, TARGET "the softmax is missing", NULL },
    { &loss, L_TARGET_ONLY,
      "zero but for one element of each row (the target's?); it is right elsewhere", NULL },
    { &loss, L_PLUS_TARGET, TARGET "1 is added at the target, not subtracted", NULL },
    { &loss, L_TARGET_NO_DY,
      "a term without dy: where y->grad is 0 the backward still adds something", "does not enter" },
    { &loss, L_DY_SQUARED,
      "dy enters twice: twice the y->grad makes four times the gradient", "not linear" },
    { &loss, L_P_OF_TARGET,
      "zero but for one element of each row (the target's?); it is right elsewhere", NULL },
    { &loss, L_COLUMN_0,
      "what is added or subtracted at one index (the target's) stands at another", NULL },
    { &loss, L_STORED, "what was in the gradient before is lost", NULL },
    { &loss, L_LOGITS, TARGET "x stands where softmax(x) is wanted", NULL },
    { &loss, L_ROW_0, TARGET "the 1 of each row is subtracted in row 0: the row's offset r * n is forgotten", NULL },
    { &loss, L_ONLY_P,
      "it fits: only the element at the target gets a gradient, dy times -1/p and a constant: that is the gradient of p "
      "= softmax(x); the others depend on it too, through the softmax's sum", TARGET },
    { &gelu, G_NO_SECOND, PRODUCT "the second is missing", NULL },
    { &gelu, G_NO_FIRST, PRODUCT "the first is missing", NULL },
    { &gelu, G_NO_INNER,
      PRODUCT "the second lacks a factor of 0.797885 + 0.107032 x^2: the derivative of what stands within", NULL },
    { &gelu, G_B_FOR_3B,
      PRODUCT "the second has a factor of 1 + 0.044715 x^2 where 1 + 0.134145 x^2 is wanted: the "
      "derivative of x^3 is 3 x^2", NULL },
    { &gelu, G_NO_HALF, PRODUCT "the second has a factor of 2", NULL },
    { &gelu, G_NO_DY, NO_DY "; the rest of the formula is right", NULL },
    { &gelu, G_ONE_MINUS_T,
      PRODUCT "the second has the derivative of the tanh or sigmoid in it wrong", NULL },
    { &gelu, G_TYPO, "a clue: nearly right: off by", "it fits" },
    { &gelu, G_Y_FOR_X, "the derivative is right, but taken at y", NULL },
    { &gelu, G_NO_A, PRODUCT "the second has a factor of 1.25331: sqrt(pi / 2)", NULL },
    { &gelu, G_DY_Y, "dy is multiplied by elements of the output", NULL },
    { &gelu, G_NO_X, PRODUCT "the second has a factor of x too few", NULL },
    { &gelu, G_SIGN, PRODUCT "the second has a factor of -1", "sign is flipped" },
    { &gelu, G_PLUS_T_SQUARED,
      PRODUCT "the second has the derivative of the tanh or sigmoid in it wrong", NULL },
    { &gelu, G_NO_HALF_FIRST, PRODUCT "the first has a factor of 2", NULL },
    { &gelu, G_NO_TANH, PRODUCT "the second lacks the derivative of the tanh or sigmoid in it", NULL },
    { &gelu, G_STORED, "what was in the gradient before is lost", NULL },
    { &gelu, G_ROUNDED_PI, "a clue: nearly right: off by", "it fits" },
    { &gelu, G_X_CUBED, "what is wrong is that number, the derivative of y by x", "it fits" },
    { &gelu, G_ERF, "a clue: nearly right: off by", "it fits" },
    { &gelu, G_FLIPPED, "it fits: the sign is flipped", NULL },
    { &exact, P_NO_SECOND, PRODUCT "the second is missing", NULL },
    { &exact, P_NO_FIRST, PRODUCT "the first is missing", NULL },
    { &exact, P_NO_X, PRODUCT "the second has a factor of x too few", NULL },
    { &exact, P_EXP_X2, "e^(-0.5 x^2) too many: look at its exponent", NULL },
    { &exact, P_NO_ROOT, PRODUCT "the second has a factor of 2.50663: sqrt(2 pi)", NULL },
    { &exact, P_EXP_PLUS, "e^(1 x^2) too many: look at its exponent", NULL },
    { &exact, P_ROOT_2, PRODUCT "the second has a factor of 1.41421: sqrt(2)", NULL },
    { &exact, P_NO_PHI, "e^(0.5 x^2) too many: look at its exponent", NULL },
    { &exact, P_SIGN, PRODUCT "the second has a factor of -1", "sign is flipped" },
    { &exact, P_CDF_NO_ROOT, "what is wrong is that number, the derivative of y by x", "it fits" },
    { &exact, P_HALF_FORGOTTEN, PRODUCT "the first has a factor of 2", NULL },
    { &exact, P_X_SQUARED, PRODUCT "the second has a factor of x too many", NULL },
    { &exact, P_TANH, "a clue: nearly right: off by", "it fits" },
    { &exact, P_NO_DY, NO_DY "; the rest of the formula is right", NULL },
    { &tied, T_LAST_USE, "it fits: a term is missing: what dy (0, 3) gives to w (1, 3) lacks x (0, 3) w (1, 3), and so "
      "elsewhere: of another place where w is used?", NULL },
    { &tied, T_LAST_TWICE, "a clue", "a term" },
    { &tied, T_FIRST_FLIPPED, "a clue", "a term" },
    { &tied, T_HALF, "a factor of 0.5: a forgotten 2", "a term" },
    { &l1, B_DISTANCE, "it fits: the size of the gradient should not depend on that of b - a: its sign is wanted", NULL },
    { &l1, B_ALWAYS_UP, "it fits: where b > a: the sign is flipped; it is right elsewhere", "is wanted" },
    { &l1, B_SECOND_SIGN, "it fits: the sign is flipped", "the gradient of a" },
    { &l1, B_TWICE, "a factor of 2: counted twice", "sqrt(" },
    { &huber, B_DISTANCE, "it fits: where it is wrong, the size of the gradient should not depend on that of b - a: its "
      "sign is wanted, not its value (beyond a limit?)", NULL },
    { &huber, B_ALWAYS_UP, "it fits: where b > a: the sign is flipped; it is right elsewhere", "is wanted" },
    { &mse, B_NO_B, "it fits: a term is missing: the gradient of a (0) lacks -0.25 b (0), and so elsewhere", NULL },
    { &mse, B_SECOND_SIGN, "it fits: the sign is flipped", "the gradient of a" },
    { &log_softmax, R_NO_P, BESIDE "a factor is missing: e^y", NULL },
    { &log_softmax, R_AS_SOFTMAX, "it fits: a factor too many: e^y", "1/sum" },
    { &log_softmax, R_Y_FOR_P, "stands where e^y (1, 1) is wanted", NULL },
    { &log_softmax, R_RUNS_ON, "it fits: rows are mixed: ", "mask" },
    { &unit, R_RUNS_ON, "it fits: rows are mixed: ", "mask" },
    { &unit, R_COLUMNS, "a sum over dy is taken along dimension 0, where one along dimension 1 is wanted", "mixed" },
    { &unit, R_TWICE_DIVIDED, "the root mean square of it is divided by once too often", "stands where" },
    { &unit, R_NOT_DIVIDED, "the root mean square of it is not divided by", "stands where" },
    { &concat, C_NO_OFFSET, "column i of b holds the gradient of i - 2", "mask" },
    { &concat, C_STRIDE, "times the wrong dy: a (1, 0) takes dy (0, 2) where dy (1, 0) is wanted", "mask" },
    { &mean, M_BY_COLUMNS, "a constant factor of 0.75: 3/4, and 3 is the size of dimension 1 of x, 4 is the size of "
      "dimension 2 of x", "(n - 1)" },
    { &mean, M_SUM, "a constant factor of 3: the size of dimension 1 of x (mean or sum?)", "; or" },
    { &cumsum, U_ALL, "a causal mask is forgotten, or a sum runs too far; it is right elsewhere", "mixed" },
    { &cumsum, U_NEVER_RESET, "it fits: rows are mixed: ", "mask" },
    { &cumsum, U_FORWARDS, "a matrix is taken in place of its transpose", "mask" },
};

static gra_tape *t;

static void open_tape(void)
{
    t = gra_open(1);
    gra_keep_going(t, true);
}

static void close_tape(void)
{
    gra_close(t);
}

typedef struct run {
    const op_of *op;
    int          slip;
} run;

static gra_tensor *forward(gra_tape *tape, gra_tensor **in, void *arg)
{
    const run *r = arg;
    gra_tensor *y = gra_result_n(tape, &r->op->op, r->op->shape, r->op->nin, in);
    ((args *)y->args)->slip = r->slip;
    return gra_run(y);
}

static int check(const op_of *op, int slip, gra_check_report *report)
{
    return gra_check(t, GRA_GRAD, NULL, NULL, op->nin, op->in, forward, &(run){ op, slip }, 1e-6, report);
}

/* The text without its line breaks. */
static const char *unwrapped(const char *text)
{
    static char s[sizeof((gra_check_report *)0)->text];
    size_t n = 0;
    for (const char *p = text; *p; p++)
        if (strncmp(p, "\n  ", 3) == 0) {
            s[n++] = ' ';
            p += 2;
        } else
            s[n++] = *p;
    s[n] = '\0';
    return s;
}

START_TEST(each_slip_is_explained)
{
    gra_check_report r;
    ck_assert_int_eq(check(slips[_i].op, slips[_i].slip, &r), 1);
    const char *text = unwrapped(r.text);
    ck_assert_msg(strstr(text, slips[_i].says), "%s, slip %d: \"%s\" is missing:\n%s", slips[_i].op->op.name,
                  slips[_i].slip, slips[_i].says, r.text);
    ck_assert_msg(!slips[_i].not || !strstr(text, slips[_i].not), "%s, slip %d: \"%s\" should not be told:\n%s",
                  slips[_i].op->op.name, slips[_i].slip, slips[_i].not, r.text);
    ck_assert_msg(!strstr(text, "none of the usual"), "%s", r.text);
}
END_TEST

/* A hint that does not fit everywhere is no more than a clue, three are the most, and a line has 80 columns. */
START_TEST(hints_are_few_and_short)
{
    gra_check_report r;
    size_t hints = 0;
    ck_assert_int_eq(check(slips[_i].op, slips[_i].slip, &r), 1);
    for (const char *line = r.text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        ck_assert_msg(strcspn(line, "\n") <= 80, "%s", r.text);
        hints += strncmp(line, "it fits", 7) == 0 || strncmp(line, "a clue", 6) == 0;
    }
    ck_assert_msg(hints >= 1 && hints <= 3, "%zu hints:\n%s", hints, r.text);
    ck_assert_msg(!(strstr(r.text, "it fits") && strstr(r.text, "a clue")), "%s", r.text);
    ck_assert_msg(strlen(r.text) < sizeof r.text - 1, "it does not hold all:\n%s", r.text);
}
END_TEST

/* The finding is the facts, and the text is the same with hints behind it. */
START_TEST(the_finding_is_without_hints)
{
    gra_check_report r;
    ck_assert_int_eq(check(slips[_i].op, slips[_i].slip, &r), 1);
    ck_assert_msg(strncmp(r.finding, "gradient check FAILED: ", 23) == 0, "%s", r.finding);
    ck_assert(!strstr(r.finding, "it fits") && !strstr(r.finding, "a clue"));
    ck_assert_msg(strncmp(r.text, r.finding, strlen(r.finding)) == 0, "%s\n%s", r.text, r.finding);
    ck_assert_msg(r.text[strlen(r.finding)] == '\n', "%s", r.text);
}
END_TEST

START_TEST(without_a_slip_all_pass)
{
    static const op_of *const ops[] = { &linear, &square, &softmax, &norm, &attention, &embedding, &dropout, &loss,
                                        &gelu, &exact, &tied, &huber, &l1, &mse, &log_softmax, &unit, &concat, &mean,
                                        &cumsum };
    for (size_t i = 0; i < LENGTH(ops); i++) {
        gra_check_report r;
        ck_assert_msg(check(ops[i], 0, &r) == 0, "%s: %s", ops[i]->op.name, r.text);
        ck_assert(!strstr(r.text, "it fits") && !strstr(r.text, "a clue"));
    }
}
END_TEST

#endif

Suite *slips_suite(void)
{
    Suite *s = suite_create("slips");
    TCase *c = tcase_create("wrong backwards and what is said of them");
#ifdef GRADUS_DOUBLE
    tcase_add_checked_fixture(c, open_tape, close_tape);
    tcase_add_loop_test(c, each_slip_is_explained, 0, (int)LENGTH(slips));
    tcase_add_loop_test(c, hints_are_few_and_short, 0, (int)LENGTH(slips));
    tcase_add_loop_test(c, the_finding_is_without_hints, 0, (int)LENGTH(slips));
    tcase_add_test(c, without_a_slip_all_pass);
#endif
    suite_add_tcase(s, c);
    return s;
}
