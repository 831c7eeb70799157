/* numbers.h: what slip.c needs from numbers.c. */
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

/* Did the answer make this mistake? Yes if it has the mistake's numbers, and they are not the right ones.
 * `any` counts the numbers made from memory past an array's end: the mistake with fewest explains best. */
bool judge_made(const struct comparison *c, const double *mistake, size_t *any);

/* judge_numbers, with mistakes: the last entry's `says` is NULL. A mistake that gives the right numbers is
 * skipped. */
struct judge_mistake {
    const char   *says;
    const double *numbers;              /* that it gives */
};
const char *judge_fitting(const struct comparison *c, const struct judge_mistake *mistakes);
void        judge_explained(const struct comparison *c, const char *name,
                            const struct judge_mistake *mistakes);

#endif
