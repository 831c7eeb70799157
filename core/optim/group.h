/* group.h: code common to the library's optimisers: init makes buffers for the parameters that the optimiser
 * updates (its group), and each step begins with the same checks. The shortest example is sgd.c. */
#ifndef GRADUS_GROUP_H
#define GRADUS_GROUP_H

#include "../model/model.h"

#define GRA_NO_LR ((double)NAN)             /* lr after init: set it before the first step */

/* Aborts with a sentence if an optimiser is NULL. who: its init or step. */
void gra_need_optimiser(const void *opt, const char *who);

/* For init: a buffer of zeros, "kind.name of p", for each parameter p that is not frozen and that `filter`
 * accepts (NULL: all), at the parameter's number; the other parameters get NULL. The model owns the buffers,
 * and an older optimiser of the same kind loses them. NULL: out of memory, an error of the model. */
gra_tensor **gra_group_state(gra_model *m, gra_param_filter *filter, const char *kind);

/* Before a step: adds buffers for parameters that were frozen at init and are not frozen now. Returns false
 * if out of memory; then the model has the error. */
bool gra_group_thawed(gra_model *m, gra_param_filter *filter, const char *kind, gra_tensor **state);

/* Before a step: checks that lr is set, that init was called with the present number of parameters, and that
 * no other optimiser of the same kind has called init since. If not, the model has an error, and the result
 * is false. The result is also false after an error of the tape, since the gradients cannot be trusted. */
bool gra_group_ready(gra_model *m, const char *optimiser, double lr, gra_tensor *const *state, int params);

/* sum_i x_i^2 in double. It uses partial sums, for vector registers; their order depends only on n. */
static inline double gra_sum_squared(const real *x, size_t n)
{
    enum { SUMS = 32 };
    double sum[SUMS] = { 0 };
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (size_t j = 0; j < SUMS; j++)
            sum[j] += (double)x[i + j] * (double)x[i + j];
    for (size_t j = 0; i < n; i++, j++)
        sum[j] += (double)x[i] * (double)x[i];
    for (size_t half = SUMS / 2; half > 0; half /= 2)
        for (size_t j = 0; j < half; j++)
            sum[j] += sum[j + half];
    return sum[0];
}

#endif
