/* print: a tensor as PyTorch prints it. All numbers have one style and width: "3." if all are whole,
 * otherwise `digits` decimals, or an exponent if magnitudes differ by a factor of more than 1000, or exceed
 * 1e8, or are below 1e-4. Lines end before column 80; beyond 1000 values, each dimension shows its first and
 * last 3. */
#include "../tape/tape.h"

enum { LINE = 80, SUMMARIZE = 1000, EDGE = 3, TEXT = 400 };

struct style {
    bool whole, exponent, summary;
    int  digits, width;
};

static int number_text(const struct style *s, double v, char *text)
{
    int n;
    if (isnan(v) || isinf(v))
        n = snprintf(text, TEXT, "%s", isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
    else if (s->exponent)
        n = snprintf(text, TEXT, "%.*e", s->digits, v);
    else if (s->whole)
        n = snprintf(text, TEXT, "%.0f.", v);
    else
        n = snprintf(text, TEXT, "%.*f", s->digits, v);
    gra_decimal_point(text);
    return n;
}

/* Calls f for each value that is printed: in a large tensor, the first and last 3 of each dimension. */
static void each_shown(const struct style *s, const real *x, gra_shape shape,
                       void (*f)(void *, double), void *arg)
{
    if (shape.ndim == 0) {
        f(arg, (double)*x);
        return;
    }
    const size_t step = gra_split_dim(shape, 0).inner;
    for (int i = 0; i < shape.dim[0]; i++) {
        if (s->summary && shape.dim[0] > 2 * EDGE && i == EDGE)
            i = shape.dim[0] - EDGE;
        each_shown(s, x + (size_t)i * step, gra_shape_without(shape, 0, false), f, arg);
    }
}

struct range {
    double least, most;                 /* magnitudes of the finite values that are not zero */
    bool   whole;
};

static void widen_range(void *arg, double v)
{
    struct range *r = arg;
    if (v == 0 || !isfinite(v))
        return;
    r->least = fmin(r->least, fabs(v));
    r->most = fmax(r->most, fabs(v));
    r->whole &= v == ceil(v);
}

static void widen_style(void *arg, double v)
{
    struct style *s = arg;
    char text[TEXT];
    int n = v == 0 || !isfinite(v) ? 1 : number_text(s, v, text);
    if (n > s->width)
        s->width = n;
}

static struct style choose_style(const real *x, gra_shape shape, size_t size, int digits)
{
    struct style s = { .digits = digits, .width = 1, .summary = size > SUMMARIZE };
    struct range r = { .least = HUGE_VAL, .most = 0, .whole = true };
    each_shown(&s, x, shape, widen_range, &r);
    s.whole = r.whole;
    s.exponent = r.most > 0 && (r.most / r.least > 1000 || r.most > 1e8 || (!r.whole && r.least < 1e-4));
    each_shown(&s, x, shape, widen_style, &s);
    return s;
}

/* A number, or the brackets of a dimension. A line has as many numbers of the last dimension as fit, or one
 * part of another dimension; blank lines separate parts with two or more dimensions. */
static void print_part(FILE *f, const struct style *s, const real *x, gra_shape shape, int indent)
{
    char text[TEXT];
    if (shape.ndim == 0) {
        number_text(s, (double)*x, text);
        fprintf(f, "%*s", s->width, text);
        return;
    }
    const bool row = shape.ndim == 1;
    const int n = shape.dim[0], fit = (LINE - indent) / (s->width + 2), per_line = row && fit > 1 ? fit : 1;
    const size_t step = gra_split_dim(shape, 0).inner;
    fputc('[', f);
    for (int i = 0, shown = 0; i < n; i++, shown++) {
        if (shown)
            fputs(shown % per_line ? ", " : ",", f);
        if (shown && shown % per_line == 0) {
            for (int d = 0; d < (row ? 1 : shape.ndim - 1); d++)
                fputc('\n', f);
            fprintf(f, "%*s", indent + 1, "");
        }
        if (s->summary && n > 2 * EDGE && i == EDGE) {
            fputs(row ? " ..." : "...", f);
            i = n - EDGE - 1;
        } else
            print_part(f, s, x + (size_t)i * step, gra_shape_without(shape, 0, false), indent + 1);
    }
    fputc(']', f);
}

void gra_fprint(FILE *f, const real *data, gra_shape shape, int digits)
{
    static const char before[] = "tensor(";
    size_t size;
    char text[GRA_SHAPE_TEXT];
    if (!gra_shape_size(shape, &size)) {
        fprintf(f, "tensor(not a valid shape)\n");
    } else if (size == 0 && shape.ndim == 1) {
        fprintf(f, "tensor([])\n");
    } else if (size == 0) {
        fprintf(f, "tensor([], size=%s)\n", gra_shape_text(shape, text));
    } else if (!data) {
        fprintf(f, "tensor(no values, size=%s)\n", gra_shape_text(shape, text));
    } else {
        struct style s = choose_style(data, shape, size, digits);
        fputs(before, f);
        print_part(f, &s, data, shape, (int)sizeof before - 1);
        fputs(")\n", f);
    }
}

void gra_print(const gra_tensor *x)
{
    if (!x || gra_is_stale(x, __func__) || !gra_has_values(x->tape, x, __func__))
        return;
    gra_fprint(stdout, x->data, x->shape, 4);
}
