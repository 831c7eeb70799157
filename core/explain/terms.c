/* terms: the backward's column a is the right column n plus an error: a number, a term k p q that is missing
 * or superfluous, p where another term q is expected, or a term with a different number for each row. */
#include "explaining.h"

/* The error a - n is one number, or minus that number, in at least two places. */
bool gra_same_number(gra_wrong *w)
{
    const double by = w->a[gra_worst(w)] - w->n[gra_worst(w)];
    size_t off = 0, minus = 0;
    for (size_t i = 0, e; gra_each(w, &i, &e);) {
        const double d = w->a[e] - w->n[e];
        const bool is_minus = gra_fit(w, d, -by);
        if (gra_none(w, w->a[e]) != gra_none(w, w->n[e]) ||
            !(gra_fit(w, d, by) || is_minus || gra_right(w, e)))
            return false;
        w->mark[e] = !gra_right(w, e);
        off += !gra_right(w, e);
        minus += is_minus;
    }
    if (off - minus < 2 || minus == 1 || w->entries < (minus ? 6 : 3))
        return false;
    const gra_line where = gra_places(w);
    if (minus)
        gra_fits(w, "%s the factor of dy is off by the same number, %.6g, up or down: two numbers of the "
                 "formula are exchanged%s", where.s, fabs(by), off == 2 * minus
                 ? ", or the backward has other targets than the forward" : "");
    else if (off == w->entries)
        gra_fits(w, "the factor of dy is off by the same number everywhere, %+.6g: a constant term of the "
                 "formula, or a mean, is missing or wrong", by);
    else
        gra_fits(w, "%s the factor of dy is off by the same number, %+.6g: a term of the formula is missing "
                 "there, or has the wrong sign; the gradient is right elsewhere", where.s, by);
    return true;
}

/* ---- one term ----------------------------------------------------------------------------------- */

static void tell_term(gra_wrong *w, const gra_pair *r)
{
    const gra_line at = gra_entry(w, w->probe[0]);
    gra_line term = { .at = 0 };
    if (!gra_equal(fabs(r->k), 1))
        gra_line_put(&term, "%.6g times ", fabs(r->k));
    if (r->p.c->data)
        gra_line_put(&term, "%s times ", gra_term_at(w, r->p, w->probe[0]).s);
    gra_line_put(&term, "%s", gra_term_at(w, r->q, w->probe[0]).s);
    if (r->k > 0)
        gra_fits(w, "a term is missing: %s lacks %s, and likewise elsewhere; or half of that term has the "
                 "wrong sign", at.s, term.s);
    else
        gra_fits(w, "a superfluous term, or a term that is counted twice: %s has %s too much, and likewise "
                 "elsewhere; or minus that term is missing, or half of it has the wrong sign", at.s, term.s);
}

static void tell_exchanged(gra_wrong *w, const gra_pair *r)
{
    const size_t e = w->probe[0];
    const gra_line expected = gra_term_at(w, r->k > 0 ? r->p : r->q, e);
    const gra_line has = gra_term_at(w, r->k > 0 ? r->q : r->p, e);
    gra_line times = { .at = 0 };
    if (!gra_equal(fabs(r->k), 1))
        gra_line_put(&times, ", times %.6g", fabs(r->k));
    gra_fits(w, "a wrong term: the backward has %s where %s is expected or, in a term with a minus, %s where "
             "%s is expected%s, in %s", has.s, expected.s, expected.s, has.s, times.s, gra_entry(w, e).s);
}

/* n - a is k p q, or k (p - q). As proof, a function or a number k needs more places; a number k also needs
 * different values, since any single value is some k times p q. */
bool gra_one_term(gra_wrong *w)
{
    size_t off = 0;
    for (size_t i = 0; i < w->entries; i++)
        off += !gra_right(w, w->entry[i]);
    const bool many = off >= 8;
    for (int form = GRA_PRODUCT; form <= GRA_DIFFERENCE && off >= 4; form++) {
        gra_pair r = { .form = form, .any_number = gra_distinct(w, false) >= 3 && (many || w->rows == 1) };
        if (!gra_find_pair(w, &r) || (!many && r.p.f + r.q.f > GRA_PLAIN))
            continue;
        (form == GRA_PRODUCT ? tell_term : tell_exchanged)(w, &r);
        return true;
    }
    return false;
}

/* ---- a term with a different number for each row -------------------------------------------------- */

static void tell_own(gra_wrong *w, const gra_division *v, gra_term t)
{
    const gra_line whose = gra_parts(w, v->way);
    const gra_line of = gra_term_at(w, (gra_term){ t.c, GRA_PLAIN }, w->probe[0]);
    const char *why = "a term with this factor is missing or wrong";
    if (t.f == GRA_REST)
        why = "the term without a sum has a 1 where v is expected, or the reverse";
    else if (gra_index_of_dy(t.c->column < 0 ? t.c->row : t.c->column))
        why = "a term with the sum (or mean) of dy times that factor is missing or wrong";
    else if (t.c->data == w->x->data)
        why = "a term with this factor, such as a projection onto it, is missing or wrong";
    if (!t.c->data)
        gra_fits(w, "for each %s the error is a single number: a term with the sum (or mean) of dy is "
                 "missing or wrong", whose.s);
    else
        gra_fits(w, "for each %s the error is a number times %s%s, and likewise elsewhere: %s", whose.s,
                 t.f == GRA_REST ? "1 - v for v = " : "", of.s, why);
}

/* Finds a mean or a projection that the backward does not subtract. On the diagonal of a norm, a multiple of
 * 1 - w means that the term without a sum lacks w. */
bool gra_own_term(gra_wrong *w)
{
    for (int i = 0; i < 4 * w->columns; i++) {          /* rows first: there are fewer */
        const gra_term t = { &w->column[i % w->columns], i / w->columns % 2 ? GRA_REST : GRA_PLAIN };
        gra_division v;
        if ((t.f == GRA_REST && !w->part) || !gra_find_own(w, &t, i / w->columns / 2, &v))
            continue;
        tell_own(w, &v, t);
        return true;
    }
    return false;
}
