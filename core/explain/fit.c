/* fit: the search. Which two terms, with a number k, turn the right column n into the backward's column a?
 *
 *     a = k n p / q           a factor p instead of q; p or q may be 1
 *     n - a = k p q           a term that is missing or superfluous
 *     n - a = k (p - q)       a term q where p is expected
 *     a = k p                 the backward's formula; if n = k q, the right formula too
 *
 * All pairs are tried, the simplest first: 1 costs nothing, a tensor costs 1, a function costs 1 more, and a
 * rare function 2 more. A guess is tried on four entries, then on all. */
#include "explaining.h"

enum { MOST_COST = 4 };                 /* two functions of tensors; a costlier pair fits only by luck */

size_t gra_distinct(const gra_wrong *w, bool ratio)
{
    double found[8];
    size_t count = 0;
    for (size_t i = 0; i < w->entries && count < 8; i++) {
        const size_t e = w->entry[i];
        const double v = ratio ? w->a[e] / w->n[e] : w->a[e] - w->n[e];
        bool known = ratio ? gra_none(w, w->n[e]) : gra_fit(w, v, 0);
        for (size_t f = 0; f < count; f++)
            known |= ratio ? gra_equal(v, found[f]) : gra_fit(w, v, found[f]);
        if (!known)
            found[count++] = v;
    }
    return count;
}

/* The first probe, the example in a sentence, is a large wrong entry, if possible with i and j different; the
 * other probes are spread over all wrong entries. */
void gra_probe(gra_wrong *w)
{
    size_t count = 0, at = 0, next = 1;
    double most = 0;
    w->probe[0] = gra_worst(w);
    for (size_t i = 0, e; gra_each(w, &i, &e);) {
        count += !gra_right(w, e);
        if (fabs(w->n[e]) > most * 1.01 && !gra_right(w, e) && !(e % w->cols == e / w->cols && most > 0)) {
            most = fabs(w->n[e]);
            w->probe[0] = e;
        }
    }
    for (int p = 1; p < GRA_PROBES; p++)
        w->probe[p] = w->probe[0];
    for (size_t i = 0; i < w->entries; i++)
        if (!gra_right(w, w->entry[i]) && at++ == next * count / GRA_PROBES && next < GRA_PROBES)
            w->probe[next++] = w->entry[i];
    for (int c = 0; c < w->columns; c++)
        for (int f = 0; f < gra_functions_of(w, &w->column[c]); f++)
            for (int p = 0; p < GRA_PROBES; p++)
                w->column[c].probe[f][p] = gra_value(w, (gra_term){ &w->column[c], f }, w->probe[p]);
}

/* ---- pairs ------------------------------------------------------------------------------------- */

/* Do p = u and q = v explain entry e? False also for NaN. */
static bool agrees(const gra_wrong *w, const gra_pair *r, size_t e, double u, double v)
{
    if (r->form == GRA_ALONE)
        return fabs(r->values[e] - r->k * u) <= 1e-5 * fabs(r->k * u);
    if (r->form != GRA_QUOTIENT)
        return gra_right(w, e) ||
               gra_fit(w, w->n[e] - w->a[e], r->k * (r->form == GRA_PRODUCT ? u * v : u - v));
    const double a = w->a[e] * v, n = r->k * w->n[e] * u;
    return fabs(a - n) <= 1e-5 * fabs(a) + 1e-7 * w->largest * (fabs(v) + fabs(r->k * u));
}

/* The k that fits at entry e; 0: this k is not allowed. */
static double number_of(const gra_wrong *w, const gra_pair *r, size_t e, double u, double v)
{
    const double k = r->form == GRA_ALONE ? r->values[e] / u
                     : r->form == GRA_QUOTIENT ? w->a[e] * v / (w->n[e] * u)
                     : (w->n[e] - w->a[e]) / (r->form == GRA_PRODUCT ? u * v : u - v);
    if (!r->any_number)
        return gra_equal(k, 1) ? 1 : gra_equal(k, -1) && r->form != GRA_QUOTIENT ? -1 : 0;
    return isfinite(k) ? k : 0;
}

static bool explains(const gra_wrong *w, gra_pair *r)
{
    const double *const u = r->p.c->probe[r->p.f], *const v = r->q.c->probe[r->q.f];
    int most = 0;                                       /* the probe that determines k */
    for (int i = 1; i < GRA_PROBES; i++)
        most = fabs(u[i] * v[i]) > fabs(u[most] * v[most]) ? i : most;
    r->k = number_of(w, r, w->probe[most], u[most], v[most]);
    bool fit = r->k != 0;
    for (int i = 0; i < GRA_PROBES && fit; i++)
        fit = agrees(w, r, w->probe[i], u[i], v[i]);
    for (size_t i = 0, e; fit && gra_each(w, &i, &e);)
        fit = agrees(w, r, e, gra_value(w, r->p, e), gra_value(w, r->q, e));
    return fit;
}

/* May these two terms be a pair? In a difference, the elements of both tensors are at the same place. */
static bool may_pair(const gra_pair *r, const gra_column *p, const gra_column *q)
{
    switch (r->form) {
    case GRA_ALONE:     return !q->data;
    case GRA_QUOTIENT:  return p->data || q->data;
    case GRA_PRODUCT:   return p <= q && q->data;
    default:            return p <= q && q->data &&
                               (!p->data || (p->row == q->row && p->column == q->column));
    }
}

static int cost_of(gra_term t)
{
    return (t.c->data != NULL) + (t.f > GRA_PLAIN) + (t.f >= GRA_COMMON);
}

bool gra_find_pair(const gra_wrong *w, gra_pair *r)
{
    const int qs = r->form == GRA_ALONE ? 1 : w->columns;       /* alone: q is the first term, 1 */
    for (int cost = 0; cost <= MOST_COST; cost++)
        for (int i = 0; i < w->columns * qs; i++) {
            r->p.c = &w->column[i / qs];
            r->q.c = &w->column[i % qs];
            if (!may_pair(r, r->p.c, r->q.c))
                continue;
            const int of_p = gra_functions_of(w, r->p.c), of_q = gra_functions_of(w, r->q.c);
            for (r->p.f = 0; r->p.f < of_p; r->p.f++)
                for (r->q.f = 0; r->q.f < of_q; r->q.f++)
                    if (cost_of(r->p) + cost_of(r->q) == cost && explains(w, r))
                        return true;
        }
    return false;
}

/* ---- a number for each row ---------------------------------------------------------------------- */

/* Finds each k[part] by least squares, then tests whether they fit. The proof needs more entries than k's. */
static bool multiples(const gra_wrong *w, const gra_division *v, const gra_term *t, double *k)
{
    double *const bb = k + w->rows + w->cols;
    size_t used = 0;
    memset(k, 0, v->parts * sizeof *k);
    memset(bb, 0, v->parts * sizeof *bb);
    for (int look = 0; look < 2; look++) {
        for (size_t i = 0, e; gra_each(w, &i, &e);) {
            const size_t p = gra_part(w, v, e);
            const double b = t ? gra_value(w, *t, e) : w->n[e], value = t ? w->n[e] - w->a[e] : w->a[e];
            if (look && !gra_fit(w, value, k[p] * b))
                return false;
            used += !look && bb[p] == 0 && b != 0;
            k[p] += look ? 0 : value * b;
            bb[p] += look ? 0 : b * b;
        }
        for (size_t p = 0; p < v->parts && !look; p++)
            k[p] = bb[p] > 0 ? k[p] / bb[p] : 0;
    }
    return w->entries >= (t ? 3 : 2) * used && used > 1;
}

bool gra_find_own(const gra_wrong *w, const gra_term *t, bool of_elements, gra_division *v)
{
    *v = (gra_division){ 0 };
    while (gra_next_division(w, v))
        if (gra_is_list(v) && (v->parts == w->rows || v->parts == w->cols) == of_elements &&
            multiples(w, v, t, w->scratch))
            return true;
    return false;
}

size_t gra_worst(const gra_wrong *w)
{
    size_t worst = w->entry[0];
    for (size_t i = 0, e; gra_each(w, &i, &e);)
        worst = fabs(w->a[e] - w->n[e]) > fabs(w->a[worst] - w->n[worst]) ? e : worst;
    return worst;
}
