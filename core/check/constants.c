/* constants: explanations in which the right Jacobian has one factor too many or too few, and what that constant
 * may be: a size, a root of one, a fraction of two. Several names may fit; then a test of another shape tells. */
#include "explaining.h"

/* ---- names ------------------------------------------------------------------------------------- */

/* "the size of dimension 1 of x and of dimension 0 of w": what has `size` indices. False: nothing has. `counts`:
 * of elements in all, and of rows that are not zero, count too. */
static bool put_sizes(gra_check_line *s, const gra_wrong *w, int size, bool counts)
{
    const gra_checking *k = w->check;
    int found = 0;
    for (int i = -2; i < k->count; i++) {               /* x, the output, the others */
        const gra_checked *x = i == -2 ? w->x : i >= 0 ? &k->tensor[i] : NULL;
        for (int d = 0; (i < 0 || x != w->x) && d < (x ? x->shape.ndim : k->shape.ndim); d++)
            if ((x ? x->shape.dim[d] : k->shape.dim[d]) == size && found++ < 2)
                gra_check_put(s, "%s of dimension %d of %s", found > 1 ? " and" : "the size", d,
                              x ? x->name : "the output");
    }
    if (found || !counts)
        return found > 0;
    if (((size_t)size == k->size || (size_t)size == w->x->size)) {
        gra_check_put(s, "the size of all of %s", (size_t)size == k->size ? "the output" : w->x->name);
        return true;
    }
    for (int d = 0; d < w->x->shape.ndim && !found; d++) {    /* rows that an index of a target leaves out, say */
        int count = 0;
        for (int i = 0; i < w->x->shape.dim[d] && w->x->shape.dim[d] <= 64; i++) {
            bool used = false;
            for (size_t e = 0; e < w->size; e++)
                used |= !gra_none(w, w->n[e]) && (int)gra_index_along(w, false, d, e % w->cols) == i;
            count += used;
        }
        if (count == size && count < w->x->shape.dim[d] && found++ == 0)
            gra_check_put(s, "how many indices of dimension %d of %s the loss depends on", d, w->x->name);
    }
    return found > 0;
}

typedef struct names {
    gra_check_line *s;
    int             count;
} names;

static bool another(names *n)
{
    if (n->count++ >= 3)
        return false;
    gra_check_put(n->s, n->count > 1 ? "; or " : ": ");
    return true;
}

/* v as a function of a size n: those of these forms. */
static void put_size_forms(names *list, const gra_wrong *w, double v, size_t from, size_t to)
{
    static const struct { const char *before, *after; } text[] = {
        { "sqrt(", ")" }, { "1/sqrt(", ")" }, { "", "" }, { "1/", "" }, { "", "^2" }, { "1/", "^2" },
        { "n / (n - 1) for n = ", "" }, { "(n - 1) / n for n = ", "" }, { "sqrt(n / (n - 1)) for n = ", "" },
        { "sqrt((n - 1) / n) for n = ", "" },
    };
    for (size_t f = from; f < to; f++)
        for (int size = f < 6 ? 2 : 3; size <= 4096; size++) {
            const double n = size;
            const double is[] = { sqrt(n), 1 / sqrt(n), n, 1 / n, n * n, 1 / (n * n), n / (n - 1), (n - 1) / n,
                                  sqrt(n / (n - 1)), sqrt((n - 1) / n) };
            gra_check_line sizes = { .at = 0 };
            if (!gra_equal(v, is[f]) || !put_sizes(&sizes, w, size, f == 2 || f == 3) || !another(list))
                continue;
            if (f != 2)
                gra_check_put(list->s, "%s%d%s, and %d is ", text[f].before, size, text[f].after, size);
            gra_check_put(list->s, "%s%s", sizes.s, f == 2 || f == 3 ? " (mean or sum?)" : "");
        }
}

/* The square root of one size over another: sqrt(d) where another's is wanted. */
static void put_root_of_two(names *list, const gra_wrong *w, double v)
{
    for (int b = 2; b <= 64; b++) {
        const int a = (int)(v * v * b + 0.5);
        gra_check_line first = { .at = 0 }, second = { .at = 0 };
        if (a < 2 || a > 64 || a == b || !gra_equal(v, sqrt((double)a / b)) || !put_sizes(&first, w, a, false) ||
            !put_sizes(&second, w, b, false) || !another(list))
            continue;
        gra_check_put(list->s, "sqrt(%d)/sqrt(%d), and %d is %s, %d %s", a, b, a, first.s, b, second.s);
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

/* a / b, and a size for one of them at least if there is one. */
static void put_fraction(names *list, const gra_wrong *w, double v)
{
    for (int sized = 1; sized >= 0; sized--)
        for (int b = 2; b <= 64; b++) {
            const int a = (int)(v * b + 0.5);
            gra_check_line sizes = { .at = 0 };
            if (a < 1 || (a > 64 && b > 12) || (b > 12 && !sized) || !gra_equal(v, (double)a / b))
                continue;
            int of = sized && put_sizes(&sizes, w, b, false) ? b : 0;
            if (sized && !of && a > 1 && put_sizes(&sizes, w, a, false))
                of = a;
            if ((sized && !of) || !another(list))
                continue;
            gra_check_put(list->s, "%d/%d", a, b);
            if (of)
                gra_check_put(list->s, ", and %d is %s", of, sizes.s);
            return;
        }
}

void gra_put_constant(gra_check_line *s, const gra_wrong *w, double k)
{
    const double v = fabs(k);
    names list = { .s = s };
    gra_check_put(s, "%.6g", k);
    if ((gra_equal(v, 2) || gra_equal(v, 0.5)) && another(&list))
        gra_check_put(s, v > 1 ? "counted twice, or a forgotten 1/2" : "a forgotten 2");
    put_size_forms(&list, w, v, 0, 6);
    put_root_of_two(&list, w, v);
    put_size_forms(&list, w, v, 6, 10);
    if (w->check->size == 1 && !gra_equal(v, 1) && gra_equal(v, fabs((double)w->check->y[0])) && another(&list))
        gra_check_put(s, "the output itself");
    put_known(&list, v);
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

/* Where the right entries are all one number, it can be told. */
static bool one_number(const gra_wrong *w, double *n)
{
    *n = 0;
    for (size_t e = 0; e < w->size; e++)
        if (!gra_none(w, w->n[e])) {
            if (*n != 0 && !gra_fit(w, w->n[e], *n))
                return false;
            *n = w->n[e];
        }
    return !gra_equal(fabs(*n), 1);
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
    if (gra_whole(w) && !w->part && one_number(w, &n))
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
