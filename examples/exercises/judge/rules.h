/* rules.h: the mistakes that are made from a formula, and the mistake that gives an answer's numbers. */
#ifndef EXERCISES_RULES_H
#define EXERCISES_RULES_H

#include "formula.h"

enum { SWAPS = 12 };

/* Nodes, and the nodes that take their places. A mistake of rank 0 is likely, and may be one of two. */
struct mistake {
    int         swaps, node[SWAPS], instead[SWAPS];
    int         rank, rule;             /* rule: the rule that made it */
    int         unknown;                /* a NUMBER whose value is to be found, or NONE: see search.c */
    const char *says;                   /* with % where the value of `unknown` belongs */
    bool        special;
};

struct mistakes {
    struct mistake *all;
    int             n, room;
};

/* All mistakes in the lines that `output`, a name, needs. says: of each special, ends with NULL; with a %
 * in it, the first number of its lines is unknown. */
void make_mistakes(struct formula *f, int output, const char *const *says, struct mistakes *to);

/* Makes the mistake, or undoes it, in the case `now`. */
void mistake_turn(struct formula *f, const struct mistake *m, bool on);

/* An answer's numbers, and the right numbers, of `output` in a case. */
struct seen {
    struct numbers *numbers;
    const double   *got, *want;
    double          tolerance;          /* absolute */
    bool            wrong;              /* some number of got is wrong */
};

/* The sentence of the mistake, or of the two mistakes, that give the numbers of all cases; NULL: none
 * does. */
const char *search_mistake(struct formula *f, int output, const struct seen *seen, int cases,
                           const struct mistakes *of);

#endif
