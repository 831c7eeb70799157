/* numbers: what a constant factor may be: an input that is a single number, 2, a constant of a formula, a
 * fraction. Only a number that is none of the first three is also compared with sizes and their square roots:
 * a small number is often the size of something by chance. */
#include "explaining.h"
#include <stdlib.h>

typedef struct names {                  /* of one number: ": sqrt(3), and 3 is also ...; or ..." */
    gra_check_line *s;
    int             count;
} names;

static void another(names *n)
{
    gra_check_put(n->s, n->count++ ? "; or " : ": ");
}

/* ---- sizes ------------------------------------------------------------------------------------- */

/* How many rows (of all dimensions but the last) of x have a gradient? */
static size_t rows_used(const gra_wrong *w, size_t *rows)
{
    const size_t length = gra_columns(&w->x->shape);
    size_t count = 0;
    *rows = w->cols / length;
    for (size_t r = 0; r < *rows; r++) {
        bool used = false;
        for (size_t e = 0; e < w->size; e++)
            used |= e % w->cols / length == r && !gra_none(w, w->n[e]);
        count += used;
    }
    return count;
}

/* "the size of dimension 1 of x and of dimension 0 of w": what has this size, `most` of them. False: nothing
 * has. */
static bool put_size(gra_check_line *s, const gra_wrong *w, int size, int most, bool last)
{
    const gra_checking *k = w->check;
    size_t rows;
    int found = 0;
    for (int i = -1; i <= k->count; i++) {              /* x, y, the others */
        const gra_checked *x = i < 0 ? w->x : &k->tensor[(k->count + i) % (k->count + 1)];
        const gra_shape *shape = &x->shape;
        for (int d = last && shape->ndim > 1 ? shape->ndim - 1 : 0; d < shape->ndim; d++)
            if ((i < 0 || x != w->x) && shape->dim[d] == size && found++ < most)
                gra_check_put(s, "%s of dimension %d of %s", found > 1 ? " and" : "the size", d, x->name);
    }
    if (found || last)
        return found > 0;
    if ((size_t)size == w->x->size)
        gra_check_put(s, "the size of all of %s", w->x->name);
    else if ((size_t)size == rows_used(w, &rows) && k->size == 1)
        gra_check_put(s, "the number of rows of %s that the loss depends on", w->x->name);
    else
        return false;
    return true;
}

/* ---- numbers with a name ------------------------------------------------------------------------ */

/* v is the value of an input that is a single number, or 1 over it; the sign is reported elsewhere. */
static void put_input(names *list, const gra_wrong *w, double v)
{
    const gra_checking *k = w->check;
    for (int t = 0; t < k->count; t++) {
        const double value = k->tensor[t].size == 1 ? fabs((double)k->tensor[t].data[0]) : 0;
        if (value == 0 || !(gra_equal(v, value) || gra_equal(v, 1 / value)))
            continue;
        another(list);
        gra_check_put(list->s, "%s%.80s", gra_equal(v, value) ? "the value of " : "1/", k->tensor[t].name);
    }
}

/* v is a constant of a formula, or 1 over it. */
static void put_known(names *list, double v)
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
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (int inverse = 0; inverse < 2; inverse++)
            if (fabs((inverse ? 1 / v : v) / known[i].value - 1) < 1e-6) {
                another(list);
                gra_check_put(list->s, "%s%s", inverse ? "1/" : "", known[i].name);
            }
}

/* A loss over rows of which some have no gradient (ignored targets): their number over that of all rows. */
static void put_rows(names *list, const gra_wrong *w, double v)
{
    size_t rows;
    const size_t used = rows_used(w, &rows);
    if (w->check->size > 1 || !gra_equal(v, (double)used / (double)rows))
        return;
    another(list);
    gra_check_put(list->s, "%zu/%zu: %zu of %zu rows have a gradient: divided by all rows and not by those "
                  "that count (ignore_index?)", used, rows, used, rows);
}

/* ", and 4 is also the size of dimension 1 of x": sizes enter only where sums do. */
static bool put_sizes(gra_check_line *s, const gra_wrong *w, const int n[2], bool root)
{
    const bool mean = !root && (n[0] == 1 || n[1] == 1);
    bool found = false;
    for (int i = 0; i < 2 && found == (i > 0) && (mean || !w->single); i++) {       /* the larger one first */
        const int size = (n[0] > n[1]) == (i == 0) ? n[0] : n[1];
        gra_check_line of = { .at = 0 };
        if (size == 1 || !put_size(&of, w, size, mean ? 2 : 1, root))
            break;
        gra_check_put(s, ", and %d is also %s", size, of.s);
        found = true;
    }
    if (found && mean)
        gra_check_put(s, n[0] == 1 ? " (a mean instead of a sum?)" : " (a sum instead of a mean?)");
    if (found && n[0] > 1 && n[1] > 1 && abs(n[0] - n[1]) == 1)
        gra_check_put(s, "; n - 1 for n, or n for n - 1?");
    return found;
}

/* v, or the square of v, is a / b in lowest terms: a plain constant, or where only the size of something
 * makes that likely, that size. */
static void put_ratio(names *list, const gra_wrong *w, double v, bool root)
{
    enum { MOST = 12 };
    const double of = root ? v * v : v;
    gra_check_line sizes = { .at = 0 };
    double a = 0, b = 1;
    for (; b <= MOST; b++) {
        a = floor(of * b + 0.5);
        if (a > 0 && gra_equal(of, a / b))
            break;
    }
    if (b > MOST) {
        a = 1;
        b = floor(1 / of + 0.5);
    }
    if (b < 1 || !gra_equal(of, a / b) || a > 1e6 || b > 1e6)
        return;
    const int n[2] = { (int)a, (int)b };
    const bool whole = gra_equal(v, floor(v + 0.5));
    if (!put_sizes(&sizes, w, n, root) && (whole || list->count || of >= 64 || b > MOST))
        return;
    another(list);
    if (n[1] == 1 && !root)
        gra_check_put(list->s, "%s", sizes.s + strlen(", and "));
    else if (n[1] == 1 || (n[0] == 1 && root))
        gra_check_put(list->s, "%ssqrt(%d)%s", n[1] == 1 ? "" : "1/", n[0] * n[1], sizes.s);
    else if (n[0] == 1)
        gra_check_put(list->s, "a forgotten %d%s", n[1], sizes.s);
    else
        gra_check_put(list->s, root ? "sqrt(%d/%d)%s" : "%d/%d%s", n[0], n[1], sizes.s);
}

void gra_put_number(gra_check_line *s, const gra_wrong *w, double number)
{
    const double v = fabs(number);
    names list = { .s = s };
    gra_check_put(s, "%.6g", number);
    put_input(&list, w, v);
    if (gra_equal(v, 2) || gra_equal(v, 0.5)) {
        another(&list);
        gra_check_put(s, v > 1 ? "counted twice, or a forgotten 1/2" : "a forgotten 2");
        return;
    }
    put_known(&list, v);
    put_rows(&list, w, v);
    if (list.count)
        return;
    put_ratio(&list, w, v, false);
    put_ratio(&list, w, v, true);
}
