/* constants: explanations in which the right Jacobian has one factor too many or too few, and what that constant
 * may be: a size, a root of one, a fraction of two. Several names may fit; then a test of another shape tells. */
#include "explaining.h"

/* ---- names ------------------------------------------------------------------------------------- */

/* Of all rows of x (over its dimensions up to d; elements, where that is the last), how many have a gradient? */
static size_t counted(const gra_wrong *w, int d, size_t *rows)
{
    size_t length = 1, count = 0;
    for (int i = d + 1; i < w->x->shape.ndim; i++)
        length *= (size_t)w->x->shape.dim[i];
    *rows = w->cols / length;
    for (size_t r = 0; r < *rows; r++) {
        bool used = false;
        for (size_t e = 0; e < w->size; e++)
            used |= e % w->cols / length == r && !gra_none(w, w->n[e]);
        count += used;
    }
    return count;
}

/* "the size of dimension 1 of x and of dimension 0 of w": what has `size` indices; `most` of them are told. False:
 * nothing has. */
static bool put_sizes(gra_check_line *s, const gra_wrong *w, int size, int most, bool last)
{
    const gra_checking *k = w->check;
    int found = 0;
    for (int i = -2; i < k->count; i++) {               /* x, the output, the others */
        const gra_checked *x = i == -2 ? w->x : i >= 0 ? &k->tensor[i] : NULL;
        const int ndim = x ? x->shape.ndim : k->shape.ndim;
        for (int d = last ? ndim < 2 ? ndim : ndim - 1 : 0; (i < 0 || x != w->x) && d < ndim; d++)
            if ((x ? x->shape.dim[d] : k->shape.dim[d]) == size && found++ < most)
                gra_check_put(s, "%s of dimension %d of %s", found > 1 ? " and" : "the size", d,
                              x ? x->name : "the output");
    }
    return found > 0;
}

/* Of elements in all, or of rows that a loss depends on. */
static bool put_count(gra_check_line *s, const gra_wrong *w, size_t size)
{
    if (size == w->check->size || size == w->x->size) {
        gra_check_put(s, "the size of all of %s", size == w->check->size ? "the output" : w->x->name);
        return true;
    }
    for (int d = 0; !gra_whole(w) && d < w->x->shape.ndim - 1; d++) {
        size_t rows;
        if (counted(w, d, &rows) == size) {
            gra_check_put(s, "how many rows of %s the loss depends on", w->x->name);
            return true;
        }
    }
    return false;
}

typedef struct names {
    gra_check_line *s;
    int             count;
} names;

static bool another(names *n)
{
    if (n->count >= 2)
        return false;
    gra_check_put(n->s, n->count++ ? "; or " : ": ");
    return true;
}

/* A loss over rows, of which some have no gradient: one number of rows over the other. */
static void put_rows(names *list, const gra_wrong *w, double v)
{
    for (int d = 0; !gra_whole(w) && d < w->x->shape.ndim && !list->count; d++) {
        const char *const what = d < w->x->shape.ndim - 1 ? "rows" : "elements";
        size_t rows;
        const size_t used = counted(w, d, &rows);
        const bool all = gra_equal(v, (double)used / (double)rows);
        if (used == rows || !used || (!all && !gra_equal(v, (double)rows / (double)used)) || !another(list))
            continue;
        gra_check_put(list->s, "%zu/%zu: %zu of %zu %s have a gradient: divided by %s", all ? used : rows,
                      all ? rows : used, used, rows, what, all ? "all " : "those that count and not by all ");
        gra_check_put(list->s, all ? "%s and not by those that count (ignore_index?)" : "%s", what);
    }
}

/* v as a function of a size n. */
typedef struct form {
    const char *before, *after;
    double      power;                  /* of n, or of n / (n - 1) */
} form;

static const form plain[] = { { "", "", 1 }, { "1/", "", -1 } };
static const form squares[] = { { "", "^2", 2 }, { "1/", "^2", -2 } };
static const form roots[] = { { "sqrt(", ")", 0.5 }, { "1/sqrt(", ")", -0.5 } };
static const form unbiased[] = {
    { "n / (n - 1) for n = ", "", 1 }, { "(n - 1) / n for n = ", "", -1 }, { "sqrt(n / (n - 1)) for n = ", "", 0.5 },
    { "sqrt((n - 1) / n) for n = ", "", -0.5 },
};

static void put_forms(names *list, const gra_wrong *w, double v, const form *of, size_t count, bool last)
{
    for (size_t f = 0; f < count; f++) {
        const double root = pow(v, 1 / of[f].power);    /* n, or n / (n - 1) */
        const double n = of == unbiased ? root / (root - 1) : root;
        const int size = n > 1.5 && n < 1e6 ? (int)(n + 0.5) : 0;
        const bool number = of == plain;
        gra_check_line sizes = { .at = 0 };
        if (size < 2 || !gra_equal(root, of == unbiased ? size / (size - 1.0) : size) ||
            !(put_sizes(&sizes, w, size, number ? 2 : 1, last) || (number && put_count(&sizes, w, (size_t)size))) ||
            !another(list))
            continue;
        if (of != plain || f)
            gra_check_put(list->s, "%s%d%s, and %d is ", of[f].before, size, of[f].after, size);
        gra_check_put(list->s, "%s%s", sizes.s, number ? " (mean or sum?)" : "");
    }
}

#define FORMS(a) a, sizeof(a) / sizeof *(a)

/* The square root of one size over another: sqrt(d) where another's is wanted. One is the size of a last
 * dimension, the width; the other is such a size, or divides it: the width of a head. */
static void put_root_of_two(names *list, const gra_wrong *w, double v)
{
    const double nearest = floor(fmax(v, 1 / v) + 0.5);
    for (int b = 2; b <= 64 && !gra_equal(fmax(v, 1 / v), nearest); b++) {
        const int a = v < 64 ? (int)(v * v * b + 0.5) : 0, wide = a > b ? a : b, narrow = a > b ? b : a;
        gra_check_line size = { .at = 0 };
        if (narrow < 2 || wide > 64 || !gra_equal(v, sqrt((double)a / b)) ||
            !put_sizes(&size, w, wide, 1, true) || wide % narrow || !another(list))
            continue;
        gra_check_put(list->s, "sqrt(%d)/sqrt(%d), and %d is %s (the width of one head, or of all?)", a, b, wide, size.s);
        return;
    }
}

static void put_known(names *list, double v)
{
    static const struct { double is; const char *name; } known[] = {
        { 3.141592653589793, "pi" }, { 1.772453850905516, "sqrt(pi)" }, { 2.506628274631001, "sqrt(2 pi)" },
        { 1.2533141373155, "sqrt(pi / 2)" }, { 0.797884560802865, "sqrt(2 / pi)" },
        { 1.4142135623730951, "sqrt(2)" }, { 0.6931471805599453, "log(2)" },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (gra_equal(v, known[i].is) && another(list))
            gra_check_put(list->s, "%s", known[i].name);
        else if (gra_equal(v, 1 / known[i].is) && !strchr(known[i].name, '/') && another(list))
            gra_check_put(list->s, "1/%s", known[i].name);
}

/* a / b in lowest terms, and a size for both of them, or for one if there is one. */
static void put_fraction(names *list, const gra_wrong *w, double v)
{
    for (int sized = 2; sized >= 0; sized--)
        for (int b = 2; b <= 64; b++) {
            const int a = (int)(v * b + 0.5);
            gra_check_line top = { .at = 0 }, bottom = { .at = 0 };
            if (a < 1 || (a > 64 && b > 12) || (b > 12 && !sized) || !gra_equal(v, (double)a / b))
                continue;
            const bool of_a = a > 1 && (put_sizes(&top, w, a, 1, false) || put_count(&top, w, (size_t)a));
            const bool of_b = put_sizes(&bottom, w, b, 1, false) || put_count(&bottom, w, (size_t)b);
            if (of_a + of_b >= sized && another(list)) {
                gra_check_put(list->s, "%d/%d", a, b);
                if (of_a)
                    gra_check_put(list->s, ", and %d is %s", a, top.s);
                if (of_b)
                    gra_check_put(list->s, ", %s%d is %s", of_a ? "" : "and ", b, bottom.s);
                return;
            }
            break;                                      /* the others are no lowest terms */
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

/* May the op hold a variance, for which n - 1 may stand for n? A loss over rows does not, nor does a mean, of which all
 * gradients are one number. */
static bool may_be_unbiased(const gra_wrong *w)
{
    double n;
    return gra_whole(w) && !one_number(w, &n);
}

void gra_put_constant(gra_check_line *s, const gra_wrong *w, double k)
{
    const double v = fabs(k);
    names list = { .s = s };
    gra_check_put(s, "%.6g", k);
    if ((gra_equal(v, 2) || gra_equal(v, 0.5)) && another(&list))
        gra_check_put(s, v > 1 ? "counted twice, or a forgotten 1/2" : "a forgotten 2");
    put_rows(&list, w, v);
    put_forms(&list, w, v, FORMS(roots), true);
    put_forms(&list, w, v, FORMS(plain), false);
    if (!list.count)
        put_forms(&list, w, v, FORMS(squares), false);
    put_root_of_two(&list, w, v);
    if (w->check->size == 1 && !gra_equal(v, 1) && gra_equal(v, fabs((double)w->check->y[0])) && another(&list))
        gra_check_put(s, "the output itself");
    put_known(&list, v);
    if (!list.count && may_be_unbiased(w))
        put_forms(&list, w, v, FORMS(unbiased), false);
    if (!list.count)
        put_forms(&list, w, v, FORMS(roots), false);
    if (!list.count && !gra_equal(v, floor(v + 0.5)))
        put_fraction(&list, w, v);
}

/* ---- one factor for all ------------------------------------------------------------------------ */

static double least_squares(const gra_wrong *w, const bool *of)
{
    double an = 0, nn = 0;
    for (size_t e = 0; e < w->size; e++)
        if (!of || of[e]) {
            an += w->a[e] * w->n[e];
            nn += w->n[e] * w->n[e];
        }
    return nn > 0 ? an / nn : 0;
}

/* Dropout: some outputs depend on nothing, the others are x / (1 - p). Its p, or 0. */
static double dropped(const gra_wrong *w)
{
    double n, p;
    bool masked = false;
    if (!gra_whole(w) || w->part || w->rows != w->cols || !one_number(w, &n) || n < 1)
        return 0;
    p = 1 - 1 / n;
    for (size_t e = 0; e < w->size; e += w->cols + 1)
        masked |= gra_none(w, w->n[e]);
    return masked && fabs(100 * p - floor(100 * p + 0.5)) < 1e-3 ? p : 0;
}

static void put_dropout(gra_check_line *s, double v, double p)
{
    const struct { double is; const char *text; } known[] = {
        { 1, "1" }, { p, "p" }, { 1 - p, "1 - p" }, { 1 / p, "1/p" }, { 1 / (1 - p) / (1 - p), "1/(1 - p)^2" },
        { p / (1 - p), "p/(1 - p)" }, { (1 - p) * (1 - p), "(1 - p)^2" },
    };
    gra_check_put(s, "a constant factor: dy is multiplied by %.6g", v);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (i && gra_equal(v, known[i].is))
            gra_check_put(s, " = %s", known[i].text);
    gra_check_put(s, " where %.6g = 1/(1 - p) is right, with p = %.3g", 1 / (1 - p), p);
}

void gra_put_factor(gra_check_line *s, const gra_wrong *w, double k)
{
    const double p = dropped(w);
    double n;
    if (k < 0)
        gra_check_put(s, "the sign is flipped%s", gra_equal(k, -1) ? "" : ", and ");
    if (gra_equal(fabs(k), 1))
        return;
    if (p > 0) {
        put_dropout(s, fabs(k) / (1 - p), p);
        return;
    }
    gra_check_put(s, gra_equal(fabs(k), 2) || gra_equal(fabs(k), 0.5) ? "a factor of " : "a constant factor of ");
    gra_put_constant(s, w, fabs(k));
    if (gra_whole(w) && !w->part && one_number(w, &n) && !gra_equal(fabs(n), 1))
        gra_check_put(s, "; dy is multiplied by %.6g where %.6g is right", k * n, n);
}

/* a = k n. One number is k times another for some k, so one alone proves only the factors with a name. */
bool gra_constant_factor(gra_wrong *w)
{
    const double k = least_squares(w, NULL);
    size_t count = 0;
    for (size_t e = 0; e < w->size; e++) {
        if (!gra_fit(w, w->a[e], k * w->n[e]))
            return false;
        count += !gra_none(w, w->n[e]);
    }
    gra_check_line s = { .at = 0 };
    if (k == 0)
        return false;
    gra_put_constant(&s, w, fabs(k));
    if (count < 2 && !gra_equal(k, -1) && !strchr(s.s, ':'))
        return false;
    s.at = 0;
    gra_put_factor(&s, w, k);
    gra_fits(w, "%s", s.s);
    return true;
}

/* a = k n in some entries, a = n in the others, and the places have a name. */
bool gra_partial_factor(gra_wrong *w)
{
    size_t wrong = 0, right = 0;
    for (size_t e = 0; e < w->size; e++) {
        w->of[e] = !gra_none(w, w->n[e]) || !gra_none(w, w->a[e]);
        w->in[e] = !gra_fit(w, w->a[e], w->n[e]);
        wrong += w->in[e];
        right += w->of[e] && !w->in[e];
    }
    const double k = least_squares(w, w->in);
    for (size_t e = 0; e < w->size; e++)
        if (w->in[e] && !gra_fit(w, w->a[e], k * w->n[e]))
            return false;
    if (wrong < 2 || !right || k == 0)
        return false;
    gra_check_line factor = { .at = 0 }, place = { .at = 0 };
    gra_put_factor(&factor, w, k);
    if (!gra_put_where(&place, w))
        gra_check_put(&place, "in %zu of %zu entries", wrong, wrong + right);
    gra_fits(w, "%s: %s; it is right elsewhere", place.s, factor.s);
    return true;
}
