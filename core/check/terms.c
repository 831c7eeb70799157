/* terms: explanations in which the analytic gradient is the numeric one and something: a term of the formula
 * is missing, too many, or wrong. */
#include "explaining.h"

/* ---- one term ----------------------------------------------------------------------------------- */

static void tell_number(gra_wrong *w, double by)
{
    gra_check_line place = { .at = 0 };
    for (size_t e = 0; e < w->size; e++) {
        w->in[e] = !gra_fit(w, w->a[e], w->n[e]);
        w->of[e] = w->in[e] || !gra_none(w, w->n[e]);
    }
    gra_put_places(&place, w);
    gra_fits(w, "%s what dy is multiplied by is off by the same number, %+.6g: a term of the formula is "
             "missing there, or has the wrong sign; it is right elsewhere", place.s, -by);
}

static void tell_term(gra_wrong *w, const gra_source *p, const gra_source *q, double by, size_t e)
{
    gra_check_line term = { .at = 0 }, at = { .at = 0 };
    if (!gra_equal(fabs(by), 1))
        gra_check_put(&term, "%.6g ", fabs(by));
    if (p->kind != GRA_ONE) {
        gra_put_source(&term, w, p, e);
        gra_check_put(&term, " ");
    }
    gra_put_source(&term, w, q, e);
    gra_put_entry(&at, w, e);
    gra_fits(w, by > 0 ? "a term is missing: %s lacks %s, and so elsewhere: of another place where %s is "
                         "used?"
                       : "a term too many, or one that is counted twice: %s has %s too much, and so "
                         "elsewhere", at.s,
             term.s, w->x->name);
}

/* n - a is k p q where the two differ; p or both may be 1. A constant k other than 1 or -1 proves something
 * only in the gradient of a loss, or alone, as the -1 that cross-entropy has at the target. */
bool gra_one_term(gra_wrong *w)
{
    gra_source list[GRA_MOST_SOURCES];
    const int count = gra_sources(w, list);
    size_t off = 0, most = 0, right = 0;
    for (size_t e = 0; e < w->size; e++) {
        const bool fit = gra_fit(w, w->a[e], w->n[e]);
        off += !fit;
        right += fit && !gra_none(w, w->n[e]);
        if (fabs(w->a[e] - w->n[e]) > fabs(w->a[most] - w->n[most]))
            most = e;
    }
    for (int p = 0; off >= 2 && p < count; p++)
        for (int q = p; q < count; q++) {
            const gra_source *const s = &list[p], *const r = &list[q];
            const bool number = r->kind == GRA_ONE;
            const double k = (w->n[most] - w->a[most]) / (gra_value(w, s, most) * gra_value(w, r, most));
            bool fit = (s->kind == GRA_ONE || s->kind == GRA_VALUE) && (number || r->kind == GRA_VALUE) &&
                       isfinite(k) &&
                       (number ? right > 0 : off >= 4 && (w->rows == 1 || gra_equal(fabs(k), 1)));
            for (size_t e = 0; fit && e < w->size; e++)
                fit = gra_fit(w, w->n[e], w->a[e]) ||
                      gra_fit(w, w->n[e] - w->a[e], k * gra_value(w, s, e) * gra_value(w, r, e));
            if (!fit)
                continue;
            if (number)
                tell_number(w, k);
            else
                tell_term(w, s, r, k, most);
            return true;
        }
    return false;
}

/* ---- a term with a sum over dy ------------------------------------------------------------------ */

static size_t row_length(const gra_wrong *w)
{
    const gra_shape *y = &w->check->shape;
    return w->whole && y->ndim ? (size_t)y->dim[y->ndim - 1] : 1;
}

/* In each row of dy, is what is off a multiple u_i of a sum over dy with some weights v_j, those of v if it
 * is given? A sum of at least three, that three elements of x get something from. */
static bool one_sum(const gra_wrong *w, const gra_source *v)
{
    const size_t length = row_length(w), block = length * w->cols;
    bool enough = false;
    for (size_t first = 0; first < w->size; first += block) {
        size_t top = first, of_u = 0, of_v = 0;
        for (size_t e = first; e < first + block; e++)
            if (fabs(w->a[e] - w->n[e]) > fabs(w->a[top] - w->n[top]))
                top = e;
        const double off = w->a[top] - w->n[top];
        for (size_t e = first; off != 0 && e < first + block; e++) {
            const size_t at_u = top / w->cols * w->cols + e % w->cols,
                at_v = e / w->cols * w->cols + top % w->cols;
            const double u = w->a[at_u] - w->n[at_u], of = w->a[at_v] - w->n[at_v];
            if (!gra_fit(w, w->a[e] - w->n[e], u * of / off) ||
                (v && !gra_fit(w, of, off * gra_value(w, v, at_v) / gra_value(w, v, top))))
                return false;
            of_u += e == at_u && !gra_fit(w, u, 0);
            of_v += e == at_v && !gra_fit(w, of, 0);
        }
        enough |= (of_u >= 3) & (of_v >= 3);
    }
    return enough;
}

bool gra_row_term(gra_wrong *w)
{
    gra_source list[GRA_MOST_SOURCES];
    const int count = gra_sources(w, list), d = w->check->shape.ndim - 1;
    if (row_length(w) < 3 || !one_sum(w, NULL))
        return false;
    for (int i = 0; i < count; i++) {
        const gra_source *v = &list[i];
        gra_check_line of = { .at = 0 };
        const bool output = v->kind == GRA_VALUE && v->column == GRA_COLUMN_OF_DY &&
                            (v->row == -1 || v->row == GRA_ROW_OF_DY);
        if (!(v->kind == GRA_ONE || output) || !one_sum(w, v))
            continue;
        if (output)
            gra_check_put(&of, " %s", v->name);
        gra_fits(w, "a term with the sum (or mean) over dimension %d of dy%s is missing or wrong; the other "
                 "terms are right", d, of.s);
        return true;
    }
    gra_fits(w, "one sum over dimension %d of dy is missing or wrong, or its weights are: in each row all "
             "that is off is a multiple of one such sum", d);
    return true;
}

/* ---- a sum that should be 0 --------------------------------------------------------------------- */

/* Softmax, norms and cross-entropy subtract a sum or a mean, so that their gradient sums to 0. Does the
 * numeric one, and the analytic one not? */
bool gra_sum_clue(gra_wrong *w)
{
    bool one_size = true;                               /* of which as many of either sign prove nothing */
    for (size_t e = 0; e < w->size; e++)
        one_size &= gra_none(w, w->n[e]) || gra_fit(w, fabs(w->n[e]), fabs(w->n[0]));
    for (int d = 0; d < w->x->shape.ndim; d++) {
        size_t inner = 1, length = (size_t)w->x->shape.dim[d];
        for (int i = d + 1; i < w->x->shape.ndim; i++)
            inner *= (size_t)w->x->shape.dim[i];
        double analytic = 0, numeric = 0;
        for (size_t e = 0; length > 1 && e < w->size; e++) {
            double a = 0, n = 0;
            for (size_t at = e; e / inner % length == 0 && at < e + length * inner; at += inner) {
                a += w->a[at];
                n += w->n[at];
            }
            analytic = fmax(analytic, fabs(a));
            numeric = fmax(numeric, fabs(n));
        }
        if (numeric > w->near || analytic <= 10 * w->near || one_size)
            continue;
        gra_clue(w, "the true gradient of %s sums to 0 along dimension %d, yours does not: look at the term "
                 "that makes it so, which subtracts a sum or a mean over it (softmax, norm, cross-entropy)",
                 w->x->name, d);
        return true;
    }
    return false;
}
