/* 23 clipping: the judge. Tolerances leave room for PyTorch's 1e-6 beside the norm. */
#include "judge.h"

enum { PARAMETERS = 4, MOST = 8, ALL = PARAMETERS * MOST };

static const char *const slips_of_norm[] = {
    "the root is missing: this is the sum of the squares",
    "this is the sum of |g|, another norm",
    "this is the largest |g|, another norm",
    "the squares were averaged: the norm is the root of their sum",
    "this is the norm after clipping: return the one before",
    "this is the sum of the parameters' norms: there is one sum of squares for all",
    "this is the norm of the last parameter's gradient: the sum goes over all of them",
    "this is the norm of the first parameter's gradient: the sum goes over all of them",
    "this is the factor: return the norm",
    "this is the size of the last element: the squares of all are added up",
    "this is the root of the sum of g itself: add up the squares",
    "this is a whole number: norm was made an int",
    "this is the largest of the parameters' norms: there is one sum of squares for all",
    "the norm is 0: is the sum begun anew within a loop, or a loop never run?",
    "the last parameter is left out: the sum goes over all of them",
    "the first parameter is left out: the sum goes over all of them", NULL };

static const char *const slips_of_g[] = {
    "the gradients were left as they are, though their norm is larger than max_norm",
    "each parameter was clipped by its own norm: one norm, and one factor, for all",
    "each element was clipped to max_norm: that turns the gradient; all are multiplied by one factor",
    "all were scaled to max_norm, though their norm is smaller: short gradients stay as they are",
    "g was divided by its norm, which makes the norm 1: max_norm is missing",
    "g was multiplied by max_norm alone: it is max_norm / norm",
    "g was divided by the sum of the squares: the root is missing",
    "the factor was turned round: it is max_norm / norm",
    "each was scaled to max_norm by its own norm: one norm, and one factor, for all",
    "the factor was applied twice: each element is multiplied by it once",
    "each element was clipped to 1: that turns the gradient; all are multiplied by one factor",
    "only the first parameter's gradient was scaled: all of them are",
    "only the last parameter's gradient was scaled: all of them are",
    "a number was subtracted from g: it is multiplied by max_norm / norm",
    "the root of the factor was taken: it is max_norm / norm itself", NULL };

static void clip(const char *part, const int *size, int count, double scale, double max_norm)
{
    double before[ALL], *g[PARAMETERS], norms[PARAMETERS] = { 0 };
    double sum = 0, ones = 0, plain = 0, most = 0, all = 0, largest = 0;
    int n = 0;
    judge_part("%s", part);
    for (int k = 0; k < count; k++) {
        const double *drawn = judge_draw(10 + (uint64_t)k, MOST, -1, 1);
        g[k] = judge_room((size_t)size[k]);
        for (int i = 0; i < size[k]; i++, n++) {
            before[n] = g[k][i] = scale * (k + 1) * drawn[i];
            norms[k] += before[n] * before[n];
            plain += before[n];
            ones += fabs(before[n]);
            most = fmax(most, fabs(before[n]));
        }
        sum += norms[k];
        norms[k] = sqrt(norms[k]);
        all += norms[k];
        largest = fmax(largest, norms[k]);
    }
    const double norm = sqrt(sum), by = norm > max_norm ? max_norm / norm : 1;
    const double wrong_norm[] = { sum, ones, most, norm / sqrt(n ? n : 1), norm * by, all,
                                  norms[count - 1], norms[0], by,
                                  n ? fabs(before[n - 1]) : 0, sqrt(fabs(plain)), (int)norm, largest, 0,
                                  sqrt(fmax(0, sum - norms[count - 1] * norms[count - 1])), sqrt(fmax(0, sum - norms[0] * norms[0])) };
    double wrong[sizeof slips_of_g / sizeof *slips_of_g][ALL], want[ALL];
    struct judge_mistake of_norm[20] = { 0 }, of_g[20] = { 0 };
    for (int s = 0; slips_of_norm[s]; s++)
        of_norm[s] = (struct judge_mistake){ slips_of_norm[s], &wrong_norm[s] };

    const double got = clip_norm(g, size, count, max_norm);
    for (int k = 0; k < count; k++)
        judge_guarded("g[k]", g[k], (size_t)size[k]);
    judge_number("the norm returned", got, norm, 1e-9, of_norm);

    for (int k = 0, at = 0; k < count; at += size[k], k++) {
        char name[20];
        for (int i = 0; i < size[k]; i++) {
            const double d = before[at + i];
            const double in[] = { d, norms[k] > max_norm ? d * max_norm / norms[k] : d,
                fmax(-max_norm, fmin(max_norm, d)), d * max_norm / norm, d / norm, d * max_norm,
                d * max_norm / sum, d * norm / max_norm, d * max_norm / norms[k], d * by * by,
                fmax(-1, fmin(1, d)), k ? d : d * by, k < count - 1 ? d : d * by,
                d - max_norm / norm, d * sqrt(by) };
            want[i] = d * by;
            for (int s = 0; slips_of_g[s]; s++)
                wrong[s][i] = in[s];
        }
        for (int s = 0; slips_of_g[s]; s++)
            of_g[s] = (struct judge_mistake){ slips_of_g[s], wrong[s] };
        snprintf(name, sizeof name, "g[%d]", k);
        if (size[k])
            judge_numbers(name, GRA_SHAPE(size[k]), g[k], want, 2e-6, of_g);
    }
}

void judge_exercise(void)
{
    const int sizes[] = { 3, 8, 1, 5 }, one[] = { 6 }, empty[] = { 2, 0, 4 };
    clip("one parameter, a long gradient", one, 1, 3, 2);
    clip("four parameters, a long gradient", sizes, 4, 10, 2.5);
    clip("four parameters, a short gradient", sizes, 4, 0.1, 2.5);
    clip("a norm of 6.6, and 8 allowed", sizes, 4, 1, 8);
    clip("a norm of 0.66, and 0.5 allowed", sizes, 4, 0.1, 0.5);
    clip("a parameter without elements", empty, 3, 5, 0.5);
    clip("a gradient of 0", sizes, 4, 0, 1);
}
