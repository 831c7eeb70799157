/* explaining.h: a wrong gradient of one tensor x, as two Jacobians. Row j is what one element of the output,
 * y_j, gives to each element of x when its gradient dy_j is 1: dy_j/dx_i. `n` is by differences, `a` is what
 * the backward makes of dy. A tensor too large for that, and a backward that is not linear in dy, have one
 * row: the gradients of the loss. */
#ifndef GRADUS_EXPLAINING_H
#define GRADUS_EXPLAINING_H

#include "checking.h"

enum { GRA_MOST_HINTS = 3 };

typedef struct gra_wrong {
    gra_checking *check;
    gra_checked  *x;
    size_t        rows, cols, size;     /* rows: outputs, or 1; cols: elements of x; size: rows * cols */
    double       *a, *n;
    bool         *in, *of;              /* a set of entries, among these: for gra_put_where */
    double        largest, near, zero;  /* |entry|; nearer than `near`: one; up to `zero`: 0 */
    bool          overwrites;           /* the backward says = where += is wanted */
    bool          placed;               /* a clue names the places of what is wrong, */
    bool          general;              /* or all it says is that a number is wrong */
    const char   *part;                 /* NULL, or which part of the Jacobian is looked at, for a sentence */
    int           fits, clues;          /* how many hints of either kind there are: fits first */
    gra_check_line hint[GRA_MOST_HINTS];
} gra_wrong;

static inline bool gra_fit(const gra_wrong *w, double a, double n)
{
    return fabs(a - n) <= w->near;
}

static inline bool gra_none(const gra_wrong *w, double v)       /* an entry that is zero */
{
    return fabs(v) <= w->zero;
}

static inline bool gra_equal(double k, double of)               /* factors, by which entries to `near` agree */
{
    return fabs(k - of) <= 1e-4 * fabs(of);
}

static inline bool gra_whole(const gra_wrong *w)                /* whole Jacobians, of an output with indices */
{
    return w->rows > 1;
}

/* Which index along dimension d of x, or of the output (`out`), has element `at`? */
size_t gra_index_along(const gra_wrong *w, bool out, int d, size_t at);
int    gra_dims_of(const gra_wrong *w, bool out, const int **shape);

/* explain.c: tells an explanation that agrees with all numbers, or a fact that narrows the search; "w (1, 2)" or
 * "dy (0, 1)"; are x and the output of one shape? */
void gra_fits(gra_wrong *w, const char *format, ...) GRA_PRINTF(2, 3);
void gra_clue(gra_wrong *w, const char *format, ...) GRA_PRINTF(2, 3);
void gra_put_place(gra_check_line *s, const gra_wrong *w, bool out, size_t at);
bool gra_same_shapes(const gra_wrong *w);

/* where.c: "where x < 0": names the set w->in among the entries w->of; false: it has no name. */
bool gra_put_where(gra_check_line *s, const gra_wrong *w);
void gra_put_places(gra_check_line *s, const gra_wrong *w);     /* named, or counted */
bool gra_put_extra(gra_check_line *s, const gra_wrong *w);      /* why a gradient is where none should be */
void gra_place_clues(gra_wrong *w);
void gra_value_clue(gra_wrong *w);

/* constants.c: "a constant factor of 1.73205: sqrt(3), and 3 is the size of dimension 1 of x". */
void gra_put_constant(gra_check_line *s, const gra_wrong *w, double k);
void gra_put_factor(gra_check_line *s, const gra_wrong *w, double k);

/* The explanations: each tells what fits, and is true then. */
typedef bool gra_explanation(gra_wrong *w);
/* zeros.c */ gra_explanation gra_all_zero, gra_should_be_zero, gra_diagonal_alone, gra_zeros_and_masks;
/* moved.c */ gra_explanation gra_swapped, gra_transposed, gra_permuted, gra_one_index, gra_moved;
/* constants.c */ gra_explanation gra_constant_factor, gra_partial_factor;
/* tensors.c */ gra_explanation gra_tensor_factor, gra_function_of_it, gra_values_of, gra_one_term,
    gra_sign_wanted;
/* products.c */ gra_explanation gra_wrong_matrix, gra_other_order;
/* factors.c */ gra_explanation gra_row_statistic, gra_indexed_factor, gra_others_factor;
/* terms.c */ gra_explanation gra_row_term;
/* targets.c */ gra_explanation gra_softmax_less_target;
/* derivative.c */ gra_explanation gra_local_derivative;
void gra_sum_clues(gra_wrong *w);
bool gra_elementwise(const gra_wrong *w);               /* each output depends on one element of x */

#endif
