/* sets: names for sets of entries of a Jacobian.
 *
 * There are some ways to divide the entries into parts that a formula may treat apart: by the sign of x, by
 * an index of x or of dy, into the diagonal and what is beside it ... A set has a name where one of these
 * ways has each of its parts wholly inside or wholly outside. */
#include "explaining.h"

/* The ways. What has fewer parts comes first: "where x > 0" says more than a list of elements. */
enum {
    SIGN,                               /* of the element of x */
    LAST_USE,                           /* the last output that uses this element of x, and those before */
    INDEX_OF_X, INDEX_OF_DY,            /* along one dimension */
    DIAGONAL,                           /* what dy_i gives to x_i, and what it gives to other places */
    RELATION,                           /* an index of x is before one of dy, the same, or after it */
    ROW_OF_X, ROW_OF_DY,
    BRANCH,                             /* x is above what divides the set, of an op of single elements */
    ELEMENT_OF_X, ELEMENT_OF_DY,
    WAYS
};
enum { MOST_NAMES = 4 };                /* parts that are listed one by one */

static const gra_shape *shape_of(const gra_wrong *w, bool dy)
{
    return dy ? &w->check->shape : &w->x->shape;
}

static size_t index_along(const gra_shape *s, int d, size_t at)
{
    for (int i = s->ndim - 1; i > d; i--)
        at /= (size_t)s->dim[i];
    return at % (size_t)s->dim[d];
}

size_t gra_index(const gra_wrong *w, bool dy, int d, size_t at)
{
    return index_along(shape_of(w, dy), d, at);
}

void gra_put_place(gra_check_line *s, const gra_shape *shape, size_t at)
{
    for (int d = 0; d < shape->ndim; d++)
        gra_check_put(s, "%s%zu%s", d ? ", " : " (", index_along(shape, d, at),
                      d == shape->ndim - 1 ? ")" : "");
}

void gra_put_element(gra_check_line *s, const gra_wrong *w, bool dy, size_t at)
{
    gra_check_put(s, "%s", dy ? "dy" : w->x->name);
    gra_put_place(s, shape_of(w, dy), at);
}

void gra_put_entry(gra_check_line *s, const gra_wrong *w, size_t e)
{
    gra_check_put(s, w->rows > 1 ? "what " : "the gradient of ");
    if (w->rows > 1) {
        gra_put_element(s, w, true, e / w->cols);
        gra_check_put(s, " gives to ");
    }
    gra_put_element(s, w, false, e % w->cols);
}

/* ---- divisions --------------------------------------------------------------------------------- */

bool gra_of_dy(const gra_division *v)
{
    return v->way == INDEX_OF_DY || v->way == ROW_OF_DY || v->way == ELEMENT_OF_DY;
}

bool gra_has_list(const gra_division *v)
{
    return gra_of_dy(v) || v->way == INDEX_OF_X || v->way == ROW_OF_X || v->way == ELEMENT_OF_X;
}

/* How many parts has v? 0: there is no such division. */
static size_t parts_of(const gra_wrong *w, gra_division *v)
{
    const gra_shape *s = shape_of(w, gra_of_dy(v)), *y = shape_of(w, true);
    const size_t size = gra_of_dy(v) ? w->rows : w->cols;
    const bool once = v->d == 0 && v->o == 0;
    v->step = v->way == ROW_OF_X || v->way == ROW_OF_DY ? (size_t)s->dim[s->ndim > 0 ? s->ndim - 1 : 0] : 1;
    if (gra_of_dy(v) && !w->whole)
        return 0;
    switch (v->way) {
    case SIGN:
        return once ? 2 : 0;
    case BRANCH:
        return once && w->single ? 2 : 0;
    case LAST_USE:
        return once && w->rows > 1 ? 2 : 0;
    case DIAGONAL:
        return once && w->whole && gra_same_shape(*s, *y) ? 2 : 0;
    case RELATION:
        return w->whole && v->d < s->ndim && v->o < y->ndim && s->dim[v->d] == y->dim[v->o] &&
            s->dim[v->d] > 1 ? 3 : 0;
    case INDEX_OF_X: case INDEX_OF_DY:
        for (int d = v->d + 1; d < s->ndim; d++)
            v->step *= (size_t)s->dim[d];
        return v->o == 0 && v->d < s->ndim && s->dim[v->d] > 1 ? (size_t)s->dim[v->d] : 0;
    case ROW_OF_X: case ROW_OF_DY:
        return once && s->ndim > 2 ? size / v->step : 0;
    default:
        return once && size > 1 ? size : 0;
    }
}

bool gra_next_division(const gra_wrong *w, gra_division *v)
{
    while (v->next < WAYS * GRA_MAX_DIMS * GRA_MAX_DIMS) {
        v->way = v->next / GRA_MAX_DIMS / GRA_MAX_DIMS;
        v->d = v->next / GRA_MAX_DIMS % GRA_MAX_DIMS;
        v->o = v->next++ % GRA_MAX_DIMS;
        v->parts = parts_of(w, v);
        if (v->parts)
            return true;
    }
    return false;
}

size_t gra_part(const gra_wrong *w, const gra_division *v, size_t e)
{
    const size_t i = e % w->cols, j = e / w->cols;
    if (v->way == SIGN)
        return w->x->data[i] > 0;
    if (v->way == BRANCH)
        return w->x->data[i] > w->branch;
    if (v->way == DIAGONAL)
        return i != j;
    if (v->way == RELATION) {
        const size_t p = gra_index(w, false, v->d, i), q = gra_index(w, true, v->o, j);
        return p < q ? 0 : p == q ? 1 : 2;
    }
    if (v->way != LAST_USE)
        return (gra_of_dy(v) ? j : i) / v->step % v->parts;
    for (size_t at = e + w->cols; at < w->size; at += w->cols)
        if (!gra_none(w, w->n[at]))                     /* a later output uses the same element of x */
            return 1;
    return 0;
}

bool gra_multiples(const gra_wrong *w, const gra_division *v, const double *t, const double *b, size_t least,
                   double *k)
{
    double *const bb = k + w->rows + w->cols;
    size_t used = 0, entries = 0;
    memset(k, 0, v->parts * sizeof *k);
    memset(bb, 0, v->parts * sizeof *bb);
    for (size_t e = 0; e < w->size; e++)
        if (!gra_zero(w, e)) {
            const size_t p = gra_part(w, v, e);
            used += bb[p] == 0 && b[e] != 0;
            k[p] += t[e] * b[e];
            bb[p] += b[e] * b[e];
            entries++;
        }
    for (size_t p = 0; p < v->parts; p++)
        k[p] = bb[p] > 0 ? k[p] / bb[p] : 0;
    for (size_t e = 0; e < w->size; e++)
        if (!gra_zero(w, e) && !gra_fit(w, t[e], k[gra_part(w, v, e)] * b[e]))
            return false;
    return entries >= least * used;
}

/* ---- names ------------------------------------------------------------------------------------- */

bool gra_by_index(const gra_division *v)
{
    return v->way == INDEX_OF_X || v->way == INDEX_OF_DY;
}

static void put_noun(gra_check_line *s, const gra_wrong *w, const gra_division *v, bool plural)
{
    const int ndim = shape_of(w, gra_of_dy(v))->ndim;
    if (gra_by_index(v) && ndim > 2)
        gra_check_put(s, plural ? "indices" : "index");
    else if (v->way == ELEMENT_OF_X || v->way == ELEMENT_OF_DY || (gra_by_index(v) && ndim == 1))
        gra_check_put(s, plural ? "elements" : "element");
    else
        gra_check_put(s, "%s%s", gra_by_index(v) && v->d == 1 ? "column" : "row", plural ? "s" : "");
}

/* " of dimension 1 of x" */
static void put_of(gra_check_line *s, const gra_wrong *w, const gra_division *v)
{
    if (gra_by_index(v) && shape_of(w, gra_of_dy(v))->ndim > 2)
        gra_check_put(s, " of dimension %d", v->d);
    gra_check_put(s, " of %s", gra_of_dy(v) ? "dy" : w->x->name);
}

void gra_put_parts(gra_check_line *s, const gra_wrong *w, const gra_division *v)
{
    put_noun(s, w, v, false);
    put_of(s, w, v);
}

/* The parts that are in the set, or where they are fewer, those that are not; a part that is in no entry of
 * `all` is neither. */
static void put_list(gra_check_line *s, const gra_wrong *w, const gra_division *v, const double *in,
                     const double *all)
{
    size_t count[2] = { 0 }, put = 0;
    for (size_t p = 0; p < v->parts; p++)
        count[in[p] > 0] += all[p] > 0;
    const bool except = count[1] > count[0] && count[0] <= MOST_NAMES;
    const size_t named = count[!except], most = named <= MOST_NAMES ? named : 1;
    gra_check_put(s, "%s%s ", except ? "except " : "", gra_of_dy(v) ? "from" : "in");
    if (named > MOST_NAMES)
        gra_check_put(s, "%zu of %zu ", named, v->parts);
    put_noun(s, w, v, named > 1);
    for (size_t p = 0; p < v->parts && put < most; p++)
        if (all[p] != 0 && (in[p] > 0) != except)
            gra_check_put(s, "%s%zu", put++ ? ", " : named > most ? " (the first is " : " ", p);
    gra_check_put(s, "%s", named > most ? ")" : "");
    put_of(s, w, v);
}

/* The set is made of the parts of v whose bits are in `parts`. */
static void put_special(gra_check_line *s, const gra_wrong *w, const gra_division *v, unsigned parts)
{
    static const char *const how[] = { "", "comes before", "is", "is not after", "comes after", "is not",
                                       "is not before" };
    const char *const x = w->x->name;
    gra_division of_x = { .way = INDEX_OF_X, .d = v->d }, y = { .way = INDEX_OF_DY, .d = v->o };
    switch (v->way) {
    case SIGN:
        gra_check_put(s, "where %s %c 0", x, parts & 1 ? '<' : '>');
        break;
    case BRANCH:
        gra_check_put(s, "where %s %s %.4g (a branch?)", x, parts & 1 ? "<=" : ">", (double)w->branch);
        break;
    case DIAGONAL:
        gra_check_put(s, parts & 1 ? "on the diagonal, in what dy_i gives to place i itself, %s_i"
                                   : "beside the diagonal, in what dy_j gives to the other places %s_i", x);
        break;
    case RELATION:
        gra_check_put(s, "where the ");
        gra_put_parts(s, w, &of_x);
        gra_check_put(s, " %s the ", how[parts]);
        gra_put_parts(s, w, &y);
        break;
    default:
        gra_check_put(s, "from all but the last of the outputs that use one element of %s", x);
    }
}

/* Is each part of v wholly inside or outside of the set? Counts the entries of each. To come from the last of
 * the outputs that use an element is reported by that output's index. */
static bool made_of_parts(const gra_wrong *w, const gra_division *v, double *in, double *all)
{
    memset(in, 0, v->parts * sizeof *in);
    memset(all, 0, v->parts * sizeof *all);
    for (size_t e = 0; e < w->size; e++)
        if (w->of[e]) {
            const size_t p = gra_part(w, v, e);
            in[p] += w->in[e];
            all[p]++;
        }
    for (size_t p = 0; p < v->parts; p++)
        if (in[p] != 0 && in[p] != all[p])
            return false;
    return v->way != LAST_USE || !(in[0] > 0);
}

/* The value of x below which there are only elements of the set, or only others; at least three of each. */
static real branch_of(const gra_wrong *w)
{
    for (size_t at = 0; at < w->size; at++) {
        const real x = w->x->data[at % w->cols];
        size_t below = 0, above = 0;
        bool fit = w->of[at];
        for (size_t e = 0; fit && e < w->size; e++)
            if (w->of[e]) {
                const bool low = w->x->data[e % w->cols] <= x;
                fit = (w->in[e] == w->in[at]) == low;
                *(low ? &below : &above) += 1;
            }
        if (fit && below > 2 && above > 2)
            return x;
    }
    return -(real)INFINITY;
}

size_t gra_wrong_set(gra_wrong *w)
{
    size_t right = 0;
    for (size_t e = 0; e < w->size; e++) {
        w->of[e] = !gra_zero(w, e);
        w->in[e] = !gra_fit(w, w->a[e], w->n[e]);
        right += w->of[e] && !w->in[e];
    }
    return right;
}

bool gra_put_set(gra_check_line *s, gra_wrong *w)
{
    w->branch = w->single ? branch_of(w) : 0;
    double *const in = w->scratch, *const all = in + w->rows + w->cols + 1;     /* at least 3, of RELATION */
    bool found = false;
    for (gra_division v = { 0 }; !found && gra_next_division(w, &v);) {
        found = made_of_parts(w, &v, in, all);
        if (found && gra_has_list(&v))
            put_list(s, w, &v, in, all);
        else if (found)
            put_special(s, w, &v, (in[0] > 0) | (in[1] > 0 ? 2u : 0) | (v.parts > 2 && in[2] > 0 ? 4u : 0));
    }
    return found;
}

void gra_put_places(gra_check_line *s, gra_wrong *w)
{
    size_t count = 0, first = w->size;
    if (gra_put_set(s, w))
        return;
    for (size_t e = w->size; e-- > 0;)
        if (w->in[e]) {
            count++;
            first = e;
        }
    gra_check_put(s, count == 1 ? "in one place: " : "in %zu places, the first of them ", count);
    gra_put_entry(s, w, first);
}
