/* explain: why is a gradient wrong?
 *
 * First the backward is asked how it uses dy, the gradient of the output: it runs again with other weights of
 * the loss. If it is linear in dy, its Jacobian, with one row for each output, has all that it does: the
 * backward of a loss that is only this output. The differences give the right Jacobian.
 *
 * Let a be what the backward gave (analytic), and n what differences of the loss give (numeric). Each
 * explanation guesses the mistake: a is n times a factor (factors.c, quotients.c), a has n's values at other
 * places (moved.c), a is n plus a term (terms.c), a product with another matrix (products.c), or
 * another function's derivative (derivative.c). A guess fits when it agrees in every entry, to 1e-4 of the
 * largest, and to a hundredth of what is to be explained, so that nothing fits by being nearly right already.
 * Where none fits, "a clue" is given: a fact about the numbers that narrows the search. */
#include "explaining.h"
#include <stdlib.h>

enum { MOST_ENTRIES = 1 << 16 };        /* of a Jacobian that is looked at; a row costs as much as 32 more */

/* ---- how the backward uses dy ------------------------------------------------------------------ */

/* The gradient of x by the backward for weights c of the outputs: dy = c. */
static bool backward_for(gra_wrong *w, const real *c, real *a)
{
    gra_checking *k = w->check;
    if (!gra_check_backward(k, c, false))
        return false;
    const real *grad = gra_check_grad(k, (int)(w->x - k->tensor));
    for (size_t i = 0; i < w->cols; i++)
        a[i] = grad ? grad[i] : 0;
    return true;
}

/* The check's own weights c; 0; -c; others d; c + d; 2 c. */
enum { OWN, ZERO, MINUS, OTHER, SUM, TWICE, DYS };

static bool sweep(gra_wrong *w, real *c, real *a)
{
    static const double own[DYS] = { 1, 0, -1, 0, 1, 2 }, other[DYS] = { 0, 0, 0, 1, 1, 0 };
    const gra_checking *k = w->check;
    for (int s = 0; s < DYS; s++) {
        for (size_t j = 0; j < k->size; j++)
            c[j] = (real)(own[s] * (double)k->c[j] + other[s] * (1.5 - (double)((j * 7 + 3) % 11) / 4));
        if (!backward_for(w, c, a + (size_t)s * w->cols))
            return false;
    }
    return true;
}

static bool same(const real *p, const real *q, size_t n, double least)
{
    double largest = least, off = 0;
    for (size_t i = 0; i < n; i++) {
        largest = gra_larger(gra_larger(largest, (double)p[i]), (double)q[i]);
        off = gra_larger(off, (double)p[i] - (double)q[i]);
    }
    return off <= 1e-9 * largest;
}

/* True: dy is used as it should be. */
static bool linear_in_dy(gra_wrong *w, real *a)
{
    const size_t n = w->cols;
    const double least = w->x->largest;                 /* beside which rounding is nothing */
    const real *const own = a + OWN * n, *const zero = a + ZERO * n, *const minus = a + MINUS * n;
    real *const other = a + OTHER * n, *const sum = a + SUM * n, *const twice = a + TWICE * n;
    bool none = true;
    for (size_t i = 0; i < n; i++) {
        none &= fabs((double)zero[i]) <= 1e-9 * least;
        other[i] += own[i];
        twice[i] /= 2;
    }
    if (none && same(sum, other, n, least))
        return true;
    if (!none && same(zero, own, n, least))
        gra_fits(w, "dy does not enter: the backward adds the same whatever y->grad is: multiply by y->grad");
    else if (!none)
        gra_fits(w, "a term without dy: where y->grad is 0 the backward still adds something: each of its "
                 "terms has y->grad as a factor");
    else if (same(minus, own, n, least))
        gra_fits(w, "the sign of dy is lost: y->grad and -y->grad make the same gradient: multiply by "
                 "y->grad once, as it is");
    else if (same(twice, own, n, least))
        gra_fits(w, "the sign of dy decides what is passed on. Is there a condition on y->grad, or its "
                 "absolute value? A condition belongs on x or y");
    else
        gra_fits(w, "not linear in dy: twice the y->grad does not make twice the gradient: y->grad is a "
                 "factor of each term, once, and is in no other function");
    return false;
}

/* Is what was in the gradient before still there? True where nothing else is wrong. */
static bool overwritten(gra_wrong *w, const real *a)
{
    const gra_checked *x = w->x;
    const double r = 1e-6 * gra_check_measure(x);
    bool right = true, lost = true;
    for (size_t i = 0; i < x->size; i++) {
        const double fresh = (double)a[i], less = fresh - (double)x->analytic[i];
        const bool changed = fabs(less) > r;
        w->overwrites |= changed;
        lost &= !changed || fabs(less - (double)x->before[i]) <= r;
        right &= fabs(fresh - (double)x->numeric[i]) <= r;
    }
    if (w->overwrites)
        gra_fits(w, lost ? "what was in the gradient before is lost: the backward has dx[i] = ... where "
                           "dx[i] += ... is expected"
                         : "what the backward adds depends on what was in the gradient before");
    return w->overwrites && right;
}

static bool beyond(gra_wrong *w)
{
    gra_check_line s = { .at = 0 };
    const int status = gra_check_beyond(w->check, (int)(w->x - w->check->tensor), &s);
    if (status > 0)
        gra_fits(w, "%s: check each index", s.s);
    return status != 0;
}

/* ---- the Jacobians ----------------------------------------------------------------------------- */

static bool jacobians(gra_wrong *w, real *c, real *a)
{
    gra_checking *k = w->check;
    for (size_t i = 0; i < w->cols; i++) {
        gra_check_parts(k, w->x, i);
        for (size_t j = 0; j < w->rows; j++)
            w->n[j * w->cols + i] = (double)(k->parts[j] / k->c[j]);
    }
    memset(c, 0, k->size * sizeof(real));
    for (size_t j = 0; j < w->rows; j++) {
        c[j] = 1;
        if (!backward_for(w, c, a))
            return false;
        c[j] = 0;
        for (size_t i = 0; i < w->cols; i++)
            w->a[j * w->cols + i] = (double)a[i];
    }
    return true;
}

static double largest_error(const gra_wrong *w)
{
    const size_t e = gra_worst(w);
    return fabs(w->a[e] - w->n[e]);
}

static void measure(gra_wrong *w)
{
    w->largest = 0;
    for (size_t e = 0; e < w->size; e++)
        w->largest = fmax(w->largest, fmax(fabs(w->a[e]), fabs(w->n[e])));
    w->near = fmin(largest_error(w) / 100, 1e-4 * w->largest);
    w->zero = fmin(1e-7 * w->largest, w->near);
    w->single = w->whole && w->rows == w->cols;
    for (size_t e = 0; w->single && e < w->size; e++)
        w->single = e / w->cols == e % w->cols || gra_none(w, w->n[e]);
}

/* ---- clues ------------------------------------------------------------------------------------- */

/* The error is small beside the gradient: the formula must be right. */
static bool nearly_right(gra_wrong *w)
{
    const double off = largest_error(w) / w->largest;
    if (off > 2e-3)
        return false;
    gra_clue(w, "nearly right: off by %.2g of the largest at most: a constant with a wrong or missing digit, "
             "an eps that is forgotten or is elsewhere, or an approximation that the forward does not "
             "make", off);
    return true;
}

/* Which outputs give a gradient to which elements of x, though the values fit no explanation. */
static bool places_clue(gra_wrong *w)
{
    int given = 0;
    for (int extra = 1; extra >= 0; extra--) {
        gra_check_line s = { .at = 0 };
        bool any = false;
        for (size_t e = 0; e < w->size; e++) {
            const bool some = extra ? !gra_none(w, w->n[e]) : !gra_nothing(w, w->a[e]);
            w->in[e] = !some && !gra_fit(w, w->a[e], w->n[e]);
            w->of[e] = some || w->in[e];
            any |= w->in[e];
        }
        if (!any)
            continue;
        gra_put_places(&s, w);
        gra_clue(w, extra ? "the backward gives a gradient %s, but there the output does not depend on %s"
                          : "nothing arrives %s, where the output does depend on %s", s.s, w->x->name);
        given++;
    }
    return given > 0;
}

/* What is left to say: where dy goes is right, and the number it is multiplied by is not. */
static bool value_clue(gra_wrong *w)
{
    const size_t worst = gra_worst(w);
    gra_check_line from = { .at = 0 }, to = { .at = 0 }, more = { .at = 0 };
    if (!w->whole)
        return false;
    /* a sign may fit by chance where elements are not treated one by one */
    if (gra_wrong_set(w) && gra_put_set(&more, w) && (w->single || strncmp(more.s, "where", 5) != 0))
        strncmp(more.s, "except ", 7) == 0 ? gra_clue(w, "right %s, but wrong elsewhere", more.s + 7)
                                           : gra_clue(w, "wrong %s, but not elsewhere", more.s);
    gra_put_element(&from, w, true, worst / w->cols);
    gra_put_element(&to, w, false, worst % w->cols);
    gra_clue(w, "%s is wrong: %s gives %.6g times itself to %s = %.6g, and %.6g is right",
             w->single ? "each element gets its own dy, as it should; what it is multiplied by, the "
                         "derivative of y at this element,"
             : w->rows > 1 ? "each dy is used, and goes where it should; what it is multiplied by"
             : "what dy is multiplied by", from.s, w->a[worst], to.s, (double)w->x->data[worst % w->cols],
                 w->n[worst]);
    return true;
}

/* ---- all of it --------------------------------------------------------------------------------- */

static gra_explanation *const explanations[] = {        /* the more special come first, clues at last */
    gra_norm, gra_one_factor, nearly_right, gra_of_another, gra_transposed, gra_mapped, gra_moved,
    gra_another_mask, gra_partial_factor, gra_same_number, gra_derivative, gra_quotient, gra_wrong_factor,
    gra_two_numbers, gra_own_factors, gra_beside_diagonal, gra_one_term, gra_row_term,
    gra_exchanged, gra_own_terms, gra_instead, gra_other_part, gra_taken, gra_other_dimension,
    gra_wrong_matrix, gra_other_order, places_clue, value_clue,
};

static void explain(gra_wrong *w, real *c, real *a)
{
    if (beyond(w) || !sweep(w, c, a) || overwritten(w, a) || !linear_in_dy(w, a))
        return;
    for (size_t i = 0; !w->whole && i < w->cols; i++) {
        w->a[i] = (double)a[i];
        w->n[i] = (double)w->x->numeric[i];
    }
    if (w->whole && !jacobians(w, c, a))
        return;
    measure(w);
    gra_derive(w);
    gra_sources(w);
    for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++)
        if (explanations[i](w))
            return;
}

static void explain_tensor(gra_wrong *w)
{
    const gra_checking *k = w->check;
    const gra_checked *x = w->x;
    w->cols = x->size;
    w->whole = k->size * (x->size + 32) <= MOST_ENTRIES;
    w->rows = w->whole ? k->size : 1;
    w->size = w->rows * w->cols;
    if (!isfinite(x->numeric[x->worst])) {
        gra_clue(w, "f is not defined on both sides of %.80s[%zu] = %.6g, however near: move it, or give "
                 ".low and .high", x->name, x->worst, (double)x->data[x->worst]);
        return;
    }
    if (!isfinite(x->analytic[x->worst])) {
        gra_fits(w, "a division by zero, the logarithm of zero, or uninitialised memory that the backward "
                 "reads");
        return;
    }
    real *c = calloc(k->size + DYS * x->size, sizeof(real));
    w->a = calloc(6 * w->size + GRA_SCRATCH * (w->rows + w->cols), sizeof(double));
    w->in = calloc(2 * w->size, sizeof(bool));
    w->derived = malloc(GRA_MOST_DERIVED * sizeof *w->derived);
    w->source = malloc(GRA_MOST_SOURCES * sizeof *w->source);
    w->probed = malloc(GRA_MOST_SOURCES * GRA_FUNCTIONS * GRA_PROBES * sizeof *w->probed);
    if (c && w->a && w->in && w->derived && w->source && w->probed) {
        w->n = w->a + w->size;
        w->part_a = w->a + 2 * w->size;
        w->part_n = w->a + 3 * w->size;
        w->scratch = w->a + 6 * w->size;                /* before it: room for a part of a part */
        w->of = w->in + w->size;
        explain(w, c, c + k->size);
        gra_derive_end(w);
    }
    free(c);
    free(w->a);
    free(w->in);
    free(w->derived);
    free(w->source);
    free(w->probed);
}

/* The worst tensor is explained, or where nothing fits there, another that is wrong; else clues are given. */
void gra_explain(gra_checking *k, gra_checked *worst)
{
    gra_wrong w = { .check = k, .x = worst };
    explain_tensor(&w);
    for (int i = 0; i < k->count && !w.fits; i++) {
        w = (gra_wrong){ .check = k, .x = &k->tensor[i], .other = true };
        if (w.x != worst && w.x->error > k->tolerance)
            explain_tensor(&w);
    }
    if (w.fits)
        return;
    w = (gra_wrong){ .check = k, .x = worst, .clues_asked = true };
    explain_tensor(&w);
    if (!w.clues)
        gra_check_hint(k->report, "none of the usual mistakes explains it: compare the backward's formula, "
                       "term by term");
    if (!w.whole)
        gra_check_hint(k->report, "%.80s: too large to be explained in full: try smaller shapes",
                       worst->name);
}
