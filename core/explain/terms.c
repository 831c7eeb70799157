/* terms: the backward's column a is the right one, n, and something: a number, a term k p q that is missing or
 * too many, p where another term q is expected, or a term with a number of its own for each row. */
#include "explaining.h"

static size_t count_wrong(const gra_wrong *w)
{
    size_t count = 0;
    for (size_t i = 0; i < w->entries; i++)
        count += !gra_right(w, w->entry[i]);
    return count;
}

/* ---- a number ----------------------------------------------------------------------------------- */

/* What is off is one number, or minus that, in at least two places. */
bool gra_same_number(gra_wrong *w)
{
    const double by = w->a[gra_worst(w)] - w->n[gra_worst(w)];
    size_t off = 0, minus = 0;
    gra_check_line where = { .at = 0 };
    for (size_t i = 0; i < w->entries; i++) {
        const size_t e = w->entry[i];
        const double d = w->a[e] - w->n[e];
        const bool is_off = gra_fit(w, d, by), is_minus = gra_fit(w, d, -by);
        if (gra_none(w, w->a[e]) != gra_none(w, w->n[e]) || !(is_off || is_minus || gra_right(w, e)))
            return false;
        w->mark[e] = is_off || is_minus ? GRA_IN : GRA_OUT;
        off += is_off;
        minus += is_minus;
    }
    if (off < 2 || minus == 1 || w->entries < (minus ? 6 : 3))
        return false;
    gra_put_places(&where, w);
    if (minus)
        gra_fits(w, "%s what dy is multiplied by is off by the same number, %.6g, with either sign: two "
                 "numbers of the formula are exchanged%s%s", where.s, fabs(by), off == minus ? ", or its "
                 "targets are not those of the forward" : "",
                 off + minus < w->entries ? "; it is right elsewhere" : "");
    else if (off == w->entries)
        gra_fits(w, "what dy is multiplied by is off by the same number everywhere, %+.6g: a constant term "
                 "of the formula, or a mean, is missing or wrong", by);
    else
        gra_fits(w, "%s what dy is multiplied by is off by the same number, %+.6g: a term of the formula is "
                 "missing there, or has the wrong sign; it is right elsewhere", where.s, by);
    return true;
}

/* ---- one term ----------------------------------------------------------------------------------- */

static void tell_term(gra_wrong *w, const gra_pair *r)
{
    gra_check_line term = { .at = 0 }, at = { .at = 0 }, times = { .at = 0 };
    const double by = r->k;
    gra_put_number(&times, w, fabs(by));
    const char *const value = strstr(times.s, "the value of");
    if (!gra_equal(fabs(by), 1))
        gra_check_put(&term, value ? "%.6g (%s) times " : "%.6g times ", fabs(by), value);
    if (!gra_is_one(r->p)) {
        gra_put_term(&term, w, r->p, w->probe[0]);
        gra_check_put(&term, " times ");
    }
    gra_put_term(&term, w, r->q, w->probe[0]);
    gra_put_entry(&at, w, w->probe[0]);
    if (by > 0)
        gra_fits(w, "a term is missing: %s lacks %s, and so elsewhere; or half of that has the wrong "
                 "sign", at.s, term.s);
    else
        gra_fits(w, "a term too many, or one that is counted twice: %s has %s too much, and so elsewhere; or "
                 "minus that is missing, or half of it has the wrong sign", at.s, term.s);
}

static void tell_exchanged(gra_wrong *w, const gra_pair *r)
{
    gra_check_line has = { .at = 0 }, expected = { .at = 0 }, more = { .at = 0 };
    gra_put_term(&expected, w, r->k > 0 ? r->p : r->q, w->probe[0]);
    gra_put_term(&has, w, r->k > 0 ? r->q : r->p, w->probe[0]);
    if (!gra_equal(fabs(r->k), 1))
        gra_check_put(&more, ", times %.6g", fabs(r->k));
    if (!gra_elementwise(w)) {
        gra_check_put(&more, ", in ");
        gra_put_entry(&more, w, w->probe[0]);
    }
    gra_fits(w, "a wrong term: the backward has %s where %s is expected or, in a term with a minus, %s where "
             "%s is expected%s", has.s, expected.s, expected.s, has.s, more.s);
}

/* n - a is k p q, or k (p - q). A number k other than 1 needs more places to prove it, and more different
 * values, since one of them is k times anything. */
bool gra_one_term(gra_wrong *w)
{
    enum { MANY = 8 };
    const size_t off = count_wrong(w), distinct = gra_distinct(w, false);
    gra_pair r = { .any_number = distinct >= 3 && (off >= MANY || w->rows == 1) };
    if (off < 4)
        return false;
    r.form = GRA_PRODUCT;
    if (gra_find_pair(w, &r) && (off >= MANY || r.p.f + r.q.f == GRA_PLAIN)) {
        tell_term(w, &r);
        return true;
    }
    r.form = GRA_DIFFERENCE;
    if (!gra_find_pair(w, &r) || (off < MANY && r.p.f + r.q.f != GRA_PLAIN))
        return false;
    tell_exchanged(w, &r);
    return true;
}

/* ---- a term with a number of its own for each row ------------------------------------------------- */

static void tell_own(gra_wrong *w, const gra_division *v, gra_term t)
{
    gra_check_line whose = { .at = 0 }, of = { .at = 0 };
    size_t e = w->probe[0];
    gra_put_parts(&whose, w, v);
    gra_put_term(&of, w, (gra_term){ t.c, GRA_PLAIN }, e);
    const int by = t.c->column < 0 ? t.c->row : t.c->column;
    const bool by_dy = (by >= GRA_OF_DY && by < GRA_ROW_OF_X) || by == GRA_ROW_OF_DY;
    if (gra_is_one(t))
        gra_fits(w, "what is off is one number for each %s: a mean or a sum over it is missing or wrong",
                 whose.s);
    else if (t.f == GRA_REST)
        gra_fits(w, "for each %s what is off is a number times 1 - v for v = %s, and so elsewhere: the term "
                 "without a sum has a 1 where v is expected, or the reverse", whose.s, of.s);
    else if (by_dy)
        gra_fits(w, "for each %s what is off is a number times %s, and so elsewhere: a term with the sum (or "
                 "mean) of dy %s is missing or wrong", whose.s, of.s, t.c->name);
    else
        gra_fits(w, "for each %s what is off is a number times %s, and so elsewhere: a term with this factor "
                 "is missing or wrong%s", whose.s, of.s,
                 t.c->data == w->x->data ? ", as a projection on it" : "");
}

/* As where the mean that is subtracted is forgotten, or a projection. On the diagonal of a norm a multiple of
 * 1 - w says that the term without a sum lacks w. */
bool gra_own_term(gra_wrong *w)
{
    for (int i = 0; i < 4 * w->columns; i++) {          /* rows first, of which there are fewer */
        const gra_term t = { &w->column[i % w->columns], i / w->columns % 2 ? GRA_REST : GRA_PLAIN };
        const bool of_elements = i / w->columns / 2;
        for (gra_division v = { 0 }; (w->part || t.f == GRA_PLAIN) && gra_next_division(w, &v);) {
            if ((v.parts == w->rows || v.parts == w->cols) != of_elements || t.c->gradient ||
                !gra_is_list(&v) || v.parts * 3 > w->size || !gra_multiples(w, &v, &t, w->scratch))
                continue;
            tell_own(w, &v, t);
            return true;
        }
    }
    return false;
}
