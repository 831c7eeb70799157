/* indices: explanations in which an index is wrong: dy is multiplied by another element of the tensor than is
 * expected, or a sum runs along another dimension. */
#include "explaining.h"
#include <stdlib.h>

enum { MOST = 2 * GRA_MAX_DIMS };
typedef struct indices {                /* of an entry: those of dy, then those of x */
    int    count;
    size_t step[MOST], dim[MOST];
    char   letter[MOST];
} indices;

static void add(indices *l, const gra_shape *s, size_t step, const char *letters)
{
    for (int d = s->ndim - 1; d >= 0; step *= (size_t)s->dim[d--]) {
        l->step[l->count + d] = step;
        l->dim[l->count + d] = (size_t)s->dim[d];
        l->letter[l->count + d] = letters[d];
    }
    l->count += s->ndim;
}

static long at(const indices *l, int v, double e)
{
    return (long)((size_t)e / l->step[v] % l->dim[v]);
}

/* The one element of all tensors that has this value, and its tensor; -1: there is none, or more. */
static double owner(const gra_wrong *w, double v, const gra_checked **of)
{
    const gra_checking *k = w->check;
    double found = -1;
    for (int t = 0; t <= k->count && v != 0 && fabs(v) != 1; t++)
        for (size_t i = 0; i < k->tensor[t].size; i++)
            if (fabs((double)k->tensor[t].data[i] - v) <= 1e-7 * fabs(v)) {
                if (found >= 0)
                    return -1;
                found = (double)i;
                *of = &k->tensor[t];
            }
    return found;
}

/* "2 j + r": along dimension d, the index of all elements that are taken (one by each entry, or -1). */
static bool put_index(gra_check_line *s, const gra_wrong *w, const indices *l, const indices *of, int d,
                      const double *taken)
{
    long c[MOST + 1] = { 0 };
    bool first = true;
    for (int v = 0; v < l->count; v++)
        for (size_t e = 0; e + l->step[v] < w->size && c[v] == 0; e++)
            if (taken[e] >= 0 && taken[e + l->step[v]] >= 0 && at(l, v, (double)e) + 1 < (long)l->dim[v])
                c[v] = at(of, d, taken[e + l->step[v]]) - at(of, d, taken[e]);
    for (size_t e = 0; e < w->size; e++) {
        long rest = taken[e] < 0 ? 0 : at(of, d, taken[e]);
        for (int v = 0; v < l->count && taken[e] >= 0; v++)
            rest -= c[v] * at(l, v, (double)e);
        if (taken[e] >= 0 && !first && rest != c[l->count])
            return false;
        c[l->count] = taken[e] < 0 ? c[l->count] : rest;
        first &= taken[e] < 0;
    }
    first = true;
    for (int v = 0; v <= l->count; v++)
        if (c[v] != 0 || (v == l->count && first)) {
            gra_check_put(s, "%s", c[v] < 0 ? first ? "-" : " - " : first ? "" : " + ");
            if (v == l->count || labs(c[v]) != 1)
                gra_check_put(s, "%ld%s", labs(c[v]), v < l->count ? " " : "");
            if (v < l->count)
                gra_check_put(s, "%c", l->letter[v]);
            first = false;
        }
    return true;
}

static void put_letters(gra_check_line *s, const char *name, const indices *l, int from, int to)
{
    gra_check_put(s, "%s", name);
    for (int v = from; v < to; v++)
        gra_check_put(s, "%s%c%s", v > from ? ", " : " (", l->letter[v], v == to - 1 ? ")" : "");
}

/* Where all numbers are elements of one tensor, and all expected ones are of one: which stand for which? By a
 * formula for the indices, or if they have none, by an example. */
bool gra_taken(gra_wrong *w)
{
    double *const taken[2] = { w->a + 2 * w->size, w->a + 3 * w->size };      /* by a, by n */
    const gra_checked *of[2] = { NULL, NULL };
    gra_check_line line[2] = { { .at = 0 }, { .at = 0 } }, place = { .at = 0 };
    indices l = { .count = 0 };
    size_t wrong = 0, example = 0;
    for (size_t e = 0; w->whole && e < w->size; e++) {
        for (int right = 0; right < 2; right++) {
            const double v = right ? w->n[e] : w->a[e];
            const gra_checked *t = of[right];
            taken[right][e] = gra_none(w, v) ? -1 : owner(w, v, &t);
            if (!gra_none(w, v) && (taken[right][e] < 0 || (of[right] && t != of[right])))
                return false;
            of[right] = t;
        }
        if (taken[0][e] >= 0 && taken[1][e] >= 0 && !gra_fit(w, w->a[e], w->n[e])) {
            wrong++;
            example = e;
        }
    }
    if (wrong < 4)
        return false;
    add(&l, &w->check->shape, w->cols, "ijklmnuv");
    add(&l, &w->x->shape, 1, "pqrsabcd");
    bool formula = true;
    for (int right = 0; right < 2; right++) {
        indices t = { .count = 0 };
        add(&t, &of[right]->shape, 1, "ijklmnuv");
        gra_check_put(&line[right], "%.80s", of[right]->name);
        for (int d = 0; d < t.count; d++) {
            gra_check_put(&line[right], d ? ", " : " (");
            formula = formula && put_index(&line[right], w, &l, &t, d, taken[right]);
        }
        gra_check_put(&line[right], t.count ? ")" : "");
    }
    for (int right = 0; !formula && right < 2; right++) {
        line[right] = (gra_check_line){ .at = 0 };
        gra_check_put(&line[right], "%.80s", of[right]->name);
        gra_put_place(&line[right], &of[right]->shape, (size_t)taken[right][example]);
    }
    if (formula) {
        put_letters(&place, "what dy", &l, 0, w->check->shape.ndim);
        gra_check_put(&place, " gives to ");
        put_letters(&place, w->x->name, &l, w->check->shape.ndim, l.count);
    } else {
        gra_put_entry(&place, w, example);
    }
    gra_fits(w, "a wrong index: in %s, %s stands where %s is expected", place.s, line[0].s, line[1].s);
    return true;
}

/* ---- another dimension ------------------------------------------------------------------------- */

/* The one dimension along which the indices of dy and x differ anywhere; -1: none does, or more. */
static int along(const gra_wrong *w, const double *jacobian)
{
    int found = -1;
    for (size_t e = 0; e < w->size; e++)
        for (int d = 0; d < w->x->shape.ndim && !gra_none(w, jacobian[e]); d++)
            if (gra_index(w, true, d, e / w->cols) != gra_index(w, false, d, e % w->cols) && d != found) {
                if (found >= 0)
                    return -1;
                found = d;
            }
    return found;
}

bool gra_other_dimension(gra_wrong *w)
{
    if (!w->whole || !gra_same_shape(w->x->shape, w->check->shape))
        return false;
    const int a = along(w, w->a), n = along(w, w->n);
    if (a < 0 || n < 0 || a == n)
        return false;
    gra_fits(w, "the wrong dimension: the backward sums along dimension %d, where a sum along dimension %d "
             "is expected", a, n);
    return true;
}
