/* 32 wrong_backward: the judge. */
#include "matrix.h"

enum { MOST = 24 };
static const double eps = 1e-5;

static void forward(const char *part, const double *x, int rows, int n)
{
    double want[MOST];
    judge_part("%s", part);
    for (int r = 0; r < rows; r++) {
        double mean = 0, var = 0;
        for (int i = 0; i < n; i++)
            mean += x[r * n + i] / n;
        for (int i = 0; i < n; i++)
            var += (x[r * n + i] - mean) * (x[r * n + i] - mean) / n;
        for (int i = 0; i < n; i++)
            want[r * n + i] = (x[r * n + i] - mean) / sqrt(var + eps);
    }
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *in = gra_input(t, x, GRA_SHAPE(rows, n)), *y = standardize(t, in);
    const double *got = judge_tensor(t, "y", y, GRA_SHAPE(rows, n));
    judge_made_by(y, "standardize");
    judge_numbers("the forward is given, leave it unchanged: y", in->shape, got, want, 1e-10);
    judge_unchanged("x->data", in->data, x, in->size);
    gra_close(t);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return standardize(t, in[0]);
}

struct rows {
    const double *x, *y, *dy;
    int           rows, n;
};

/* dx = (dy - mean(dy) - y mean(dy y)) / s */
static void dx_of(double *out, void *arg)
{
    const struct rows *a = arg;
    const int n = a->n, size = a->rows * n;
    const bool outside = slip("the mean of dy is subtracted outside the brackets: it must be divided by s");
    const bool by_y = slip("the mean of dy is multiplied by y: dm/dx_i does not contain y");
    const bool whole = slip("the mean of dy is taken over all rows: each row has its own");
    const bool column = slip("the mean of dy is that of a column: expected that of the row");
    const bool dot_column = slip("the mean of dy y is that of a column: expected that of the row");
    const bool row_0 = slip("each row uses the mean of dy of row 0: each has its own");
    const bool goes_on = slip("the mean of dy contains the rows before: it must begin at 0 in each row");
    const bool dot_goes_on = slip("the mean of dy y contains the rows before: it must begin at 0 in "
                                  "each row");
    const bool early =
        slip("the mean of dy is subtracted before it is complete: add it up in an earlier loop");
    const bool late = slip("the mean of dy is subtracted before it is complete, without dy_i even: add it up "
                           "in an earlier loop");
    const bool dot_early =
        slip("the mean of dy y is used before it is complete: add it up in an earlier loop");
    const bool of_x = slip("the mean of x is subtracted: expected that of dy");
    const bool same = slip("the mean of dy y is subtracted instead of the mean of dy");
    const bool dot_x = slip("the mean of dy y is that of dy x");
    const bool times_x = slip("the mean of dy y is multiplied by x: expected y");
    const bool short_1 = slip("the last dy of a row is missing from the mean");
    const bool last = slip("the mean of dy contains only the last dy of the row: add up all, with +=");
    const bool dot_last = slip("the mean of dy y contains only the last of the row: add up all, with +=");
    const bool twice = slip("the mean of dy is divided by s twice");
    const bool own = slip("only dy_i / n is subtracted: the mean of dy adds up all dy of the row");
    const bool unscaled = slip("the result is not divided by s");
    const bool only_last = slip("only y times the mean of dy y is divided by s: put brackets around "
                                "all three");
    const double times = slip("dy_i itself is missing") ? 0 : slip("dy_i itself is added twice") ? 2
                       : slip("dy_i itself is divided by n too: only the two sums are") ? 1.0 / n : 1;
    for (int at = 0; at < size; at++) {
        const int r = at / n * n;
        const double s = (a->x[r + 1] - a->x[r]) / (a->y[r + 1] - a->y[r]);
        const int from = whole || row_0 || goes_on ? 0 : r, terms = whole ? size : n;
        const int to = whole ? size : row_0 ? n : early ? at + 1 : late ? at : r + n - short_1;
        double mean = 0, dot = 0;
        for (int i = from; i < to; i++)
            mean += (of_x ? a->x[i] : a->dy[i]) / terms;
        for (int i = dot_goes_on ? 0 : r; i < (dot_early ? at + 1 : r + n); i++)
            dot = (dot_last ? 0 : dot) + a->dy[i] * (dot_x ? a->x[i] : a->y[i]) / n;
        for (int i = at % n; i < size && (column || dot_column); i += n) {
            mean = column ? (i < n ? 0 : mean) + a->dy[i] / a->rows : mean;
            dot = dot_column ? (i < n ? 0 : dot) + a->dy[i] * a->y[i] / a->rows : dot;
        }
        mean = last ? a->dy[r + n - 1] / n : own ? a->dy[at] / n : same ? dot : mean;
        mean *= outside ? s : by_y ? a->y[at] : twice ? 1 / s : 1;
        dot *= times_x ? a->x[at] : a->y[at];
        out[at] = (a->dy[at] * times - mean - dot / (only_last ? s : 1)) / (unscaled || only_last ? 1 : s);
    }
}

/* A term of a sum with the factor by: " - 2 name", "" if it is 0. */
static const char *term(double by, const char *name, char *text, size_t room)
{
    const double size = fabs(by);
    const char sign = by < 0 ? '-' : '+';
    text[0] = 0;
    if (fabs(size - 1) < 1e-6)
        snprintf(text, room, " %c %s", sign, name);
    else if (size > 1e-6)
        snprintf(text, room, " %c %.6g %s", sign, size, name);
    return text;
}

/* Explains a wrong gradient of x better than gra_check: then true. Or says which terms it has. */
static bool say_terms(char *text, size_t room, int rows, int n, const double *x)
{
    const double *dy = judge_draw(324, MOST, -1, 2), ones[] = { 1, 1, 1, 1, 1 };
    char m[60], p[60];
    bool gone = false;
    double rest[MOST], mean_term[MOST], dot_term[MOST], want[MOST], off = 0, a, b;
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *in = gra_input(t, x, GRA_SHAPE(rows, n)), *y = standardize(t, in);
    judge_backward(t, y, dy, 1, &in, 0);
    struct rows all = { x, y->data, dy, rows, n };
    const char *fits = judge_slip(in->shape, in->grad, 1e-9, dx_of, &all);
    dx_of(want, &all);
    for (int at = 0; at < rows * n; at++) {
        const double *v = y->data + at / n * n, *d = dy + at / n * n, *z = x + at / n * n;
        const double s = (z[1] - z[0]) / (v[1] - v[0]);
        mean_term[at] = mat_dot(d, ones, n) / n / s;
        dot_term[at] = mat_dot(d, v, n) / n / s * y->data[at];
        rest[at] = dy[at] / s - in->grad[at];
        off = fmax(off, fabs(in->grad[at] - want[at]));
    }
    const bool sums = judge_combination(rest, mean_term, dot_term, (size_t)(rows * n), &a, &b);
    text[0] = 0;
    if (off > 1e-12 && off < 1e-6)
        fits = "sums of seven digits: is a float used? It should be a double";
    if (fits)
        snprintf(text, room, "\nlikely: %s", fits);
    else if (sums && (fabs(a) > 1e-6 || fabs(b - 1) > 1e-6)         /* not as at the start */
             && (fabs(a - 1) > 1e-6 || fabs(b - 1) > 1e-6)) {
        gone = fabs(b) < 1e-6;
        snprintf(text, room, "\nin rows of %d your dx is (dy%s%s) / s%s", n,
                 term(-a, "mean(dy)", m, sizeof m), term(-b, "y mean(dy y)", p, sizeof p),
                 fabs(fabs(a) - n) < 1e-6 || fabs(fabs(b) - n) < 1e-6 ? ": a sum, where a mean is expected"
                 : a < 0 || b < 0 ? ": a wrong sign"
                 : gone ? ": a term that was there at the start is gone"
                 : fabs(a * n - 1) < 1e-6 || fabs(b * n - 1) < 1e-6 ? ": divided by n twice"
                 : fabs(a * (n - 1) - n) < 1e-6 || fabs(b * (n - 1) - n) < 1e-6 ? ": divided by n - 1"
                 : "");
    }
    gra_close(t);
    return fits || gone;
}

static void gradients(const char *part, gra_shape shape, const double *data)
{
    const gra_check_in x = { .name = "x", .shape = shape, .data = data };
    judge_part("%s", part);
    gra_check_report report;
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    if (gra_check(t, &(gra_check_options){ .nin = 1, .in = &x, .f = f }, &report)) {
        char terms[700], *hint;
        const bool known = say_terms(terms, sizeof terms, 3, 5, judge_draw(321, 15, -2, 3));
        for (int i = 0; i < 2 && known; i++)
            if ((hint = strstr(report.text, i ? "\nlikely" : "\na clue")))
                *hint = 0;
        judge_wrong("%s%s", report.text, terms);
    }
    gra_close(t);
}

void judge_exercise(void)
{
    forward("forward, three rows of five", judge_draw(321, 15, -2, 3), 3, 5);
    forward("forward, rows that vary by little", judge_draw(322, 8, 0.5, 0.51), 2, 4);
    gradients("the gradient check of three rows of five", GRA_SHAPE(3, 5), NULL);
    gradients("the gradient check of two rows of seven", GRA_SHAPE(2, 7), NULL);
    gradients("the gradient check of four rows of two", GRA_SHAPE(4, 2), NULL);
    gradients("the gradient check of a batch", GRA_SHAPE(2, 2, 3), NULL);
    const double *little = judge_draw(323, 8, 0.5, 0.51);
    gradients("the gradient check of rows that vary by little", GRA_SHAPE(2, 4), little);
}
