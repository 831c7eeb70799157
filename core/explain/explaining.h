/* explaining.h: a wrong gradient of one tensor x, as two Jacobians. Entry (j, i) is dy_j/dx_i: what the
 * output y_j gives to x_i when its gradient dy_j is 1. `n` is numeric, by differences; `a` is analytic,
 * what the backward makes of dy. Of tensors too large for that there is only one row: the gradient of the
 * loss. */
#ifndef GRADUS_EXPLAINING_H
#define GRADUS_EXPLAINING_H

#include "../check/checking.h"

enum { GRA_PROBES = 4, GRA_MOST_DERIVED = 96, GRA_MOST_SOURCES = 300, GRA_SCRATCH = 6 };
typedef struct gra_derived {            /* derived.c: a matrix of values that formulas are made of */
    char   name[200];
    real  *data;
    size_t rows, columns;
    bool   as_tensor;                   /* as likely in a formula, and in functions, as a tensor */
    bool   jacobian;                    /* of another tensor: its rows are the outputs */
} gra_derived;

typedef struct gra_wrong {
    gra_checking *check;
    gra_checked  *x;
    bool          whole;                /* whole Jacobians; false: one row */
    size_t        rows, cols, size;     /* rows: outputs, or 1; cols: elements of x; size: rows * cols */
    double       *a, *n;                /* entry j * cols + i */
    double       *part_a, *part_n;      /* room for as many */
    double        largest, near, zero;  /* largest |entry|; nearer than `near`: equal; up to `zero`: 0 */
    bool         *in, *of;              /* a set of entries, among these: for gra_put_set */
    real          branch;               /* the set is one of the two sides of this value of x; see sets.c */
    gra_derived  *derived;
    int           derived_count;
    double       *scratch;              /* GRA_SCRATCH * (rows + cols): for the explanation at work */
    bool          overwrites;           /* the backward has = where += is expected */
    struct gra_source *source;
    int           sources;
    double       *probed;               /* their values at the probes, of each function */
    size_t        example;              /* the entry that a sentence names: the first probe */
    size_t        probe[GRA_PROBES];    /* entries on which a pair of sources is tried first */
    bool          single;               /* output j depends on element j of x only */
    const char   *part;                 /* the part of the Jacobian that is explained, or NULL: all of it */
    bool          other;                /* x is not the worst tensor */
    bool          clues_asked;          /* nothing fits, so clues are given */
    int           fits, clues;          /* how many hints of either kind were given */
} gra_wrong;

static inline bool gra_fit(const gra_wrong *w, double a, double n)
{
    return fabs(a - n) <= w->near;
}

static inline bool gra_none(const gra_wrong *w, double v)       /* an entry that is zero */
{
    return fabs(v) <= w->zero;
}

static inline bool gra_zero(const gra_wrong *w, size_t e)       /* zero in both */
{
    return gra_none(w, w->a[e]) && gra_none(w, w->n[e]);
}

static inline bool gra_nothing(const gra_wrong *w, double a)    /* not even a small analytic entry */
{
    return fabs(a) <= 1e-14 * w->largest;
}

static inline bool gra_equal(double k, double of)            /* factors of entries that are equal to `near` */
{
    return fabs(k - of) <= 1e-4 * fabs(of);
}

static inline size_t gra_columns(const gra_shape *s)            /* the size of the last dimension */
{
    return s->ndim ? (size_t)s->dim[s->ndim - 1] : 1;
}

static inline bool gra_elementwise(const gra_wrong *w)          /* an op of single elements, of one input */
{
    return w->single && w->check->count == 1;
}

size_t gra_worst(const gra_wrong *w);   /* hints.c: the entry with the largest error */
/* hints.c: an explanation that agrees with all numbers, or a fact that narrows the search. */
void gra_fits(gra_wrong *w, const char *format, ...) GRA_PRINTF(2, 3);
void gra_clue(gra_wrong *w, const char *format, ...) GRA_PRINTF(2, 3);

/* sets.c: the ways to divide the entries into parts (by a row of x, by the sign of x ...), and names for sets
 * that are made of whole parts. Start gra_next_division with { 0 }. */
typedef struct gra_division {
    int    way, d, o;               /* see sets.c; along dimension d of x or dy (RELATION: d of x, o of dy) */
    int    next;                        /* where gra_next_division goes on */
    size_t parts, step;                 /* how many there are; elements in each, of a list */
} gra_division;

bool   gra_next_division(const gra_wrong *w, gra_division *v);
size_t gra_part(const gra_wrong *w, const gra_division *v, size_t e);
bool   gra_by_index(const gra_division *v);             /* its parts are the indices along dimension v->d, */
bool   gra_has_list(const gra_division *v);             /* or those, rows, or elements: */
bool   gra_of_dy(const gra_division *v);                /* of dy, or of x */
/* In each part p of v, is t = k[p] b, in `least` entries of each part on average? k has the room of
 * w->scratch. */
bool   gra_multiples(const gra_wrong *w, const gra_division *v, const double *t, const double *b,
                     size_t least, double *k);
size_t gra_index(const gra_wrong *w, bool dy, int d, size_t at);      /* along dimension d, of element `at` */
void   gra_put_parts(gra_check_line *s, const gra_wrong *w, const gra_division *v);     /* "row of x" */
void   gra_put_place(gra_check_line *s, const gra_shape *shape, size_t at);     /* " (1, 2)" */
void   gra_put_element(gra_check_line *s, const gra_wrong *w, bool dy, size_t at);      /* "w (1, 2)" */
/* "what dy (0, 1) gives to w (1, 2)" */
void   gra_put_entry(gra_check_line *s, const gra_wrong *w, size_t e);
size_t gra_wrong_set(gra_wrong *w);     /* the set of wrong entries; how many others are right and not 0 */
bool   gra_put_set(gra_check_line *s, gra_wrong *w);      /* "in row 2 of x"; false: it has no name */
void   gra_put_places(gra_check_line *s, gra_wrong *w);   /* its name, or how many and the first */

/* derived.c: w->derived, sums of rows, softmax, products ... */
void gra_derive(gra_wrong *w);
void gra_derive_end(gra_wrong *w);

/* numbers.c: "1.73205: sqrt(3), and 3 is also the size of dimension 1 of x"; factors.c: "the sign is flipped,
 * and a constant factor of 1.73205: ..." */
void gra_put_number(gra_check_line *s, const gra_wrong *w, double v);
void gra_put_factor(gra_check_line *s, const gra_wrong *w, double k);

/* sources.c: values that may be part of a formula, one for each entry: w (1, 2), y (0, 3) ..., and
 * functions of them. Of sums only the first few functions are tried; the last are those of ops of single
 * elements. */
#define GRA_FUNCTION_TABLE(F)                                                                            \
    F(PLAIN, "@", v) F(INVERSE, "1/@", 1 / v) F(SQUARE, "@^2", v * v) F(REST, "1 - @", 1 - v)            \
    F(VARIANCE, "@ (1 - @)", v * (1 - v)) F(REST_INVERSE, "1/(1 - @)", 1 / (1 - v))                      \
    F(LOG, "log(@)", log(v)) F(EXP, "exp(@)", exp(v)) F(AND_ONE, "1 + @", 1 + v) F(SIZE, "|@|", fabs(v)) \
    F(SIGMOID, "sigmoid(@)", 1 / (1 + exp(-v))) F(SIGMOID_REST, "1 - sigmoid(@)", 1 / (1 + exp(v)))      \
    F(SIGMOID_SLOPE, "s (1 - s), s = sigmoid(@)", 1 / ((1 + exp(-v)) * (1 + exp(v))))                    \
    F(SILU_SLOPE, "the derivative of silu at @", (1 + v / (1 + exp(v))) / (1 + exp(-v)))                 \
    F(TANH, "tanh(@)", tanh(v)) F(TANH_SLOPE, "1 - t^2, t = tanh(@)", 1 - tanh(v) * tanh(v))             \
    F(CUBE, "@^3", v * v * v) F(INVERSE_SQUARE, "1/@^2", 1 / (v * v)) F(AND_SQUARE, "1 + @^2", 1 + v * v) \
    F(SQUARE_REST, "1 - @^2", 1 - v * v) F(INVERSE_SUM, "1/(1 + @)", 1 / (1 + v))                        \
    F(LORENTZ, "1/(1 + @^2)", 1 / (1 + v * v)) F(POLES, "1/(1 - @^2)", 1 / (1 - v * v))                  \
    F(ASINH_SLOPE, "1/sqrt(1 + @^2)", 1 / sqrt(1 + v * v))                                               \
    F(ASIN_SLOPE, "1/sqrt(1 - @^2)", 1 / sqrt(1 - v * v)) F(SIN, "sin(@)", sin(v)) F(COS, "cos(@)", cos(v)) \
    F(AND_SIZE, "1 + |@|", 1 + fabs(v)) F(AND_EXP, "1 + exp(@)", 1 + exp(v))                             \
    F(SIGN, "the sign of @", v > 0 ? 1 : -1)
#define GRA_FUNCTION(name, pattern, value) GRA_##name,
enum { GRA_FUNCTION_TABLE(GRA_FUNCTION) GRA_FUNCTIONS, GRA_OF_SUMS = GRA_REST + 1, GRA_COMMON = GRA_CUBE };

/* The indices of an entry: the four, and that of the output. */
enum { GRA_ROW_OF_X, GRA_COLUMN_OF_X, GRA_ROW_OF_DY, GRA_COLUMN_OF_DY, GRA_OUTPUT, GRA_INDICES };
typedef struct gra_source {
    enum { GRA_ONE, GRA_RIGHT, GRA_VALUE, GRA_BOTH } kind;      /* 1; the numeric entry; v; v_i v_j */
    int         f;                      /* which function of it */
    const char *name, *of_less;
    const real *data, *less;            /* `less`, if not NULL, is subtracted */
    size_t      rows, columns;
    int         row, column;            /* which of the indices leads to the element; -1: none */
    bool        made, derived;          /* of tensors, by derived.c; and less likely than a tensor */
    const double *at;                   /* its values at the probes, of each function */
} gra_source;

void   gra_sources(gra_wrong *w);       /* w->source: all of them */
bool   gra_same_source(const gra_source *p, const gra_source *q);       /* but for the function */
double gra_value(const gra_wrong *w, const gra_source *s, size_t e);
void   gra_put_source(gra_check_line *line, const gra_wrong *w, const gra_source *s, size_t e);
void   gra_put_in(gra_check_line *s, const gra_wrong *w, size_t e);    /* ", in what dy (0) gives to w (1)" */

/* Two sources with a = k n p / q; with n - a = k p q; or with n - a = k (p - q). */
typedef struct gra_pair {
    enum { GRA_QUOTIENT, GRA_PRODUCT, GRA_DIFFERENCE } form;
    bool       functions;               /* functions of them, too */
    bool       any_constant;            /* k may be any number; else 1, or in a term -1 */
    bool     (*likely)(const gra_wrong *w, const gra_source *p, const gra_source *q, int how);
    int        how;
    gra_source p, q;
    double     k;
} gra_pair;
/* How many values, 8 at most, have a / n, or a - n, where they differ? Few prove little. */
size_t gra_distinct(const gra_wrong *w, bool ratio);
bool   gra_find_pair(gra_wrong *w, gra_pair *pair);     /* the first two that are likely and fit */
/* A source with values = k times it, in each entry that is not 0 in both; of those that are made only if
 * asked. */
bool   gra_find_formula(gra_wrong *w, const double *values, bool made, gra_source *s, double *k);

/* explain.c: each explanation of x's wrong gradient that fits. */
gra_check_explain_fn gra_explain;

/* The explanations: each reports what fits, and is true then. */
typedef bool gra_explanation(gra_wrong *w);
gra_explanation gra_constant_factor, gra_one_factor, gra_another_mask, gra_partial_factor, gra_own_factors,
                gra_beside_diagonal, gra_other_part;    /* factors.c: a is n times something */
gra_explanation gra_quotient, gra_wrong_factor, gra_formula, gra_instead;
                                        /* quotients.c: a is n times one value and divided by another */
gra_explanation gra_of_another, gra_transposed, gra_mapped, gra_moved, gra_taken, gra_other_dimension;
                                        /* moved.c: a has values of n at other places, or of another input */
gra_explanation gra_same_number, gra_two_numbers, gra_one_term, gra_exchanged, gra_own_terms, gra_row_term;
                                        /* terms.c: a is n and something */
gra_explanation gra_norm;               /* norms.c: the three terms of a norm's derivative */
/* products.c: a is the product with another matrix than n */
gra_explanation gra_wrong_matrix, gra_other_order;
gra_explanation gra_derivative;        /* derivative.c: an op of single elements, whose derivative is wrong */

/* factors.c: explains w->part_a and part_n by one of these; `part` says in a sentence what they are. */
bool gra_explain_part(gra_wrong *w, const char *part, gra_explanation *const *tries, size_t count);

#endif
