/* indices: explanations in which an index is wrong: dy is multiplied by another element of the tensor than is
 * wanted, or a sum runs along another dimension. */
#include "explaining.h"
#include <stdlib.h>

enum { MOST = 2 * GRA_MAX_DIMS };       /* indices: those of dy, and those of x */

/* ---- another element of the tensor ------------------------------------------------------------- */

/* The one element of all tensors that has this value: *at in the tensor that it gives; -1: there is none, or more. */
static int owner(const gra_wrong *w, double v, size_t *at)
{
    const gra_checking *k = w->check;
    int found = -1;
    for (int t = 0; t <= k->count && v != 0 && fabs(v) != 1; t++)
        for (size_t i = 0; i < k->tensor[t].size; i++)
            if (fabs((double)k->tensor[t].data[i] - v) <= 1e-7 * fabs(v)) {
                if (found >= 0)
                    return -1;
                found = t;
                *at = i;
            }
    return found;
}

/* Index v of entry e: one of dy's, or of x's. */
static long index_of(const gra_wrong *w, int v, size_t e)
{
    const int of_dy = w->check->shape.ndim;
    return (long)(v < of_dy ? gra_index(w, true, v, e / w->cols) : gra_index(w, false, v - of_dy, e % w->cols));
}

static long place(const gra_shape *shape, int d, double at)
{
    size_t i = (size_t)at;
    for (int s = shape->ndim - 1; s > d; s--)
        i /= (size_t)shape->dim[s];
    return (long)(i % (size_t)shape->dim[d]);
}

/* Along dimension d the elements in `taken` (one for each entry, or -1) have the index c[0] i + c[1] j + ..., and
 * a constant at the end? */
static bool linear(const gra_wrong *w, const gra_shape *t, int d, const double *taken, long c[MOST + 1])
{
    const int of_dy = w->check->shape.ndim, count = of_dy + w->x->shape.ndim;
    bool first = true;
    for (int v = 0; v < count; v++) {
        const gra_shape *s = v < of_dy ? &w->check->shape : &w->x->shape;
        size_t step = v < of_dy ? w->cols : 1;
        for (int i = s->ndim - 1; i > (v < of_dy ? v : v - of_dy); i--)
            step *= (size_t)s->dim[i];
        c[v] = 0;
        for (size_t e = 0; e + step < w->size; e++)
            if (taken[e] >= 0 && taken[e + step] >= 0 && index_of(w, v, e + step) == index_of(w, v, e) + 1) {
                c[v] = place(t, d, taken[e + step]) - place(t, d, taken[e]);
                break;
            }
    }
    for (size_t e = 0; e < w->size; e++) {
        long at = 0;
        for (int v = 0; v < count; v++)
            at += c[v] * index_of(w, v, e);
        if (taken[e] < 0)
            continue;
        if (first)
            c[count] = place(t, d, taken[e]) - at;
        else if (at + c[count] != place(t, d, taken[e]))
            return false;
        first = false;
    }
    return true;
}

static const char letters[] = "ijklmnuvpqrsabcd";

/* "x (p, 2 j + r)"; false: it is no such element everywhere. */
static bool put_formula(gra_check_line *s, const gra_wrong *w, const gra_checked *t, const double *taken)
{
    const int of_dy = w->check->shape.ndim, count = of_dy + w->x->shape.ndim;
    gra_check_put(s, "%.80s (", t->name);
    for (int d = 0; d < t->shape.ndim; d++) {
        long c[MOST + 1] = { 0 };
        bool any = false;
        if (!linear(w, &t->shape, d, taken, c))
            return false;
        gra_check_put(s, "%s", d ? ", " : "");
        for (int v = 0; v <= count; v++) {
            if (c[v] == 0 && (v < count || any))
                continue;
            gra_check_put(s, "%s", c[v] < 0 ? any ? " - " : "-" : any ? " + " : "");
            if (v == count || labs(c[v]) != 1)
                gra_check_put(s, "%ld%s", labs(c[v]), v < count ? " " : "");
            if (v < count)
                gra_check_put(s, "%c", letters[v < of_dy ? v : GRA_MAX_DIMS + v - of_dy]);
            any = true;
        }
    }
    gra_check_put(s, ")");
    return true;
}

static void put_letters(gra_check_line *s, const char *name, const gra_shape *shape, const char *letter)
{
    gra_check_put(s, "%s", name);
    for (int d = 0; d < shape->ndim; d++)
        gra_check_put(s, "%s%c%s", d ? ", " : " (", letter[d], d == shape->ndim - 1 ? ")" : "");
}

/* Each number is an element of a tensor, and in the wrong places of the one where it should be of the other. */
bool gra_taken(gra_wrong *w)
{
    double *const has = w->a + 2 * w->size, *const wants = w->a + 3 * w->size;
    const gra_checked *of[2] = { NULL, NULL };
    gra_check_line line[2] = { { .at = 0 }, { .at = 0 } }, at = { .at = 0 };
    size_t wrong = 0, example = 0;
    for (size_t e = 0; w->whole && e < w->size; e++)
        for (int right = 0; right < 2; right++) {
            size_t i = 0;
            const double v = right ? w->n[e] : w->a[e];
            const int t = gra_none(w, v) ? -1 : owner(w, v, &i);
            (right ? wants : has)[e] = t < 0 ? -1 : (double)i;
            if (gra_none(w, v))
                continue;
            if (t < 0 || (of[right] && of[right] != &w->check->tensor[t]))
                return false;
            of[right] = &w->check->tensor[t];
            wrong += right && has[e] >= 0 && has[e] != wants[e];
            example = right && has[e] >= 0 && has[e] != wants[e] ? e : example;
        }
    if (wrong < 4 || !of[0] || !of[1])
        return false;
    if (put_formula(&line[0], w, of[0], has) && put_formula(&line[1], w, of[1], wants)) {
        put_letters(&at, "dy", &w->check->shape, letters);
        put_letters(&at, " gives to ", &(gra_shape){ 0 }, letters);
        put_letters(&at, w->x->name, &w->x->shape, letters + GRA_MAX_DIMS);
    } else {
        for (int right = 0; right < 2; right++) {
            line[right] = (gra_check_line){ .at = 0 };
            gra_check_put(&line[right], "%.80s", of[right]->name);
            gra_put_place(&line[right], &of[right]->shape, (size_t)(right ? wants : has)[example]);
        }
        gra_put_entry(&at, w, example);
        memmove(at.s, at.s + strlen("what "), strlen(at.s) + 1 - strlen("what "));
    }
    gra_fits(w, "a wrong index: in what %s, %s stands where %s is expected", at.s, line[0].s, line[1].s);
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
    gra_fits(w, "the wrong dimension: the backward sums along dimension %d, where a sum along dimension %d is "
             "expected", a, n);
    return true;
}
