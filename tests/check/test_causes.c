/* Wrong backwards of many kinds of ops, and the cause that the gradient check names for each; and causes that
 * it must not name, though numbers fit by chance. Each op here is written out with a right forward; the
 * backward takes one of several lines, of which number 0 is right. */
#include "reports.h"
#include "lib/suites.h"

#ifdef GRADUS_DOUBLE

static int line;                        /* which of the op's lines the backward takes */

#define ROWS_AND_COLUMNS                                                                                 \
    const int rows = y->in[0]->shape.dim[0], n = y->in[0]->shape.dim[1];                                 \
    const real *in = y->in[0]->data, *w = y->nin > 1 ? y->in[1]->data : NULL;                            \
    (void)rows, (void)n, (void)in, (void)w;
#define EACH_ROW for (int r = 0; r < rows; r++)
#define EACH     for (int i = r * n; i < r * n + n; i++)

static void give(const gra_tensor *y, int input, int at, double d)
{
    if (y->in[input]->grad)
        y->in[input]->grad[at] += (real)d;
}

/* ---- ops of single elements: y = f(x), and the lines for dy/dx -------------------------------------- */

#define ELEMENTWISE(name, formula, ...)                                                                  \
    static void name##_forward(gra_tensor *y)                                                            \
    {                                                                                                    \
        for (int i = 0; i < (int)y->size; i++) {                                                         \
            const double x = y->in[0]->data[i];                                                          \
            y->data[i] = (real)(formula);                                                                \
        }                                                                                                \
    }                                                                                                    \
    static void name##_backward(gra_tensor *out)                                                         \
    {                                                                                                    \
        for (int i = 0; i < (int)out->size; i++) {                                                       \
            const double x = out->in[0]->data[i], y = out->data[i], d[] = { __VA_ARGS__ };               \
            (void)x, (void)y;                                                                            \
            give(out, 0, i, out->grad[i] * d[line]);                                                     \
        }                                                                                                \
    }

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

ELEMENTWISE(plus_square, x + x * x, 1 + 2 * x, 2 * x, 2 + 2 * x, 1 + x + x / (2 + 2 * x))
ELEMENTWISE(plus_cube, x + x * x * x, 1 + 3 * x * x, 3 * x * x)
ELEMENTWISE(arctan, atan(x), 1 / (1 + x * x), 1 / (1 - x * x), 1 + x * x)
ELEMENTWISE(cube, x * x * x, 3 * x * x, 2 * x * x, x * x, 3 * x * x / 2)
ELEMENTWISE(ratio, x / (1 + x * x), (1 - x * x) / pow(1 + x * x, 2), 1 / (1 + x * x),
            (1 - x * x) / (1 + x * x))
ELEMENTWISE(silu, x * sigmoid(x), sigmoid(x) * (1 + x * (1 - sigmoid(x))), 1 + x * (1 - sigmoid(x)))
ELEMENTWISE(log2_of, log2(x), 1 / (x * log(2)), log(2) / x)
ELEMENTWISE(leaky, x > 0 ? x : x / 10, x > 0 ? 1 : 0.1, x > 0 ? 0.1 : 1)
ELEMENTWISE(erf_of, erf(x), 2 / sqrt(acos(-1)) * exp(-x * x), exp(-x * x))
ELEMENTWISE(exp_of_square, exp(x * x), 2 * x * exp(x * x), 2 * x,
            x * exp(x * x) * 2 / (1 + 3 * x * x) * (1 + 2 * x * x))

ELEMENTWISE(faint, x < -1 ? 1e-6 * x : x, x < -1 ? 1e-6 : 1, x < -1 ? 1e-8 : exp(cos(x)))
ELEMENTWISE(softplus, log1p(exp(3 * x)) / 3, sigmoid(3 * x), sigmoid(x))
ELEMENTWISE(softsign, x / (1 + fabs(x)), 1 / pow(1 + fabs(x), 2), 1 / (1 + fabs(x)))
ELEMENTWISE(mish, x * tanh(log1p(exp(x))),
            tanh(log1p(exp(x))) + x * (1 - pow(tanh(log1p(exp(x))), 2)) * sigmoid(x),
            tanh(log1p(exp(x))) + x * (1 - pow(tanh(log1p(exp(x))), 2)))
ELEMENTWISE(hardswish, x > 3 ? x : x < -3 ? 0 : x * (x + 3) / 6, x > 3 ? 1 : x < -3 ? 0 : (2 * x + 3) / 6,
            x < -3 ? 0 : (2 * x + 3) / 6)
ELEMENTWISE(sinc, sin(x) / x, (cos(x) - y) / x, (cos(x) - sin(x)) / x)
ELEMENTWISE(elu, x > 0 ? x : exp(x) - 1, x > 0 ? 1 : exp(x), x > 0 ? 1 : x)
ELEMENTWISE(focal, -(1 - x) * (1 - x) * log(x), 2 * (1 - x) * log(x) - (1 - x) * (1 - x) / x,
            -(1 - x) * (1 - x) / x)

#define OF_TWO(name, formula, of_x, of_w)                                                                \
    static void name##_forward(gra_tensor *y)                                                            \
    {                                                                                                    \
        for (int i = 0; i < (int)y->size; i++) {                                                         \
            const double x = y->in[0]->data[i], w = y->in[1]->data[i];                                   \
            y->data[i] = (real)(formula);                                                                \
        }                                                                                                \
    }                                                                                                    \
    static void name##_backward(gra_tensor *out)                                                         \
    {                                                                                                    \
        for (int i = 0; i < (int)out->size; i++) {                                                       \
            const double x = out->in[0]->data[i], w = out->in[1]->data[i], y = out->data[i];             \
            const double dx[] = { of_x }, dw[] = { of_w };                                               \
            (void)x, (void)w, (void)y;                                                                   \
            give(out, 0, i, out->grad[i] * dx[line]);                                                    \
            give(out, 1, i, out->grad[i] * dw[line]);                                                    \
        }                                                                                                \
    }
#define AND ,

OF_TWO(divide, x / w, 1 / w AND 1 / w AND w, -x / (w * w) AND -x / w AND -x / (w * w))
OF_TWO(times_and, x * w + x, w + 1 AND w AND x + 1, x AND x AND x)
OF_TWO(power, pow(x, w), w * pow(x, w - 1) AND pow(x, w - 1), y * log(x) AND y * log(x))
OF_TWO(angle, atan2(x, w), w / (x * x + w * w) AND -x / (x * x + w * w),
       -x / (x * x + w * w) AND w / (x * x + w * w))
OF_TWO(gate, x * sigmoid(w), sigmoid(w) AND sigmoid(w), x * sigmoid(w) * (1 - sigmoid(w)) AND x * sigmoid(w))

/* ---- losses: the mean over all elements -------------------------------------------------------------- */

#define LOSS(name, formula, of_x, of_w)                                                                  \
    static void name##_forward(gra_tensor *y)                                                            \
    {                                                                                                    \
        y->data[0] = 0;                                                                                  \
        for (int i = 0; i < (int)y->in[0]->size; i++) {                                                  \
            const double x = y->in[0]->data[i], w = y->in[1]->data[i];                                   \
            y->data[0] += (real)((formula) / (double)y->in[0]->size);                                    \
        }                                                                                                \
    }                                                                                                    \
    static void name##_backward(gra_tensor *y)                                                           \
    {                                                                                                    \
        for (int i = 0; i < (int)y->in[0]->size; i++) {                                                  \
            const double x = y->in[0]->data[i], w = y->in[1]->data[i],                                   \
                dy = y->grad[0] / (double)y->in[0]->size; \
            const double dx[] = { of_x };                                                                \
            give(y, 0, i, dy * dx[line]);                                                                \
            give(y, 1, i, dy * (of_w));                                                                  \
        }                                                                                                \
    }

LOSS(divergence, x * (log(x) - log(w)), log(x) - log(w) + 1 AND log(x) - log(w) AND log(x) + 1, -x / w)
LOSS(squares, (x - w) * (x - w), 2 * (x - w) AND 2 AND 2 * (x - w) * (x - w) AND (x - w), -2 * (x - w))
LOSS(of_logits, log1p(exp(x)) - w * x,
     sigmoid(x) - w AND x - w AND sigmoid(x) - 1 AND (sigmoid(x) - w) * sigmoid(x) * (1 - sigmoid(x)), -x)
LOSS(of_chances, -w * log(x) - (1 - w) * log(1 - x),
     (x - w) / (x * (1 - x)) AND x - w AND -w / x AND -w / x - (1 - w) / (1 - x),
     log(1 - x) - log(x))

static const int segment[6] = { 0, 1, 0, 2, 2, 2 }, members[3] = { 2, 1, 3 };
static const int targets[4] = { 1, 0, 4, 3 };

static void cross_entropy_forward(gra_tensor *y)
{
    ROWS_AND_COLUMNS
    y->data[0] = 0;
    EACH_ROW {
        double sum = 0;
        EACH sum += exp(in[i]);
        y->data[0] += (real)((log(sum) - in[r * n + targets[r]]) / rows);
    }
}

static void cross_entropy_backward(gra_tensor *y)
{
    ROWS_AND_COLUMNS
    EACH_ROW {
        double sum = 0;
        EACH sum += exp(in[i]);
        EACH {
            const double p = exp(in[i]) / sum, hot = i % n == targets[r],
                next = i % n == (targets[r] + 1) % n;
            const double d[] = { p - hot, log(p) - hot, in[i] - hot, p - next, p, (p - hot) * p };
            give(y, 0, i, y->grad[0] * d[line] / rows);
        }
    }
}

/* ---- norms of rows, and of columns ------------------------------------------------------------------- */

static double eps = 0.1;

/* z = x - mean of the row, if there is a mean; the sum of squares; what takes the place of 1/sqrt(v + eps) in
 * `line`. */
static double scale_of(const real *x, int n, int stride, bool mean, double *z)
{
    double m = 0, s = 0;
    for (int i = 0; i < n; i++)
        m += mean ? x[i * stride] / n : 0;
    for (int i = 0; i < n; i++) {
        z[i] = x[i * stride] - m;
        s += z[i] * z[i];
    }
    switch (line) {
    case 1:  return 1 / sqrt(s / n);
    case 2:  return 1 / (sqrt(s / n) + eps);
    case 3:  return 1 / sqrt(s / (n - 1) + eps);
    case 4:  return 1 / (s / n + eps);
    case 5:  return sqrt(s / n + eps);
    case 6:  return 1;
    case 7:  return 1 / sqrt(s + eps);
    default: return 1 / sqrt(s / n + eps);
    }
}

static void norm_forward(const gra_tensor *y, int n, int stride, int at, bool mean)
{
    double z[8];
    const int was = line;
    line = 0;
    const double scale = scale_of(y->in[0]->data + at, n, stride, mean, z);
    line = was;
    for (int i = 0; i < n; i++)
        y->data[at + i * stride] = (real)(z[i] * scale * (y->nin > 1 ? y->in[1]->data[i] : 1));
}

static void norm_backward(const gra_tensor *y, int n, int stride, int at, bool mean)
{
    double z[8], sum = 0, dot = 0, g[8];
    const double scale = scale_of(y->in[0]->data + at, n, stride, mean, z);
    for (int i = 0; i < n; i++) {
        g[i] = y->grad[at + i * stride] * (y->nin > 1 ? y->in[1]->data[i] : 1);
        sum += mean ? g[i] / n : 0;
        dot += g[i] * z[i] * scale / n;
    }
    for (int i = 0; i < n; i++) {
        const double direct = line == 8 ? y->grad[at + i * stride] : g[i];
        const double of_mean = line == 9 || line == 11 ? 0 : line == 12 ? -sum : sum;
        const double projection = line == 10 || line == 11 ? 0 : line == 13 ? n * dot : dot;
        give(y, 0, at + i * stride, scale * (direct - of_mean - z[i] * scale * projection));
        if (y->nin > 1)
            give(y, 1, i, y->grad[at + i * stride] * z[i] * scale);
    }
}

#define NORM(name, groups, n, stride, at, mean)                                                          \
    static void name##_forward(gra_tensor *y)                                                            \
    {                                                                                                    \
        for (int g = 0; g < groups; g++)                                                                 \
            norm_forward(y, n, stride, at, mean);                                                        \
    }                                                                                                    \
    static void name##_backward(gra_tensor *y)                                                           \
    {                                                                                                    \
        for (int g = 0; g < groups; g++)                                                                 \
            norm_backward(y, n, stride, at, mean);                                                       \
    }

NORM(rms, 3, 4, 1, g * 4, false)
NORM(layer, 3, 4, 1, g * 4, true)
NORM(batch, 3, 5, 3, g, true)

static void deviation_forward(gra_tensor *y)            /* unbiased, of rows */
{
    ROWS_AND_COLUMNS
    EACH_ROW {
        double mean = 0, s = 0;
        EACH mean += in[i] / n;
        EACH s += (in[i] - mean) * (in[i] - mean);
        y->data[r] = (real)sqrt(s / (n - 1));
    }
}

static void deviation_backward(gra_tensor *y)
{
    ROWS_AND_COLUMNS
    EACH_ROW {
        double mean = 0;
        EACH mean += in[i] / n;
        EACH {
            const double z = in[i] - mean, s = y->data[r];
            const double d[] = { z / s / (n - 1), z / s / n, in[i] / s / (n - 1), z * s / (n - 1),
                                 s / z * (n - 1),
                                 2 * z / (n - 1) };
            give(y, 0, i, y->grad[r] * d[line]);
        }
    }
}

static void cosine_forward(gra_tensor *y)
{
    ROWS_AND_COLUMNS
    EACH_ROW {
        double xx = 0, ww = 0, xw = 0;
        EACH xx += in[i] * in[i], ww += w[i] * w[i], xw += in[i] * w[i];
        y->data[r] = (real)(xw / sqrt(xx * ww));
    }
}

static void cosine_backward(gra_tensor *y)
{
    ROWS_AND_COLUMNS
    EACH_ROW {
        double xx = 0, ww = 0;
        EACH xx += in[i] * in[i], ww += w[i] * w[i];
        const double size = sqrt(xx * ww), c = y->data[r];
        EACH {
            const double dx[] = { w[i] / size - c * in[i] / xx, w[i] / size };
            give(y, 0, i, y->grad[r] * dx[line]);
            give(y, 1, i, y->grad[r] * (in[i] / size - c * w[i] / ww));
        }
    }
}

static void quadratic_forward(gra_tensor *y)            /* x_r^T w x_r, w (4, 4) */
{
    ROWS_AND_COLUMNS
    EACH_ROW {
        y->data[r] = 0;
        EACH for (int j = 0; j < n; j++)
            y->data[r] += in[i] * w[i % n * n + j] * in[r * n + j];
    }
}

static void quadratic_backward(gra_tensor *y)
{
    ROWS_AND_COLUMNS
    EACH_ROW EACH for (int j = 0; j < n; j++) {
        const double there = w[i % n * n + j], back = w[j * n + i % n],
            d[] = { there + back, 2 * there, there };
        give(y, 0, i, y->grad[r] * d[line] * in[r * n + j]);
        give(y, 1, i % n * n + j, y->grad[r] * in[i] * in[r * n + j]);
    }
}

/* x (1 + w), w a column or a row, divided by the length of x's row */
static void gain_forward(gra_tensor *y)
{
    ROWS_AND_COLUMNS
    EACH_ROW {
        double s = 0;
        EACH s += in[i] * in[i];
        EACH y->data[i] = in[i] / sqrt(s) * (1 + w[i % n]);
    }
}

static void gain_backward(gra_tensor *y)
{
    ROWS_AND_COLUMNS
    EACH_ROW {
        double s = 0, dot = 0;
        EACH s += in[i] * in[i];
        EACH dot += y->grad[i] * (w[i % n] + (line != 1)) * in[i] / s;
        EACH {
            give(y, 0, i, (y->grad[i] * (w[i % n] + (line != 1)) - in[i] * dot * (line == 2 ? sqrt(s) : 1))
                 / sqrt(s));
            give(y, 1, i % n, y->grad[i] * in[i] / (line == 3 ? 1 : sqrt(s)));
        }
    }
}

static void segments_forward(gra_tensor *y)             /* means of rows 0 and 2, of row 1, of rows 3 to 5 */
{
    ROWS_AND_COLUMNS
    memset(y->data, 0, y->size * sizeof(real));
    EACH_ROW EACH y->data[segment[r] * n + i % n] += in[i] / members[segment[r]];
}

static void segments_backward(gra_tensor *y)
{
    ROWS_AND_COLUMNS
    EACH_ROW EACH give(y, 0, i, y->grad[segment[r] * n + i % n] / (line ? 1 : members[segment[r]]));
}

static void centre_forward(gra_tensor *y)               /* x (4, 3) less the mean of its column */
{
    ROWS_AND_COLUMNS
    EACH_ROW EACH {
        y->data[i] = in[i];
        for (int j = 0; j < rows; j++)
            y->data[i] -= in[j * n + i % n] / rows;
    }
}

static void centre_backward(gra_tensor *y)
{
    ROWS_AND_COLUMNS
    EACH_ROW EACH {
        give(y, 0, i, y->grad[i]);
        for (int j = 0; j < (line ? n : rows); j++)
            give(y, 0, i, -y->grad[line ? r * n + j : j * n + i % n] / (line ? n : rows));
    }
}

static void sum_exp_forward(gra_tensor *y)              /* the log of the sum of e^x */
{
    ROWS_AND_COLUMNS
    EACH_ROW {
        double s = 0;
        EACH s += exp(in[i]);
        y->data[r] = log(s);
    }
}

static void sum_exp_backward(gra_tensor *y)
{
    ROWS_AND_COLUMNS
    EACH_ROW {
        double most = in[r * n];
        EACH most = fmax(most, in[i]);
        EACH give(y, 0, i, y->grad[r] * exp(in[i] - (line ? most : y->data[r])));
    }
}

static void decay_forward(gra_tensor *y)                /* y_t = w_t y_(t - 1) + x_t, along rows */
{
    ROWS_AND_COLUMNS
    EACH_ROW EACH y->data[i] = in[i] + (i % n ? w[i] * y->data[i - 1] : 0);
}

static void decay_backward(gra_tensor *y)
{
    ROWS_AND_COLUMNS
    EACH_ROW {
        double g = 0;
        for (int i = r * n + n - 1; i >= r * n; i--) {
            g += y->grad[i];
            give(y, 0, i, g);
            give(y, 1, i, g * (line ? y->data[i] : i % n ? y->data[i - 1] : 0));
            g *= w[i];
        }
    }
}

/* of x and w, with a hidden formula in the backward */
static void distance_forward(gra_tensor *y)
{
    y->data[0] = 0;
    for (size_t i = 0; i < y->in[0]->size; i++)
        y->data[0] += log(cosh(y->in[0]->data[i] - y->in[1]->data[i]));
}

static void distance_backward(gra_tensor *y)
{
    for (int i = 0; i < (int)y->in[0]->size; i++) {
        const double z = y->in[0]->data[i] - y->in[1]->data[i], d[] = { tanh(z), sinh(z) };
        give(y, 0, i, y->grad[0] * d[line]);
        give(y, 1, i, -y->grad[0] * tanh(z));
    }
}

static void covariance_forward(gra_tensor *y)           /* of x (1, 6) and w (6) */
{
    ROWS_AND_COLUMNS
    double x_mean = 0, w_mean = 0;
    EACH_ROW EACH x_mean += in[i] / n, w_mean += w[i] / n;
    y->data[0] = 0;
    EACH_ROW EACH y->data[0] += (in[i] - x_mean) * (w[i] - w_mean) / (n - 1);
}

static void covariance_backward(gra_tensor *y)
{
    ROWS_AND_COLUMNS
    double x_mean = 0, w_mean = 0;
    EACH_ROW EACH x_mean += in[i] / n, w_mean += w[i] / n;
    EACH_ROW EACH {
        give(y, 0, i, y->grad[0] * (w[i] - (line ? 0 : w_mean)) / (n - 1));
        give(y, 1, i, y->grad[0] * (in[i] - x_mean) / (n - 1));
    }
}

/* ---- softmax and its log, of rows -----------------------------------------------------------------------
 * */

static void softmax_forward(gra_tensor *y)
{
    ROWS_AND_COLUMNS
    EACH_ROW {
        double sum = 0;
        EACH sum += exp(in[i]);
        EACH y->data[i] = (real)(exp(in[i]) / sum);
    }
}

static void softmax_backward(gra_tensor *y)
{
    ROWS_AND_COLUMNS
    EACH_ROW {
        double s = 0;
        EACH s += y->grad[i] * y->data[i];
        EACH {
            const double p = y->data[i], g = y->grad[i], d[] = { p * (g - s), g - p * s, log(p) * (g - s) };
            give(y, 0, i, d[line]);
        }
    }
}

static void log_softmax_forward(gra_tensor *y)
{
    softmax_forward(y);
    for (int i = 0; i < (int)y->size; i++)
        y->data[i] = log(y->data[i]);
}

static void log_softmax_backward(gra_tensor *y)
{
    ROWS_AND_COLUMNS
    EACH_ROW {
        double s = 0, sp = 0;
        EACH s += y->grad[i], sp += y->grad[i] * exp(y->data[i]);
        EACH {
            const double p = exp(y->data[i]), g = y->grad[i];
            const double d[] = { g - p * s, g - y->data[i] * s, p * (g - sp), g - s };
            give(y, 0, i, d[line]);
        }
    }
}

/* ---- places
 * ------------------------------------------------------------------------------------------------ */

static void scaled_forward(gra_tensor *y)               /* y = x w, w (4) */
{
    ROWS_AND_COLUMNS
    EACH_ROW EACH y->data[i] = in[i] * w[i % n];
}

static void scaled_backward(gra_tensor *y)
{
    ROWS_AND_COLUMNS
    EACH_ROW EACH {
        const double g = y->grad[i], dx[] = { w[i % n], w[i % n], w[r], w[i % n] * w[i % n] * w[i % n] };
        const double dw[] = { in[i], in[i % n], in[i], in[i] };
        give(y, 0, i, g * dx[line]);
        give(y, 1, i % n, g * dw[line]);
    }
}

static void by_number_forward(gra_tensor *y)            /* y = x w, w a number */
{
    for (size_t i = 0; i < y->size; i++)
        y->data[i] = y->in[0]->data[i] * y->in[1]->data[0];
}

static void by_number_backward(gra_tensor *y)
{
    for (int i = 0; i < (int)y->size; i++) {
        const double g = y->grad[i], x = y->in[0]->data[i], w = y->in[1]->data[0];
        const double dx[] = { w, w }, dw[] = { x, x * w };
        give(y, 0, i, g * dx[line]);
        give(y, 1, 0, g * dw[line]);
    }
}

static void joined_forward(gra_tensor *y)               /* x (3, 4) and w (3, 2), beside each other */
{
    for (int i = 0; i < 18; i++)
        y->data[i] = i % 6 < 4 ? y->in[0]->data[i / 6 * 4 + i % 6] : y->in[1]->data[i / 6 * 2 + i % 6 - 4];
}

static void joined_backward(gra_tensor *y)
{
    for (int i = 0; i < 18; i++)
        if (i % 6 < 4)
            give(y, 0, i / 6 * 4 + i % 6, y->grad[i]);
        else
            give(y, 1, i / 6 * 2 + i % 6 - 4, y->grad[line ? i - 4 : i]);
}

static void filter_forward(gra_tensor *y)               /* x (9), w (3): sum_k x_(i + k) w_k */
{
    for (int i = 0; i < 7; i++)
        y->data[i] = y->in[0]->data[i] * y->in[1]->data[0] + y->in[0]->data[i + 1] * y->in[1]->data[1] +
                     y->in[0]->data[i + 2] * y->in[1]->data[2];
}

static void filter_backward(gra_tensor *y)
{
    for (int i = 0; i < 21; i++) {
        give(y, 0, line == 1 ? i / 3 : i / 3 + i % 3,
             y->grad[i / 3] * y->in[1]->data[line == 3 ? 2 - i % 3 : i % 3]);
        give(y, 1, i % 3, y->grad[i / 3] * y->in[0]->data[i / 3 + (line == 2 ? 0 : i % 3)]);
    }
}

static void pool_forward(gra_tensor *y)                 /* x (9): x_(2 i) + 2 x_(2 i + 1) + 3 x_(2 i + 2) */
{
    for (int i = 0; i < 4; i++)
        y->data[i] = y->in[0]->data[2 * i] + 2 * y->in[0]->data[2 * i + 1] + 3 * y->in[0]->data[2 * i + 2];
}

static void pool_backward(gra_tensor *y)
{
    for (int i = 0; i < 12; i++)
        give(y, 0, (line ? 1 : 2) * (i / 3) + i % 3, y->grad[i / 3] * (i % 3 + 1));
}

static void channels_forward(gra_tensor *y)             /* w sin(x), x (2, 3, 4), w (3) along dimension 1 */
{
    for (int i = 0; i < 24; i++)
        y->data[i] = sin(y->in[0]->data[i]) * y->in[1]->data[i / 4 % 3];
}

static void channels_backward(gra_tensor *y)
{
    for (int i = 0; i < 24; i++) {
        const double x = y->in[0]->data[i], w = y->in[1]->data[i / 4 % 3], dx[] = { w, 1, w * w };
        give(y, 0, i, y->grad[i] * cos(x) * dx[line]);
        give(y, 1, i / 4 % 3, y->grad[i] * sin(x));
    }
}

static void scores_forward(gra_tensor *y)               /* of rows of x: the sum of w_i tanh(2 x_i) */
{
    ROWS_AND_COLUMNS
    EACH_ROW {
        y->data[r] = 0;
        EACH y->data[r] += w[i % n] * tanh(2 * in[i]);
    }
}

static void scores_backward(gra_tensor *y)
{
    ROWS_AND_COLUMNS
    EACH_ROW EACH {
        const double t = tanh(2 * in[i]), d[] = { 1 - t * t, 1 - t, t };
        give(y, 0, i, y->grad[r] * 2 * w[i % n] * d[line]);
        give(y, 1, i % n, y->grad[r] * t);
    }
}

/* ---- all of them
 * --------------------------------------------------------------------------------------------- */

#define OP(op) { .name = #op, .forward = op##_forward, .backward = op##_backward }
#define X(low_, high_, ...) { .name = "x", .shape = { 2, { __VA_ARGS__ } }, .low = low_, .high = high_ }
#define W(low_, high_, n, ...) { .name = "w", .shape = { n, { __VA_ARGS__ } }, .low = low_, .high = high_ }
#define Y(...) { 2, { __VA_ARGS__ } }
#define BOTH(low, high) 2, Y(3, 4), { X(low, high, 3, 4), W(low, high, 2, 3, 4) }
#define ONE(low, high)  1, Y(3, 4), { X(low, high, 3, 4) }
#define MEAN(low, high) 2, { 0 }, { X(low, high, 3, 4), W(low, high, 2, 3, 4) }
#define BESIDE "likely: beside the diagonal, in what dy_j gives to other places (the term with a sum): "
#define EVERYWHERE "likely: what dy is multiplied by is off by the same number everywhere, "
enum { MOST_LINES = 14 };

static const struct op_of {
    gra_op       op;
    int          nin;
    gra_shape    shape;                                 /* of the output */
    gra_check_in in[2];
    double       eps;
    struct { const char *says, *unsaid; } line[MOST_LINES];     /* that of number 0 is not looked at */
} ops[] = {
    { OP(plus_square), ONE(0, 0), 0, { { 0 }, { EVERYWHERE "-1: a constant term of the formula, or a mean, "
                                                           "is missing or wrong", "tanh" },
                                       { EVERYWHERE "+1", NULL }, { "", "tanh" } } },
    { OP(plus_cube), ONE(0, 0), 0, { { 0 }, { EVERYWHERE "-1", "1 - y'" } } },
    { OP(arctan), ONE(0, 0), 0, { { 0 }, { "the backward has 1/(1 - x^2) where 1/(1 + x^2) is "
                                           "expected", "1 "
                                        "x^2" },
                                  { "the backward has 1 + x^2 where 1/(1 + x^2) is expected", "a clue" } } },
    { OP(cube), ONE(0, 0), 0, { { 0 }, { "a constant factor of 0.666667: 2/3", "size of" },
                                { "a constant factor of 0.333333: a forgotten 3, and 3 is also the size of "
                                  "dimension 0", "3 is the size" },
                                { "likely: a constant factor of 0.5: a forgotten 2", "size of" } } },
    { OP(ratio), ONE(0, 0), 0, { { 0 },
        { "likely: the wrong factor: the backward has 1 + x^2 where 1 - x^2 is expected", "tanh" },
        { "likely: a factor is missing: y/x; or a division by it is superfluous", "tanh" } } },
    { OP(silu), ONE(0, 0), 0, { { 0 }, { "likely: a factor is missing: sigmoid(x); or a division by it is "
                                         "superfluous", "the backward has" } } },
    { OP(log2_of), ONE(0.3, 3), 0, { { 0 }, { "a constant factor of 0.480453: log(2)^2", NULL } } },
    { OP(leaky), ONE(0, 0), 0, { { 0 },
        { "likely: where x < 0 what dy is multiplied by is off by the same number, 0.9, with "
          "either sign", NULL } } },
    { OP(erf_of), ONE(0, 0), 0, { { 0 }, { "a constant factor of 0.886227: sqrt(pi)/2", NULL } } },
    { OP(exp_of_square), ONE(-1, 1), 0, { { 0 },
        { "likely: a factor is missing: y; or", NULL },
        { "a clue: right in element 11 of x, but wrong elsewhere", "1 x^2" } } },
    { OP(faint), ONE(0, 0), 0, { { 0 }, { "a clue: each element gets its own dy, as it should", "nothing "
                                        "arrives" } } },
    { OP(softplus), ONE(0, 0), 0, { { 0 },
        { "likely: the wrong factor: dy is multiplied by sigmoid(x) where something else is "
          "expected", "y'" } } },
    { OP(softsign), ONE(0, 0), 0, { { 0 },
        { "likely: the wrong factor: the backward has y/x where v^2, v = y/x is expected", "a clue" } } },
    { OP(mish), ONE(0, 0), 0, { { 0 },
        { "a clue: each element gets its own dy, as it should; what it is multiplied by", NULL } } },
    { OP(hardswish), ONE(-5, 5), 0, { { 0 },
        { "a clue: wrong in elements 2, 3, 5, 6 of x, but not elsewhere", "the first is" } } },
    { OP(sinc), ONE(0.5, 3), 0, { { 0 }, { "or, in a term with a minus, y where y/x is expected", "a "
                                        "clue" } } },
    { OP(elu), ONE(0, 0), 0, { { 0 },
        { "a clue: wrong where x < 0, but not elsewhere", NULL } } },
    { OP(focal), ONE(0.1, 0.9), 0, { { 0 },
        { "likely: a term too many, or one that is counted twice: what dy (0, 0) gives to x (0, 0)", "each "
                                        "element" } } },
    { OP(divide), BOTH(0.4, 3), 0, { { 0 },
        { "a factor too many: w (0, 0), in what dy (0, 0) gives to w (0, "
                                              "0); or a division by it is missing", NULL },
        { "likely: the wrong factor: the backward has w (0, 0) where 1/w (0, 0) is expected, in "
          "what dy (0, 0)", "w_i w_j" } } },
    { OP(times_and), BOTH(0, 0), 0, { { 0 },
        { EVERYWHERE "-1", "something else" },
        { "likely: the wrong factor: the backward has 1 + x (0, 0) where 1 + w (0, 0) is "
          "expected, in what dy (0", NULL } } },
    { OP(power), BOTH(0.4, 3), 0, { { 0 }, { "a factor is missing: w (0, 0)", "product rule" } } },
    { OP(angle), BOTH(0.4, 3), 0, { { 0 },
        { "likely: the wrong factor: the backward has w (0, 0) where x (0, 0) is expected, in "
          "what dy (0, 0)", "each element" } } },
    { OP(gate), BOTH(0, 0), 0, { { 0 }, { "a factor is missing: 1 - sigmoid(w (0, 0))", "e to the "
                                                                                        "power" } } },

    { OP(divergence), MEAN(0.1, 1), 0, { { 0 }, { EVERYWHERE "-0.0833333", NULL },
                                         { "the gradient of x (2, 3) has 0.0833333 times log(w (2, 3)) too "
                                           "much, and so elsewhere; or minus that is missing", NULL } } },
    { OP(squares), MEAN(0, 0), 0, { { 0 },
        { "likely: a factor is missing: (x - w) (2, 0), in the gradient of x (2, 0)", "0 everywhere" },
        { "likely: a factor too many: (x - w) (2, 0), in the gradient of x (2, 0)", NULL },
        { "a constant factor of 0.5: a forgotten 2", "sqrt(4)" } } },
    { OP(of_logits), MEAN(0.1, 0.9), 0, { { 0 },
        { "likely: a wrong term: the backward has x (2, 3) where sigmoid(x (2, 3)) is expected or", NULL },
        { "likely: a term is missing: the gradient of x (2, 3) lacks 0.0833333 times 1 - w (2, 3)", NULL },
        { "a factor too many: s (1 - s), s = sigmoid(x (", NULL } } },
    { OP(of_chances), MEAN(0.1, 0.9), 0, { { 0 },
        { "a factor too many: v (1 - v), v = x (2, 0), in the "
                                                    "gradient of x (2, 0); or a division by it is missing",
                                                        NULL },
        { "likely: a term is missing: the gradient of x (2, 0) lacks 0.0833333 times 1/(1 - x "
          "(2, 0))", NULL },
        { "likely: a term is missing: the gradient of x (2, 0) lacks 0.166667 times 1/(1 - x "
          "(2, 0))", NULL } } },
    { OP(cross_entropy), 1, { 0 }, { X(0, 0, 4, 5) }, 0,
      { { 0 },
        { "likely: a wrong term: the backward has log(v), v = the softmax of x (2, 4) where the "
          "softmax of x (2, 4)", NULL },
        { "likely: a wrong term: the backward has x (2, 4) where the softmax of x (2, 4) is "
          "expected or", NULL },
        { "likely: in 8 of 20 elements (the first is 1) of x what dy is multiplied by is off by "
          "the same number", NULL },
        { "in elements 1, 5, 14, 18 of x what dy is multiplied by is off by the same number, +0.25", NULL },
        { "a factor too many: the softmax of x (", "look at the term" } } },

    { OP(rms), 2, Y(3, 4), { X(0, 0, 3, 4), W(0.5, 2, 1, 4) }, 0.1,
      { { 0 },
        { BESIDE "a factor of its own for each row of x (", NULL },
        { BESIDE "a factor of its own for each row of x (", NULL },
        { BESIDE "a factor of its own for each row of x (", NULL },
        { BESIDE "a factor of its own for each row of x (", NULL },
        { BESIDE "a factor of its own for each row of x (", NULL },
        { BESIDE "a factor of its own for each row of x (", NULL },
        { NULL, NULL },
        { "only on the diagonal, in what dy_i gives to place i itself: for each row of x what is off is a "
          "number times 1 - v for v = w (0), and so elsewhere: the term without a sum has a 1 where v is "
          "expected", "look at the term" },
        { 0 },
        { BESIDE "all zero", "the mean" } } },
    { OP(layer), 2, Y(3, 4), { X(0, 0, 3, 4), W(0.5, 2, 1, 4) }, 0.1,
      { { 0 },
        { "likely, for w: a factor of its own for each row of dy (1.173, 1.022, 1.09, ...)", NULL },
        { "likely, for w: a factor of its own for each row of dy (0.9825, 0.958, 0.9586, ...)", NULL },
        { "likely, for w: a factor of its own for each row of dy (0.8972, 0.8707, 0.8838, ...)", NULL },
        { "likely, for w: a factor of its own for each row of dy (1.653, 0.6564, 1.26, ...)", NULL },
        { "likely, for w: a factor of its own for each row of dy (0.366, 2.321, 0.6295, ...)", NULL },
        { "likely, for w: a factor of its own for each row of dy (0.605, 1.524, 0.7934, ...)", NULL },
        { "likely, for w: a factor of its own for each row of dy (0.5607, 0.5083, 0.5327, ...)", NULL },
        { "only on the diagonal, in what dy_i gives to place i itself: for each row of x what is off is a "
          "number times 1 - v for v = w (0), and so elsewhere: the term without a sum has a 1 where v is "
          "expected", "look at the term" },
        { "likely: for each row of x what is off is a number times w (2), and so elsewhere", NULL },
        { "likely: for each element of x what is off is a number times y (0, 2), and so elsewhere", NULL },
        { BESIDE "all zero", NULL },
        { "likely: for each row of x what is off is a number times w (2), and so elsewhere", NULL },
        { "likely: for each element of x what is off is a number times y (0, 2), and so "
          "elsewhere", NULL } } },
    { OP(batch), 1, Y(5, 3), { X(0, 0, 5, 3) }, 1e-5,
      { { 0 },
        { "a clue: nearly right: off by 9.2e-06 of the largest at most: a constant with a wrong "
          "or missing digit", NULL },
        { "a clue: nearly right: off by 6.8e-06 of the largest at most: a constant with a wrong "
          "or missing digit", NULL },
        { "a clue: each dy is used, and goes where it should; what it is multiplied by is "
          "wrong: dy (1, 1)", NULL },
        { 0 },
        { 0 },
        { 0 },
        { 0 },
        { 0 },
        { "likely: for each column of x what is off is one number: a term "
          "with the sum (or mean) of dy", "sums to 0" },
        { "likely: for each element of dy what is off is a number times y (1, 1), and so "
          "elsewhere", "each dy is used" } } },
    { OP(deviation), 1, { 1, { 3 } }, { X(0, 0, 3, 5) }, 0,
      { { 0 },
        { "a constant factor of 0.8: 4/5, and 5 is also the size of dimension 1 of x; n - 1 for n, or "
                 "n for n - 1?", NULL },
        { "the wrong factor: the backward has x (0, 3) where x less its mean over dimension 1 (0, 3) is "
          "expected", "one number" },
        { "a factor too many: y (0)^2", NULL },
        { "a clue: each dy is used, and goes where it should; what it is multiplied by is "
          "wrong: dy (0)", NULL },
        { "a factor too many: y (0), in what dy (0) gives to x (0, 3); or a division by it is "
          "missing; and a "
          "constant factor of 2",
          "its own for" } } },
    { OP(cosine), 2, { 1, { 3 } }, { X(0, 0, 3, 4), W(0, 0, 2, 3, 4) }, 0,
      { { 0 },
        { "likely: for each row of x what is off is a number times x (2, 2), and so elsewhere", NULL } } },
    { OP(segments), 1, Y(3, 3), { X(0, 0, 6, 3) }, 0,
      { { 0 },
        { "likely: a factor of its own for each row of x (2, 1, 2, ...): what belongs to it "
          "(1/std, 1/sum", "off by" } } },
    { OP(centre), 1, Y(4, 3), { X(0, 0, 4, 3) }, 0,
      { { 0 },
        { "a clue: the backward gives a gradient where the column of x is not the column of dy", NULL } } },
    { OP(sum_exp), 1, { 1, { 3 } }, { X(0, 0, 3, 4) }, 0,
      { { 0 },
        { "likely: a factor of its own for each row of x (2.242, 2.031, 2.11, ...): what "
          "belongs to it (1/std", NULL } } },
    { OP(decay), BOTH(0, 0), 0, { { 0 },
        { "a clue: the backward gives a gradient in column 0 of w, but there the output does "
          "not depend on w", NULL } } },
    { OP(distance), MEAN(0, 0), 0, { { 0 }, { "a clue: what dy is multiplied by is wrong", "likely" } } },
    { OP(covariance), 2, { 0 }, { X(0, 0, 1, 6), W(0, 0, 1, 6) }, 0,
      { { 0 }, { EVERYWHERE, "a clue" } } },
    { OP(quadratic), 2, { 1, { 3 } }, { X(0, 0, 3, 4), W(0, 0, 2, 4, 4) }, 0,
      { { 0 },
        { "a clue: each dy is used, and goes where it should; what it is multiplied by is "
          "wrong: dy (1)", NULL },
        { "a clue: each dy is used, and goes where it should; what it is multiplied by is "
          "wrong: dy (1)", NULL } } },
    { OP(gain), 2, Y(3, 4), { X(0, 0, 3, 4), W(0, 0, 1, 4) }, 0,
      { { 0 }, { "the wrong factor: the backward has w (2) where 1 + w (2) is expected", "its own for" },
        { "beside the diagonal", "its own for" },
        { "a factor too many: the length of x over dimension 1 (", "its own for" } } },

    { OP(softmax), ONE(-1, 1), 0, { { 0 }, { "what is off is a number times 1 - v for v = y (0, 0), and so "
                                             "elsewhere: the term without a sum has a 1 where v "
                                             "is expected, "
                                             "or the reverse", "look at the term" },
                                    { "the wrong factor: the backward has log(y (", NULL } } },
    { OP(log_softmax), ONE(0, 0), 0, { { 0 }, { "the wrong factor: the backward has y (1, 1) where the "
                                                "softmax of x (1, 1) is expected", NULL },
                                       { "a factor too many: the softmax of x (", NULL },
                                       { "a factor is missing: the softmax of x (1, 1)", NULL } } },

    { OP(scaled), 2, Y(3, 4), { X(0, 0, 3, 4), W(0, 0, 1, 4) }, 0,
      { { 0 }, { "the backward has x (0, 0) where x (1, 0) is expected, in what dy (1, 0) gives to w (0)",
                 "a clue" },
        { "a wrong index: the backward has w (2) where w (3) is expected, in what dy (2, 3) gives to x (2, "
          "3)", "a clue" }, { "w (0)^2", "w_i" } } },
    { OP(by_number), 2, Y(3, 4), { X(0, 0, 3, 4), W(2, 3, 1, 1) }, 0,
      { { 0 }, { ": the value of w", "size of" } } },
    { OP(joined), 2, Y(3, 6), { X(0, 0, 3, 4), W(0, 0, 2, 3, 2) }, 0,
      { { 0 }, { "the right factors, times the wrong dy: w (0, 0) takes dy (0, 0) where dy (0, 4) is "
                 "expected", "mask" } } },
    { OP(filter), 2, { 1, { 7 } }, { { .name = "x", .shape = { 1, { 9 } } }, W(0, 0, 1, 3) }, 0,
      { { 0 },
        { "gives to x (1); it is wrong elsewhere, too", "the sign is flipped" },
        { "a wrong index: the backward has x (6) where x (8) is expected, in what dy (6) gives to w (2)",
          "where w" },
        { "likely: right values at the wrong places: what dy (0) gives to x (2) belongs to x "
          "(0)", NULL } } },
    { OP(scores), 2, { 1, { 3 } }, { X(-1, 1, 3, 4), W(0, 0, 1, 4) }, 0,
      { { 0 },
        { "a clue: each dy is used, and goes where it should; what it is multiplied by is "
          "wrong: dy (1)", NULL } } },
    { OP(pool), 1, { 1, { 4 } }, { { .name = "x", .shape = { 1, { 9 } } } }, 0,
      { { 0 },
        { "likely: right values at the wrong places: what dy (1) gives to x (1) belongs to x "
          "(2)", NULL } } },
    { OP(channels), 2, { 3, { 2, 3, 4 } }, { { .name = "x", .shape = { 3, { 2, 3, 4 } } }, W(0, 0, 1, 3) }, 0,
      { { 0 },
        { "likely: a factor is missing: w (0), in what dy (0, 0, 0) gives to x (0, 0, 0)", "1/std" },
        { "likely: a factor too many: w (0), in what dy (0, 0, 0) gives to x (0, 0, 0)", "1/std" } } },
};

static gra_tensor *forward(gra_tape *tape, gra_tensor **in, void *arg)
{
    const struct op_of *o = arg;
    return gra_run(gra_result_n(tape, &o->op, o->shape, o->nin, in));
}

static int check(const struct op_of *o, int which, gra_check_report *report)
{
    gra_tape *t = gra_open(1);
    line = which;
    eps = o->eps;
    const int status = gra_check(t, &(gra_check_options){ .nin = o->nin, .in = o->in, .f = forward,
                                 .arg = (void *)(uintptr_t)o }, report);
    gra_close(t);
    return status;
}

TESTS(each_cause_is_named, LENGTH(ops)) /* _i: the op */
{
    const struct op_of *o = &ops[_i];
    gra_check_report r;
    ck_assert_msg(check(o, 0, &r) == 0, "%s: %s", o->op.name, r.text);
    for (int i = 1; i < MOST_LINES; i++) {
        if (!o->line[i].says)
            continue;
        ck_assert_msg(check(o, i, &r) == 1, "%s, line %d: %s", o->op.name, i, r.text);
        ck_assert_msg(report_says(&r, o->line[i].says), "%s, line %d: \"%s\" is missing:\n%s", o->op.name, i,
                      o->line[i].says,
                      r.text);
        ck_assert_msg(!o->line[i].unsaid || !report_says(&r, o->line[i].unsaid),
                      "%s, line %d: \"%s\" is said:\n%s", o->op.name,
                      i, o->line[i].unsaid, r.text);
    }
}

#endif
