/* 23 clipping: the judge. Tolerances allow the 1e-6 that PyTorch adds to the norm. */
#include "judge.h"
#include <string.h>

enum { PARAMETERS = 4, MOST = 8 };

struct clip {
    const int *size;
    int        count;
    double     max_norm;
    double    *g[PARAMETERS + 1];           /* the gradients before clipping, each with guards after it, */
    double    *got[PARAMETERS + 1];         /* and after it */
    int        now;                         /* the parameter whose gradient is compared */
};

/* The number of elements of parameter k, as the answer's loops count them. */
static int elements(const struct clip *c, int k)
{
    return slip("a loop goes to size[0]: parameter k has size[k] elements") ? c->size[0]
         : slip("a loop goes to the last size: parameter k has size[k] elements") ? c->size[c->count - 1]
         : slip("a loop goes to count: parameter k has size[k] elements") ? c->count
         : slip("a loop over i ends one element early: parameter k has size[k] elements") && c->size[k]
         ? c->size[k] - 1
         : slip("a loop goes on to i = size[k], one too far: the last element is i = size[k] - 1")
         ? c->size[k] + 1 : c->size[k];
}

/* Gradient c->now is as it was: what does that say? */
static const char *unscaled(const struct clip *c)
{
    int scaled = 0;
    for (int k = 0; k < c->count; k++)
        scaled += memcmp(c->g[k], c->got[k], (size_t)c->size[k] * sizeof *c->g[k]) != 0;
    return !scaled ? "the gradients were not scaled, although their norm is larger than max_norm"
         : scaled == 1 && c->g[0][0] != c->got[0][0] ? "only g[0] was scaled: scale g[k] for each k"
         : "this gradient was not scaled, but others were: scale those of all parameters";
}

/* The norm of the gradients of parameters from .. to - 1, as one vector. */
static double length(const struct clip *c, int from, int to)
{
    double sum = 0;
    for (int k = from; k < to; k++)
        for (int i = 0; i < c->size[k]; i++)
            sum += c->g[k][i] * c->g[k][i];
    return sqrt(sum);
}

static void norm_before(double *out, void *arg)
{
    const struct clip *c = arg;
    const bool many = c->count > 1;
    const int from = many && slip("the first parameter is left out: the sum goes over all of them");
    const int to = c->count - (many && slip("the last parameter is left out: the sum goes over all of them"))
                 + slip("g[count] was read: there are count parameters, up to g[count - 1]");
    const bool absolute = slip("this is the sum of |g|: expected the square root of the sum of g^2");
    const bool root = slip("this is the root of the sum of |g|: sum the squares");
    const bool plain = slip("g itself was summed: sum its square");
    const bool roots = slip("this is the sum of the parameters' norms: sum the squares of all parameters");
    const bool again = slip("each parameter's sum of squares was squared again: add the sums as they are");
    const bool whole = length(c, 0, c->count) > 2
        && slip("the sum is an int, which cuts off the fraction: it must be a double");
    const bool column = slip("g[k][0] is read each time: read g[k][i]");
    const bool row = slip("g[0][i] is read each time: read g[k][i]");
    const bool anew =
        slip("this is the norm of the last parameter's gradient: the sum goes over all of them");
    const bool first =
        slip("this is the norm of the first parameter's gradient: the sum goes over all of them");
    double sum = 0, most = 0, longest = 0, last = 0;
    int n = 0;
    for (int k = from; k < (first ? 1 : to); k++) {
        double own = 0;
        for (int i = slip("the loop over i begins at 1: begin at 0"); i < elements(c, k); i++, n++) {
            last = c->g[row ? 0 : k][column ? 0 : i];
            own += absolute || root ? fabs(last) : plain ? last : last * last;
            own = whole ? floor(own) : own;
            most = fmax(most, fabs(last));
        }
        longest = fmax(longest, sqrt(own));
        sum = anew ? own : sum + (roots ? sqrt(own) : again ? own * own : own);
    }
    const double norm = absolute || roots || slip("the root is missing: this is the sum of the squares") ? sum
                      : sqrt(fabs(sum));
    *out = slip("this is the largest |g|: expected the square root of the sum of g^2") ? most
         : slip("this is the largest of the parameters' norms: sum the squares of all parameters") ? longest
         : slip("this is |g| of the last element: sum the squares of all") ? fabs(last)
         : slip("this is the root of the mean of squares: expected the root of their sum")
         ? norm / sqrt(n ? n : 1)
         : slip("the sum of squares is divided by the number of parameters: it is not a mean")
         ? norm / sqrt(c->count)
         : slip("the norm is divided by the number of parameters: it is not a mean") ? norm / c->count
         : slip("this is the norm after clipping: return the one before") ? fmin(norm, c->max_norm)
         : slip("this is the factor: return the norm") ? fmin(1, c->max_norm / norm)
         : slip(norm > c->max_norm ? "the norm is 0: it is the root of the sum of all squares"
                : "0 is returned where nothing is clipped: return the norm then too") ? 0
         : slip("this is an integer: norm must not be an int") ? (int)norm : norm;
}

static void gradient_after(double *out, void *arg)
{
    const struct clip *c = arg;
    const int k = c->now;
    const double max = c->max_norm, norm = length(c, 0, c->count), own = length(c, k, k + 1);
    const bool so_far = slip("the norm of the parameters so far was used: sum over all of them first");
    const double used = so_far ? length(c, 0, k + 1) : norm, inverse = max / used;
    const bool squared = norm > 1
        && slip("the sum of the squares was compared with max_norm: compare its root, the norm");
    double by = (squared ? norm * norm : used) > max ? inverse : 1;
    by = norm > max && slip(unscaled(c)) ? 1
       : slip("each parameter was clipped by its own norm: one norm, and one factor, for all")
       ? fmin(1, max / own)
       : slip("all were scaled to max_norm, although their norm is smaller: leave small gradients unchanged")
       ? inverse
       : slip("g was divided by its norm, which makes the norm 1: max_norm is missing") ? 1 / norm
       : slip("g was multiplied by max_norm only: multiply by max_norm / norm") ? max
       : slip("g was divided by max_norm: multiply by max_norm / norm") ? 1 / max
       : slip("g was divided by the sum of the squares: the root is missing") ? max / (norm * norm)
       : slip("the factor is inverted: it is max_norm / norm") ? norm / max
       : own < max && slip("each was scaled to max_norm by its own norm: one norm, and one factor, for all")
         ? max / own
       : slip("the factor was applied twice: multiply each element by it once") ? by * by
       : slip("the root of the factor was taken: it is max_norm / norm itself") ? sqrt(by)
       : slip("it was multiplied by 0: multiply by max_norm / norm, a double") ? 0 : by;
    const bool at_max =
        slip("each element was clipped to max_norm, which changes the direction: multiply all by one factor");
    const bool at_1 =
        slip("each element was clipped to 1, which changes the direction: multiply all by one factor");
    const bool set = slip("each element was set to the factor max_norm / norm: multiply by it");
    const bool set_max = slip("each element was set to max_norm: multiply it by max_norm / norm");
    const bool column = slip("g[k][0] was scaled each time: scale g[k][i]");
    const bool early = slip("g was scaled while the norm was being summed: finish the sum first");
    const int first = slip("the loop over i begins at 1: begin at 0");
    double sum = k ? pow(length(c, 0, k), 2) : 0;
    const bool less = slip("a number was subtracted from g: multiply by max_norm / norm");
    for (int i = 0; i < c->size[k]; i++) {
        const double g = c->g[k][i], most = at_max ? max : 1;
        sum += g * g;
        out[i] = i >= elements(c, k) || i < first ? g
               : column ? g * pow(by, i ? 0 : c->size[k])
               : early ? g * fmin(1, max / sqrt(sum)) : set_max ? max
               : at_max || at_1 ? fmax(-most, fmin(most, g)) : set ? by : less ? g - max / norm : g * by;
    }
}

static void clip(const char *part, const int *size, int count, double scale, double max_norm)
{
    struct clip c = { .size = size, .count = count, .max_norm = max_norm };
    double **g = c.got;
    judge_part("%s", part);
    for (int k = 0; k < count; k++) {
        c.g[k] = judge_draw(10 + (uint64_t)k, (size_t)size[k], -scale * (k + 1), scale * (k + 1));
        g[k] = memcpy(judge_room((size_t)size[k]), c.g[k], (size_t)size[k] * sizeof *g[k]);
    }
    c.g[count] = judge_room(MOST), g[count] = judge_room(MOST);         /* of no parameter */
    const double norm = clip_norm(g, size, count, max_norm);
    judge_against("the norm returned", GRA_SHAPE(1), &norm, 1e-9, norm_before, &c);
    for (int k = count - 1; k >= 0; k--) {              /* the last first: "so far" is all of them there */
        char name[20];
        c.now = k;
        snprintf(name, sizeof name, "g[%d]", k);
        if (size[k])
            judge_against(name, GRA_SHAPE(size[k]), g[k], 2e-6, gradient_after, &c);
        judge_guarded(name, g[k], (size_t)size[k]);
    }
    judge_unchanged("g[count], which is no parameter's,", g[count], c.g[count], MOST);
}

void judge_exercise(void)
{
    const int sizes[] = { 3, 8, 2, 6, 2 }, one[] = { 5, 2 }, empty[] = { 1, 0, 4, 2 };  /* the last: none's */
    clip("four parameters, a large gradient", sizes, 4, 10, 2.5);
    clip("four parameters, a small gradient", sizes, 4, 0.2, 2.5);
    clip("one parameter, a large gradient", one, 1, 3, 2);
    clip("a norm of 6.7, and 8 allowed", sizes, 4, 1, 8);
    clip("a norm of 0.67, and 0.5 allowed", sizes, 4, 0.1, 0.5);
    clip("a parameter without elements", empty, 3, 5, 0.5);
    clip("a gradient of 0", sizes, 4, 0, 1);
}
