/* factors: explanations in which the analytic gradient is the numeric one times something: a number, 0 in
 * some places, a number for each row; and explanations of a part of it. */
#include "explaining.h"

/* ---- one factor, and zeros ---------------------------------------------------------------------- */

/* How an entry a differs from n: it is right, or n times the one factor; 0 where n is not; not 0 where n
 * is. */
enum { BOTH_ZERO, RIGHT, SCALED, MISSING, EXTRA, OTHER, CLASSES };

typedef struct classes {
    double k;                           /* the factor */
    size_t count[CLASSES];             /* entries; those too small to tell right from scaled are in neither */
} classes;

static int class_of(const gra_wrong *w, double k, size_t e)
{
    const double a = w->a[e], n = w->n[e];
    if (gra_none(w, n))
        return gra_fit(w, a, n) ? BOTH_ZERO : EXTRA;
    if (gra_nothing(w, a))
        return gra_fit(w, a, n) ? BOTH_ZERO : MISSING;
    if (gra_fit(w, a, n))
        return gra_fit(w, a, k * n) ? BOTH_ZERO : RIGHT;
    return gra_fit(w, a, k * n) ? SCALED : OTHER;
}

static classes classify(const gra_wrong *w)
{
    classes c = { .k = (double)NAN };                   /* with which what is scaled is OTHER */
    double largest = 0;
    for (size_t e = 0; e < w->size; e++)
        if (class_of(w, (double)NAN, e) == OTHER && fabs(w->n[e]) > largest) {
            largest = fabs(w->n[e]);
            c.k = w->a[e] / w->n[e];
        }
    for (size_t e = 0; e < w->size; e++)
        c.count[class_of(w, c.k, e)]++;
    return c;
}

/* The set of entries of this class, among those that are not zero in both. */
static void choose(gra_wrong *w, double k, int which, int or_else)
{
    for (size_t e = 0; e < w->size; e++) {
        const int class = class_of(w, k, e);
        w->of[e] = class != BOTH_ZERO;
        w->in[e] = class == which || class == or_else;
    }
}

/* Are the right entries, but for zeros, all one number n? */
static bool one_number(const gra_wrong *w, double *n)
{
    *n = 0;
    for (size_t e = 0; e < w->size; e++)
        if (!gra_none(w, w->n[e])) {
            if (*n != 0 && !gra_fit(w, w->n[e], *n))
                return false;
            *n = w->n[e];
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

/* a = k n. One number is k times another for some k, so a single one proves only a factor with a name. */
bool gra_constant_factor(gra_wrong *w)
{
    const classes c = classify(w);
    gra_check_line s = { .at = 0 };
    gra_put_factor(&s, w, c.k);
    if (!c.count[SCALED] || c.count[RIGHT] || c.count[OTHER] || c.count[MISSING] || c.count[EXTRA] ||
        (c.count[SCALED] < 2 && !gra_equal(c.k, -1) && !strchr(s.s, ':')))
        return false;
    gra_fits(w, "%s", s.s);
    return true;
}

/* Does what is too much come from outputs that depend on nothing? Then a mask is wrong; else values went to
 * the wrong places. */
bool gra_another_mask(gra_wrong *w)
{
    const classes c = classify(w);
    if (!c.count[MISSING] || !c.count[EXTRA] || c.count[OTHER] || (c.count[SCALED] && c.count[RIGHT]))
        return false;
    for (size_t e = 0; e < w->size; e++) {
        if (class_of(w, c.k, e) != EXTRA)
            continue;
        for (size_t i = e / w->cols * w->cols; i < (e / w->cols + 1) * w->cols; i++)
            if (!gra_none(w, w->n[i]))
                return false;
    }
    gra_fits(w, c.count[RIGHT] + c.count[SCALED]
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
                 strstr(s.s, "from all but") || strstr(s.s, "except from") ?
                 ": what comes from each is to be added (+=)" : "", rest);
    else
        gra_fits(w, "the backward gives a gradient %s, but there the output does not depend on %s: a mask is "
                 "forgotten, or a sum runs too far or is not begun anew; %s", s.s, w->x->name, rest);
}

bool gra_one_factor(gra_wrong *w)
{
    const classes c = classify(w);
    const size_t *n = c.count, both = n[RIGHT] + n[SCALED];
    gra_check_line rest = { .at = 0 };
    if (n[OTHER] || (n[SCALED] && n[RIGHT]) || (n[MISSING] && n[EXTRA]))
        return false;
    if (!n[MISSING] && !n[EXTRA])
        return gra_constant_factor(w);
    if (!both && !n[EXTRA]) {
        if (w->check->constant >= 0)
            gra_fits(w, "%s gets a gradient only where %s has one too: test each gradient by itself, before "
                     "its own lines", w->x->name, w->check->tensor[w->check->constant].name);
        else
            gra_fits(w, "all zero: the backward adds nothing here");
        return true;
    }
    if (!both && !n[MISSING]) {
        gra_fits(w, "it should be zero: the loss does not depend on %s", w->x->name);
        return true;
    }
    if (n[SCALED] == 1)                                 /* which proves no factor */
        return false;
    gra_check_put(&rest, n[RIGHT] ? "it is right elsewhere" : "elsewhere: ");
    if (!n[RIGHT])
        gra_put_factor(&rest, w, c.k);
    if (!n[RIGHT] && !gra_equal(c.k, -1) && !strchr(rest.s + strlen("elsewhere: "), ':'))
        rest = (gra_check_line){ .s = "it is wrong elsewhere, too" };
    choose(w, c.k, MISSING, EXTRA);
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
    choose(w, c.k, SCALED, SCALED);
    gra_put_factor(&factor, w, c.k);
    gra_put_places(&place, w);
    gra_fits(w, "%s: %s; it is right elsewhere", place.s, factor.s);
    return true;
}

/* ---- a factor of its own for each row, or each element ------------------------------------------ */

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

/* The factors k of v's parts are the elements of an input, or 1 over them. */
static bool factors_of_input(gra_wrong *w, const gra_division *v, const char *whose)
{
    for (int i = 0; i < 2 * w->check->count; i++) {
        const gra_checked *const x = &w->check->tensor[i / 2];
        bool fit = x->size == v->parts && gra_by_index(v);
        for (size_t p = 0; fit && p < v->parts; p++)
            fit = w->scratch[p] == 0 || gra_equal(w->scratch[p], pow((double)x->data[p], i % 2 ? -1 : 1));
        if (!fit)
            continue;
        gra_fits(w, "a factor %s: %s, by the %s; or a division by it is %s",
                 i % 2 ? "is missing" : "too many", x->name, whose, i % 2 ? "superfluous" : "missing");
        return true;
    }
    return false;
}

/* First those of rows, of which there are fewer. */
bool gra_own_factors(gra_wrong *w)
{
    for (int of_elements = 0; of_elements < 2; of_elements++)
        for (gra_division v = { 0 }; gra_next_division(w, &v);) {
            gra_check_line some = { .at = 0 }, whose = { .at = 0 };
            int used = 0;
            if ((v.parts == (gra_of_dy(&v) ? w->rows : w->cols)) != of_elements || !gra_has_list(&v) ||
                !gra_multiples(w, &v, w->a, w->n, 2, w->scratch))
                continue;
            for (size_t p = 0; p < v.parts; p++)
                if (w->scratch[p] != 0 && used++ < 3)
                    gra_check_put(&some, "%s%.4g", used > 1 ? ", " : "", w->scratch[p]);
            gra_put_parts(&whose, w, &v);
            if (used < 2)
                continue;
            if (!factors_of_input(w, &v, whose.s))
                gra_fits(w, "a factor of its own for each %s (%s, ...): %s is missing, or taken from "
                         "elsewhere", whose.s, some.s, sums_to_1(w)
                         ? "the division by a sum, so that what one dy gives sums to 1,"
                         : "what belongs to it (1/std, 1/sum, a weight ...)");
            return true;
        }
    return false;
}

/* ---- a part ------------------------------------------------------------------------------------- */

bool gra_explain_part(gra_wrong *w, const char *part, gra_explanation *const *tries, size_t count)
{
    double off = 0;
    gra_wrong sub = *w;
    char whole[512];
    snprintf(whole, sizeof whole, "%s%s", w->part ? w->part : "", part);
    sub.part = whole;
    sub.a = w->part_a;
    sub.n = w->part_n;
    sub.part_a = w->part_n + w->size;
    sub.part_n = sub.part_a + w->size;
    for (size_t e = 0; e < w->size; e++)
        off = fmax(off, fabs(sub.a[e] - sub.n[e]));
    sub.near = fmin(off / 100, sub.near);
    for (size_t i = 0; sub.fits == w->fits && i < count; i++)
        tries[i](&sub);
    const bool fit = sub.fits > w->fits;
    w->fits = sub.fits;
    return fit;
}

/* The entries of w->in only; the rest is 0. */
static bool explain_set(gra_wrong *w, const char *part, gra_explanation *const *tries, size_t count)
{
    for (size_t e = 0; e < w->size; e++) {
        w->part_a[e] = w->in[e] ? w->a[e] : 0;
        w->part_n[e] = w->in[e] ? w->n[e] : 0;
    }
    return gra_explain_part(w, part, tries, count);
}

/* Softmax and norms have a term with a sum over dy, which is all that there is beside the diagonal. If
 * something is wrong there, what? If nothing is, what is wrong on the diagonal? */
bool gra_beside_diagonal(gra_wrong *w)
{
    static gra_explanation *const tries[] = { gra_own_terms, gra_one_factor, gra_quotient, gra_wrong_factor,
                                              gra_own_factors };        /* the first: of the diagonal only */
    size_t beside = 0, wrong = 0;
    for (size_t e = 0; e < w->size; e++)
        if (e / w->cols != e % w->cols) {
            beside += !gra_none(w, w->n[e]);
            wrong += !gra_fit(w, w->a[e], w->n[e]);
        }
    if (beside < 2 || !w->whole || !gra_same_shape(w->x->shape, w->check->shape))
        return false;
    for (size_t e = 0; e < w->size; e++)
        w->in[e] = (e / w->cols == e % w->cols) == (wrong == 0);
    return explain_set(w, wrong ? "beside the diagonal, in what dy_j gives to other places (the term with a "
                                  "sum): "
                                : "only on the diagonal, in what dy_i gives to place i itself: ",
                       tries + (wrong > 0), sizeof tries / sizeof *tries - (wrong > 0));
}

/* Where x > 0, or in some columns of x, all is right; what is wrong in the others? */
bool gra_other_part(gra_wrong *w)
{
    static gra_explanation *const tries[] = { gra_derivative, gra_quotient, gra_wrong_factor, gra_instead };
    gra_check_line s = { .at = 0 };
    if (w->part || !gra_wrong_set(w) || !gra_put_set(&s, w))
        return false;
    gra_check_put(&s, " only: ");
    return explain_set(w, s.s, tries, sizeof tries / sizeof *tries);
}
