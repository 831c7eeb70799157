/* explaining.h: a wrong gradient of one tensor x, as two Jacobians. Entry (j, i) is dy_j/dx_i: what the
 * output y_j gives to x_i when its gradient dy_j is 1. `n` is numeric, by differences; `a` is analytic, what
 * the backward makes of dy. Of tensors too large for that there is only one row: the gradient of the
 * loss. */
#ifndef GRADUS_EXPLAINING_H
#define GRADUS_EXPLAINING_H

#include "../check/checking.h"

enum { GRA_PROBES = 4, GRA_MOST_DERIVED = 96 };
typedef struct gra_derived {            /* derived.c: a matrix of values that formulas are made of */
    char   name[200];
    real  *data;
    size_t rows, columns;
    bool   as_tensor;                   /* as likely in a formula, and in functions, as a tensor */
} gra_derived;

typedef struct gra_wrong {
    gra_checking *check;
    gra_checked  *x;
    bool          whole;                /* whole Jacobians; false: one row */
    size_t        rows, cols, size;     /* rows: outputs, or 1; cols: elements of x; size: rows * cols */
    double       *a, *n;                /* entry j * cols + i */
    double        largest, near, zero;  /* largest |entry|; nearer than `near`: equal; up to `zero`: 0 */
    bool         *in, *of;              /* a set of entries, among these: for gra_put_set */
    gra_derived  *derived;              /* GRA_MOST_DERIVED at most: sums of rows, softmax, products ... */
    int           derived_count;
    double       *scratch;              /* GRA_SCRATCH * (rows + cols): for the explanation that is at work */
    bool          overwrites;           /* the backward has = where += is wanted */
    struct gra_source *source;          /* see below */
    int           sources;
    double       *probed;               /* their values at the probes, of each function */
    size_t        example;              /* the entry that a sentence names */
    size_t        probe[GRA_PROBES];    /* entries that an explanation of a pair is tried at first */
    bool          single;               /* output j depends on element j of x alone */
    const char   *part;             /* which part of the Jacobian is looked at, for a sentence; NULL: all */
    bool          turned;               /* a is the numeric one: for gra_expected */
    bool          other;                /* x is not the worst tensor */
    bool          wants_clues;          /* nothing fits: then clues are told */
    int           fits, clues;          /* how many hints of either kind were given */
} gra_wrong;

enum { GRA_SCRATCH = 6 };

static inline bool gra_fit(const gra_wrong *w, double a, double n)
{
    return fabs(a - n) <= w->near;
}

static inline bool gra_none(const gra_wrong *w, double v)       /* an entry that is zero */
{
    return fabs(v) <= w->zero;
}

static inline bool gra_nothing(const gra_wrong *w, double a)     /* not even a small analytic entry */
{
    return fabs(a) <= 1e-14 * w->largest;
}

static inline bool gra_equal(double k, double of)           /* factors of entries that are equal to `near` */
{
    return fabs(k - of) <= 1e-4 * fabs(of);
}

/* hints.c: an explanation that agrees with all numbers, or a fact that narrows the search. */
void gra_fits(gra_wrong *w, const char *format, ...) GRA_PRINTF(2, 3);
void gra_clue(gra_wrong *w, const char *format, ...) GRA_PRINTF(2, 3);

/* quotients.c: how many values, 8 at most, have a / n, or a - n, where they differ? Few prove little. */
size_t gra_distinct(const gra_wrong *w, bool ratio);

/* sets.c: the ways to divide the entries into parts (by a row of x, by the sign of x ...), and names for sets
 * that are made of whole parts. Start gra_next_division with { 0 }. */
typedef struct gra_division {
    int    way, d, o;                   /* by what it divides: see sets.c; along dimension d of x or dy (to
                                           compare two indices: d of x and o of dy) */
    int    next;                        /* where gra_next_division goes on */
    size_t parts;                       /* how many there are */
} gra_division;

bool   gra_next_division(const gra_wrong *w, gra_division *v);
size_t gra_part(const gra_wrong *w, const gra_division *v, size_t e);
void   gra_put_parts(gra_check_line *s, const gra_wrong *w, const gra_division *v, const char *letter);
                                                        /* "row of x"; letter " i": "row i of x" */
bool   gra_by_index(const gra_division *v);             /* its parts are the indices along dimension v->d, */
bool   gra_has_list(const gra_division *v);             /* or those, rows, or elements: */
bool   gra_of_dy(const gra_division *v);                /* of dy, or of x */
size_t gra_index(const gra_wrong *w, bool dy, int d, size_t at);    /* along dimension d, of element `at` */
void   gra_put_place(gra_check_line *s, const gra_shape *shape, size_t at);     /* " (1, 2)" */
void   gra_put_element(gra_check_line *s, const gra_wrong *w, bool dy, size_t at);      /* "w (1, 2)" */
void   gra_put_entry(gra_check_line *s, const gra_wrong *w, size_t e);  /* "what dy (0, 1) gives to w (1,
                                                           2)" */
bool   gra_put_set(gra_check_line *s, const gra_wrong *w);      /* "in row 2 of x"; false: it has no name */
void   gra_put_places(gra_check_line *s, const gra_wrong *w);   /* its name, or how many and the first */

/* derived.c */
void gra_derive(gra_wrong *w);
void gra_derive_end(gra_wrong *w);

/* numbers.c: "1.73205: sqrt(3), and 3 is also the size of dimension 1 of x"; factors.c: "the sign is flipped,
 * and a constant factor of 1.73205: ..." */
void gra_put_number(gra_check_line *s, const gra_wrong *w, double v);
void gra_put_factor(gra_check_line *s, const gra_wrong *w, double k);

/* sources.c: values that may stand in a formula, one for each entry: w (1, 2), y (0, 3) ... */
enum { GRA_PLAIN, GRA_INVERSE, GRA_SQUARE, GRA_REST, GRA_VARIANCE, GRA_REST_INVERSE, GRA_LOG, GRA_EXP,
       GRA_SIGMOID, GRA_SIGMOID_REST, GRA_SIGMOID_SLOPE, GRA_SILU_SLOPE, GRA_TANH, GRA_TANH_SLOPE,
       GRA_AND_ONE, GRA_SIZE, GRA_FUNCTIONS };
typedef struct gra_source {
    enum { GRA_ONE, GRA_RIGHT, GRA_VALUE, GRA_BOTH } kind;
    int         f;                      /* which function of it: v, 1/v, v^2, 1 - v, v (1 - v) ... */
    const char *name, *of_less;
    const real *data, *less;            /* GRA_ONE is 1 everywhere, GRA_RIGHT the numeric entry; `less`, if
                                           not NULL, is subtracted */
    size_t      rows, columns;
    bool        transposed;
    int         row, column;            /* which of an entry's four indices leads to the element; -1: none */
    bool        derived;
    const double *at;                   /* its values at the probes, of each function */
} gra_source;

enum { GRA_ROW_OF_X, GRA_COLUMN_OF_X, GRA_ROW_OF_DY, GRA_COLUMN_OF_DY };       /* the four */
enum { GRA_MOST_SOURCES = 300 };
void   gra_sources(gra_wrong *w);       /* w->source: all of them */
bool   gra_same_source(const gra_source *p, const gra_source *q);       /* but for the function */
/* Asks of any two sources for which `likely` is true, and of functions of them if these are asked for,
 * whether they explain it: those first that are elements of tensors. */
typedef bool gra_pair(gra_wrong *w, const gra_source *p, const gra_source *q, int how);
bool   gra_each_pair(gra_wrong *w, bool functions, gra_pair *likely, gra_pair *explains, int how);
static inline double gra_probed(const gra_source *s, int i)     /* its value at probe i */
{
    return s->at[s->f * GRA_PROBES + i];
}
double gra_value(const gra_wrong *w, const gra_source *s, size_t e);
void   gra_put_source(gra_check_line *line, const gra_wrong *w, const gra_source *s, size_t e);

/* explain.c: each explanation of x's wrong gradient that fits. */
gra_check_explain_fn gra_explain;

/* The explanations: each tells what fits, and is true then. */
typedef bool gra_explanation(gra_wrong *w);
/* factors.c: a is n times something. */
gra_explanation gra_one_factor, gra_another_mask, gra_partial_factor, gra_row_factors, gra_element_factors;
gra_explanation gra_beside_diagonal, gra_other_part;
/* quotients.c: a is n times one value and divided by another. */
gra_explanation gra_quotient, gra_wrong_factor, gra_instead, gra_expected;
/* moved.c: a holds values of n at other places, or those of another input; indices.c: an index is wrong. */
gra_explanation gra_of_another, gra_transposed, gra_shifted, gra_moved, gra_taken,
                gra_other_dimension;
/* terms.c: a is n and something. */
gra_explanation gra_same_number, gra_two_numbers, gra_one_term, gra_exchanged, gra_own_terms, gra_row_term,
                gra_sum_clue;
/* norms.c: the three terms of a norm's derivative. */
gra_explanation gra_norm;
/* products.c: a is the product with another matrix than n. */
gra_explanation gra_wrong_matrix, gra_other_order;
/* derivative.c: an op of single elements, whose derivative is wrong. */
gra_explanation gra_derivative;

#endif
