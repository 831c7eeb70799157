/* where: names for sets of places, and what can be said of a wrong Jacobian's zeros. */
#include "explaining.h"
#include <stdlib.h>

enum { MOST_NAMES = 4 };                /* indices that are listed one by one */

static void put_index(gra_check_line *s, const gra_wrong *w, bool out, int d, size_t i)
{
    if (!out && w->x->shape.ndim == 2)
        gra_check_put(s, "%s %zu", d ? "column" : "row", i);
    else
        gra_check_put(s, "index %zu of dimension %d", i, d);
}

/* Is an entry in the set exactly when its index along dimension d is one of some? Names them. */
static bool put_indices(gra_check_line *s, const gra_wrong *w, bool out, int d)
{
    const int *shape;
    gra_dims_of(w, out, &shape);
    const size_t n = (size_t)shape[d];
    size_t count[2] = { 0 }, *in = calloc(2 * n + 1, sizeof *in), *all = in + n;
    gra_check_line list[2] = { { .at = 0 }, { .at = 0 } };
    bool fit = in != NULL;
    for (size_t e = 0; fit && e < w->size; e++) {
        const size_t i = gra_index_along(w, out, d, out ? e / w->cols : e % w->cols);
        in[i] += w->of[e] && w->in[e];
        all[i] += w->of[e];
    }
    for (size_t i = 0; fit && i < n; i++) {
        fit = in[i] == 0 || in[i] == all[i];
        const int yes = in[i] > 0;
        if (all[i] && count[yes]++ < MOST_NAMES) {
            gra_check_put(&list[yes], "%s", list[yes].at ? ", " : "");
            put_index(&list[yes], w, out, d, i);
        }
    }
    free(in);
    if (!fit || !count[0] || !count[1])
        return false;
    const char *const of = out ? " of the output" : "";
    if (count[1] <= MOST_NAMES)
        gra_check_put(s, "in %s%s", list[1].s, of);
    else if (count[0] <= MOST_NAMES)
        gra_check_put(s, "everywhere but in %s%s", list[0].s, of);
    else
        gra_check_put(s, "in %zu of %zu indices of dimension %d%s", count[1], n, d, of);
    return true;
}

/* Is the set where x < 0 (or > 0), or where x is less (or more) than a tensor? With that few tell nothing. */
static bool put_sign(gra_check_line *s, const gra_wrong *w)
{
    const gra_checking *k = w->check;
    for (int i = -1; i < k->count; i++) {
        const gra_checked *of = i < 0 ? NULL : &k->tensor[i];
        bool less = !of || (of != w->x && w->cols >= 6 && w->cols % of->size == 0), more = less;
        for (size_t e = 0; e < w->size && (less || more); e++)
            if (w->of[e]) {
                const size_t c = e % w->cols;
                const double d = (double)w->x->data[c] - (of ? (double)of->data[c % of->size] : 0);
                less &= w->in[e] == (d < 0);
                more &= w->in[e] == (d > 0);
            }
        if (!less && !more)
            continue;
        gra_check_put(s, "where %s %c %s", w->x->name, less ? '<' : '>', of ? of->name : "0");
        return true;
    }
    return false;
}

/* Does the set hang on how an index of x and one of the output compare? */
static bool put_relation(gra_check_line *s, const gra_wrong *w)
{
    static const char *const how[] = { "above", "below", "not" };
    const int *shape_x, *shape_y;
    const int nx = gra_dims_of(w, false, &shape_x), ny = gra_dims_of(w, true, &shape_y);
    for (int d = 0; gra_whole(w) && d < nx; d++)
        for (int o = 0; o < ny; o++) {
            bool is[3] = { true, true, true };
            for (size_t e = 0; e < w->size && shape_x[d] == shape_y[o]; e++) {
                const size_t i = gra_index_along(w, false, d, e % w->cols);
                const size_t j = gra_index_along(w, true, o, e / w->cols);
                is[0] &= !w->of[e] || w->in[e] == (i > j);
                is[1] &= !w->of[e] || w->in[e] == (i < j);
                is[2] &= !w->of[e] || w->in[e] == (i != j);
            }
            for (int r = 0; r < 3 && shape_x[d] == shape_y[o] && shape_x[d] > 1; r++)
                if (is[r]) {
                    gra_check_put(s, "where the index along dimension %d of %s is %s that along dimension %d of dy", d,
                                  w->x->name, how[r], o);
                    return true;
                }
        }
    return false;
}

/* Is the set the Jacobian's diagonal, or all that is beside it? */
static bool on_diagonal(const gra_wrong *w, bool diagonal)
{
    for (size_t e = 0; e < w->size; e++)
        if (w->of[e] && w->in[e] != ((e / w->cols == e % w->cols) == diagonal))
            return false;
    return gra_same_shapes(w);
}

static bool any(const bool *set, size_t n)
{
    return memchr(set, 1, n) != NULL;
}

bool gra_put_where(gra_check_line *s, const gra_wrong *w)
{
    const int *shape;
    if (!any(w->in, w->size))
        return false;
    if (put_sign(s, w))
        return true;
    for (int out = 0; out < (gra_whole(w) ? 2 : 1); out++)
        for (int d = 0; d < gra_dims_of(w, out, &shape); d++)
            if (put_indices(s, w, out, d))
                return true;
    if (on_diagonal(w, true) || on_diagonal(w, false)) {
        gra_check_put(s, "in what dy_i gives to %s %s_%s", on_diagonal(w, true) ? "place i itself," :
                      "the other places,", w->x->name, on_diagonal(w, true) ? "i" : "j");
        return true;
    }
    return put_relation(s, w);
}

/* Where the backward gives a gradient that it should not give, or gives none: its name, or how many and the first. */
void gra_put_places(gra_check_line *s, const gra_wrong *w)
{
    size_t count = 0, first = w->size;
    if (gra_put_where(s, w))
        return;
    for (size_t e = w->size; e-- > 0;)
        if (w->in[e]) {
            count++;
            first = e;
        }
    gra_check_put(s, count == 1 ? "in one place, " : "in %zu places, the first of them ", count);
    if (gra_whole(w)) {
        gra_put_place(s, w, true, first / w->cols);
        gra_check_put(s, " to ");
    }
    gra_put_place(s, w, false, first % w->cols);
}

typedef struct pair {                   /* a dimension of x, and one of the output that is as large */
    int x, out;
} pair;

static bool next_pair(const gra_wrong *w, pair *p)
{
    const int *shape_x, *shape_y;
    const int nx = gra_dims_of(w, false, &shape_x), ny = gra_dims_of(w, true, &shape_y);
    for (p->out++; gra_whole(w) && p->x < nx; p->x++, p->out = 0)
        for (; p->out < ny; p->out++)
            if (shape_x[p->x] == shape_y[p->out] && shape_x[p->x] > 1)
                return true;
    return false;
}

/* How the index of x and that of the output compare, where m is not 0 (set: NULL) or in the set: are there
 * entries where that of x is less, the same, more? */
static void sides(const gra_wrong *w, pair p, const double *m, const bool *set, bool has[3])
{
    memset(has, 0, 3 * sizeof *has);
    for (size_t e = 0; e < w->size; e++) {
        const size_t i = gra_index_along(w, false, p.x, e % w->cols);
        const size_t j = gra_index_along(w, true, p.out, e / w->cols);
        if (set ? set[e] : !gra_none(w, m[e]))
            has[i < j ? 0 : i == j ? 1 : 2] = true;
    }
}

/* Each index of x gives to, or gets from, the same index of the output alone. */
static bool apart(const gra_wrong *w, pair p, const double *m)
{
    bool has[3];
    sides(w, p, m, NULL, has);
    return has[1] && !has[0] && !has[2];
}

/* The output at an index depends on x up to that index, and the set is what lies behind it. */
static bool behind(const gra_wrong *w)
{
    for (pair p = { 0, -1 }; next_pair(w, &p);) {
        bool n[3], in[3];
        sides(w, p, w->n, NULL, n);
        sides(w, p, NULL, w->in, in);
        if (n[0] && !n[2] && in[2] && !in[0] && !in[1])
            return true;
    }
    return false;
}

/* What is wrong with a backward that gives a gradient in w->in, where the output does not depend on x. True: that
 * tells what is missing, too. */
bool gra_put_extra(gra_check_line *s, const gra_wrong *w)
{
    const char *const name = w->x->name;
    for (pair p = { 0, -1 }; next_pair(w, &p);) {
        if (!apart(w, p, w->n) || apart(w, p, w->a))
            continue;
        for (pair q = { 0, -1 }; next_pair(w, &q);)
            if (q.x != p.x && q.out != p.out && apart(w, q, w->a) && !apart(w, q, w->n)) {
                gra_check_put(s, "a sum over dy is taken along dimension %d, where one along dimension %d is wanted", p.out,
                              q.out);
                return true;
            }
        gra_check_put(s, "%s are mixed: %s at index i of dimension %d gets something from dy at other indices of it, but "
                      "each depends on its own alone: a sum that is not begun anew for each, or one taken over the "
                      "wrong dimension", w->x->shape.ndim != 2 ? "indices" : p.x ? "columns" : "rows", name, p.x);
        return false;
    }
    gra_check_put(s, "the backward gives a gradient ");
    gra_put_places(s, w);
    gra_check_put(s, ", but there the output does not depend on %s%s", name,
                  behind(w) ? ": a causal mask is forgotten, or a sum runs too far" : "");
    return false;
}

/* Which outputs give a gradient to which elements of x, though the values fit no explanation. */
void gra_place_clues(gra_wrong *w)
{
    for (int extra = 1; extra >= 0; extra--) {
        gra_check_line s = { .at = 0 };
        for (size_t e = 0; e < w->size; e++) {
            const bool a = !gra_none(w, w->a[e]), n = !gra_none(w, w->n[e]);
            w->of[e] = a || n;
            w->in[e] = extra ? a && !n : n && !a;
        }
        if (!any(w->in, w->size))
            continue;
        w->placed = true;
        if (extra) {
            const bool all = gra_put_extra(&s, w);
            gra_clue(w, "%s", s.s);
            if (all)
                return;
        } else {
            gra_put_places(&s, w);
            gra_clue(w, "nothing arrives %s, where the output does depend on %s", s.s, w->x->name);
        }
    }
}

/* What is left to say: where dy goes is right, and the numbers it is multiplied by are not. */
void gra_value_clue(gra_wrong *w)
{
    size_t worst = 0;
    gra_check_line from = { .at = 0 }, to = { .at = 0 };
    const bool single = gra_elementwise(w);
    if (!gra_whole(w) || (w->clues && !single))
        return;
    for (size_t e = 0; e < w->size; e++)
        if (fabs(w->a[e] - w->n[e]) > fabs(w->a[worst] - w->n[worst]))
            worst = e;
    if (single) {
        gra_clue(w, "each element of %s gets its own dy times a number, as it should: what is wrong is that number, the "
                 "derivative of y by %s: at %s = %.6g it is %.6g, and %.6g is right", w->x->name, w->x->name,
                 w->x->name, (double)w->x->data[worst % w->cols], w->a[worst], w->n[worst]);
        return;
    }
    gra_put_place(&from, w, true, worst / w->cols);
    gra_put_place(&to, w, false, worst % w->cols);
    w->general = true;
    gra_clue(w, "each dy is used, and goes where it should; the number that it is multiplied by on its way is wrong: %s "
             "gives %.6g times itself to %s, and %.6g is right", from.s, w->a[worst], to.s, w->n[worst]);
}
