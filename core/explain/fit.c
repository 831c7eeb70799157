/* fit: the search. Which two terms, with a number k, turn the right column n into the backward's column a?
 *
 *     a = k n p / q           a factor p instead of q; one of them may be 1
 *     n - a = k p q           a term that is missing, or too many
 *     n - a = k (p - q)       a term that is another one
 *
 * All pairs are tried, the plainest first: 1 costs nothing, a tensor 1, a function of it more. A guess is
 * tried on four entries, and then on all. What assumes more must explain more different numbers. */
#include "explaining.h"

enum { MOST_COST = 4 };                 /* two functions of tensors; a dearer pair would need luck to be true */

size_t gra_distinct(const gra_wrong *w, bool ratio)
{
    enum { MOST = 8 };
    double found[MOST];
    size_t count = 0;
    for (size_t i = 0; i < w->entries && count < MOST; i++) {
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

/* The example of a sentence is a large entry that is wrong, of two different places if there is one; then
 * come some of all wrong entries. */
void gra_probe(gra_wrong *w)
{
    size_t count = 0, at = 0, next = 1;
    double most = 0;
    w->probe[0] = gra_worst(w);
    for (size_t i = 0; i < w->entries; i++) {
        const size_t e = w->entry[i];
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
        for (int p = 0; p < GRA_PROBES; p++)
            w->column[c].probe[p] = gra_value(w, (gra_term){ &w->column[c], GRA_PLAIN }, w->probe[p]);
}

/* ---- pairs ------------------------------------------------------------------------------------- */

/* Do p = u and q = v explain entry e? False, too, where there is a NaN. */
static bool agrees(const gra_wrong *w, const gra_pair *r, size_t e, double u, double v)
{
    if (r->form != GRA_QUOTIENT)
        return gra_fit(w, w->n[e] - w->a[e], r->k * (r->form == GRA_PRODUCT ? u * v : u - v));
    const double a = w->a[e] * v, n = r->k * w->n[e] * u;
    return fabs(a - n) <= 1e-5 * fabs(a) + 1e-7 * w->largest * (fabs(v) + fabs(r->k * u));
}

static bool explains(const gra_wrong *w, gra_pair *r)
{
    double u[GRA_PROBES], v[GRA_PROBES];
    const size_t e = w->probe[0];
    const bool quotient = r->form == GRA_QUOTIENT;
    for (int i = 0; i < GRA_PROBES; i++) {
        u[i] = gra_apply(r->p.f, r->p.c->probe[i]);
        v[i] = gra_apply(r->q.f, r->q.c->probe[i]);
        if (i == 0)
            r->k = quotient ? w->a[e] * v[0] / (w->n[e] * u[0])
                            : (w->n[e] - w->a[e]) / (r->form == GRA_PRODUCT ? u[0] * v[0] : u[0] - v[0]);
        if (i == 0 && !r->any_number && gra_equal(fabs(r->k), 1) && (r->k > 0 || !quotient))
            r->k = r->k < 0 ? -1 : 1;
        else if (i == 0 && (!r->any_number || !isfinite(r->k) || r->k == 0))
            return false;
        if (!agrees(w, r, w->probe[i], u[i], v[i]))
            return false;
    }
    for (size_t i = 0; i < w->entries; i++)
        if ((quotient || !gra_right(w, w->entry[i])) &&
            !agrees(w, r, w->entry[i], gra_value(w, r->p, w->entry[i]), gra_value(w, r->q, w->entry[i])))
            return false;
    return true;
}

/* Does it always take the first element, or row? As where an index is forgotten. */
static bool frozen(const gra_column *c)
{
    return (c->row < 0 && c->rows > 1) || (c->column < 0 && c->columns > 1);
}

/* May these two be a pair? *functions: are functions of them tried? Of two columns only where both are
 * tensors: else there are too many, and some would fit because they are equal. */
static bool may_pair(const gra_pair *r, const gra_column *p, const gra_column *q, bool *functions)
{
    const bool one = !p->data || !q->data, unlikely = frozen(p) || frozen(q);
    *functions = !unlikely && (one || p == q || p->cost + q->cost == 2);
    if (p->gradient || q->gradient || (!p->data && !q->data) || (p != q && p->cost + q->cost > 3))
        return false;
    if (r->form == GRA_QUOTIENT)
        return true;
    return !unlikely && p <= q && (r->form == GRA_PRODUCT || one || (p->row == q->row && p->column == q->column));
}

bool gra_find_pair(const gra_wrong *w, gra_pair *r)
{
    for (int cost = 1; cost <= MOST_COST; cost++)
        for (int i = 0; i < w->columns * w->columns; i++) {
            bool functions;
            r->p = (gra_term){ &w->column[i / w->columns], GRA_PLAIN };
            r->q = (gra_term){ &w->column[i % w->columns], GRA_PLAIN };
            const int least = r->p.c->cost + r->q.c->cost;
            if (least > cost || !may_pair(r, r->p.c, r->q.c, &functions) || (least < cost && !functions))
                continue;
            const int of_p = functions ? gra_functions_of(w, r->p.c) : 1;
            const int of_q = functions ? gra_functions_of(w, r->q.c) : 1;
            for (r->p.f = 0; r->p.f < of_p; r->p.f++)
                for (r->q.f = 0; r->q.f < of_q; r->q.f++)
                    if (gra_cost(r->p) + gra_cost(r->q) == cost &&
                        (r->p.c != r->q.c || r->p.f != r->q.f || r->form == GRA_PRODUCT) && explains(w, r))
                        return true;
        }
    return false;
}

/* ---- one term ---------------------------------------------------------------------------------- */

static bool is_multiple(const gra_wrong *w, const double *values, gra_term t, double k)
{
    for (size_t i = 0; i < w->entries; i++) {
        const double of = k * gra_value(w, t, w->entry[i]);
        if (!(fabs(values[w->entry[i]] - of) <= 1e-5 * fabs(of)))
            return false;
    }
    return isfinite(k) && k != 0;
}

bool gra_find_term(const gra_wrong *w, const double *values, gra_term *t, double *k)
{
    size_t most = w->entry[0];
    for (size_t i = 0; i < w->entries; i++)
        most = fabs(values[w->entry[i]]) > fabs(values[most]) ? w->entry[i] : most;
    for (int cost = 0; cost <= MOST_COST; cost++)
        for (int c = 0; c < w->columns; c++) {
            t->c = &w->column[c];
            for (t->f = 0; t->f < gra_functions_of(w, t->c); t->f++) {
                *k = values[most] / gra_value(w, *t, most);
                if (gra_cost(*t) == cost && is_multiple(w, values, *t, *k))
                    return true;
            }
        }
    return false;
}

/* ---- a number for each part --------------------------------------------------------------------- */

bool gra_multiples(const gra_wrong *w, const gra_division *v, const gra_term *t, double *k)
{
    double *const bb = k + w->rows + w->cols;
    size_t used = 0;
    memset(k, 0, v->parts * sizeof *k);
    memset(bb, 0, v->parts * sizeof *bb);
    for (int look = 0; look < 2; look++) {              /* first k, by least squares; then what is left */
        for (size_t i = 0; i < w->entries; i++) {
            const size_t e = w->entry[i], p = gra_part(w, v, e);
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
    return w->entries >= (t ? 3 : 2) * used;
}
