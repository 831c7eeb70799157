/* numbers.h: what answer.c needs from numbers.c. */
#ifndef EXERCISES_NUMBERS_H
#define EXERCISES_NUMBERS_H

#include "judge.h"

struct comparison {
    gra_shape     shape;
    size_t        n;
    const double *got, *want;
    double        tolerance;            /* absolute */
};
struct comparison judge_comparison(gra_shape shape, const double *got, const double *want, double tolerance);
size_t            judge_size(gra_shape shape);
bool              judge_agrees(const struct comparison *c);

/* judge_numbers, with the mistake that was found, or NULL. */
void judge_explained(const struct comparison *c, const char *name, const char *mistake);

#endif
