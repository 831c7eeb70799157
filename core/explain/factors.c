/* factors: the backward's column a is the right column n times a factor: a number, which is 0 where no
 * gradient arrives; a number for each row; or a factor p where q is expected. */
#include "explaining.h"

/* ---- a number, and zeros ------------------------------------------------------------------------ */

/* How an entry a differs from n: a is right; a is n times a single number k; a is 0 but n is not; or n is 0
 * but a is not. Entries too small to distinguish n from k n are EITHER. */
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

static classes classify(const gra_wrong *w)
{
    classes c = { .k = (double)NAN };                   /* with this k a scaled entry is OTHER */
    double largest = 0;
    for (size_t i = 0, e; gra_each(w, &i, &e);) {
        if (fabs(w->n[e]) > largest && class_of(w, (double)NAN, e) == OTHER) {
            largest = fabs(w->n[e]);
            c.k = w->a[e] / w->n[e];
        }
    }
    for (size_t i = 0; i < w->entries; i++)
        c.count[class_of(w, c.k, w->entry[i])]++;
    return c;
}

/* Names the set of the entries whose class is `which` or `or_else`. */
static gra_line places(gra_wrong *w, double k, int which, int or_else)
{
    for (size_t i = 0; i < w->entries; i++) {
        const int class = class_of(w, k, w->entry[i]);
        w->mark[w->entry[i]] = class == EITHER ? GRA_EITHER : class == which || class == or_else;
    }
    return gra_places(w);
}

static void put_factor(gra_line *s, const gra_wrong *w, double k)
{
    if (k < 0)
        gra_line_put(s, "the sign is flipped%s", gra_equal(k, -1) ? "" : ", and ");
    if (gra_equal(fabs(k), 1))
        return;
    gra_line_put(s, "a constant factor of ");
    gra_put_number(s, w, fabs(k));
}

/* A gradient is missing somewhere, or superfluous somewhere. */
static void tell_places(gra_wrong *w, const classes *c)
{
    const gra_line s = places(w, c->k, MISSING, EXTRA);
    const char *const rest = c->count[RIGHT] ? "is right elsewhere" : "is wrong elsewhere too";
    if (c->count[MISSING])
        gra_fits(w, "no gradient arrives %s%s; the gradient %s", s.s, w->overwrites
                 ? ": each overwrites the one before"
                 : strstr(s.s, "except from") ? ": add the contributions of all (+=)" : "", rest);
    else
        gra_fits(w, "the backward gives a gradient %s, but there the output does not depend on %.60s: a mask "
                 "is missing, or a sum runs too far or does not start again at 0; the gradient %s", s.s,
                 w->x->name, rest);
}

/* a = k n, in all entries or in some. Any number is k times any other for some k, so a single entry proves
 * only a factor with a name. */
bool gra_factor(gra_wrong *w)
{
    const classes c = classify(w);
    const size_t *n = c.count;
    gra_line s = { .at = 0 };
    const bool zeros = n[MISSING] || n[EXTRA];
    if (n[OTHER] || (n[SCALED] && n[RIGHT] && zeros) || (n[MISSING] && n[EXTRA]))
        return false;
    put_factor(&s, w, c.k);
    if (n[SCALED] == 1 && (zeros || n[RIGHT] || (!gra_equal(c.k, -1) && !strchr(s.s, ':'))))
        return false;
    if (!zeros && n[RIGHT])
        gra_fits(w, "%s: %s; the gradient is right elsewhere", places(w, c.k, SCALED, SCALED).s, s.s);
    else if (!zeros)
        gra_fits(w, "%s", s.s);
    else if (n[RIGHT] || n[SCALED])
        tell_places(w, &c);
    else if (n[EXTRA])
        gra_fits(w, "the gradient should be zero: the loss does not depend on %.60s", w->x->name);
    else if (w->check->constant >= 0)
        gra_fits(w, "%.60s gets a gradient only where %.60s has one too: test each gradient in an if of its "
                 "own", w->x->name, w->check->tensor[w->check->constant].name);
    else
        gra_fits(w, "all zero: the backward adds nothing here");
    return true;
}

/* Some entries are wrongly 0, and others wrongly not 0. Do the superfluous entries come from outputs that
 * depend on nothing? If not, values went to the wrong places. */
bool gra_another_mask(gra_wrong *w)
{
    const classes c = classify(w);
    if (!c.count[MISSING] || !c.count[EXTRA] || c.count[OTHER] || (c.count[SCALED] && c.count[RIGHT]))
        return false;
    for (size_t i = 0, e; gra_each(w, &i, &e);) {
        const size_t row = e - e % w->cols;
        for (size_t at = row; class_of(w, c.k, e) == EXTRA && at < row + w->cols; at++)
            if (!gra_none(w, w->n[at]))
                return false;
    }
    gra_fits(w, c.count[RIGHT] + c.count[SCALED]
                ? "the gradient is zero where it should not be, and the reverse: use the forward's mask"
                : "the gradient is zero exactly where it should not be: the mask is the wrong way round");
    return true;
}

/* ---- a separate number for each row, or each element -------------------------------------------- */

bool gra_own_factors(gra_wrong *w)
{
    gra_division v;
    gra_line some = { .at = 0 };
    int used = 0;
    if (!gra_find_own(w, NULL, false, &v) && !gra_find_own(w, NULL, true, &v))
        return false;
    for (size_t p = 0; p < v.parts; p++)
        if (w->scratch[p] != 0 && used++ < 3)
            gra_line_put(&some, "%s%.4g", used > 1 ? ", " : "", w->scratch[p]);
    gra_fits(w, "a separate factor for each %s (%s, ...): a number that differs between them (1/std, "
             "1/sum, a weight ...) is missing, or taken from the wrong place", gra_parts(w, v.way).s, some.s);
    return true;
}

/* ---- a factor p where q is expected -------------------------------------------------------------- */

static void tell_factors(gra_wrong *w, gra_term p, gra_term q, double k)
{
    const gra_line has = gra_term_at(w, p, w->probe[0]), expected = gra_term_at(w, q, w->probe[0]);
    gra_line more = { .at = 0 };
    if (!gra_elementwise(w))
        gra_line_put(&more, ", in %s", gra_entry(w, w->probe[0]).s);
    if (!q.c->data || !p.c->data)
        gra_line_put(&more, "; or a division by it is %s", q.c->data ? "superfluous" : "missing");
    gra_line_put(&more, gra_equal(k, 1) ? "" : "; and ");
    put_factor(&more, w, k);
    if (!q.c->data)
        gra_fits(w, "a factor too many: %s%s", has.s, more.s);
    else if (!p.c->data)
        gra_fits(w, "a factor is missing: %s%s", expected.s, more.s);
    else
        gra_fits(w, "the wrong factor: the backward has %s where %s is expected%s", has.s, expected.s,
                 more.s);
}

/* a is k p and n is k q: the backward's formula and the right formula. */
bool gra_formula(gra_wrong *w)
{
    gra_pair has = { .form = GRA_ALONE, .any_number = true, .values = w->a }, right = has;
    right.values = w->n;
    if (w->entries < 6 || !gra_find_pair(w, &right) || !gra_find_pair(w, &has) ||
        !gra_equal(fabs(has.k), fabs(right.k)))
        return false;
    tell_factors(w, has.p, right.p, has.k / right.k);
    return true;
}

/* a is n p / q. As proof, two columns need one more number than one column, and so does a number k. */
bool gra_quotient(gra_wrong *w)
{
    const size_t distinct = gra_distinct(w, true);
    for (int any = 0; any < 2; any++) {
        gra_pair r = { .form = GRA_QUOTIENT, .any_number = any };
        if (w->entries < (any ? 6 : 4) || distinct < (size_t)(2 + any) || !gra_find_pair(w, &r) ||
            (r.p.c->data && r.q.c->data && distinct < (size_t)(3 + any)))
            continue;
        tell_factors(w, r.p, r.q, r.k);
        return true;
    }
    return false;
}

/* a is k p; the formula of n is not found. */
bool gra_instead(gra_wrong *w)
{
    gra_pair r = { .form = GRA_ALONE, .any_number = true, .values = w->a };
    const size_t e = w->probe[0];
    if (w->entries < 6 || !gra_find_pair(w, &r))
        return false;
    if (!r.p.c->data)
        gra_fits(w, "dy is multiplied by %.6g everywhere: the local derivative, or a factor of it, is "
                 "missing", r.k);
    else
        gra_fits(w, "the wrong factor: dy is multiplied by %s where something else is expected, in %s: got "
                 "%.6g, expected %.6g", gra_term_at(w, r.p, e).s, gra_entry(w, e).s, w->a[e], w->n[e]);
    return true;
}
