/* factors: explanations with a factor of its own for each row, for each element, or for what is on the Jacobian's
 * diagonal and beside it. */
#include "explaining.h"
#include <stdlib.h>

enum { ELEMENT = -1, ROW = -2 };        /* in place of a dimension: all of them, or all but the last */
typedef struct groups {                 /* entries by their index along a dimension of x, or of the output */
    bool    out;
    int     d;
    size_t  count;
    double *k;
    char    text[80];
} groups;

static size_t group_of(const gra_wrong *w, const groups *g, size_t e)
{
    const int *shape;
    const size_t at = g->out ? e / w->cols : e % w->cols;
    if (g->d == ROW) {
        const int last = gra_dims_of(w, g->out, &shape) - 1;
        return at / (size_t)shape[last];
    }
    return g->d == ELEMENT ? at : gra_index_along(w, g->out, g->d, at);
}

/* a = k_g n in each group, of at least two entries each. */
static bool grouped(const gra_wrong *w, groups *g)
{
    double *an = g->k + g->count, *nn = an + g->count, *many = nn + g->count;
    memset(g->k, 0, 4 * g->count * sizeof(double));
    for (size_t e = 0; e < w->size; e++) {
        const size_t i = group_of(w, g, e);
        an[i] += w->a[e] * w->n[e];
        nn[i] += w->n[e] * w->n[e];
        many[i] += !gra_none(w, w->n[e]);
    }
    size_t used = 0;
    double entries = 0;
    for (size_t i = 0; i < g->count; i++) {
        g->k[i] = nn[i] > 0 ? an[i] / nn[i] : 0;
        used += many[i] > 0;
        entries += many[i];
    }
    if (used < 2 || entries < 2 * (double)used)
        return false;
    for (size_t e = 0; e < w->size; e++) {
        const double k = g->k[group_of(w, g, e)];
        if (!gra_fit(w, w->a[e], k * w->n[e]) || (k == 0 && !gra_none(w, w->n[e])))
            return false;
    }
    for (size_t i = 0; i < g->count; i++)
        if (!(many[i] > 0))
            g->k[i] = (double)NAN;
    return true;
}

/* What a row of x may be divided by. */
static const char *statistic(const gra_wrong *w, groups *g)
{
    static const char *const name[] = { "the standard deviation", "the variance", "the sum of e^x",
                                        "the root mean square" };
    bool is[2][5] = { { true, true, true, true, true }, { true, true, true, true, true } };
    double scale[2][5] = { { 0 } };
    for (size_t i = 0; i < g->count; i++) {
        double n = 0, sum = 0, squares = 0, exps = 0, uses = 0;
        for (size_t c = 0; c < w->cols; c++) {
            if (group_of(w, g, g->out ? c * w->cols : c) != i || g->out)
                continue;
            const double v = g->out ? 0 : (double)w->x->data[c];
            n++;
            sum += v;
            squares += v * v;
            exps += exp(v);
            double used = 0;
            for (size_t j = 0; j < w->rows; j++)
                used += !gra_none(w, w->n[j * w->cols + c]);
            uses = fmax(uses, used);
        }
        if (!isfinite(g->k[i]) || n == 0)
            continue;
        const double mean = sum / n, variance = squares / n - mean * mean;
        const double of[5] = { sqrt(fmax(variance, 0)), variance, exps, sqrt(squares / n), uses };
        for (int f = 0; f < 5; f++)
            for (int inverse = 0; inverse < 2; inverse++) {
                const double q = inverse ? g->k[i] * of[f] : g->k[i] / of[f];
                if (scale[inverse][f] == 0)
                    scale[inverse][f] = q;
                is[inverse][f] &= of[f] > 1e-6 && fabs(q - scale[inverse][f]) <= 1e-3 * fabs(q) &&
                                  (f < 4 || gra_equal(q, 1));
            }
    }
    char *text = g->text;
    for (int f = 0; f < 5 && !g->out; f++)
        for (int inverse = 0; inverse < 2; inverse++)
            if (is[inverse][f]) {
                if (f == 4)
                    return inverse ? "divided by the number of outputs that use it: a mean where the sum is wanted"
                                   : "multiplied by the number of outputs that use it";
                snprintf(text, sizeof g->text, "%s of it is %s%s", name[f],
                         inverse ? "divided by once too often" : "not divided by",
                         fabs(fabs(scale[inverse][f]) - 1) > 2e-3 ? ", or another's" : "");
                return text;
            }
    return NULL;
}

/* False: what is wrong is one factor in some of the groups, which is for gra_partial_factor to tell. */
static bool tell_groups(gra_wrong *w, groups *g, bool only_known)
{
    const char *known = statistic(w, g);
    double factor = 1;
    bool one = true;
    for (size_t i = 0; i < g->count; i++)
        if (isfinite(g->k[i]) && !gra_equal(g->k[i], 1)) {
            one &= gra_equal(factor, 1) || gra_equal(g->k[i], factor);
            factor = g->k[i];
        }
    if (!known && (only_known || (one && !w->part)))
        return false;
    gra_check_line s = { .at = 0 };
    size_t told = 0;
    for (size_t i = 0; i < g->count && told < 3; i++)
        if (isfinite(g->k[i]))
            gra_check_put(&s, "%s%.4g", told++ ? ", " : "", g->k[i]);
    char whose[80];
    if (g->d == ROW)
        snprintf(whose, sizeof whose, "row of %s", g->out ? "the output" : w->x->name);
    else if (g->d == ELEMENT)
        snprintf(whose, sizeof whose, "element of %s", g->out ? "dy" : w->x->name);
    else if (!g->out && w->x->shape.ndim == 2)
        snprintf(whose, sizeof whose, "%s of %s", g->d ? "column" : "row", w->x->name);
    else
        snprintf(whose, sizeof whose, "index of dimension %d of %s", g->d, g->out ? "the output" : w->x->name);
    gra_fits(w, "a factor of its own for each %s (%s, ...): %s", whose, s.s,
             known ? known : "what belongs to it (1/std, 1/sum, a weight ...) is missing, or taken from elsewhere");
    return true;
}

static bool indexed_factor(gra_wrong *w, bool known)
{
    const int *shape;
    double *memory = calloc(4 * (w->rows + w->cols), sizeof *memory);
    bool fit = false;
    for (int step = 0; memory && step < GRA_MAX_DIMS + 2 && !fit; step++)   /* at last, element by element */
        for (int out = 0; out < (gra_whole(w) ? 2 : 1) && !fit; out++) {
            const int ndim = gra_dims_of(w, out, &shape);
            groups g = { .out = out, .k = memory, .count = out ? w->rows : w->cols,
                         .d = step < GRA_MAX_DIMS ? step : step == GRA_MAX_DIMS ? ROW : ELEMENT };
            if (g.d >= ndim || (g.d == ROW && ndim < 3))
                continue;
            if (g.d != ELEMENT)
                g.count = g.d >= 0 ? (size_t)shape[g.d] : g.count / (size_t)shape[ndim - 1];
            fit = grouped(w, &g) && tell_groups(w, &g, known);
        }
    free(memory);
    return fit;
}

bool gra_row_statistic(gra_wrong *w)
{
    return indexed_factor(w, true);
}

bool gra_indexed_factor(gra_wrong *w)
{
    return indexed_factor(w, false);
}

/* ---- the diagonal, and what is beside it ------------------------------------------------------- */

bool gra_others_factor(gra_wrong *w)
{
    static gra_explanation *const tries[] = { gra_constant_factor, gra_tensor_factor, gra_indexed_factor };
    if (!gra_same_shapes(w))
        return false;
    size_t beside = 0, wrong = 0;
    for (size_t e = 0; e < w->size; e++)
        if (e / w->cols != e % w->cols) {
            beside += !gra_none(w, w->n[e]);
            wrong += !gra_fit(w, w->a[e], w->n[e]);
        }
    if (beside < 2)
        return false;
    gra_wrong sub = *w;
    double *memory = calloc(2 * w->size, sizeof *memory);
    if (!memory)
        return false;
    sub.a = memory;
    sub.n = memory + w->size;
    double off = 0;
    for (size_t e = 0; e < w->size; e++) {
        const bool on = e / w->cols == e % w->cols;
        if (on != (wrong == 0))
            continue;
        sub.a[e] = w->a[e];
        sub.n[e] = w->n[e];
        off = fmax(off, fabs(w->a[e] - w->n[e]));
    }
    sub.near = fmin(off / 100, sub.near);
    sub.part = wrong ? "beside the diagonal, in what dy_j gives to other places (the term with a sum): "
                     : "on the diagonal alone, in what dy_i gives to place i itself: ";
    bool fit = false;
    for (size_t i = 0; !fit && i < sizeof tries / sizeof *tries; i++)
        fit = tries[i](&sub);
    w->fits = sub.fits;
    memcpy(w->hint, sub.hint, sizeof w->hint);
    free(memory);
    if (!fit && !wrong) {
        gra_fits(w, "wrong on the diagonal alone: what dy_i gives to %s_i itself; what it gives to other "
                 "places is right", w->x->name);
        fit = true;
    }
    return fit;
}
