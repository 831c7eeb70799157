/* What beginners write: wrong backwards of the ops of a transformer,
    and what the gradient check says of each.
 *
 * Every op is written out here with a forward that is right. Its backward works out the right values,
     then one of
 * the wrong lines of its table takes their place: SLIP(number, wrong line,
     what is said of it). Number 0 is none. */
#include "reports.h"
#include "lib/suites.h"

#ifdef GRADUS_DOUBLE

#define WRONG(number, line, says) case number: line; break;
#define ROW(number, line, says) { number, says },

typedef struct slip_row {
    int         number;
    const char *says;
} slip_row;

static int slip_of(const gra_tensor *y)
{
    return *(const int *)y->args;
}

static void give(gra_tensor *x, int i, real v)          /* dx[i] += v where x wants a gradient */
{
    if (x->grad)
        x->grad[i] += v;
}

static void put(gra_tensor *x, int i, real v)
{
    if (x->grad)
        x->grad[i] = v;
}

#define ELEMENTS(name, ...)             /* y_i, of the first input's values x and of i */ \
    static void name(gra_tensor *y) \
    { \
        const real *x = y->in[0]->data; \
        for (int i = 0; i < (int)y->size; i++) \
            y->data[i] = __VA_ARGS__; \
    }

#define NO_DY  "likely: dy does not enter: the backward adds the same whatever y->grad is: multiply by " \
    "y->grad"
#define STORED "likely: what was in the gradient before is lost: the backward has dx[i] = ... where "  \
    "dx[i] += ... is expected"
#define BESIDE "likely: beside the diagonal, in what dy_j gives to other places (the term with a sum): "
#define LATER  "where the row of x comes after the row of dy, but there the output does not depend on x"

/* ---- square: y = x^2; x (3, 4) ----------------------------------------------------------------------- */

#define SQUARE(SLIP) \
    SLIP(1, d = -g, "likely: the sign is flipped") \
    SLIP(2, d = 2 * g, "likely: a constant factor of 2: counted twice, or a forgotten 1/2") \
    SLIP(3, d = g / 2, "likely: a constant factor of 0.5: a forgotten 2") \
    SLIP(4, d = -2 * g, "likely: the sign is flipped, and a constant factor of 2") \
    SLIP(5, d = (real)1.001 * g, "likely: a constant factor of 1.001") \
    SLIP(6, d = g / 3, "likely: a constant factor of 0.333333: a forgotten 3, and 3 is also the size of " \
        "dimension 0 of x and of dimension 0 of y (a mean instead of a sum?)") \
    SLIP(7, d = 0, "likely: all zero: the backward adds nothing here") \
    SLIP(8, d = i / 4 == 1 ? 0 : g, "likely: nothing arrives in row 1 of x; it is right elsewhere") \
    SLIP(9, d = i / 4 == 2 ? g : 0, "likely: nothing arrives except in row 2 of x; it is right elsewhere") \
    SLIP(10, d = i % 4 == 3 ? 0 : g, "likely: nothing arrives in column 3 of x; it is right elsewhere") \
    SLIP(11, d = i == 1 || i == 6 ? 0 : g, "likely: nothing arrives in elements 1, 6 of x; it is right " \
        "elsewhere") \
    SLIP(12, d = 2 * x[i], NO_DY) \
    SLIP(13, d = g + (real)0.25, "likely: a term without dy: where y->grad is 0 the backward still adds " \
        "something") \
    SLIP(14, d = g * dy[i], "likely: the sign of dy is lost: y->grad and -y->grad make the same gradient") \
    SLIP(15, d = g + g * g, "likely: not linear in dy: twice the y->grad does not make twice the gradient") \
    SLIP(31, d = dy[i] > 0 ? g : 0, "likely: the sign of dy decides what is passed on. ")  \
    SLIP(16, d = x[i] > 0 ? -g : g, "likely: where x > 0: the sign is flipped; it is right elsewhere") \
    SLIP(17, d = i / 4 == 1 ? 5 * g : g, "likely: in row 1 of x: a constant factor of 5; it is right "  \
        "elsewhere") \
    SLIP(18, d = g * (1 + (real)(i / 4)), "likely: a factor of its own for each row of x (1, 2, 3, ...)") \
    SLIP(19, d = g * (1 + (real)1e-4 * sin(x[i])), "a clue: nearly right: off by 9.6e-05 of the largest " \
        "at most") \
    SLIP(20, d = g * (2 + cos(x[i])), "a clue: each element gets its own dy, as it should; what it is " \
        "multiplied by, the derivative of y at this " \
         "element, is wrong: dy (") \
    SLIP(21, d = dy[i / 4 * 4 + (i + 1) % 4] * 2 * x[i / 4 * 4 + (i + 1) % 4], \
         "likely: right values at the wrong places: what dy (0, 0) gives to x (0, 3) belongs " \
         "to x (0, 0)")  \
    SLIP(22, d = dy[i % 3 * 4 + i / 3] * 2 * x[i % 3 * 4 + i / 3], "likely: transposed: the values are " \
        "those of the other " \
                                                                  "order of the last two dimensions") \
    SLIP(23, d = g / x[i], "likely: a factor is missing: x")                        \
    SLIP(24, d = g * (1 - x[i]), "likely: the wrong factor: the backward has x (1 - x) where x is "  \
        "expected") \
    SLIP(28, d = g * 5 / 7, "likely: a constant factor of 0.714286: 5/7") \
    SLIP(30, d = g / 11, "likely: a constant factor of 0.0909091: a forgotten 11")  \
    SLIP(29, d = g / 12, "likely: a constant factor of 0.0833333: a forgotten 12, and 12 is also the "  \
        "size of all of x (a mean instead of a sum?)") \
    SLIP(26, d = (real)123.4 * g, "likely: a constant factor of 123.4") \
    SLIP(27, d = g + y->in[0]->grad[i], "likely: what the backward adds depends on what was in the "  \
        "gradient before") \
    SLIP(25, d = i >= 2 ? (real)INFINITY : g, "likely: a division by zero, the logarithm of zero, or "  \
        "uninitialised memory")

ELEMENTS(square_forward, x[i] * x[i])

static void square_backward(gra_tensor *y)
{
    const real *x = y->in[0]->data, *dy = y->grad;
    for (int i = 0; i < (int)y->size; i++) {
        const real g = 2 * x[i] * dy[i];
        real d = g;
        switch (slip_of(y)) { SQUARE(WRONG) default: break; }
        give(y->in[0], i, d);
    }
}

/* ---- linear: y = x w^T + b; x (3, 4), w (5, 4), b (5) ------------------------------------------------- */

#define LINEAR(SLIP) \
    SLIP(1, dw = x[xi], NO_DY) \
    SLIP(2, db = i ? 0 : 1, NO_DY) \
    SLIP(3, dx = g * w[i * out + o], "a wrong index: the backward has w (3, 2) where w (4, 2) is expected") \
    SLIP(4, at_w = i * out + o, "likely: transposed: the values are those of the other order") \
    SLIP(5, db /= rows, "a constant factor of 0.333333: a forgotten 3, and 3 is also the size of " \
        "dimension 0 of y") \
    SLIP(6, put(B, o, i ? B->grad[o] : g); db = 0, \
         "likely: nothing arrives except from row 2 of dy: each overwrites the one before") \
    SLIP(7, dx = g, "likely: a factor is missing: w (0, 2), in what dy (0, 0) gives to x (0, 2)") \
    SLIP(8, dw = g * w[wi], "likely: the wrong factor: the backward has w (0, 3) where x (0, 3) is "  \
        "expected") \
    SLIP(9, dx = -dx, "likely: the sign is flipped") \
    SLIP(10, db *= in, "likely: a constant factor of 4: 4 is also the size of dimension 1 of x")  \
    SLIP(11, dx = dy[o] * w[wi], "the right factors, times the wrong dy: x (1, 0) takes dy (0, 0) where " \
        "dy (1, 0) is expected") \
    SLIP(12, dw = r ? 0 : dw, "likely: nothing arrives except from row 0 of dy: what comes from each is " \
        "to be added (+=)") \
    SLIP(13, dx = o < out - 1 ? dx : 0, "likely: nothing arrives from column 4 of dy; it is right "  \
        "elsewhere") \
    SLIP(14, at_b = r, "likely: right values at the wrong places: what dy (0, 1) gives to b (0) belongs " \
        "to b (1)") \
    SLIP(15, dw = dy[o * rows + r] * x[xi], "likely: the right factors, times the wrong dy: w (1, 0) "  \
        "takes dy (0, 3)") \
    SLIP(16, at_x = (r + 1) % rows * in + i, \
         "likely: right values at the wrong places: what dy (0, 0) gives to x (1, 0) belongs " \
         "to x (0, 0)") \
    SLIP(17, dx *= 5 * cos(x[xi] * w[wi]); db /= 2, "likely, for b: a constant factor of 0.5: a forgotten 2")

static void linear_forward(gra_tensor *y)
{
    const real *x = y->in[0]->data, *w = y->in[1]->data, *b = y->in[2]->data;
    const int rows = y->shape.dim[0], out = y->shape.dim[1], in = y->in[0]->shape.dim[1];
    for (int r = 0; r < rows; r++)
        for (int o = 0; o < out; o++) {
            y->data[r * out + o] = b[o];
            for (int i = 0; i < in; i++)
                y->data[r * out + o] += x[r * in + i] * w[o * in + i];
        }
}

static void linear_backward(gra_tensor *y)
{
    gra_tensor *X = y->in[0], *W = y->in[1], *B = y->in[2];
    const real *x = X->data, *w = W->data, *dy = y->grad;
    const int rows = y->shape.dim[0], out = y->shape.dim[1], in = X->shape.dim[1];
    for (int r = 0; r < rows; r++)
        for (int o = 0; o < out; o++)
            for (int i = 0; i < in; i++) {
                const int xi = r * in + i, wi = o * in + i;
                const real g = dy[r * out + o];
                real dx = g * w[wi], dw = g * x[xi], db = i ? 0 : g;
                int at_x = xi, at_w = wi, at_b = o;
                switch (slip_of(y)) { LINEAR(WRONG) default: break; }
                give(X, at_x, dx);
                give(W, at_w, dw);
                give(B, at_b, db);
            }
}

/* ---- softmax, along rows; x (3, 4) -------------------------------------------------------------------- */

#define SOFTMAX(SLIP) \
    SLIP(1, d = v * g, BESIDE "all zero: the backward adds nothing here") \
    SLIP(2, d = v * (1 - v) * g, "likely: nothing arrives beside the diagonal, in what dy_j gives to "  \
        "the other places x_i") \
    SLIP(3, d = g - s, "likely: a factor is missing: y (") \
    SLIP(4, d = v * (g - plain), BESIDE "a factor is missing: y (") \
    SLIP(5, d = x[i] * (g - xs), \
         "a clue: each dy is used, and goes where it should; what it is multiplied by is " \
         "wrong: dy (1, 0)") \
    SLIP(6, d = v * (g + s), BESIDE "the sign is flipped") \
    SLIP(7, d = v * (g - run), "likely: the backward gives a gradient " LATER) \
    SLIP(8, d = v * (g - column), \
         "a clue: the backward gives a gradient where the row of x is not the row of dy") \
    SLIP(9, d = v * (g - s / n), BESIDE "a constant factor of 0.25: a forgotten 4") \
    SLIP(10, d = exp(x[i]) * (g - s), \
         "likely: the wrong factor: the backward has exp(x (1, 2)) where y (1, 2) is expected, " \
         "in what dy (1, 1)") \
    SLIP(11, d = v * (g - s + g * v), "likely: only on the diagonal, in what dy_i gives to place i "  \
        "itself: ") \
    SLIP(12, d = v * v * (g - s), "likely: a factor too many: y (") \
    SLIP(13, d = v * (g - last), \
         "a clue: the backward gives a gradient where the row of x comes after the row of dy") \
    SLIP(14, d = v * (1 - v), NO_DY) \
    SLIP(15, d -= y->in[0]->grad[i], STORED)

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

static void softmax_backward(gra_tensor *y)
{
    const real *x = y->in[0]->data, *dy = y->grad;
    const int rows = y->shape.dim[0], n = y->shape.dim[1];
    real last = 0, run = 0;
    for (int r = 0; r < rows; r++) {
        real s = 0, plain = 0, xs = 0;
        for (int i = r * n; i < r * n + n; i++) {
            s += dy[i] * y->data[i];
            plain += dy[i];
            xs += dy[i] * x[i];
        }
        run += s;
        for (int i = r * n; i < r * n + n; i++) {
            const real v = y->data[i], g = dy[i];
            real column = 0, d = v * (g - s);
            for (int q = i % n; q < rows * n; q += n)
                column += dy[q] * y->data[q];
            switch (slip_of(y)) { SOFTMAX(WRONG) default: break; }
            give(y->in[0], i, d);
        }
        last = s;
    }
}

/* ---- layer norm: y = z w + b, z = (x - mean) r, of rows; x (3, 4), w (4), b (4) ----------------------- */

#define NORM(SLIP) \
    SLIP(1, dx = r * (g - z * sgz / n), \
         "likely: for each row of x what is off is a number times w (2), and so elsewhere") \
    SLIP(2, dx = r * (g - sg / n), \
         "likely: for each element of dy what is off is a number times x less its mean over " \
         "dimension 1 (0, 3)")        \
    SLIP(3, dx = r * g, BESIDE "all zero: the backward adds nothing here") \
    SLIP(4, dx /= r, \
         "likely: a factor of its own for each row of x (0.5158, 1.49, 0.7277, ...): what " \
         "belongs to it (1/std")   \
    SLIP(5, dx = r * (dy[at] - s / n - z * sz / n), "likely: a factor is missing: w") \
    SLIP(6, dx = r * (g - s / n - z * sz / n), BESIDE "a factor is missing: w") \
    SLIP(7, dx = r * (g - sg / (n - 1) - z * sgz / (n - 1)), \
         BESIDE "a constant factor of 1.33333: 4/3, and 4 is also the size of dimension 1 of x") \
    SLIP(8, dw = dy[at] * x[i], "likely: the wrong factor: dy is multiplied by x (2, 0) where something " \
        "else is expected, in what dy (2, 0) " \
                                "gives to w (0): got -1.365, expected -1.52209")                        \
    SLIP(9, dw = dy[at] * y->data[at], "likely: the wrong factor: dy is multiplied by y (2, 0) where "  \
        "something else is expected") \
    SLIP(10, dx = r * (g - sg - z * sgz), \
         BESIDE "a constant factor of 4: 4 is also the size of dimension 1 of x and of " \
         "dimension 1 of y (a sum")   \
    SLIP(11, dx *= sqrt((1 / (r * r)) / (1 / (r * r) - eps)), \
         "a clue: nearly right: off by 1.9e-05 of the largest at most: a constant with a wrong " \
         "or missing digit") \
    SLIP(12, dw = z, NO_DY) \
    SLIP(13, db = k < rows - 1 ? 0 : db, \
         "likely: nothing arrives except from row 2 of dy: what comes from each is to be added " \
         "(+=)")

static const real eps = 1e-5;

static void norm_of(const real *x, int n, real *mean, real *r)
{
    real m = 0, v = 0;
    for (int i = 0; i < n; i++)
        m += x[i] / n;
    for (int i = 0; i < n; i++)
        v += (x[i] - m) * (x[i] - m) / n;
    *mean = m;
    *r = 1 / sqrt(v + eps);
}

static void norm_forward(gra_tensor *y)
{
    const int rows = y->shape.dim[0], n = y->shape.dim[1];
    const real *x = y->in[0]->data, *w = y->in[1]->data, *b = y->in[2]->data;
    for (int k = 0; k < rows; k++) {
        real mean, r;
        norm_of(x + k * n, n, &mean, &r);
        for (int i = 0; i < n; i++)
            y->data[k * n + i] = (x[k * n + i] - mean) * r * w[i] + b[i];
    }
}

static void norm_backward(gra_tensor *y)
{
    const int rows = y->shape.dim[0], n = y->shape.dim[1];
    const real *w = y->in[1]->data, *dy = y->grad;
    for (int k = 0; k < rows; k++) {
        const real *x = y->in[0]->data + k * n;
        real mean, r, s = 0, sz = 0, sg = 0, sgz = 0;
        norm_of(x, n, &mean, &r);
        for (int i = 0; i < n; i++) {
            const real d = dy[k * n + i], z = (x[i] - mean) * r;
            s += d;
            sz += d * z;
            sg += d * w[i];
            sgz += d * w[i] * z;
        }
        for (int i = 0; i < n; i++) {
            const int at = k * n + i;
            const real z = (x[i] - mean) * r, g = dy[at] * w[i];
            real dx = r * (g - sg / n - z * sgz / n), dw = dy[at] * z, db = dy[at];
            switch (slip_of(y)) { NORM(WRONG) default: break; }
            give(y->in[0], at, dx);
            give(y->in[1], i, dw);
            give(y->in[2], i, db);
        }
    }
}

/* ---- attention: causal, of two heads; q k v (2, 3, 4) -------------------------------------------------- */

#define ATTENTION(SLIP) \
    SLIP(1, dq *= 2, "likely: a constant factor of 2: counted twice, or a forgotten 1/2") \
    SLIP(2, dq *= sqrt(2), "likely: a constant factor of 1.41421: sqrt(2)") \
    SLIP(3, dv = p[s][t] * g, "likely: the places i and j are exchanged in what dy_j gives to v_i: a "  \
        "matrix is taken instead of " \
                              "its transpose") \
    SLIP(4, dv = open[t][s] * g, "a clue: the backward gives a gradient where the index of dimension 1 " \
        "of v comes after the " \
                                 "index of dimension 1 of dy, but there the output does not depend on v") \
    SLIP(5, dv = s > t ? 0 : g, "likely: dy is multiplied by 1 everywhere") \
    SLIP(6, dv = s == t ? 0 : dv, "likely: nothing arrives on the diagonal, in what dy_i gives to place " \
        "i itself, v_i") \
    SLIP(7, dk = ds * k[t * DIM + e] / 2, "likely: the wrong factor: the backward has k (5, 2) where q " \
        "(5, 2) is expected") \
    SLIP(8, to = 1 - h, "likely: right values at the wrong places: what dy (0, 0, 0) gives to v (1, 0, " \
        "0) belongs to v (0, 0, 0)") \
    SLIP(9, dq = p[t][s] * dp[t][s] * k[s * DIM + e] / 2; dk = p[t][s] * dp[t][s] * q[t * DIM + e] / 2, \
         "likely: for each element of q what is off is a number times y (5, 1), and so elsewhere") \
    SLIP(14, dq *= sqrt(0.5), "likely: a constant factor of 0.707107: 1/sqrt(2)")                       \
    SLIP(15, dq = p[s][t] * (dp[s][t] - sum[s]) * k[s * DIM + e] / 2, \
         "a clue: the backward gives a gradient where the index of dimension 1 of q comes " \
         "before the")                                             \
    SLIP(10, dv = p[t][s], NO_DY) \
    SLIP(11, dk = p[t][s] * (1 - p[t][s]) * dp[t][s] * q[t * DIM + e] / 2, "a clue: each dy is used, and " \
        "goes where it should") \
    SLIP(12, dq = ds * q[s * DIM + e] / 2, \
         "a clue: each dy is used, and goes where it should; what it is multiplied by is " \
         "wrong: dy (1, 2, 1)") \
    SLIP(13, dk = p[s][t] * (dp[s][t] - sum[s]) * q[t * DIM + e] / 2, \
         "a clue: nothing arrives where the index of dimension 1 of k comes before the index " \
         "of dimension 1 of dy")

enum { HEADS = 2, TIME = 3, DIM = 4 };

static void weights(const real *q, const real *k, bool causal, real p[TIME][TIME])
{
    for (int t = 0; t < TIME; t++) {
        real sum = 0;
        for (int s = 0; s < TIME; s++) {
            real dot = 0;
            for (int e = 0; e < DIM; e++)
                dot += q[t * DIM + e] * k[s * DIM + e];
            sum += p[t][s] = causal && s > t ? 0 : exp(dot / 2);
        }
        for (int s = 0; s < TIME; s++)
            p[t][s] /= sum;
    }
}

static void attention_forward(gra_tensor *y)
{
    for (int at = 0; at < HEADS * TIME * DIM; at += TIME * DIM) {
        real p[TIME][TIME];
        weights(y->in[0]->data + at, y->in[1]->data + at, true, p);
        for (int i = 0; i < TIME * DIM; i++) {
            y->data[at + i] = 0;
            for (int s = 0; s < TIME; s++)
                y->data[at + i] += p[i / DIM][s] * y->in[2]->data[at + s * DIM + i % DIM];
        }
    }
}

static void attention_backward(gra_tensor *y)
{
    for (int h = 0; h < HEADS; h++) {
        const int at = h * TIME * DIM;
        const real *q = y->in[0]->data + at, *k = y->in[1]->data + at, *v = y->in[2]->data + at,
            *dy = y->grad + at;
        real p[TIME][TIME], open[TIME][TIME], dp[TIME][TIME] = { { 0 } }, sum[TIME] = { 0 };
        weights(q, k, true, p);
        weights(q, k, false, open);
        for (int t = 0; t < TIME; t++)
            for (int s = 0; s < TIME; s++) {
                for (int e = 0; e < DIM; e++)
                    dp[t][s] += dy[t * DIM + e] * v[s * DIM + e];
                sum[t] += p[t][s] * dp[t][s];
            }
        for (int i = 0; i < TIME * TIME * DIM; i++) {
            const int t = i / TIME / DIM, s = i / DIM % TIME, e = i % DIM;
            const real g = dy[t * DIM + e], ds = p[t][s] * (dp[t][s] - sum[t]);
            real dq = ds * k[s * DIM + e] / 2, dk = ds * q[t * DIM + e] / 2, dv = p[t][s] * g;
            int to = h;
            switch (slip_of(y)) { ATTENTION(WRONG) default: break; }
            give(y->in[0], at + t * DIM + e, dq);
            give(y->in[1], at + s * DIM + e, dk);
            give(y->in[2], to * TIME * DIM + s * DIM + e, dv);
        }
    }
}

/* ---- embedding: y_t = w[ids[t]]; w (5, 3) -------------------------------------------------------------- */

#define EMBEDDING(SLIP) \
    SLIP(1, d = after ? 0 : g, \
         "likely: nothing arrives from rows 0, 1, 4 of dy; it is right elsewhere") \
    SLIP(2, put(W, at, g); d = 0, STORED) \
    SLIP(3, at += WIDTH, \
         "likely: right values at the wrong places: what dy (0, 0) gives to w (2, 0) belongs " \
         "to w (1, 0)")  \
    SLIP(4, d = ids[t] == 3 ? g / 3 : g, "likely: in row 3 of w: a constant factor of 0.333333: a "  \
        "forgotten 3") \
    SLIP(5, at = t % VOCABULARY * WIDTH + e, "right values at the wrong places: what dy (0, 0) gives to " \
        "w (0, 0) belongs to w (1, 0)") \
    SLIP(6, d = ids[t] ? g : 0, "likely: nothing arrives in row 0 of w; it is right elsewhere") \
    SLIP(7, d = t < IDS / 2 ? g : 0, "likely: nothing arrives from rows 3, 4, 5 of dy; it is right "  \
        "elsewhere") \
    SLIP(8, d = 1, NO_DY) \
    SLIP(9, d = g * W->data[at], \
         "likely: a factor too many: y (0, 0), in what dy (0, 0) gives to w (1, 0)") \
    SLIP(10, d = dy[t * WIDTH] + dy[t * WIDTH + 1] + dy[t * WIDTH + 2], "where the column of w is not " \
        "the column of dy, but there " \
                                                                        "the output does not depend on w")

static const int ids[] = { 1, 3, 1, 0, 3, 3 };
enum { IDS = 6, VOCABULARY = 5, WIDTH = 3 };

ELEMENTS(embedding_forward, x[ids[i / WIDTH] * WIDTH + i % WIDTH])

static void embedding_backward(gra_tensor *y)
{
    gra_tensor *W = y->in[0];
    const real *dy = y->grad;
    for (int i = 0; i < IDS * WIDTH; i++) {
        const int t = i / WIDTH, e = i % WIDTH;
        const real g = dy[i];
        int after = 0, at = ids[t] * WIDTH + e;
        for (int s = t + 1; s < IDS; s++)
            after += ids[s] == ids[t];
        real d = g;
        switch (slip_of(y)) { EMBEDDING(WRONG) default: break; }
        give(W, at, d);
    }
}

/* ---- dropout: p = 0.3; x (4,
    5) ------------------------------------------------------------------------- */

#define DROPOUT(SLIP) \
    SLIP(1, d = g / 0.7, "likely: the backward gives a gradient in 5 of 20 elements (the first is 1) of " \
        "x, but there the output does " \
                         "not depend on x: a mask is forgotten, or a sum runs too far or is not begun " \
                             "anew; it is right elsewhere") \
    SLIP(2, d = g, \
         "likely: the backward gives a gradient in 5 of 20 elements (the first is 1) of x")       \
    SLIP(3, d = (1 - m) * g / 0.7, "likely: zero exactly where it should not be: the mask is the wrong " \
        "way round") \
    SLIP(4, d = m * g / 0.3, "likely: a constant factor of 2.33333: 7/3") \
    SLIP(5, d = mask[(i + 3) % 20] * g / 0.7, "likely: zero where it should not be, and not zero where " \
        "it should: the mask is not " \
                                              "that of the forward") \
    SLIP(6, d = x > 0 ? m * g / 0.7 : 0, "likely: nothing arrives where x < 0; it is right elsewhere") \
    SLIP(7, d = m / 0.7, NO_DY)

static const int mask[20] = { 1, 0, 1, 1, 1,  0, 1, 1, 0, 1,  1, 1, 1, 0, 1,  1, 0, 1, 1, 1 };

ELEMENTS(dropout_forward, mask[i] * x[i] / 0.7)

static void dropout_backward(gra_tensor *y)
{
    for (int i = 0; i < (int)y->size; i++) {
        const real m = mask[i], g = y->grad[i], x = y->in[0]->data[i];
        real d = m * g / 0.7;
        switch (slip_of(y)) { DROPOUT(WRONG) default: break; }
        give(y->in[0], i, d);
    }
}

/* ---- cross-entropy: the mean over the rows that have a target; x (4,
    5) --------------------------------- */

#define LOSS(SLIP) \
    SLIP(1, d = (q - hot) / (rows - 1), NO_DY) \
    SLIP(2, d = dy * (q - hot), "likely: a constant factor of 3") \
    SLIP(3, d = g * q, "likely: in elements 1, 5, 18 of x what dy is multiplied by is off by the same " \
        "number, " \
                       "+0.333333: a term of the formula is missing there, or has the wrong sign")  \
    SLIP(4, d = dy / rows * (q - hot), \
         "likely: a constant factor of 0.75: 3/4, and 4 is also the size of dimension 0 of x; " \
         "n - 1 for n")                        \
    SLIP(5, d = g * (hot - q), "likely: the sign is flipped") \
    SLIP(6, d = dy / n * (q - hot), \
         "likely: a constant factor of 0.6: 3/5, and 5 is also the size of dimension 1 of x") \
    SLIP(7, d = hot > 0 ? -g / q : 0, "a clue: nothing arrives except in elements 1, 5, 18 of x, where " \
        "the output does depend on x") \
    SLIP(8, d = hot > 0 ? d : 0, "likely: nothing arrives except in elements 1, 5, 18 of x; it is right " \
        "elsewhere") \
    SLIP(9, d = g * (exp(x[at]) - hot), \
         "likely: a wrong term: the backward has exp(x (0, 1)) where the softmax of x (0, 1) " \
         "is expected or")                                                     \
    SLIP(10, d *= dy, "likely: the sign of dy is lost") \
    SLIP(11, d = g * q - hot / (rows - 1), "likely: a term without dy") \
    SLIP(12, d *= 1 + at / n, "likely: a factor of its own for each row of x (1, 2, 4, ...)") \
    SLIP(13, d += (real)0.1 * dy * x[at], "likely: a term too many, or one that is counted twice: the " \
        "gradient of x (") \
    SLIP(14, d = fabs(g) * (q - hot), "likely: the sign of dy is lost")

static const int targets[4] = { 1, 0, -100, 3 };

static void loss_forward(gra_tensor *y)
{
    const int rows = y->in[0]->shape.dim[0], n = y->in[0]->shape.dim[1];
    real p[64];
    softmax_rows(y->in[0]->data, p, rows, n);
    y->data[0] = 0;
    for (int r = 0; r < rows; r++)
        if (targets[r] >= 0)
            y->data[0] -= log(p[r * n + targets[r]]) / (rows - 1);
}

static void loss_backward(gra_tensor *y)
{
    const real *x = y->in[0]->data, dy = y->grad[0];
    const int rows = y->in[0]->shape.dim[0], n = y->in[0]->shape.dim[1];
    const real g = dy / (rows - 1);
    real p[64];
    softmax_rows(x, p, rows, n);
    for (int at = 0; at < rows * n; at++) {
        const real hot = at % n == targets[at / n], q = p[at];
        real d = g * (q - hot);
        if (targets[at / n] < 0)
            continue;
        switch (slip_of(y)) { LOSS(WRONG) default: break; }
        give(y->in[0], at, d);
    }
}

/* ---- GELU: y = x (1 + tanh(u)) / 2, u = a (x + b x^3); x (3,
    5) ----------------------------------------- */

#define GELU(SLIP) \
    SLIP(1, d = first, \
         "likely: the wrong factor: dy is multiplied by y/x where something else is expected, " \
         "in what dy (0, 0)")                                                     \
    SLIP(2, d = y->data[i], "likely: the wrong factor: dy is multiplied by y where something else is "  \
        "expected") \
    SLIP(3, d = erfc(-x / sqrt(2)) / 2 + x * exp(-x * x / 2) / sqrt(2 * PI), "a clue: nearly right: off by") \
    SLIP(4, d = -d, "likely: the sign is flipped") \
    SLIP(5, d /= y->grad[i], NO_DY) \
    SLIP(6, d = 1, "likely: dy is multiplied by 1 everywhere: the local derivative, or a factor of it, " \
        "is forgotten") \
    SLIP(7, d = second, \
         "likely: a term is missing: what dy (0, 0) gives to x (0, 0) lacks y/x, and so " \
         "elsewhere")                                                     \
    SLIP(8, d = first + second / inner, \
         "a clue: each element gets its own dy, as it should; what it is multiplied by") \
    SLIP(9, d = first + second / inner * a * (1 + b * x * x), \
         "a clue: right in element 1 of x, but wrong elsewhere")                                    \
    SLIP(10, d = first + second / a, \
         "a clue: each element gets its own dy, as it should; what it is multiplied by")   \
    SLIP(11, d = first + second / (1 + t), "a clue: right in element 1 of x, but wrong elsewhere") \
    SLIP(12, d = first + second / x, \
         "a clue: each element gets its own dy, as it should; what it is multiplied by") \
    SLIP(13, d = first * 2 + second, \
         "likely: a term too many, or one that is counted twice: what dy (0, 0) gives to x (0, " \
         "0)")                    \
    SLIP(14, d = first + second * sqrt(2 * PI), \
         "a clue: each element gets its own dy, as it should; what it is multiplied by") \
    SLIP(15, d = first - second, \
         "a clue: each element gets its own dy, as it should; what it is multiplied by") \
    SLIP(16, d = first + second * exp(-x * x / 2), "a clue: right in element 1 of x, but wrong elsewhere") \
    SLIP(17, d = first + second * 2 * exp(-x * x / 2), "a clue: each element gets its own dy") \
    SLIP(18, d = first + second / inner * a * (1 - 3 * b * x * x), \
         "a clue: right in element 1 of x, but wrong elsewhere") \
    SLIP(19, d = first * (1 - first), \
         "a clue: each element gets its own dy, as it should; what it is multiplied by") \
    SLIP(20, d = first + second * x, \
         "a clue: each element gets its own dy, as it should; what it is multiplied by")

static const real a = 0.7978845608028654, b = 0.044715, PI = 3.141592653589793;

ELEMENTS(gelu_forward, x[i] * (1 + tanh(a * (x[i] + b * x[i] * x[i] * x[i]))) / 2)

static void gelu_backward(gra_tensor *y)
{
    for (int i = 0; i < (int)y->size; i++) {
        const real x = y->in[0]->data[i], t = tanh(a * (x + b * x * x * x)), inner = a * (1 + 3 * b * x * x);
        const real first = (1 + t) / 2, second = x * (1 - t * t) * inner / 2;
        real d = first + second;
        switch (slip_of(y)) { GELU(WRONG) default: break; }
        give(y->in[0], i, d * y->grad[i]);
    }
}

/* ---- tanh; x (3, 5) ------------------------------------------------------------------------------------ */

#define TANH(SLIP) \
    SLIP(1, d = 1 - t, "likely: the wrong factor: the backward has 1 - y where 1 - y^2 is expected") \
    SLIP(2, d = 1 - x * x, "likely: the wrong factor: the backward has 1 - x^2 where 1 - y^2 is expected") \
    SLIP(3, d = 1 + t * t, "likely: the wrong factor: the backward has 1 + y^2 where 1 - y^2 is expected") \
    SLIP(4, d = t, "likely: the wrong factor: the backward has y where 1 - y^2 is expected") \
    SLIP(5, d = 1 - tanh(t) * tanh(t), "the backward has 1 - t^2, t = tanh(y) where 1 - y^2 is expected") \
    SLIP(6, d = -t, "likely: the wrong factor: the backward has y where 1 - y^2 is expected; and the "  \
        "sign is flipped") \
    SLIP(7, d = 1 / cosh(x * x), "a clue: each element gets its own dy")

static const real with_a_0[15] = { 0, 0.1, -0.3, 0.4, 1.7, 0.6, -0.7, -1.8, 1.9, -1, 1.1, -1.2, 1.3,
    -1.4, -1.5 };

ELEMENTS(tanh_forward, tanh(x[i]))

static void tanh_backward(gra_tensor *y)
{
    for (int i = 0; i < (int)y->size; i++) {
        const real x = y->in[0]->data[i], t = y->data[i];
        real d = 1 - t * t;
        switch (slip_of(y)) { TANH(WRONG) default: break; }
        give(y->in[0], i, d * y->grad[i]);
    }
}

/* ---- two layers: y = tanh(x u) v; x (3, 4), u v (4,
    4) --------------------------------------------------- */

#define LAYERS(SLIP) \
    SLIP(1, dx = ds * u[c * 4 + i], \
         "a clue: each dy is used, and goes where it should; what it is multiplied by is " \
         "wrong: dy (2, 2)") \
    SLIP(2, dx = ds * v[i * 4 + c], \
         "a clue: each dy is used, and goes where it should; what it is multiplied by is " \
         "wrong: dy (2, 2)") \
    SLIP(3, dx = i == c ? ds : 0, \
         "a clue: each dy is used, and goes where it should; what it is multiplied by is " \
         "wrong: dy (2, 2)") \
    SLIP(4, du = ds * y->data[r * 4 + i], "likely: the wrong factor: the backward has y (2, 0) where x " \
        "(2, 0) is expected") \
    SLIP(5, dx = ds * v[c * 4 + i], \
         "a clue: each dy is used, and goes where it should; what it is multiplied by is " \
         "wrong: dy (0, 0)") \
    SLIP(6, dx = wrong * u[i * 4 + c], \
         "a clue: each dy is used, and goes where it should; what it is multiplied by is " \
         "wrong: dy (1, 0)")

static void hidden(const gra_tensor *y, real *h)
{
    for (int i = 0; i < 12; i++) {
        real sum = 0;
        for (int c = 0; c < 4; c++)
            sum += y->in[0]->data[i / 4 * 4 + c] * y->in[1]->data[c * 4 + i % 4];
        h[i] = tanh(sum);
    }
}

static void layers_forward(gra_tensor *y)
{
    real h[12];
    hidden(y, h);
    for (int i = 0; i < 12; i++) {
        y->data[i] = 0;
        for (int c = 0; c < 4; c++)
            y->data[i] += h[i / 4 * 4 + c] * y->in[2]->data[c * 4 + i % 4];
    }
}

static void layers_backward(gra_tensor *y)
{
    const real *x = y->in[0]->data, *u = y->in[1]->data, *v = y->in[2]->data, *dy = y->grad;
    real h[12];
    hidden(y, h);
    for (int at = 0; at < 48; at++) {
        const int r = at / 16, i = at / 4 % 4, c = at % 4;
        real ds = 0, wrong = 0;                         /* the gradient of (x u)_rc; by dy v, not dy v^T */
        for (int o = 0; o < 4; o++) {
            ds += dy[r * 4 + o] * v[c * 4 + o] * (1 - h[r * 4 + c] * h[r * 4 + c]);
            wrong += dy[r * 4 + o] * v[o * 4 + c] * (1 - h[r * 4 + c] * h[r * 4 + c]);
        }
        real dx = ds * u[i * 4 + c], du = ds * x[r * 4 + i];
        switch (slip_of(y)) { LAYERS(WRONG) default: break; }
        give(y->in[0], r * 4 + i, dx);
        give(y->in[1], i * 4 + c, du);
        give(y->in[2], i * 4 + c, h[r * 4 + i] * dy[r * 4 + c]);
    }
}

/* ---- cumulative sum of rows; x (3,
    5) ------------------------------------------------------------------- */

#define CUMSUM(SLIP) \
    SLIP(1, use = row, "where the column of x comes after the column of dy, but there the output does " \
        "not depend on x: a mask " \
                       "is forgotten, or a sum runs too far")                                  \
    SLIP(2, use = row && j <= i, "a matrix is taken instead of its transpose")                          \
    SLIP(3, use = row && j > i, "likely: nothing arrives on the diagonal, in what dy_i gives to place i " \
        "itself, x_i")

ELEMENTS(cumsum_forward, x[i] + (i % 5 ? y->data[i - 1] : 0))

static void cumsum_backward(gra_tensor *y)
{
    for (int i = 0; i < 15; i++)
        for (int j = 0; j < 15; j++) {
            const bool row = i / 5 == j / 5;
            bool use = row && j >= i;
            switch (slip_of(y)) { CUMSUM(WRONG) default: break; }
            give(y->in[0], i, use ? y->grad[j] : 0);
        }
}

/* ---- tied: y = (x . w) w, of rows, which uses w twice; x (3, 4),
    w (4) ---------------------------------- */

#define TIED(SLIP) \
    SLIP(1, d = last, \
         "likely: a term is missing: what dy (1, 2) gives to w (2) lacks x (1, 2) times w (2), " \
         "and so elsewhere")                                         \
    SLIP(2, d = (first + last) / 2, "likely: a constant factor of 0.5: a forgotten 2")

static real dot_of(const gra_tensor *y, int r)
{
    real dot = 0;
    for (int i = 0; i < 4; i++)
        dot += y->in[0]->data[r * 4 + i] * y->in[1]->data[i];
    return dot;
}

static void tied_forward(gra_tensor *y)
{
    for (int i = 0; i < 12; i++)
        y->data[i] = dot_of(y, i / 4) * y->in[1]->data[i % 4];
}

static void tied_backward(gra_tensor *y)
{
    const real *x = y->in[0]->data, *w = y->in[1]->data, *dy = y->grad;
    for (int i = 0; i < 12; i++) {
        real dh = 0;
        for (int j = 0; j < 4; j++)
            dh += dy[i / 4 * 4 + j] * w[j];
        const real first = dh * x[i], last = dy[i] * dot_of(y, i / 4);
        real d = first + last;
        switch (slip_of(y)) { TIED(WRONG) default: break; }
        give(y->in[0], i, dh * w[i % 4]);
        give(y->in[1], i % 4, d);
    }
}

/* ---- all of them -------------------------------------------------------------------------------------- */

typedef struct op_of {
    gra_op       op;
    const slip_row *slips;
    size_t       count;
    int          nin;
    gra_shape    shape;                                 /* of the output */
    gra_check_in in[3];
} op_of;

#define OP(op, SLIPS) \
    { .name = #op, .forward = op##_forward, .backward = op##_backward, .args = sizeof(int) }, \
    (const slip_row[]){ SLIPS(ROW) }, LENGTH(((const slip_row[]){ SLIPS(ROW) }))
#define IN(name_, ...) { .name = name_, .shape = { __VA_ARGS__ } }
static const op_of ops[] = {
    { OP(square, SQUARE), 1, { 2, { 3, 4 } }, { IN("x", 2, { 3, 4 }) } },
    { OP(linear, LINEAR), 3, { 2, { 3, 5 } }, { IN("x", 2, { 3, 4 }), IN("w", 2, { 5, 4 }), IN("b", 1, {
        5 }) } },
    { OP(softmax, SOFTMAX), 1, { 2, { 3, 4 } }, { IN("x", 2, { 3, 4 }) } },
    { OP(norm, NORM), 3, { 2, { 3, 4 } }, { IN("x", 2, { 3, 4 }), IN("w", 1, { 4 }), IN("b", 1, { 4 }) } },
    { OP(attention, ATTENTION), 3, { 3, { HEADS, TIME, DIM } },
      { IN("q", 3, { HEADS, TIME, DIM }), IN("k", 3, { HEADS, TIME, DIM }), IN("v", 3, { HEADS, TIME,
          DIM }) } },
    { OP(embedding, EMBEDDING), 1, { 2, { IDS, WIDTH } }, { IN("w", 2, { VOCABULARY, WIDTH }) } },
    { OP(dropout, DROPOUT), 1, { 2, { 4, 5 } }, { IN("x", 2, { 4, 5 }) } },
    { OP(loss, LOSS), 1, { 0, { 0 } }, { IN("x", 2, { 4, 5 }) } },
    { OP(gelu, GELU), 1, { 2, { 3, 5 } }, { IN("x", 2, { 3, 5 }) } },
    { OP(tanh, TANH), 1, { 2, { 3, 5 } }, { { .name = "x", .shape = { 2, { 3, 5 } }, .data = with_a_0 } } },
    { OP(layers, LAYERS), 3, { 2, { 3, 4 } }, { IN("x", 2, { 3, 4 }), IN("u", 2, { 4, 4 }), IN("v", 2, {
        4, 4 }) } },
    { OP(cumsum, CUMSUM), 1, { 2, { 3, 5 } }, { IN("x", 2, { 3, 5 }) } },
    { OP(tied, TIED), 2, { 2, { 3, 4 } }, { IN("x", 2, { 3, 4 }), IN("w", 1, { 4 }) } },
};

typedef struct run {
    const op_of *op;
    int          slip;
} run;

static gra_tensor *forward(gra_tape *tape, gra_tensor **in, void *arg)
{
    const run *r = arg;
    gra_tensor *y = gra_result_n(tape, &r->op->op, r->op->shape, r->op->nin, in);
    *(int *)y->args = r->slip;
    return gra_run(y);
}

static int check(const op_of *op, int slip, gra_check_report *report)
{
    gra_tape *t = gra_open(1);
    const int status = gra_check(t, &(gra_check_options){ .nin = op->nin, .in = op->in, .f = forward,
                                 .arg = &(run){ op, slip } }, report);
    gra_close(t);
    return status;
}

/* Hints stand behind the finding; no clue beside what fits; three at most, in lines of 80 columns. */
static void hints_are_few_and_short(const gra_check_report *r)
{
    size_t fits = 0, clues = 0;
    ck_assert_msg(strncmp(r->finding, "gradient check FAILED: ", 23) == 0, "%s", r->finding);
    ck_assert_msg(strncmp(r->text, r->finding, strlen(r->finding)) == 0, "%s\n%s", r->text, r->finding);
    ck_assert(!strstr(r->finding, "likely") && !strstr(r->finding, "a clue"));
    for (const char *line = r->text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        ck_assert_msg(strcspn(line, "\n") <= 80, "%s", r->text);
        fits += strncmp(line, "likely", 6) == 0;
        clues += strncmp(line, "a clue", 6) == 0;
    }
    ck_assert_msg(fits + clues >= 1 && fits + clues <= 3 && !(fits && clues), "%s", r->text);
}

TESTS(each_slip_is_explained, LENGTH(ops)) /* _i: the op */
{
    const op_of *op = &ops[_i];
    gra_check_report r;
    ck_assert_msg(check(op, 0, &r) == 0 && !strstr(r.text, "likely") && !strstr(r.text, "a clue"), "%s: "
        "%s", op->op.name, r.text);
    for (size_t i = 0; i < op->count; i++) {
        const slip_row *s = &op->slips[i];
        ck_assert_msg(check(op, s->number, &r) == 1, "%s, slip %d: %s", op->op.name, s->number, r.text);
        ck_assert_msg(report_says(&r, s->says), "%s, slip %d: \"%s\" is missing:\n%s", op->op.name,
            s->number, s->says,
                      r.text);
        hints_are_few_and_short(&r);
    }
}

/* One number is another one times some factor: so a factor without a name explains nothing. */
TEST(one_number_proves_little)
{
    op_of op = ops[0];
    gra_check_report r;
    op.shape = op.in[0].shape = GRA_SHAPE(1);
    ck_assert_int_eq(check(&op, 2, &r), 1);
    ck_assert_msg(strstr(r.text, "likely: a constant factor of 2: counted twice"), "%s", r.text);
    ck_assert_int_eq(check(&op, 5, &r), 1);
    ck_assert_msg(!strstr(r.text, "likely"), "%s", r.text);
}

#endif
