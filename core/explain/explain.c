/* explain: why is a gradient wrong?
 *
 * First the backward runs again with other weights of the loss, which shows how it uses dy, the gradient of
 * the output. If it is linear in dy, its Jacobian describes it completely; an output's row is the backward of
 * a loss that is just this output. Finite differences give the right Jacobian. So there are two columns of
 * numbers, with one number for each output and each element of x: a, what the backward gives (analytic), and
 * n, what is right (numeric). One search finds the cause: which of these formulas turns n into a?
 *
 *     a = k n            a number k, which is 0 where no gradient arrives          factors.c
 *     a = n, elsewhere   the right numbers at other places                         moved.c
 *     a = k n p / q      a factor p is there where q is expected                   factors.c, fit.c
 *     n - a = k p q      a term is missing or superfluous; or k is off everywhere  terms.c, fit.c
 *
 * p and q are columns too: 1, a tensor's elements, functions of the elements (columns.c). k may differ from
 * row to row, or from element to element. The search explains all entries first, then only those beside the
 * diagonal. A set of entries has a name if it consists of rows, columns ... of x or dy (parts.c). Simpler
 * formulas are tried first. A guess fits if it agrees in every entry, to 1e-4 of the largest, and to a
 * hundredth of the error that it explains: otherwise guesses would fit just because a is nearly right. If no
 * guess fits, the report has "a clue": a fact about the numbers that narrows the search. */
#include "explaining.h"
#include <stdlib.h>

enum { MOST_ENTRIES = 1 << 16 };        /* entries of a Jacobian; a row costs as much as 32 more */

/* ---- hints ------------------------------------------------------------------------------------- */

static void say(const gra_wrong *w, const char *what, const char *format, va_list args)
{
    char line[512];
    vsnprintf(line, sizeof line, format, args);
    gra_check_hint(w->check->report, "%s%s%.80s: %s%s", what, w->other ? ", for " : "",
                   w->other ? w->x->name : "", w->part ? w->part : "", line);
}

void gra_fits(gra_wrong *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(w, "likely", format, args);
    va_end(args);
    w->fits++;
}

void gra_clue(gra_wrong *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (w->clues_asked)
        say(w, "a clue", format, args);
    va_end(args);
    w->clues++;
}

/* ---- how the backward uses dy ------------------------------------------------------------------ */

/* The backward's gradient of x, if the weights of the outputs are c: dy = c. */
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

/* Weights of the loss: the check's weights c; 0; -c; other weights d; c + d. */
enum { OWN, ZERO, MINUS, OTHER, SUM, DYS };

static bool sweep(gra_wrong *w, real *c, real *a)
{
    static const double own[DYS] = { 1, 0, -1, 0, 1 }, other[DYS] = { 0, 0, 0, 1, 1 };
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
    const double least = w->x->largest;                 /* relative to which rounding errors are tiny */
    const real *const own = a + OWN * n, *const minus = a + MINUS * n, *const zero = a + ZERO * n;
    real *const other = a + OTHER * n;
    bool none = true;
    for (size_t i = 0; i < n; i++) {
        none &= fabs((double)zero[i]) <= 1e-9 * least;
        other[i] += own[i];
    }
    if (none && same(a + SUM * n, other, n, least))
        return true;
    gra_fits(w, "%s", !none && same(zero, own, n, least)
             ? "dy is not used: the backward adds the same numbers whatever y->grad is: multiply by y->grad"
             : !none ? "a term without dy: where y->grad is 0 the backward still adds something: multiply "
                       "each term by y->grad"
             : same(minus, own, n, least) ? "the sign of dy is lost: y->grad and -y->grad give the same "
                                            "gradient: multiply by y->grad itself, once"
             : "not linear in dy: multiply each term by y->grad once, and keep y->grad out of functions and "
               "conditions: let them depend on x or y");
    return false;
}

/* Are the gradient's previous values still there? True if nothing else is wrong. */
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
        gra_fits(w, lost ? "the gradient's previous values are lost: the backward has dx[i] = ... where "
                           "dx[i] += ... is expected"
                         : "what the backward adds depends on the gradient's previous values");
    return w->overwrites && right;
}

static bool beyond(gra_wrong *w)
{
    gra_line s = { .at = 0 };
    const int status = gra_check_beyond(w->check, (int)(w->x - w->check->tensor), &s);
    if (status > 0)
        gra_fits(w, "%s: check each index", s.s);
    return status != 0;
}

/* ---- the two columns ---------------------------------------------------------------------------- */

static bool jacobians(gra_wrong *w, real *c, real *a)
{
    gra_checking *k = w->check;
    for (size_t i = 0; i < w->cols; i++) {
        gra_check_parts(k, w->x, i);
        for (size_t j = 0; j < w->rows; j++)
            w->n[j * w->cols + i] = (double)(k->parts[j] / k->c[j]);
    }
    for (size_t j = 0; j < w->rows; j++) {
        memset(c, 0, k->size * sizeof(real));
        c[j] = 1;
        if (!backward_for(w, c, a))
            return false;
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

/* Sets the bounds for 0 and for equality, and lists the entries that are not 0 in both columns. */
static void measure(gra_wrong *w)
{
    double off = 0;
    for (size_t e = 0; e < w->size; e++) {
        w->largest = fmax(w->largest, fmax(fabs(w->a[e]), fabs(w->n[e])));
        off = fmax(off, fabs(w->a[e] - w->n[e]));
    }
    w->near = fmin(off / 100, 1e-4 * w->largest);
    w->zero = fmin(1e-7 * w->largest, w->near);
    w->single = w->whole && w->rows == w->cols;
    for (size_t e = 0; e < w->size; e++) {
        w->single &= e / w->cols == e % w->cols || gra_none(w, w->n[e]);
        if (!gra_none(w, w->a[e]) || !gra_none(w, w->n[e]))
            w->entry[w->entries++] = e;
    }
}

/* ---- beside the diagonal ------------------------------------------------------------------------ */

/* Softmax and norms have a term with a sum over dy; beside the diagonal there is only this term. If entries
 * beside the diagonal are wrong, this looks for a reason; if they are right, it looks for the error on the
 * diagonal. */
static bool beside_diagonal(gra_wrong *w)
{
    static gra_guess *const guesses[] = { gra_own_term, gra_factor, gra_quotient, gra_own_factors };
    gra_wrong part = *w;                                /* its list of entries follows the list of w */
    size_t count = 0, wrong = 0;
    for (size_t i = 0, e; gra_each(w, &i, &e);) {
        const bool beside = e / w->cols != e % w->cols;
        count += beside && !gra_none(w, w->n[e]);
        wrong += beside && !gra_right(w, e);
    }
    if (!w->whole || !gra_same_shape(w->x->shape, w->check->shape) || count < 2)
        return false;
    part.part = wrong ? "beside the diagonal, in what dy_j gives to other places (the term with a sum): "
                      : "only on the diagonal, in what dy_i gives to place i itself: ";
    part.entry = w->entry + w->entries;
    part.entries = 0;
    for (size_t i = 0, e; gra_each(w, &i, &e);)
        if ((e / w->cols == e % w->cols) == (wrong == 0))
            part.entry[part.entries++] = e;
    part.near = fmin(largest_error(&part) / 100, w->near);
    gra_probe(&part);
    for (size_t i = wrong > 0; part.fits == w->fits && i < sizeof guesses / sizeof *guesses; i++)
        guesses[i](&part);
    gra_probe(w);
    w->fits = part.fits;
    return w->fits > 0;
}

/* ---- clues ------------------------------------------------------------------------------------- */

/* The error is small relative to the gradient, so the formula must be right. */
static bool nearly_right(gra_wrong *w)
{
    const double off = largest_error(w) / w->largest;
    if (off <= 2e-3)
        gra_clue(w, "nearly right: off by %.2g of the largest gradient, at most: a constant has a wrong or "
                 "missing digit, an eps is missing or in the wrong place, or the backward approximates where "
                 "the forward does not", off);
    return off <= 2e-3;
}

/* No explanation fits the values, so this looks at which outputs give a gradient to which elements of x. */
static bool places_clue(gra_wrong *w)
{
    const int before = w->clues;
    for (int extra = 1; extra >= 0; extra--) {
        bool any = false;
        for (size_t i = 0, e; gra_each(w, &i, &e);) {
            const bool none = gra_none(w, extra ? w->n[e] : w->a[e]);
            w->mark[e] = !none ? GRA_OUT : gra_right(w, e) ? GRA_EITHER : GRA_IN;
            any |= w->mark[e] == GRA_IN;
        }
        if (any)
            gra_clue(w, extra ? "the backward gives a gradient %s, but there the output does not depend on %s"
                              : "no gradient arrives %s, where the output does depend on %s", gra_places(w).s,
                     w->x->name);
    }
    return w->clues > before;
}

/* The last resort: dy goes to the right places, but its factor is wrong. */
static bool value_clue(gra_wrong *w)
{
    const size_t worst = gra_worst(w);
    size_t right = 0;
    gra_line where = { .at = 0 };
    if (!w->whole)
        return false;
    for (size_t i = 0, e; gra_each(w, &i, &e);) {
        w->mark[e] = !gra_right(w, e);
        right += gra_right(w, e);
    }
    if (right && gra_put_set(&where, w))
        strncmp(where.s, "except ", 7) == 0 ? gra_clue(w, "right %s, but wrong elsewhere", where.s + 7)
                                            : gra_clue(w, "wrong %s, but not elsewhere", where.s);
    gra_clue(w, "%s is wrong: %s is multiplied by %.6g for %s = %.6g, but should be multiplied by %.6g",
             w->single ? "each element gets its own dy, as it should, but the factor of dy, the derivative "
                         "of y at this element,"
             : w->rows > 1 ? "each dy is used, and goes where it should, but the factor of dy"
             : "the factor of dy", gra_element(w, true, worst / w->cols).s, w->a[worst],
             gra_element(w, false, worst % w->cols).s, (double)w->x->data[worst % w->cols], w->n[worst]);
    return true;
}

/* ---- all of it --------------------------------------------------------------------------------- */

/* Guesses that assume less come first, and clues come last. */
static gra_guess *const guesses[] = {
    gra_factor, nearly_right, gra_moved, gra_another_mask, gra_same_number, gra_formula, gra_quotient,
    gra_own_factors, beside_diagonal, gra_one_term, gra_own_term, gra_instead, places_clue, value_clue,
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
    if (!gra_columns(w) || !w->entries)
        return;
    gra_probe(w);
    for (size_t i = 0; i < sizeof guesses / sizeof *guesses; i++)
        if (guesses[i](w))
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
        gra_clue(w, "f is not defined on both sides of %.80s[%zu] = %.6g, however near: change this value, "
                 "or set .low and .high", x->name, x->worst, (double)x->data[x->worst]);
        return;
    }
    if (!isfinite(x->analytic[x->worst])) {
        gra_fits(w, "a division by zero, the logarithm of zero, or uninitialised memory that the backward "
                 "reads");
        return;
    }
    real *c = calloc(k->size + DYS * x->size, sizeof(real));
    w->a = calloc(2 * w->size + 4 * (w->rows + w->cols) + 8, sizeof(double));
    w->entry = calloc(2 * w->size, sizeof *w->entry);
    w->mark = calloc(w->size, 1);
    if (c && w->a && w->entry && w->mark) {
        w->n = w->a + w->size;
        w->scratch = w->n + w->size;
        explain(w, c, c + k->size);
    }
    gra_columns_end(w);
    free(c);
    free(w->a);
    free(w->entry);
    free(w->mark);
}

/* Explains the worst tensor or, if no guess fits it, another wrong tensor. If nothing fits, gives clues. */
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
        gra_check_hint(k->report, "none of the usual mistakes explains this gradient: compare the backward's "
                       "formula, term by term");
    if (!w.whole)
        gra_check_hint(k->report, "%.80s: too large to be explained in full: try smaller shapes",
                       worst->name);
}
