/* numbers: explains a constant factor as an input that is a single number, 2, a constant of a formula, or a
 * fraction. Any other number is compared with sizes and their square roots, unless it is small: small numbers
 * often equal a size by chance. */
#include "explaining.h"
#include <stdlib.h>

static const char *another(const gra_line *s)     /* what separates two names of a number */
{
    return s->at ? "; or " : ": ";
}

/* ", and 4 is also the size of dimension 1 of x": x first, then y, then the other tensors. last: only the
 * size of a last dimension, since attention divides by the square root of that size. */
static void put_size(gra_line *s, const gra_wrong *w, int size, bool last)
{
    const gra_checking *k = w->check;
    for (int i = -1; i <= k->count && size > 1; i++) {
        const gra_checked *x = i < 0 ? w->x : &k->tensor[(k->count + i) % (k->count + 1)];
        const int ndim = x->shape.ndim;
        for (int d = last && ndim > 1 ? ndim - 1 : 0; d < ndim; d++)
            if (x->shape.dim[d] == size) {
                gra_line_put(s, ", and %d is also the size of dimension %d of %.60s", size, d, x->name);
                return;
            }
    }
    if (size > 1 && !last && (size_t)size == w->x->size)
        gra_line_put(s, ", and %d is also the size of all of %.60s", size, w->x->name);
}

/* v is the value of a one-number input, or a constant of a formula, or the reciprocal of either. */
static void put_names(gra_line *s, const gra_wrong *w, double v)
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
            gra_line_put(s, "%s%s%.80s", another(s), gra_equal(v, value) ? "the value of " : "1/",
                         k->tensor[t].name);
    }
    if (gra_equal(v, 2) || gra_equal(v, 0.5))
        gra_line_put(s, "%s%s", another(s), v > 1 ? "counted twice, or a forgotten 1/2" : "a forgotten 2");
    for (size_t i = 0; i < 2 * sizeof known / sizeof *known; i++)
        if (fabs((i % 2 ? 1 / v : v) / known[i / 2].value - 1) < 1e-6)
            gra_line_put(s, "%s%s%s", another(s), i % 2 ? "1/" : "", known[i / 2].name);
}

/* v, or the square of v, is n / m in lowest terms: a plain constant or, if only that makes n / m likely, the
 * size of something. Sizes are tried only if the op has sums. */
static void put_ratio(gra_line *s, const gra_wrong *w, double v, bool root)
{
    enum { MOST = 12 };                                 /* in a fraction; beyond that only 1/m */
    const double of = root ? v * v : v;
    gra_line sizes = { .at = 0 };
    int n = 0, m = 1;
    for (; m <= MOST; m++) {
        n = (int)fmin(of * m + 0.5, 1e6);
        if (n > 0 && gra_equal(of, (double)n / m))
            break;
    }
    if (m > MOST) {
        n = 1;
        m = (int)fmin(1 / of + 0.5, 1e6);
    }
    if (m < 1 || !gra_equal(of, (double)n / m))
        return;
    const bool mean = !root && (n == 1 || m == 1);
    if (mean || !w->single) {
        put_size(&sizes, w, n > m ? n : m, root);       /* the larger number first */
        if (sizes.at)
            put_size(&sizes, w, n > m ? m : n, root);
    }
    if (!sizes.at && (gra_equal(v, floor(v + 0.5)) || s->at || of >= 64 || m > MOST))
        return;
    gra_line_put(s, "%s", another(s));
    if (root)
        gra_line_put(s, m == 1 ? "sqrt(%d)" : n == 1 ? "%d/sqrt(%d)" : "sqrt(%d/%d)", n, m);
    else if (m > 1 && n == 1)
        gra_line_put(s, "a forgotten %d", m);
    else if (m > 1)
        gra_line_put(s, "%d/%d", n, m);
    gra_line_put(s, "%s", m == 1 && !root ? sizes.s + strlen(", and ") : sizes.s);
    if (sizes.at && mean)
        gra_line_put(s, n == 1 ? " (a mean instead of a sum?)" : " (a sum instead of a mean?)");
    if (sizes.at && n > 1 && m > 1 && abs(n - m) == 1)
        gra_line_put(s, "; n - 1 for n, or n for n - 1?");
}

void gra_put_number(gra_line *s, const gra_wrong *w, double number)
{
    gra_line names = { .at = 0 };
    put_names(&names, w, fabs(number));
    if (!names.at) {
        put_ratio(&names, w, fabs(number), false);
        put_ratio(&names, w, fabs(number), true);
    }
    gra_line_put(s, "%.6g%s", number, names.s);
}
