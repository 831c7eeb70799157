/* parts: names for sets of entries of a Jacobian.
 *
 * There are some ways to divide the entries into parts that a formula may treat apart: by the sign of x, by
 * an index of x or of dy, into the diagonal and what is beside it ... A set has a name where one of these
 * ways has each of its parts wholly inside or wholly outside. */
#include "explaining.h"

/* The ways. What has fewer parts comes first: "where x > 0" says more than a list of elements. */
enum {
    SIGN,                               /* of the element of x */
    INDEX_OF_X, INDEX_OF_DY,            /* along one dimension */
    DIAGONAL,                           /* what dy_i gives to x_i, and what it gives to other places */
    RELATION,                           /* an index of x comes before that of dy, is the same, or after it */
    ROW_OF_X, ROW_OF_DY,
    ELEMENT_OF_X, ELEMENT_OF_DY,
    WAYS
};
enum { MOST_NAMES = 4 };                /* parts that are listed one by one */

static bool of_dy(const gra_division *v)
{
    return v->way == INDEX_OF_DY || v->way == ROW_OF_DY || v->way == ELEMENT_OF_DY;
}

static const gra_shape *shape_of(const gra_wrong *w, bool dy)
{
    return dy ? &w->check->shape : &w->x->shape;
}

/* ---- divisions --------------------------------------------------------------------------------- */

bool gra_is_list(const gra_division *v)
{
    return v->way != SIGN && v->way != DIAGONAL && v->way != RELATION;
}

/* The index that tells the part of a list. */
static int index_of(const gra_division *v)
{
    static const int index[WAYS] = { [INDEX_OF_X] = GRA_OF_X, [INDEX_OF_DY] = GRA_OF_DY,
        [ROW_OF_X] = GRA_ROW_OF_X, [ROW_OF_DY] = GRA_ROW_OF_DY,
        [ELEMENT_OF_X] = GRA_ELEMENT_OF_X, [ELEMENT_OF_DY] = GRA_ELEMENT_OF_DY };
    return index[v->way] + v->d;
}

/* How many parts has v? Up to 1: there is no such division. */
static size_t parts_of(const gra_wrong *w, const gra_division *v)
{
    const gra_shape *x = &w->x->shape, *y = &w->check->shape;
    const bool along = v->way == INDEX_OF_X || v->way == INDEX_OF_DY || v->way == RELATION;
    if (!along && v->d > 0)
        return 0;
    switch (v->way) {
    case SIGN:      return w->single || w->rows == 1 ? 2 : 0;
    case DIAGONAL:  return w->whole && gra_same_shape(*x, *y) ? 2 : 0;
    case RELATION:  return gra_extent(w, GRA_OF_X + v->d) > 1 &&
                           gra_extent(w, GRA_OF_X + v->d) == gra_extent(w, GRA_OF_DY + v->d) ? 3 : 0;
    case ROW_OF_X: case ROW_OF_DY:                      /* of two dimensions rows are indices */
        return shape_of(w, of_dy(v))->ndim > 2 ? gra_extent(w, index_of(v)) : 0;
    default:        return gra_extent(w, index_of(v));
    }
}

bool gra_next_division(const gra_wrong *w, gra_division *v)
{
    while (v->next < WAYS * GRA_MAX_DIMS) {
        v->way = v->next / GRA_MAX_DIMS;
        v->d = v->next++ % GRA_MAX_DIMS;
        v->parts = parts_of(w, v);
        if (v->parts > 1)
            return true;
    }
    return false;
}

size_t gra_part(const gra_wrong *w, const gra_division *v, size_t e)
{
    if (v->way == SIGN)
        return w->x->data[e % w->cols] > 0;
    if (v->way == DIAGONAL)
        return e % w->cols != e / w->cols;
    if (v->way != RELATION)
        return gra_index(w, index_of(v), e);
    const size_t p = gra_index(w, GRA_OF_X + v->d, e), q = gra_index(w, GRA_OF_DY + v->d, e);
    return p < q ? 0 : p == q ? 1 : 2;
}

/* ---- names ------------------------------------------------------------------------------------- */

void gra_put_place(gra_check_line *s, const char *name, const gra_shape *shape, size_t at)
{
    size_t below = 1;
    gra_check_put(s, "%.60s", name);
    for (int d = 1; d < shape->ndim; d++)
        below *= (size_t)shape->dim[d];
    for (int d = 0; d < shape->ndim; d++) {
        gra_check_put(s, "%s%zu%s", d ? ", " : " (", at / below, d == shape->ndim - 1 ? ")" : "");
        at %= below;
        below /= d + 1 < shape->ndim ? (size_t)shape->dim[d + 1] : 1;
    }
}

void gra_put_element(gra_check_line *s, const gra_wrong *w, bool dy, size_t at)
{
    gra_put_place(s, dy ? "dy" : w->x->name, shape_of(w, dy), at);
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

static void put_noun(gra_check_line *s, const gra_wrong *w, const gra_division *v, bool plural)
{
    const int ndim = shape_of(w, of_dy(v))->ndim;
    const bool along = v->way == INDEX_OF_X || v->way == INDEX_OF_DY || v->way == RELATION;
    if (along && ndim > 2)
        gra_check_put(s, plural ? "indices" : "index");
    else
        gra_check_put(s, "%s%s", v->way >= ELEMENT_OF_X || (along && ndim == 1) ? "element" :
                      along && v->d == 1 ? "column" : "row", plural ? "s" : "");
}

/* " of dimension 1 of x" */
static void put_of(gra_check_line *s, const gra_wrong *w, const gra_division *v)
{
    if (v->way <= RELATION && shape_of(w, of_dy(v))->ndim > 2)
        gra_check_put(s, " of dimension %d", v->d);
    gra_check_put(s, " of %.60s", of_dy(v) ? "dy" : w->x->name);
}

void gra_put_parts(gra_check_line *s, const gra_wrong *w, const gra_division *v)
{
    put_noun(s, w, v, false);
    put_of(s, w, v);
}

/* The parts that are in the set, or where they are fewer, those that are not; a part without entries is
 * neither. */
static void put_list(gra_check_line *s, const gra_wrong *w, const gra_division *v, const double *in,
                     const double *all)
{
    size_t count[2] = { 0 }, put = 0;
    for (size_t p = 0; p < v->parts; p++)
        count[in[p] > 0] += all[p] > 0;
    const bool except = count[1] > count[0] && count[0] <= MOST_NAMES;
    const size_t named = count[!except], most = named <= MOST_NAMES ? named : 1;
    gra_check_put(s, "%s%s ", except ? "except " : "", of_dy(v) ? "from" : "in");
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
    const gra_division y = { .way = INDEX_OF_DY, .d = v->d };
    if (v->way == SIGN)
        gra_check_put(s, "where %.60s %c 0", w->x->name, parts & 1 ? '<' : '>');
    else if (v->way == DIAGONAL)
        gra_check_put(s, parts & 1 ? "on the diagonal, in what dy_i gives to place i itself, %.60s_i"
                                   : "beside the diagonal, in what dy_j gives to the other places %.60s_i",
                      w->x->name);
    else {
        gra_check_put(s, "where the ");
        gra_put_parts(s, w, v);
        gra_check_put(s, " %s the ", how[parts]);
        gra_put_parts(s, w, &y);
    }
}

/* A way with each part wholly inside or outside of the set gives it a name. */
bool gra_put_set(gra_check_line *s, const gra_wrong *w)
{
    double *const in = w->scratch, *const all = in + w->rows + w->cols + 1;     /* at least 3, of RELATION */
    for (gra_division v = { 0 }; gra_next_division(w, &v);) {
        bool fit = true;
        memset(in, 0, v.parts * sizeof *in);
        memset(all, 0, v.parts * sizeof *all);
        for (size_t i = 0, e; gra_each(w, &i, &e);) {
            in[gra_part(w, &v, e)] += w->mark[e] == GRA_IN;
            all[gra_part(w, &v, e)] += w->mark[e] != GRA_EITHER;
        }
        for (size_t p = 0; p < v.parts; p++)
            fit &= in[p] == 0 || in[p] == all[p];
        if (fit && gra_is_list(&v))
            put_list(s, w, &v, in, all);
        else if (fit)
            put_special(s, w, &v, (in[0] > 0) | (in[1] > 0 ? 2u : 0) | (v.parts > 2 && in[2] > 0 ? 4u : 0));
        if (fit)
            return true;
    }
    return false;
}

void gra_put_places(gra_check_line *s, const gra_wrong *w)
{
    size_t count = 0, first = w->size;
    if (gra_put_set(s, w))
        return;
    for (size_t i = 0, e; gra_each(w, &i, &e);)
        if (w->mark[e] == GRA_IN)
            first = count++ ? first : e;
    gra_check_put(s, count == 1 ? "in one place: " : "in %zu places, the first of them ", count);
    gra_put_entry(s, w, first);
}
