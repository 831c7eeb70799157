/* values: a tensor's numbers for the page. */
#include "values.h"
#include "../../core/op.h"
#include <stdlib.h>

/* ---- how many there are of what ---------------------------------------------------------------------- */

enum { BINS = 24 };
struct summary {
    double sum, squares, min, max;                      /* of the finite ones */
    size_t finite, zeros, bins[BINS];                   /* bins: from min to max */
};

static struct summary summarise(const gra_real *x, size_t n)
{
    struct summary s = { .min = HUGE_VAL, .max = -HUGE_VAL };
    for (size_t i = 0; i < n; i++) {
        const double v = (double)x[i];
        if (!isfinite(v))
            continue;
        s.finite++;
        s.zeros += !(v < 0) && !(v > 0);
        s.sum += v;
        s.squares += v * v;
        s.min = fmin(s.min, v);
        s.max = fmax(s.max, v);
    }
    for (size_t i = 0; i < n && s.min < s.max; i++)
        if (isfinite(x[i])) {
            const int bin = (int)(BINS * (((double)x[i] - s.min) / (s.max - s.min)));
            s.bins[bin < BINS ? bin : BINS - 1]++;
        }
    return s;
}

static void write_summary(out *o, const struct summary *s, size_t n)
{
    out_format(o, "\"zeros\":%zu,\"strange\":%zu", s->zeros, n - s->finite);
    if (s->finite) {
        const double count = (double)s->finite;
        out_format(o, ",\"rms\":%.6g,\"mean\":%.6g,\"min\":%.9g,\"max\":%.9g", sqrt(s->squares / count),
                   s->sum / count, s->min, s->max);
    }
    if (s->finite > 1 && s->min < s->max) {
        out_text(o, ",\"bins\":[");
        for (int i = 0; i < BINS; i++)
            out_format(o, i ? ",%zu" : "%zu", s->bins[i]);
        out_text(o, "]");
    }
}

/* ---- the grid ---------------------------------------------------------------------------------------- */

/* Row i of `shown` among `of` is row i * of / shown: the page computes the same (page.js). */
static size_t picked(size_t i, size_t shown, size_t of)
{
    return i * of / shown;
}

static void write_grid(out *o, const gra_real *x, size_t rows, size_t columns, size_t cells)
{
    size_t r = rows, c = columns, n = 0;
    while (r * c > cells)
        if (r > c)
            r = (r + 1) / 2;
        else
            c = (c + 1) / 2;
    gra_real *some = malloc((r * c + 1) * sizeof *some);
    if (!some) {
        o->failed = true;
        return;
    }
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < c; j++)
            some[n++] = x[picked(i, r, rows) * columns + picked(j, c, columns)];
    out_format(o, "\"rows\":%zu,\"columns\":%zu,\"r\":%zu,\"c\":%zu,\"x\":", rows, columns, r, c);
    out_reals(o, some, n);
    free(some);
}

void values_write(out *o, const gra_real *x, size_t size, gra_shape shape, size_t cells)
{
    const size_t last = shape.ndim ? (size_t)shape.dim[shape.ndim - 1] : 1;
    const struct summary s = summarise(x, size);
    out_text(o, "{");
    write_grid(o, x, size ? size / last : 0, last, cells);
    if (size != 1) {
        out_text(o, ",");
        write_summary(o, &s, size);
    }
    out_text(o, "}");
}

/* ---- saturation -------------------------------------------------------------------------------------- */

static double sigmoid(double x)             { return 1 / (1 + exp(-x)); }
static double tanh_slope(double x)          { return 1 - tanh(x) * tanh(x); }
static double sigmoid_slope(double x)       { return sigmoid(x) * (1 - sigmoid(x)); }
static double relu_slope(double x)          { return x > 0; }
static double silu_slope(double x)          { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }
static double gelu_slope(double x)          /* Phi(x) + x phi(x) */
{
    return 0.5 * erfc(-x * sqrt(0.5)) + x * exp(-x * x / 2) * 0.3989422804014327;
}

double values_saturated(const gra_tensor *y)
{
    static const struct { const char *name; double (*slope)(double x); } activation[] = {
        { "tanh", tanh_slope }, { "sigmoid", sigmoid_slope }, { "relu", relu_slope },
        { "silu", silu_slope }, { "gelu", gelu_slope }, { "gelu_tanh", gelu_slope },
    };
    for (size_t k = 0; y->op && k < sizeof activation / sizeof *activation; k++)
        if (strcmp(y->op->name, activation[k].name) == 0 && y->size > 0) {
            size_t n = 0;
            for (size_t i = 0; i < y->size; i++)
                n += fabs(activation[k].slope((double)y->in[0]->data[i])) < 0.01;
            return (double)n / (double)y->size;
        }
    return -1;
}
