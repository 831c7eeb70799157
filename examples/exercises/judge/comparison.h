/* comparison: the parts of comparison.c that answer.c needs. */
#ifndef EXERCISES_COMPARISON_H
#define EXERCISES_COMPARISON_H

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

/* judge_numbers, with the sentence of the mistake that was found, or NULL. */
void judge_finding(const struct comparison *c, const char *name, const char *mistake);

/* judge_numbers, with the mistakes that give the answer's numbers if these are wrong. The last has no
 * sentence (NULL); a mistake whose sentence is empty is not reported. */
struct judge_mistake {
    const char   *says;
    const double *numbers;
};
void judge_explained(const struct comparison *c, const char *name, const struct judge_mistake *mistakes);

#endif
