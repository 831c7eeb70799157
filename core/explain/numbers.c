/* numbers: what a constant factor may be: an input that is a single number, 2, a constant of a formula, a
 * fraction. Only a number that is none of these is compared with sizes and their square roots: a small number
 * is often the size of something by chance. */
#include "explaining.h"
#include <stdlib.h>

static const char *another(const gra_check_line *s)     /* before the next name of a number */
{
    return s->at ? "; or " : ": ";
}

/* "the size of dimension 1 of x and of dimension 0 of w": what has this size, `most` of them; x first, then
 * y, then the others. False: nothing has. */
static bool put_size(gra_check_line *s, const gra_wrong *w, int size, int most, bool last)
{
    const gra_checking *k = w->check;
    int found = 0;
    for (int i = -1; i <= k->count; i++) {
        const gra_checked *x = i < 0 ? w->x : &k->tensor[(k->count + i) % (k->count + 1)];
        const gra_shape *shape = &x->shape;
        for (int d = last && shape->ndim > 1 ? shape->ndim - 1 : 0; d < shape->ndim; d++)
            if ((i < 0 || x != w->x) && shape->dim[d] == size && found++ < most)
                gra_check_put(s, "%s of dimension %d of %.60s", found > 1 ? " and" : "the size", d, x->name);
    }
    if (!found && !last && (size_t)size == w->x->size)
        gra_check_put(s, "the size of all of %.60s", w->x->name);
    return s->at > 0;
}

/* v is the value of an input that is a single number; a constant of a formula; or 1 over it. */
static void put_names(gra_check_line *s, const gra_wrong *w, double v)
{
    static const struct {
        const char *name;
        double      value;
    } known[] = {
        { "pi", 3.14159265358979 }, { "2 pi", 6.28318530717959 }, { "sqrt(pi)", 1.77245385090552 },
        { "sqrt(2 pi)", 2.506628274631 }, { "sqrt(2/pi)", 0.797884560802865 }, { "e", 2.71828182845905 },
        { "log(2)", 0.693147180559945 }, { "log(2)^2", 0.480453013918201 }, { "log(10)", 2.30258509299405 },
        { "sqrt(pi)/2", 0.886226925452758 },
    };
    const gra_checking *k = w->check;
    for (int t = 0; t < k->count; t++) {                /* the sign is reported elsewhere */
        const double value = k->tensor[t].size == 1 ? fabs((double)k->tensor[t].data[0]) : 0;
        if (value > 0 && (gra_equal(v, value) || gra_equal(v, 1 / value)))
            gra_check_put(s, "%s%s%.80s", another(s), gra_equal(v, value) ? "the value of " : "1/",
                          k->tensor[t].name);
    }
    if (gra_equal(v, 2) || gra_equal(v, 0.5))
        gra_check_put(s, "%s%s", another(s), v > 1 ? "counted twice, or a forgotten 1/2" : "a forgotten 2");
    for (size_t i = 0; i < 2 * sizeof known / sizeof *known; i++)
        if (fabs((i % 2 ? 1 / v : v) / known[i / 2].value - 1) < 1e-6)
            gra_check_put(s, "%s%s%s", another(s), i % 2 ? "1/" : "", known[i / 2].name);
}

/* ", and 4 is also the size of dimension 1 of x": sizes enter only where sums do. */
static bool put_sizes(gra_check_line *s, const gra_wrong *w, const int n[2], bool root)
{
    const bool mean = !root && (n[0] == 1 || n[1] == 1);
    for (int i = 0; i < 2 && (s->at > 0) == (i > 0) && (mean || !w->single); i++) {     /* the larger first */
        const int size = (n[0] > n[1]) == (i == 0) ? n[0] : n[1];
        gra_check_line of = { .at = 0 };
        if (size == 1 || !put_size(&of, w, size, mean ? 2 : 1, root))
            break;
        gra_check_put(s, ", and %d is also %s", size, of.s);
    }
    if (s->at && mean)
        gra_check_put(s, n[0] == 1 ? " (a mean instead of a sum?)" : " (a sum instead of a mean?)");
    if (s->at && n[0] > 1 && n[1] > 1 && abs(n[0] - n[1]) == 1)
        gra_check_put(s, "; n - 1 for n, or n for n - 1?");
    return s->at > 0;
}

/* v, or the square of v, is a / b in lowest terms: a plain constant, or where only the size of something
 * makes that likely, that size. */
static void put_ratio(gra_check_line *s, const gra_wrong *w, double v, bool root)
{
    enum { MOST = 12 };                                 /* in a fraction; beyond only 1/n */
    const double of = root ? v * v : v;
    gra_check_line sizes = { .at = 0 };
    int n[2] = { 0, 1 };
    for (; n[1] <= MOST; n[1]++) {
        n[0] = (int)fmin(of * n[1] + 0.5, 1e6);
        if (n[0] > 0 && gra_equal(of, (double)n[0] / n[1]))
            break;
    }
    if (n[1] > MOST) {
        n[0] = 1;
        n[1] = (int)fmin(1 / of + 0.5, 1e6);
    }
    if (n[1] < 1 || !gra_equal(of, (double)n[0] / n[1]))
        return;
    const bool whole = gra_equal(v, floor(v + 0.5));
    if (!put_sizes(&sizes, w, n, root) && (whole || s->at || of >= 64 || n[1] > MOST))
        return;
    gra_check_put(s, "%s", another(s));
    if (n[1] == 1 && !root)
        gra_check_put(s, "%s", sizes.s + strlen(", and "));
    else if (n[1] == 1 || (n[0] == 1 && root))
        gra_check_put(s, "%ssqrt(%d)%s", n[1] == 1 ? "" : "1/", n[0] * n[1], sizes.s);
    else if (n[0] == 1)
        gra_check_put(s, "a forgotten %d%s", n[1], sizes.s);
    else
        gra_check_put(s, root ? "sqrt(%d/%d)%s" : "%d/%d%s", n[0], n[1], sizes.s);
}

void gra_put_number(gra_check_line *s, const gra_wrong *w, double number)
{
    gra_check_line names = { .at = 0 };
    put_names(&names, w, fabs(number));
    if (!names.at) {
        put_ratio(&names, w, fabs(number), false);
        put_ratio(&names, w, fabs(number), true);
    }
    gra_check_put(s, "%.6g%s", number, names.s);
}
