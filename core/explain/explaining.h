/* explaining.h: a wrong gradient of one tensor x, as two columns of numbers. Entry e = (j, i) is dy_j/dx_i,
 * the part of x_i's gradient that comes from the output y_j if its gradient dy_j is 1: `n` is numeric, by
 * differences, and `a` is analytic, computed by the backward. For tensors too large for a Jacobian there is
 * only one row, the gradient of the loss. A list has the entries to be explained: all that are not 0 in both
 * columns, or some of these. */
#ifndef GRADUS_EXPLAINING_H
#define GRADUS_EXPLAINING_H

#include "../check/checking.h"

enum { GRA_PROBES = 4, GRA_MOST_COLUMNS = 300, GRA_MOST_MADE = 64 };

/* The functions to try on a column: in an elementwise op all of them, otherwise those before the cube. */
#define GRA_FUNCTION_TABLE(F)                                                                            \
    F(PLAIN, "@", v) F(INVERSE, "1/@", 1 / v) F(SQUARE, "@^2", v * v) F(REST, "1 - @", 1 - v)            \
    F(VARIANCE, "@ (1 - @)", v * (1 - v)) F(REST_INVERSE, "1/(1 - @)", 1 / (1 - v))                      \
    F(LOG, "log(@)", log(v)) F(EXP, "exp(@)", exp(v)) F(AND_ONE, "1 + @", 1 + v) F(SIZE, "|@|", fabs(v)) \
    F(SIGMOID, "sigmoid(@)", 1 / (1 + exp(-v))) F(SIGMOID_REST, "1 - sigmoid(@)", 1 / (1 + exp(v)))      \
    F(SIGMOID_SLOPE, "s (1 - s), s = sigmoid(@)", 1 / ((1 + exp(-v)) * (1 + exp(v))))                    \
    F(TANH, "tanh(@)", tanh(v)) F(TANH_SLOPE, "1 - t^2, t = tanh(@)", 1 - tanh(v) * tanh(v))             \
    F(SILU_SLOPE, "the derivative of silu at @", (1 + v / (1 + exp(v))) / (1 + exp(-v)))                 \
    F(SQUARE_REST, "1 - @^2", 1 - v * v) F(AND_SQUARE, "1 + @^2", 1 + v * v) F(CUBE, "@^3", v * v * v)   \
    F(INVERSE_SQUARE, "1/@^2", 1 / (v * v)) F(LORENTZ, "1/(1 + @^2)", 1 / (1 + v * v))                   \
    F(POLES, "1/(1 - @^2)", 1 / (1 - v * v)) F(SIN, "sin(@)", sin(v)) F(COS, "cos(@)", cos(v))
#define GRA_FUNCTION(name, pattern, value) GRA_##name,
enum { GRA_FUNCTION_TABLE(GRA_FUNCTION) GRA_FUNCTIONS, GRA_COMMON = GRA_CUBE };

typedef struct gra_column {             /* columns.c: a part of a formula, with a value for each entry */
    char        name[160];
    const real *data;                   /* NULL: 1 everywhere */
    size_t      rows, columns;
    int         row, column;            /* the index of an entry that selects the element, or GRA_NO_INDEX */
    bool        plain;                  /* no functions of this column are tried */
    double      probe[GRA_FUNCTIONS][GRA_PROBES];       /* the values of each function at w->probe */
} gra_column;

typedef struct gra_wrong {
    gra_checking *check;
    gra_checked  *x;
    bool          whole;                /* whole Jacobians; false: one row */
    size_t        rows, cols, size;     /* rows: outputs, or 1; cols: elements of x; size: rows * cols */
    double       *a, *n;                /* entry j * cols + i */
    size_t       *entry, entries;       /* the entries to be explained: */
    const char   *part;                 /* the part of the Jacobian in words; NULL: all of it */
    double        largest, near, zero;  /* largest |entry|; nearer than `near`: equal; up to `zero`: 0 */
    bool          single;               /* output j depends only on element j of x */
    char         *mark;                 /* for each entry: GRA_IN if it is in the set to be named */
    double       *scratch;              /* 2 * (rows + cols) + 8 */
    gra_column   *column;
    real         *made[GRA_MOST_MADE];  /* the data of columns that are computed */
    int           columns, mades;
    size_t        probe[GRA_PROBES];    /* entries where a guess is tried first; a sentence names probe[0] */
    bool          overwrites;           /* the backward has = where += is expected */
    bool          other;                /* x is not the worst tensor */
    bool          clues_asked;          /* no guess fits, so clues follow */
    int           fits, clues;          /* how many hints of each kind were given */
} gra_wrong;

/* for (size_t i = 0, e; gra_each(w, &i, &e);) */
static inline bool gra_each(const gra_wrong *w, size_t *i, size_t *e)
{
    *e = *i < w->entries ? w->entry[*i] : 0;
    return (*i)++ < w->entries;
}

static inline bool gra_fit(const gra_wrong *w, double a, double n)
{
    return fabs(a - n) <= w->near;
}

static inline bool gra_none(const gra_wrong *w, double v)       /* an entry that is zero */
{
    return fabs(v) <= w->zero;
}

static inline bool gra_right(const gra_wrong *w, size_t e)
{
    return gra_fit(w, w->a[e], w->n[e]);
}

static inline bool gra_equal(double k, double of)       /* factors of entries that are equal to `near` */
{
    return fabs(k - of) <= 1e-4 * fabs(of);
}

static inline bool gra_elementwise(const gra_wrong *w)  /* an elementwise op of one input */
{
    return w->single && w->check->count == 1;
}

/* explain.c: a cause that agrees with all numbers; a fact that narrows the search; the worst entry. */
void   gra_fits(gra_wrong *w, const char *format, ...) GRA_PRINTF(2, 3);
void   gra_clue(gra_wrong *w, const char *format, ...) GRA_PRINTF(2, 3);
size_t gra_worst(const gra_wrong *w);

/* The indices of an entry: along dimension d of x (GRA_OF_X + d) or of dy; its row (all but the last
 * dimension); its element. An index divides the entries into parts. Other divisions are by the sign of x,
 * into the diagonal (from dy_i to x_i) and the rest, and by whether an index of x is before, equal to or
 * after that of dy. Divisions into fewer parts come first: "where x > 0" says more than a list of
 * elements. */
enum { GRA_NO_INDEX = -1, GRA_SIGN, GRA_OF_X, GRA_OF_DY = GRA_OF_X + GRA_MAX_DIMS,
       GRA_DIAGONAL = GRA_OF_DY + GRA_MAX_DIMS, GRA_RELATION, GRA_ROW_OF_X = GRA_RELATION + GRA_MAX_DIMS,
       GRA_ROW_OF_DY, GRA_ELEMENT_OF_X, GRA_ELEMENT_OF_DY, GRA_WAYS };

static inline bool gra_index_of_dy(int index)
{
    return (index >= GRA_OF_DY && index < GRA_DIAGONAL) || index == GRA_ROW_OF_DY ||
           index == GRA_ELEMENT_OF_DY;
}

static inline int gra_dimension(int index)      /* of GRA_OF_X + d or GRA_OF_DY + d */
{
    return (index - GRA_OF_X) % GRA_MAX_DIMS;
}

/* columns.c: the index of entry e, and the number of its values; 0: there is none. */
size_t gra_index(const gra_wrong *w, int index, size_t e);
size_t gra_extent(const gra_wrong *w, int index);

/* parts.c: names for sets of entries that consist of whole parts. Start gra_next_division with { 0 }. */
enum { GRA_OUT, GRA_IN, GRA_EITHER };
typedef struct gra_division {
    int    way, next;                   /* next: where gra_next_division goes on */
    size_t parts;
} gra_division;

bool   gra_next_division(const gra_wrong *w, gra_division *v);
bool   gra_is_list(const gra_division *v);              /* the parts have numbers: rows, elements ... */
size_t gra_part(const gra_wrong *w, const gra_division *v, size_t e);
gra_line gra_parts(const gra_wrong *w, int way);          /* "row of x" */
bool   gra_put_set(gra_line *s, const gra_wrong *w);      /* "in row 2 of x"; false: the set has no name */
gra_line gra_places(const gra_wrong *w);          /* the set's name, or its size and first entry */
gra_line gra_element(const gra_wrong *w, bool dy, size_t at);     /* of dy, or of x: "w (1, 2)" */
gra_line gra_entry(const gra_wrong *w, size_t e);         /* "what dy (0) gives to w (1, 2)" */

typedef struct gra_term {               /* a function of a column */
    const gra_column *c;
    int               f;
} gra_term;

bool   gra_columns(gra_wrong *w);       /* fills w->column; false: out of memory */
void   gra_columns_end(gra_wrong *w);
int    gra_functions_of(const gra_wrong *w, const gra_column *c);
double gra_value(const gra_wrong *w, gra_term t, size_t e);
gra_line gra_term_at(const gra_wrong *w, gra_term t, size_t e);   /* "1 - w (1, 2)" */

/* numbers.c: "1.73205: sqrt(3), and 3 is also the size of dimension 1 of x" */
void gra_put_number(gra_line *s, const gra_wrong *w, double v);

/* fit.c: terms p and q, and a number k, such that a = k n p / q; or n - a = k p q; or n - a = k (p - q); or
 * the column `values` = k p. */
enum { GRA_QUOTIENT, GRA_PRODUCT, GRA_DIFFERENCE, GRA_ALONE };
typedef struct gra_pair {
    int           form;
    bool          any_number;           /* k may have any value; otherwise 1, or -1 in a term */
    const double *values;
    gra_term      p, q;
    double        k;
} gra_pair;
void   gra_probe(gra_wrong *w);         /* chooses w->probe, of the wrong entries */
bool   gra_find_pair(const gra_wrong *w, gra_pair *pair);       /* the simplest that fit */
size_t gra_distinct(const gra_wrong *w, bool ratio);    /* how many values a / n, or a - n, has: 8 at most */
/* The rows (or elements, if of_elements) within which a = k n or, for a term t, n - a = k t. The k of each
 * row is in w->scratch. */
bool   gra_find_own(const gra_wrong *w, const gra_term *t, bool of_elements, gra_division *v);

/* The guesses: each function returns true if the guess fits, and has then reported it. */
typedef bool gra_guess(gra_wrong *w);
gra_guess gra_factor, gra_another_mask, gra_formula, gra_quotient, gra_own_factors,
          gra_instead;                                  /* factors.c: a = k n, or k n p / q */
gra_guess gra_same_number, gra_one_term, gra_own_term;  /* terms.c: n - a = k p q */
gra_guess gra_moved;                        /* moved.c: a has n's values at other places */

gra_check_explain_fn gra_explain;       /* explain.c: all of it */

#endif
