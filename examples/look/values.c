/* values: see values.h. */
#include "values.h"
#include "../../core/op.h"
#include <stdlib.h>

/* ---- statistics -------------------------------------------------------------------------------------- */

enum { BINS = 24 };
struct summary {
    double largest;                     /* magnitude of the finite values */
    double mean, rms;                   /* divided by largest, so that sums and squares stay finite */
    double min, max;                    /* of the finite values */
    size_t finite, nans, zeros, bins[BINS];             /* bins: from min to max */
};

static void find_range(struct summary *s, const gra_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double v = (double)x[i];
        s->nans += isnan(v) != 0;
        if (!isfinite(v))
            continue;
        s->finite++;
        s->zeros += !(v < 0) && !(v > 0);
        s->min = fmin(s->min, v);
        s->max = fmax(s->max, v);
    }
    s->largest = fmax(fabs(s->min), fabs(s->max));
}

static struct summary summarise(const gra_real *x, size_t n)
{
    struct summary s = { .min = HUGE_VAL, .max = -HUGE_VAL };
    find_range(&s, x, n);
    if (s.finite == 0 || !(s.largest > 0))
        return s;
    const double low = s.min / s.largest, high = s.max / s.largest;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i])) {
            const double share = (double)x[i] / s.largest;
            const int bin = low < high ? (int)(BINS * ((share - low) / (high - low))) : 0;
            s.bins[bin < BINS ? bin : BINS - 1]++;
            s.mean += share;
            s.rms += share * share;
        }
    s.mean /= (double)s.finite;
    s.rms = sqrt(s.rms / (double)s.finite);
    return s;
}

static void write_number(out *o, const char *key, double x, int digits)
{
    out_key(o, key);
    out_number(o, x, digits);
}

/* The root mean square as in gra_print_tape: nan if a value is nan, inf if one is infinite. */
static void write_summary(out *o, const struct summary *s, size_t n)
{
    out_format(o, ",\"zeros\":%zu,\"strange\":%zu", s->zeros, n - s->finite);
    if (n > s->finite)
        out_format(o, ",\"rms\":\"%s\"", s->nans ? "nan" : "inf");
    else if (n > 0) {
        write_number(o, "rms", s->largest * s->rms, 6);
        write_number(o, "mean", s->largest * s->mean, 6);
    }
    if (s->finite > 1 && s->min < s->max) {
        write_number(o, "min", s->min, 9);
        write_number(o, "max", s->max, 9);
        out_text(o, ",\"bins\":[");
        for (int i = 0; i < BINS; i++)
            out_format(o, i ? ",%zu" : "%zu", s->bins[i]);
        out_text(o, "]");
    }
}

/* ---- the grid ---------------------------------------------------------------------------------------- */

/* The i-th of the `shown` rows is row i * of / shown; node.js computes the same. */
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

void values_write(out *o, const char *key, const gra_real *x, const gra_tensor *like, size_t cells)
{
    const size_t size = like->size, last = like->shape.ndim ? (size_t)gra_dim(like, -1) : 1;
    const struct summary s = summarise(x, size);
    if (key)
        out_key(o, key);
    out_text(o, "{");
    write_grid(o, x, size ? size / last : 0, last, cells);
    if (size != 1)
        write_summary(o, &s, size);
    out_text(o, "}");
}
