/* explain: a wrong gradient in sentences.
 *
 * First the backward is asked how it uses dy, the gradient of the output: it is run again with other weights of
 * the loss. If it is linear in dy, all of it is in its Jacobian, which has a row for each output: the backward
 * of a loss that is this output alone. The differences give the right one. Then each explanation is a guess at
 * what was made of the right Jacobian: -n, 2n, n transposed, n without its diagonal ... It fits when the guess is
 * the backward's Jacobian in every entry, to 1e-4 of the largest, and to a hundredth of what is to be explained:
 * so it never fits by being nearly right already. What fits is told as "it fits". Only where nothing does,
 * "a clue" is told: a fact about the numbers that narrows the search. */
#include "explaining.h"
#include <stdarg.h>
#include <stdlib.h>

enum { MOST_ENTRIES = 1 << 16, MOST_ROWS = 2048 };      /* of a Jacobian that is looked at */

/* ---- sentences --------------------------------------------------------------------------------- */

static void keep(gra_wrong *w, int *count, const char *format, va_list args)
{
    char line[sizeof w->hint[0].s];
    const int i = w->fits + w->clues;
    vsnprintf(line, sizeof line, format, args);
    if (i >= GRA_MOST_HINTS)
        return;
    w->hint[i].at = 0;
    gra_check_put(&w->hint[i], "%s%s", w->part ? w->part : "", line);
    ++*count;
}

void gra_fits(gra_wrong *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    keep(w, &w->fits, format, args);
    va_end(args);
}

void gra_clue(gra_wrong *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    keep(w, &w->clues, format, args);
    va_end(args);
}

bool gra_same_shapes(const gra_wrong *w)
{
    const gra_checking *k = w->check;
    return gra_whole(w) && gra_same_shape(w->x->shape, k->shape);
}

int gra_dims_of(const gra_wrong *w, bool out, const int **shape)
{
    *shape = out ? w->check->shape.dim : w->x->shape.dim;
    return out ? w->check->shape.ndim : w->x->shape.ndim;
}

size_t gra_index_along(const gra_wrong *w, bool out, int d, size_t at)
{
    const int *shape;
    const int ndim = gra_dims_of(w, out, &shape);
    for (int i = ndim - 1; i > d; i--)
        at /= (size_t)shape[i];
    return at % (size_t)shape[d];
}

void gra_put_place(gra_check_line *s, const gra_wrong *w, bool out, size_t at)
{
    const int *shape;
    const int ndim = gra_dims_of(w, out, &shape);
    gra_check_put(s, "%s", out ? "dy" : w->x->name);
    for (int d = 0; d < ndim; d++)
        gra_check_put(s, "%s%zu%s", d ? ", " : " (", gra_index_along(w, out, d, at), d == ndim - 1 ? ")" : "");
}

/* ---- how the backward uses dy ------------------------------------------------------------------ */

typedef struct sweeps {                 /* the gradient of x by backwards with other weights c of the outputs */
    real *c, *weighted, *zero, *one, *twice, *minus, *other, *sum;
} sweeps;

/* What the backward adds to x's gradient, in which nothing is before, for weights c of the outputs. */
static bool gradient_for(gra_wrong *w, const real *c, real *a)
{
    gra_checking *k = w->check;
    gra_checked *x = w->x;
    gra_tensor *y = gra_check_evaluate(k);
    if (!y || y->size != k->size)
        return y && gra_check_fails(k, "the shape of what f returns depends on how often it is called");
    for (int i = k->nin; i < k->count; i++)
        memset(k->tensor[i].grad, 0, k->tensor[i].size * sizeof(real));
    gra_tensor *loss = gra_sum(k->tape, gra_mul(k->tape, y, gra_constant(k->tape, c, k->shape)));
    if (loss->requires_grad)
        gra_backward(k->tape, loss);
    if (gra_error(k->tape))
        return gra_check_fails(k, gra_error(k->tape));
    const real *grad = (x->param ? x->param : k->input[x - k->tensor])->grad;
    for (size_t i = 0; i < x->size; i++)
        a[i] = grad ? grad[i] : 0;
    return true;
}

static bool near_all(const real *p, const real *q, double factor, size_t n, double least)
{
    double largest = 0, off = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fmax(fabs((double)p[i]), fabs(factor * (double)q[i])));
        off = fmax(off, fabs((double)p[i] - factor * (double)q[i]));
    }
    return off <= 1e-9 * fmax(largest, least);
}

static bool swept(gra_wrong *w, sweeps *s, double own, double other, double all, real *a)
{
    gra_checking *k = w->check;
    for (size_t j = 0; j < k->size; j++)
        s->c[j] = (real)(own * (double)k->c[j] + other * (1.5 - (double)((j * 7 + 3) % 11) / 4) + all);
    return gradient_for(w, s->c, a);
}

/* Is a right where dy is 1 everywhere: the sum of the Jacobian's rows? */
static bool right_for_ones(gra_wrong *w, const real *a)
{
    gra_checking *k = w->check;
    for (size_t i = 0; i < w->x->size; i++) {
        double sum = 0;
        if (!gra_check_parts(k, w->x, i, GRA_CHECK_STEP))
            return false;
        for (size_t j = 0; j < k->size; j++)
            sum += (double)(k->parts[j] / k->c[j]);
        if (fabs(sum - (double)a[i]) > 1e-6 * w->x->largest)
            return false;
    }
    return true;
}

/* True: dy is used as it should be. */
static bool linear_in_dy(gra_wrong *w, sweeps *s)
{
    const size_t n = w->x->size;
    if (!swept(w, s, 0, 0, 0, s->zero) || !swept(w, s, 2, 0, 0, s->twice) || !swept(w, s, -1, 0, 0, s->minus) ||
        !swept(w, s, 0, 1, 0, s->other) || !swept(w, s, 1, 1, 0, s->sum))
        return false;
    const double least = w->x->largest;                 /* beside which rounding is nothing */
    bool none = true, linear = true;
    for (size_t i = 0; i < n; i++) {
        none &= fabs((double)s->zero[i]) <= 1e-9 * least;
        s->other[i] += s->weighted[i];
    }
    linear = none && near_all(s->sum, s->other, 1, n, least) && near_all(s->twice, s->weighted, 2, n, least) &&
             near_all(s->minus, s->weighted, -1, n, least);
    if (linear)
        return true;
    if (!none && near_all(s->zero, s->weighted, 1, n, least) && near_all(s->zero, s->sum, 1, n, least))
        gra_fits(w, "dy does not enter: the backward adds the same whatever y->grad is: multiply by y->grad%s",
                 right_for_ones(w, s->zero) ? "; the rest of the formula is right" : "");
    else if (!none)
        gra_fits(w, "a term without dy: where y->grad is 0 the backward still adds something: each of its terms "
                 "has y->grad as a factor");
    else if (near_all(s->minus, s->weighted, 1, n, least) && near_all(s->twice, s->weighted, 4, n, least))
        gra_fits(w, "dy enters twice: twice the y->grad makes four times the gradient: multiply by y->grad once");
    else if (near_all(s->minus, s->weighted, 1, n, least))
        gra_fits(w, "the sign of dy is lost: y->grad and -y->grad make the same gradient");
    else
        gra_fits(w, "it is not linear in dy: twice the y->grad does not make twice the gradient: y->grad is a "
                 "factor of each term, once, and stands in no other function");
    return false;
}

/* Is what was in the gradient before still there? True where nothing else is wrong. */
static bool overwritten(gra_wrong *w, const sweeps *s)
{
    const gra_checked *x = w->x;
    const double r = 1e-6 * gra_check_measure(x);
    bool whole = true, lost = true;
    for (size_t i = 0; i < x->size; i++) {
        const double fresh = (double)s->weighted[i], less = fresh - (double)x->analytic[i];
        const bool changed = fabs(less) > r;
        w->overwrites |= changed;
        lost &= !changed || fabs(less - (double)x->before[i]) <= r;
        whole &= fabs(fresh - (double)x->numeric[i]) <= r;
    }
    if (w->overwrites && lost)
        gra_fits(w, "what was in the gradient before is lost: the backward says dx[i] = ... where dx[i] += ... is "
                 "wanted");
    else if (w->overwrites && whole)
        gra_fits(w, "it is right where nothing was in the gradient before, and wrong where something was");
    return w->overwrites && whole;
}

/* ---- the Jacobians ----------------------------------------------------------------------------- */

static bool jacobians(gra_wrong *w, sweeps *s)
{
    gra_checking *k = w->check;
    for (size_t i = 0; i < w->cols; i++) {
        if (!gra_check_parts(k, w->x, i, GRA_CHECK_STEP))
            return false;
        for (size_t j = 0; j < w->rows; j++)
            w->n[j * w->cols + i] = (double)(k->parts[j] / k->c[j]);
    }
    for (size_t j = 0; j < w->rows; j++) {
        memset(s->c, 0, k->size * sizeof(real));
        s->c[j] = 1;
        if (!gradient_for(w, s->c, s->one))
            return false;
        for (size_t i = 0; i < w->cols; i++)
            w->a[j * w->cols + i] = (double)s->one[i];
    }
    return true;
}

static void measure(gra_wrong *w)
{
    double off = 0;
    w->largest = 0;
    for (size_t e = 0; e < w->size; e++) {
        w->largest = fmax(w->largest, fmax(fabs(w->a[e]), fabs(w->n[e])));
        off = fmax(off, fabs(w->a[e] - w->n[e]));
    }
    w->near = fmin(off / 100, 1e-4 * w->largest);
    w->zero = fmin(1e-7 * w->largest, w->near);
}

/* The error is small beside the gradient: the formula must be right. */
static bool nearly_right(gra_wrong *w, double least)
{
    double off = 0;
    for (size_t e = 0; e < w->size; e++)
        off = fmax(off, fabs(w->a[e] - w->n[e]));
    if (off > least * w->largest)
        return false;
    gra_clue(w, "nearly right: off by %.2g of the largest at most: a constant with a wrong or missing digit, an eps "
             "that is forgotten or stands elsewhere, or an approximation that the forward does not make",
             off / w->largest);
    return true;
}

static bool very_nearly_right(gra_wrong *w)
{
    return nearly_right(w, 1e-4);
}

static gra_explanation *const explanations[] = {        /* the more special before the more general */
    gra_all_zero, gra_should_be_zero, gra_constant_factor, gra_swapped, gra_diagonal_alone, gra_zeros_and_masks,
    very_nearly_right, gra_transposed, gra_permuted, gra_one_index, gra_moved, gra_row_statistic, gra_tensor_factor,
    gra_function_of_it, gra_softmax_less_target, gra_one_term, gra_values_of, gra_indexed_factor,
    gra_partial_factor, gra_sign_wanted, gra_wrong_matrix, gra_other_order, gra_others_factor, gra_local_derivative, gra_row_term,
};

static void explain(gra_wrong *w, sweeps *s)
{
    const gra_checked *x = w->x;
    if (!gradient_for(w, w->check->c, s->weighted) || overwritten(w, s) ||
        !linear_in_dy(w, s) || (gra_whole(w) && !jacobians(w, s)))
        return;
    for (size_t i = 0; !gra_whole(w) && i < w->cols; i++) {
        w->a[i] = (double)s->weighted[i];
        w->n[i] = (double)x->numeric[i];
    }
    measure(w);
    for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++)
        if (explanations[i](w))
            return;
    if (w->fits)
        return;
    if (!nearly_right(w, 2e-3))
        gra_place_clues(w);
    gra_sum_clues(w);
    gra_value_clue(w);
}

static bool all_finite(const gra_checked *x)
{
    for (size_t i = 0; i < x->size; i++)
        if (!isfinite(x->analytic[i]) || !isfinite(x->numeric[i]))
            return false;
    return true;
}

static void explain_tensor(gra_wrong *w)
{
    gra_checking *k = w->check;
    const gra_checked *x = w->x;
    w->cols = x->size;
    w->rows = k->size <= MOST_ROWS && k->size * x->size <= MOST_ENTRIES ? k->size : 1;
    w->size = w->rows * w->cols;
    if (!isfinite(x->numeric[x->worst])) {
        gra_clue(w, "f is not defined on both sides of %.80s[%zu] = %.6g, however near: move it, or give .low and "
                 ".high", x->name, x->worst, (double)x->data[x->worst]);
        return;
    }
    if (!all_finite(x)) {
        gra_fits(w, "a division by zero, the logarithm of zero, or memory that nobody filled");
        return;
    }
    sweeps s = { .c = calloc(k->size + 7 * x->size, sizeof(real)) };
    w->a = calloc(2 * w->size, sizeof(double));
    w->in = calloc(2 * w->size, sizeof(bool));
    if (s.c && w->a && w->in) {
        real **const sweep[] = { &s.weighted, &s.zero, &s.one, &s.twice, &s.minus, &s.other, &s.sum };
        for (size_t i = 0; i < sizeof sweep / sizeof *sweep; i++)
            *sweep[i] = s.c + k->size + i * x->size;
        w->n = w->a + w->size;
        w->of = w->in + w->size;
        explain(w, &s);
    }
    free(s.c);
    free(w->a);
    free(w->in);
}

static void tell(const gra_wrong *w, bool name, int room)
{
    for (int i = 0; i < w->fits + w->clues && i < room; i++)
        gra_check_hint(w->check->report, "%s%s%.80s: %s", i < w->fits ? "it fits" : "a clue", name ? ", for " : "",
                       name ? w->x->name : "", w->hint[i].s);
}

/* The worst tensor is explained, or where nothing fits there, another that is wrong. */
void gra_check_explain(gra_checking *k, gra_checked *worst)
{
    gra_wrong first = { .check = k, .x = worst }, other = { .check = k, .x = worst };
    explain_tensor(&first);
    for (int i = 0; i < k->count && !first.fits && !other.fits; i++) {
        gra_wrong w = { .check = k, .x = &k->tensor[i] };
        if (w.x == worst || w.x->error <= k->tolerance)
            continue;
        explain_tensor(&w);
        if (w.fits || (w.clues && (!other.clues || (other.general && !w.general))))
            other = w;
    }
    const bool both = !first.fits && !other.fits && !other.general;
    if (!other.fits && !(both && first.general && other.clues))
        tell(&first, false, GRA_MOST_HINTS);
    if (other.fits || both)
        tell(&other, true, GRA_MOST_HINTS - (first.general ? 0 : first.clues));
    if (!(first.fits + first.clues + other.fits + other.clues))
        gra_check_hint(k->report,
                       "none of the usual slips explains it: compare the backward's formula, term by term");
    if (!first.fits && !other.fits && first.rows == 1 && k->size > 1)
        gra_check_hint(k->report, "%.80s: too large to be explained in full: try smaller shapes", worst->name);
}
