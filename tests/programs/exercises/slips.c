/* slips: replaces a judge's slip.c, and prints for each slip of each reference whether an answer with its
 * numbers would get its sentence as the finding ("+ what is wrong") or not ("- what is wrong": the numbers
 * are the right ones, or more than three slips give them). A slip that has only "-" is never reported. */
#include "examples/exercises/judge/numbers.h"

void        plainly_against(const char *name, gra_shape shape, const double *got, double tolerance,
                            judge_reference *reference, void *arg);
const char *plainly_slip(gra_shape shape, const double *got, double tolerance, judge_reference *reference,
                         void *arg);
#define judge_against plainly_against
#define judge_slip    plainly_slip
#include "examples/exercises/judge/slip.c"
#undef judge_against
#undef judge_slip

static void try_each(gra_shape shape, double tolerance, judge_reference *reference, void *arg)
{
    struct judge_mistake all[MOST + 1] = { { NULL, NULL } };
    const size_t n = judge_size(shape);
    slips.n = 0;
    const double *want = run(reference, arg, judge_room(n), NONE, NONE);
    const int in_sight = slips.n;                   /* not those that only another slip reaches */
    for (int i = 0; i < in_sight; i++)
        all[i] = (struct judge_mistake){ slips.says[i], run(reference, arg, judge_room(n), i, NONE) };
    for (int i = 0; i < in_sight; i++) {
        const struct comparison c = judge_comparison(shape, all[i].numbers, want, tolerance);
        const char *finding = judge_agrees(&c) ? NULL : judge_fitting(&c, all);
        const bool told = finding && strstr(finding, all[i].says);
        fprintf(stderr, "%c %s\n", told ? '+' : '-', all[i].says);
    }
}

void judge_against(const char *name, gra_shape shape, const double *got, double tolerance,
                   judge_reference *reference,
                   void *arg)
{
    try_each(shape, tolerance, reference, arg);
    plainly_against(name, shape, got, tolerance, reference, arg);
}

const char *judge_slip(gra_shape shape, const double *got, double tolerance, judge_reference *reference,
                       void *arg)
{
    try_each(shape, tolerance, reference, arg);
    return plainly_slip(shape, got, tolerance, reference, arg);
}
