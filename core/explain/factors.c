/* factors: the backward's column a is the right one, n, times something: a number, which is 0 where nothing
 * arrives; a number for each row; or a factor p where q is expected. */
#include "explaining.h"

/* ---- a number, and zeros ------------------------------------------------------------------------ */

/* How an entry a differs from n: it is right, or n times the one number k; 0 where n is not; not 0 where n is.
 * Those too small to tell right from k n are EITHER. */
enum { EITHER, RIGHT, SCALED, MISSING, EXTRA, OTHER, CLASSES };

typedef struct classes {
    double k;
    size_t count[CLASSES];
} classes;

static int class_of(const gra_wrong *w, double k, size_t e)
{
    const double a = w->a[e], n = w->n[e];
    const bool nothing = fabs(a) <= 1e-14 * w->largest;         /* not even a small entry */
    if (gra_none(w, n) || nothing)
        return gra_fit(w, a, n) ? EITHER : nothing ? MISSING : EXTRA;
    if (gra_fit(w, a, n))
        return gra_fit(w, a, k * n) ? EITHER : RIGHT;
    return gra_fit(w, a, k * n) ? SCALED : OTHER;
}

/* Marks the entries of this class, and of the other one. */
static classes classify(gra_wrong *w)
{
    classes c = { .k = (double)NAN };                   /* with which what is scaled is OTHER */
    double largest = 0;
    for (size_t i = 0; i < w->entries; i++) {
        const size_t e = w->entry[i];
        if (class_of(w, (double)NAN, e) == OTHER && fabs(w->n[e]) > largest) {
            largest = fabs(w->n[e]);
            c.k = w->a[e] / w->n[e];
        }
    }
    for (size_t i = 0; i < w->entries; i++)
        c.count[class_of(w, c.k, w->entry[i])]++;
    return c;
}

static void mark(gra_wrong *w, double k, int which, int or_else)
{
    for (size_t i = 0; i < w->entries; i++) {
        const int class = class_of(w, k, w->entry[i]);
        w->mark[w->entry[i]] = class == EITHER ? GRA_EITHER : class == which || class == or_else;
    }
}

/* Are all right entries one number n? */
static bool one_number(const gra_wrong *w, double *n)
{
    *n = 0;
    for (size_t i = 0; i < w->entries; i++) {
        const double v = w->n[w->entry[i]];
        if (!gra_none(w, v) && *n != 0 && !gra_fit(w, v, *n))
            return false;
        *n = gra_none(w, v) ? *n : v;
    }
    return true;
}

void gra_put_factor(gra_check_line *s, const gra_wrong *w, double k)
{
    double n;
    if (k < 0)
        gra_check_put(s, "the sign is flipped%s", gra_equal(k, -1) ? "" : ", and ");
    if (gra_equal(fabs(k), 1))
        return;
    if (w->rows > 1 && !w->part && one_number(w, &n) && !gra_equal(fabs(n), 1)) {
        gra_check_put(s, "dy is multiplied by %.6g where %.6g is right: a constant factor of %.6g", k * n, n,
                      fabs(k));
        return;
    }
    gra_check_put(s, "a constant factor of ");
    gra_put_number(s, w, fabs(k));
}

/* One number is k times another for some k, so a single one proves only a factor with a name. */
static bool constant_factor(gra_wrong *w, const classes *c)
{
    gra_check_line s = { .at = 0 };
    gra_put_factor(&s, w, c->k);
    if (!c->count[SCALED] || (c->count[SCALED] < 2 && !gra_equal(c->k, -1) && !strchr(s.s, ':')))
        return false;
    gra_fits(w, "%s", s.s);
    return true;
}

/* Does what is too much come from outputs that depend on nothing? Then a mask is wrong; else values went to
 * the wrong places. */
static bool another_mask(gra_wrong *w, const classes *c)
{
    for (size_t i = 0; i < w->entries; i++) {
        const size_t e = w->entry[i], row = e - e % w->cols;
        for (size_t at = row; class_of(w, c->k, e) == EXTRA && at < row + w->cols; at++)
            if (!gra_none(w, w->n[at]))
                return false;
    }
    gra_fits(w, c->count[RIGHT] + c->count[SCALED]
                ? "zero where it should not be, and not zero where it should: the mask is not that of the "
                  "forward"
                : "zero exactly where it should not be: the mask is the wrong way round");
    return true;
}

/* Nothing arrives where it should, or something where it should not; `rest` is said of the others. */
static void tell_places(gra_wrong *w, bool missing, const char *rest)
{
    gra_check_line s = { .at = 0 };
    gra_put_places(&s, w);
    if (missing)
        gra_fits(w, "nothing arrives %s%s; %s", s.s, w->overwrites ? ": each overwrites the one before" :
                 strstr(s.s, "except from") ? ": what comes from each is to be added (+=)" : "", rest);
    else
        gra_fits(w, "the backward gives a gradient %s, but there the output does not depend on %.60s: a mask "
                 "is forgotten, or a sum runs too far or is not begun anew; %s", s.s, w->x->name, rest);
}

bool gra_factor(gra_wrong *w)
{
    const classes c = classify(w);
    const size_t *n = c.count, both = n[RIGHT] + n[SCALED];
    gra_check_line rest = { .at = 0 };
    if (n[OTHER] || (n[SCALED] && n[RIGHT]))
        return false;
    if (n[MISSING] && n[EXTRA])
        return another_mask(w, &c);
    if (!n[MISSING] && !n[EXTRA])
        return constant_factor(w, &c);
    if (!both && n[EXTRA])
        gra_fits(w, "it should be zero: the loss does not depend on %.60s", w->x->name);
    else if (!both && w->check->constant >= 0)
        gra_fits(w, "%.60s gets a gradient only where %.60s has one too: test each gradient by itself, before "
                 "its own lines", w->x->name, w->check->tensor[w->check->constant].name);
    else if (!both)
        gra_fits(w, "all zero: the backward adds nothing here");
    if (!both || n[SCALED] == 1)                        /* one proves no factor */
        return !both;
    gra_check_put(&rest, n[RIGHT] ? "it is right elsewhere" : "elsewhere: ");
    if (!n[RIGHT])
        gra_put_factor(&rest, w, c.k);
    if (!n[RIGHT] && !gra_equal(c.k, -1) && !strchr(rest.s + strlen("elsewhere: "), ':'))
        rest = (gra_check_line){ .s = "it is wrong elsewhere, too" };
    mark(w, c.k, MISSING, EXTRA);
    tell_places(w, n[MISSING] > 0, rest.s);
    return true;
}

/* a = k n in some entries, a = n in the others. */
bool gra_partial_factor(gra_wrong *w)
{
    const classes c = classify(w);
    gra_check_line factor = { .at = 0 }, place = { .at = 0 };
    if (c.count[OTHER] || c.count[MISSING] || c.count[EXTRA] || c.count[SCALED] < 2)
        return false;
    mark(w, c.k, SCALED, SCALED);
    gra_put_factor(&factor, w, c.k);
    gra_put_places(&place, w);
    gra_fits(w, "%s: %s; it is right elsewhere", place.s, factor.s);
    return true;
}

/* ---- a number of its own for each row, or each element ------------------------------------------ */

/* Does what each dy gives sum to 1, as in a softmax, if it is right? */
static bool sums_to_1(const gra_wrong *w)
{
    double sum = 0;
    for (size_t e = 0; e < w->size; e++) {
        sum = w->n[e] + (e % w->cols ? sum : 0);
        if (e % w->cols == w->cols - 1 && !gra_fit(w, sum, 1))
            return false;
    }
    return true;
}

/* First those of rows, of which there are fewer. */
bool gra_own_factors(gra_wrong *w)
{
    for (int of_elements = 0; of_elements < 2; of_elements++)
        for (gra_division v = { 0 }; gra_next_division(w, &v);) {
            gra_check_line some = { .at = 0 }, whose = { .at = 0 };
            int used = 0;
            if ((v.parts == w->rows || v.parts == w->cols) != of_elements || !gra_is_list(&v) ||
                !gra_multiples(w, &v, NULL, w->scratch))
                continue;
            for (size_t p = 0; p < v.parts; p++)
                if (w->scratch[p] != 0 && used++ < 3)
                    gra_check_put(&some, "%s%.4g", used > 1 ? ", " : "", w->scratch[p]);
            if (used < 2)
                continue;
            gra_put_parts(&whose, w, &v);
            gra_fits(w, "a factor of its own for each %s (%s, ...): %s is missing, or taken from elsewhere",
                     whose.s, some.s, sums_to_1(w)
                     ? "the division by a sum, so that what one dy gives sums to 1,"
                     : "what belongs to it (1/std, 1/sum, a weight ...)");
            return true;
        }
    return false;
}

/* ---- a factor p where q is expected -------------------------------------------------------------- */

static void tell_factors(gra_wrong *w, gra_term p, gra_term q, double k)
{
    gra_check_line has = { .at = 0 }, expected = { .at = 0 }, more = { .at = 0 };
    gra_put_term(&has, w, p, w->probe[0]);
    gra_put_term(&expected, w, q, w->probe[0]);
    if (!gra_elementwise(w)) {
        gra_check_put(&more, ", in ");
        gra_put_entry(&more, w, w->probe[0]);
    }
    if (gra_is_one(q))
        gra_check_put(&more, "; or a division by it is missing");
    else if (gra_is_one(p))
        gra_check_put(&more, "; or a division by it is superfluous");
    if (!gra_equal(k, 1)) {
        gra_check_put(&more, "; and ");
        gra_put_factor(&more, w, k);
    }
    if (gra_is_one(q))
        gra_fits(w, "a factor too many: %s%s", has.s, more.s);
    else if (gra_is_one(p))
        gra_fits(w, "a factor is missing: %s%s", expected.s, more.s);
    else
        gra_fits(w, "the wrong factor: the backward has %s where %s is expected%s", has.s, expected.s,
                 more.s);
}

/* a is k p, and n is k q: the formula of the backward, and the right one. */
bool gra_formula(gra_wrong *w)
{
    gra_term p, q;
    double k, right;
    if (w->entries < 6 || !gra_find_term(w, w->n, &q, &right) || !gra_find_term(w, w->a, &p, &k) ||
        !gra_equal(fabs(k), fabs(right)))
        return false;
    tell_factors(w, p, q, k / right);
    return true;
}

/* a is n p / q. Two values need one number more to prove them than one, and so does a number k. */
bool gra_quotient(gra_wrong *w)
{
    const size_t distinct = gra_distinct(w, true);
    for (int any = 0; any < 2; any++) {
        gra_pair r = { .form = GRA_QUOTIENT, .any_number = any };
        if (w->entries < (any ? 6 : 4) || distinct < (size_t)(2 + any) || !gra_find_pair(w, &r) ||
            (!gra_is_one(r.p) && !gra_is_one(r.q) && distinct < (size_t)(3 + any)))
            continue;
        tell_factors(w, r.p, r.q, r.k);
        return true;
    }
    return false;
}

/* a is such a value, and n is not known. */
bool gra_instead(gra_wrong *w)
{
    gra_term t;
    double k;
    gra_check_line what = { .at = 0 }, at = { .at = 0 };
    const size_t e = w->probe[0];
    if (w->entries < 6 || !gra_find_term(w, w->a, &t, &k))
        return false;
    gra_put_term(&what, w, t, e);
    gra_put_entry(&at, w, e);
    if (gra_is_one(t))
        gra_fits(w, "dy is multiplied by %.6g everywhere: the local derivative, or a factor of it, is "
                 "forgotten", k);
    else
        gra_fits(w, "the wrong factor: dy is multiplied by %s where something else is expected, in %s: got "
                 "%.6g, expected %.6g", what.s, at.s, w->a[e], w->n[e]);
    return true;
}
