/* quotients: explanations in which the analytic gradient is the numeric one times a value and divided by
 * another: an element of a tensor, a sum of them, or a function of one. */
#include "explaining.h"

size_t gra_distinct(const gra_wrong *w, bool ratio)
{
    enum { MOST = 8 };
    double found[MOST];
    size_t count = 0;
    for (size_t e = 0; e < w->size && count < MOST; e++) {
        const double v = ratio ? w->a[e] / w->n[e] : w->a[e] - w->n[e];
        bool known = ratio ? gra_none(w, w->n[e]) : gra_fit(w, v, 0);
        for (size_t i = 0; i < count; i++)
            known |= ratio ? gra_equal(v, found[i]) : gra_fit(w, v, found[i]);
        if (!known)
            found[count++] = v;
    }
    return count;
}

/* a = k n p / q in entry e? False, too, where there is a NaN. */
static bool quotient(const gra_wrong *w, const gra_source *q, size_t e, double of_p, double of_q)
{
    if (q->kind == GRA_RIGHT && !(fabs(w->a[e] - of_p) <= 1e-5 * fabs(of_p)))
        return false;
    return fabs(w->a[e] * of_q - w->n[e] * of_p) <=
           1e-5 * fabs(w->a[e] * of_q) + 1e-7 * w->largest * (fabs(of_q) + fabs(of_p));
}

/* An example: a large entry that is wrong, of two different places. */
static size_t example(const gra_wrong *w)
{
    size_t at = 0;
    double most = 0;
    for (size_t e = 0; e < w->size; e++)
        if (fabs(w->n[e]) > most * 1.01 && !gra_fit(w, w->a[e], w->n[e]) &&
            !(e % w->cols == e / w->cols && most > 0)) {
            most = fabs(w->n[e]);
            at = e;
        }
    return at;
}

/* The function of a multiple of its argument is right: is it of the same one everywhere? */
static void put_multiple(gra_check_line *s, const gra_wrong *w, gra_source p)
{
    const int f = p.f;
    double c = 0;
    p.f = GRA_PLAIN;
    for (size_t e = 0; e < w->size; e++) {
        const double n = w->n[e], of = f == GRA_SIGMOID ? log(n / (1 - n)) : f == GRA_EXP ? log(n) : atanh(n);
        const double k = of / gra_value(w, &p, e);
        if (!gra_none(w, n) &&
            (!(f == GRA_SIGMOID || f == GRA_EXP || f == GRA_TANH) || (c != 0 && !gra_equal(k, c))))
            return;
        c = gra_none(w, n) ? c : k;
    }
    gra_check_put(s, ", and that of %.6g times its argument is right", c);
}

static void tell_quotient(gra_wrong *w, const gra_source *p, const gra_source *q, double k)
{
    const size_t e = w->example;
    gra_check_line has = { .at = 0 }, wants = { .at = 0 }, at = { .at = 0 };
    gra_put_source(&has, w, p, e);
    gra_put_source(&wants, w, q, e);
    gra_put_entry(&at, w, e);
    gra_check_line more = { .at = 0 };
    if (!gra_equal(k, 1) && q->kind != GRA_RIGHT) {
        gra_check_put(&more, "; and ");
        gra_put_factor(&more, w, k);
    }
    if (w->turned)
        gra_clue(w, "something else stands where %s is expected (or a constant times that), in %s: got %.6g, "
                 "expected %.6g", has.s, at.s, w->n[e], w->a[e]);
    else if (q->kind == GRA_RIGHT && p->kind == GRA_ONE)
        gra_fits(w, "dy is multiplied by %.6g everywhere: the local derivative, by which it is to be "
                 "multiplied, is forgotten, or a factor of it", k);
    else if (q->kind == GRA_RIGHT && p->kind == GRA_RIGHT)
        gra_fits(w, "dy is multiplied by %s: in %s by %.6g where %.6g is right", has.s, at.s, w->a[e],
                 w->n[e]);
    else if (q->kind == GRA_RIGHT)
        put_multiple(&more, w, *p),
        gra_fits(w, "the wrong factor: %s stands where something else is wanted, in %s: %.6g where %.6g is "
                 "right%s", has.s, at.s, w->a[e], w->n[e], more.s);
    else if (q->kind == GRA_ONE)
        gra_fits(w, "a factor too many: %s, in %s; or a division by it is missing%s", has.s, at.s, more.s);
    else if (p->kind == GRA_ONE)
        gra_fits(w, "a factor is missing: %s, in %s; or a division by it is superfluous%s", wants.s, at.s,
                 more.s);
    else
        gra_fits(w, "the wrong factor: %s stands where %s is wanted, in %s (in a denominator, the "
                 "reverse)%s", has.s, wants.s, at.s, more.s);
}

/* Two sources that explain a = k n p / q, the plainest first: one of them is 1, the other an element; or a
 * function of one; both are elements; both are functions of one element; k is not 1; and at last q = n, so
 * that a = k p. */
enum { ONE_ELEMENT, ONE_FUNCTION, TWO_ELEMENTS, TWO_FUNCTIONS, AND_CONSTANT, TWO_AND_CONSTANT, INSTEAD };

static bool likely(gra_wrong *w, const gra_source *p, const gra_source *q, int pass)
{
    const bool one = (p->kind == GRA_ONE) != (q->kind == GRA_ONE);
    const bool same = p->kind == q->kind && gra_same_source(p, q);
    if (pass == INSTEAD)
        return q->kind == GRA_RIGHT && !(w->turned && p->kind != GRA_VALUE);
    if (p->kind == GRA_RIGHT || q->kind == GRA_RIGHT)
        return false;
    if (pass == TWO_FUNCTIONS)
        return !one && same;
    return pass == TWO_ELEMENTS || pass == TWO_AND_CONSTANT ? !one && !same : one;
}

static bool possible(const gra_source *p, const gra_source *q, int pass)
{
    switch (pass) {
    case TWO_FUNCTIONS:
        return (p->f == GRA_PLAIN) != (q->f == GRA_PLAIN) || (p->f >= GRA_SIGMOID && q->f >= GRA_SIGMOID);
    case AND_CONSTANT:  return p->f != GRA_INVERSE && q->f != GRA_INVERSE;
    case INSTEAD:
        return q->f == GRA_PLAIN && (p->kind != GRA_RIGHT || p->f == GRA_INVERSE || p->f == GRA_LOG);
    default:            return true;
    }
}

static bool try_pair(gra_wrong *w, const gra_source *p, const gra_source *q, int pass)
{
    const size_t e = w->example;
    double k = 1;
    if (!possible(p, q, pass))
        return false;
    if (pass >= AND_CONSTANT && p->kind != GRA_RIGHT)
        k = w->a[e] * gra_probed(q, 0) / (w->n[e] * gra_probed(p, 0));
    for (int i = 0; i < GRA_PROBES; i++)
        if (!isfinite(k) || k == 0 || !quotient(w, q, w->probe[i], k * gra_probed(p, i), gra_probed(q, i)))
            return false;
    for (size_t i = 0; i < w->size; i++)
        if (!(gra_none(w, w->a[i]) && gra_none(w, w->n[i])) &&
            !quotient(w, q, i, k * gra_value(w, p, i), gra_value(w, q, i)))
            return false;
    tell_quotient(w, p, q, k);
    return true;
}

static bool by_pairs(gra_wrong *w, int first, int last)
{
    const size_t distinct = gra_distinct(w, true);
    size_t entries = 0;
    for (size_t e = 0; e < w->size; e++)
        entries += !gra_none(w, w->n[e]);
    w->example = example(w);
    for (int pass = first; pass <= last && entries >= (pass < AND_CONSTANT ? 4 : 6); pass++) {
        const bool two = pass == TWO_ELEMENTS || pass == TWO_AND_CONSTANT;
        const size_t least = pass == INSTEAD ? 0 : (size_t)(2 + two + (pass >= AND_CONSTANT));  /* k is free */
        if (distinct >= least &&
            gra_each_pair(w, pass != ONE_ELEMENT && !two, likely, try_pair, pass))
            return true;
    }
    return false;
}

bool gra_quotient(gra_wrong *w)         { return by_pairs(w, ONE_ELEMENT, ONE_FUNCTION); }
bool gra_wrong_factor(gra_wrong *w)     { return by_pairs(w, TWO_ELEMENTS, TWO_AND_CONSTANT); }
bool gra_instead(gra_wrong *w)          { return by_pairs(w, INSTEAD, INSTEAD); }

/* A clue: n = k p is found, though what the backward has is not. */
bool gra_expected(gra_wrong *w)
{
    gra_wrong turned = *w;
    turned.a = w->n;
    turned.n = w->a;
    turned.turned = true;
    by_pairs(&turned, INSTEAD, INSTEAD);
    w->clues = turned.clues;
    return false;                                       /* there may be more clues */
}
