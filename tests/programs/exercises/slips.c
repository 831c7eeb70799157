/* slips: replaces a judge's slip.c, and prints for each slip of each reference whether its numbers differ
 * from the right ones ("+ what is wrong") or not ("- what is wrong"). A slip that never differs could never
 * be reported. */
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
    const size_t n = judge_size(shape);
    slips.n = 0;
    const double *want = run(reference, arg, judge_room(n), NONE, NONE);
    const int in_sight = slips.n;                   /* not those that only another slip reaches */
    for (int i = 0; i < in_sight; i++) {
        const double *out = run(reference, arg, judge_room(n), i, NONE);
        const struct comparison c = judge_comparison(shape, out, want, tolerance);
        fprintf(stderr, "%c %s\n", judge_agrees(&c) ? '-' : '+', slips.says[i]);
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
