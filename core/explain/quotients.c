/* quotients: explanations in which the analytic gradient is the numeric one times a value and divided by
 * another: an element of a tensor, a sum of them, or a function of one; and those in which it is such a
 * value. */
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

static void tell_pair(gra_wrong *w, const gra_source *p, const gra_source *q, double k)
{
    gra_check_line has = { .at = 0 }, expected = { .at = 0 }, more = { .at = 0 };
    gra_put_source(&has, w, p, w->example);
    gra_put_source(&expected, w, q, w->example);
    gra_put_in(&more, w, w->example);
    if (q->kind == GRA_ONE)
        gra_check_put(&more, "; or a division by it is missing");
    else if (p->kind == GRA_ONE)
        gra_check_put(&more, "; or a division by it is superfluous");
    else if (!gra_elementwise(w))
        gra_check_put(&more, " (in a denominator, the reverse)");
    if (!gra_equal(k, 1)) {
        gra_check_put(&more, "; and ");
        gra_put_factor(&more, w, k);
    }
    if (q->kind == GRA_ONE)
        gra_fits(w, "a factor too many: %s%s", has.s, more.s);
    else if (p->kind == GRA_ONE)
        gra_fits(w, "a factor is missing: %s%s", expected.s, more.s);
    else
        gra_fits(w, "the wrong factor: the backward has %s where %s is expected%s", has.s, expected.s,
                 more.s);
}

/* The two are the plainest that explain it: one of them is 1, the other an element; or a function of one;
 * both are elements; both are functions of one element; k is not 1. */
enum { ONE_ELEMENT, ONE_FUNCTION, TWO_ELEMENTS, TWO_FUNCTIONS, AND_CONSTANT, TWO_AND_CONSTANT };

static bool likely(const gra_wrong *w, const gra_source *p, const gra_source *q, int pass)
{
    const bool one = (p->kind == GRA_ONE) != (q->kind == GRA_ONE);
    const bool same = p->kind == q->kind && gra_same_source(p, q);
    if (p->kind == GRA_RIGHT || q->kind == GRA_RIGHT)
        return false;
    if (pass == ONE_ELEMENT && gra_elementwise(w) && (p->made || q->made))
        return false;                                   /* functions of x are plainer than y/x */
    if (pass == TWO_FUNCTIONS)
        return !one && same;
    return pass == TWO_ELEMENTS || pass == TWO_AND_CONSTANT ? !one && !same : one;
}

static size_t entries_of(const gra_wrong *w)
{
    size_t entries = 0;
    for (size_t e = 0; e < w->size; e++)
        entries += !gra_none(w, w->n[e]);
    return entries;
}

static bool by_pairs(gra_wrong *w, int first, int last)
{
    const size_t distinct = gra_distinct(w, true), entries = entries_of(w);
    w->example = example(w);
    for (int pass = first; pass <= last; pass++) {
        const bool two = pass == TWO_ELEMENTS || pass == TWO_AND_CONSTANT, any = pass >= AND_CONSTANT;
        gra_pair pair = { .form = GRA_QUOTIENT, .functions = pass != ONE_ELEMENT && !two, .any_constant = any,
                          .likely = likely, .how = pass };
        if (entries < (any ? 6 : 4) || distinct < (size_t)(2 + two + any) || !gra_find_pair(w, &pair))
            continue;
        tell_pair(w, &pair.p, &pair.q, pair.k);
        return true;
    }
    return false;
}

bool gra_quotient(gra_wrong *w)         { return by_pairs(w, ONE_ELEMENT, ONE_FUNCTION); }
bool gra_wrong_factor(gra_wrong *w)     { return by_pairs(w, TWO_ELEMENTS, TWO_AND_CONSTANT); }

/* ---- one value ---------------------------------------------------------------------------------- */

/* The formula of the backward, and the right one. */
bool gra_formula(gra_wrong *w)
{
    gra_source has, expected;
    double k, right;
    w->example = example(w);
    if (entries_of(w) < 6 || !gra_find_formula(w, w->n, false, &expected, &right) ||
        !gra_find_formula(w, w->a, false, &has, &k) || !gra_equal(fabs(k), fabs(right)))
        return false;
    tell_pair(w, &has, &expected, k / right);
    return true;
}

/* The function of a multiple of its argument is right: is it of the same one everywhere? */
static void put_multiple(gra_check_line *s, const gra_wrong *w, gra_source p)
{
    const int f = p.f;
    double c = 0;
    p.f = GRA_PLAIN;
    for (size_t e = 0; e < w->size; e++) {
        const double n = w->n[e];
        const double argument = f == GRA_SIGMOID ? log(n / (1 - n)) : f == GRA_EXP ? log(n) : atanh(n);
        const double k = argument / gra_value(w, &p, e);
        if (!gra_none(w, n) && c != 0 && !gra_equal(k, c))
            return;
        c = gra_none(w, n) ? c : k;
    }
    gra_check_put(s, ", and that of %.6g times its argument is right", c);
}

/* What the backward multiplies dy by is such a value. */
bool gra_instead(gra_wrong *w)
{
    gra_source s;
    double k;
    gra_check_line what = { .at = 0 }, more = { .at = 0 }, at = { .at = 0 };
    const size_t e = w->example = example(w);
    if (entries_of(w) < 6 || !gra_find_formula(w, w->a, true, &s, &k))
        return false;
    gra_put_source(&what, w, &s, e);
    gra_put_entry(&at, w, e);
    if (s.f == GRA_SIGMOID || s.f == GRA_EXP || s.f == GRA_TANH)
        put_multiple(&more, w, s);
    if (s.kind == GRA_ONE)
        gra_fits(w, "dy is multiplied by %.6g everywhere: the local derivative, or a factor of it, is "
                 "forgotten", k);
    else
        gra_fits(w, "the wrong factor: dy is multiplied by %s where something else is expected, in %s: got "
                 "%.6g, expected %.6g%s", what.s, at.s, w->a[e], w->n[e], more.s);
    return true;
}
