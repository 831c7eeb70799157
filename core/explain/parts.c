/* parts: names for sets of entries of a Jacobian.
 *
 * The entries can be divided into parts that a formula may treat differently: by the sign of x, by an index
 * of x or of dy, into the diagonal and the rest ... A set has a name if, in one of these divisions, each part
 * lies wholly inside or wholly outside the set. */
#include "explaining.h"

enum { MOST_NAMES = 4 };                /* parts that are listed one by one */

static const gra_shape *shape_of(const gra_wrong *w, bool dy)
{
    return dy ? &w->check->shape : &w->x->shape;
}

/* ---- divisions --------------------------------------------------------------------------------- */

static bool is_relation(int way) { return way >= GRA_RELATION && way < GRA_ROW_OF_X; }

bool gra_is_list(const gra_division *v)
{
    return v->way != GRA_SIGN && v->way != GRA_DIAGONAL && !is_relation(v->way);
}

/* How many parts does the division have? 0 or 1: there is no such division. */
static size_t parts_of(const gra_wrong *w, int way)
{
    if (way == GRA_SIGN)
        return w->single || w->rows == 1 ? 2 : 0;
    if (way == GRA_DIAGONAL)
        return w->whole && gra_same_shape(w->x->shape, w->check->shape) ? 2 : 0;
    if (is_relation(way)) {
        const size_t n = gra_extent(w, way - GRA_RELATION + GRA_OF_X);
        return n > 1 && n == gra_extent(w, way - GRA_RELATION + GRA_OF_DY) ? 3 : 0;
    }
    const bool row = way == GRA_ROW_OF_X || way == GRA_ROW_OF_DY;       /* of two dimensions: an index */
    return row && shape_of(w, gra_index_of_dy(way))->ndim < 3 ? 0 : gra_extent(w, way);
}

bool gra_next_division(const gra_wrong *w, gra_division *v)
{
    do
        v->way = v->next++;
    while (v->way < GRA_WAYS && (v->parts = parts_of(w, v->way)) < 2);
    return v->way < GRA_WAYS;
}

size_t gra_part(const gra_wrong *w, const gra_division *v, size_t e)
{
    if (v->way == GRA_SIGN)
        return w->x->data[e % w->cols] > 0;
    if (v->way == GRA_DIAGONAL)
        return e % w->cols != e / w->cols;
    if (!is_relation(v->way))
        return gra_index(w, v->way, e);
    const size_t p = gra_index(w, v->way - GRA_RELATION + GRA_OF_X, e);
    const size_t q = gra_index(w, v->way - GRA_RELATION + GRA_OF_DY, e);
    return p < q ? 0 : p == q ? 1 : 2;
}

/* ---- names ------------------------------------------------------------------------------------- */

gra_line gra_element(const gra_wrong *w, bool dy, size_t at)
{
    const gra_shape place = gra_place_of(*shape_of(w, dy), at);
    gra_line s = { .at = 0 };
    gra_line_put(&s, place.ndim ? "%.60s %s" : "%.60s", dy ? "dy" : w->x->name, GRA_SHAPE_STRING(place));
    return s;
}

gra_line gra_entry(const gra_wrong *w, size_t e)
{
    gra_line s = { .at = 0 };
    if (w->rows > 1)
        gra_line_put(&s, "what %s gives to ", gra_element(w, true, e / w->cols).s);
    else
        gra_line_put(&s, "the gradient of ");
    gra_line_put(&s, "%s", gra_element(w, false, e % w->cols).s);
    return s;
}

static void put_noun(gra_line *s, const gra_wrong *w, int way, bool plural)
{
    const int ndim = shape_of(w, gra_index_of_dy(way))->ndim;
    const bool along = way < GRA_DIAGONAL;
    if (along && ndim > 2)
        gra_line_put(s, plural ? "indices" : "index");
    else
        gra_line_put(s, "%s%s", way >= GRA_ELEMENT_OF_X || (along && ndim == 1) ? "element" :
                     along && gra_dimension(way) == 1 ? "column" : "row", plural ? "s" : "");
}

/* " of dimension 1 of x" */
static void put_of(gra_line *s, const gra_wrong *w, int way)
{
    if (way < GRA_DIAGONAL && shape_of(w, gra_index_of_dy(way))->ndim > 2)
        gra_line_put(s, " of dimension %d", gra_dimension(way));
    gra_line_put(s, " of %.60s", gra_index_of_dy(way) ? "dy" : w->x->name);
}

gra_line gra_parts(const gra_wrong *w, int way)
{
    gra_line s = { .at = 0 };
    put_noun(&s, w, way, false);
    put_of(&s, w, way);
    return s;
}

/* Lists the parts inside the set or, if they are fewer, those outside. Parts without entries are skipped. */
static void put_list(gra_line *s, const gra_wrong *w, const gra_division *v, const double *in,
                     const double *all)
{
    size_t count[2] = { 0 }, put = 0;
    for (size_t p = 0; p < v->parts; p++)
        count[in[p] > 0] += all[p] > 0;
    const bool except = count[1] > count[0] && count[0] <= MOST_NAMES;
    const size_t named = count[!except], most = named <= MOST_NAMES ? named : 1;
    gra_line_put(s, "%s%s ", except ? "except " : "", gra_index_of_dy(v->way) ? "from" : "in");
    if (named > MOST_NAMES)
        gra_line_put(s, "%zu of %zu ", named, v->parts);
    put_noun(s, w, v->way, named > 1);
    for (size_t p = 0; p < v->parts && put < most; p++)
        if (all[p] != 0 && (in[p] > 0) != except)
            gra_line_put(s, "%s%zu", put++ ? ", " : named > most ? " (the first is " : " ", p);
    gra_line_put(s, "%s", named > most ? ")" : "");
    put_of(s, w, v->way);
}

/* The set consists of the parts of v whose bits are set in `parts`. */
static void put_special(gra_line *s, const gra_wrong *w, const gra_division *v, unsigned parts)
{
    static const char *const how[] = { "", "comes before", "is", "is not after", "comes after", "is not",
                                       "is not before" };
    if (v->way == GRA_SIGN)
        gra_line_put(s, "where %.60s %c 0", w->x->name, parts & 1 ? '<' : '>');
    else if (v->way == GRA_DIAGONAL)
        gra_line_put(s, parts & 1 ? "on the diagonal, in what dy_i gives to place i itself, %.60s_i"
                                  : "beside the diagonal, in what dy_j gives to the other places %.60s_i",
                     w->x->name);
    else
        gra_line_put(s, "where the %s %s the %s", gra_parts(w, v->way - GRA_RELATION + GRA_OF_X).s,
                     how[parts], gra_parts(w, v->way - GRA_RELATION + GRA_OF_DY).s);
}

/* A division whose parts all lie wholly inside or outside of the set names the set. */
bool gra_put_set(gra_line *s, const gra_wrong *w)
{
    double *const in = w->scratch, *const all = in + w->rows + w->cols + 1;     /* at least 3 */
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

gra_line gra_places(const gra_wrong *w)
{
    gra_line s = { .at = 0 };
    size_t count = 0, first = w->size;
    if (gra_put_set(&s, w))
        return s;
    for (size_t i = 0, e; gra_each(w, &i, &e);)
        if (w->mark[e] == GRA_IN)
            first = count++ ? first : e;
    if (count == 1)
        gra_line_put(&s, "in one place: %s", gra_entry(w, first).s);
    else
        gra_line_put(&s, "in %zu places, the first of them %s", count, gra_entry(w, first).s);
    return s;
}
