/* slip: tries the mistakes that a judge's reference contains (see judge.h). The sentence of a slip says first
 * what the answer has, and then, after a colon, what belongs there: "divided by d: divide by its root". */
#include "numbers.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 250, MOST_REFUTED = 1000, NONE = -1 };

/* The slips of the running reference, in the order of their first evaluation, and the two that are on. */
static struct {
    const char *says[MOST];
    int         n, on[2];
} slips = { .on = { NONE, NONE } };

/* The slips that an earlier comparison with the same reference has shown not to be there: they would have
 * changed numbers that were right. */
static struct {
    const char      *says[MOST_REFUTED];
    judge_reference *of[MOST_REFUTED];
    int              n;
} refuted;

/* strcmp is called so often here that what a sanitizer adds to each call would be half of the run. */
static bool same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static int found(const char *says)
{
    for (int i = 0; i < slips.n; i++)               /* it is nearly always the same literal */
        if (slips.says[i] == says)
            return i;
    for (int i = 0; i < slips.n; i++)
        if (same(slips.says[i], says))
            return i;
    return slips.n;
}

static bool is_refuted(judge_reference *reference, const char *says)
{
    for (int i = 0; i < refuted.n; i++)
        if (refuted.of[i] == reference && (refuted.says[i] == says || same(refuted.says[i], says)))
            return true;
    return false;
}

static bool is_on(int i)
{
    return i == slips.on[0] || i == slips.on[1];
}

static void add(const char *says)
{
    if (slips.n == MOST)
        judge_wrong("the judge has more than %d slips in one reference", MOST);
    slips.says[slips.n++] = says;
}

bool slip(const char *says)
{
    const int i = found(says);
    if (i == slips.n)
        add(says);
    return is_on(i);
}

bool slip_of(const char *format, ...)
{
    char text[300], *copy;
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const int i = found(text);
    if (i == slips.n && length >= 0) {
        if (!(copy = malloc(sizeof text)))
            judge_wrong("the judge is out of memory");
        add(memcpy(copy, text, sizeof text));
    }
    return is_on(i);
}

/* The reference's numbers with the slips a and b. */
static const double *run(judge_reference *reference, void *arg, double *out, int a, int b)
{
    slips.on[0] = a, slips.on[1] = b;
    reference(out, arg);
    slips.on[0] = slips.on[1] = NONE;
    return out;
}

/* The two slips that together give the answer's numbers. */
static struct judge_mistake both(const struct comparison *c, judge_reference *reference, void *arg)
{
    static char text[700];
    double *out = judge_room(c->n);
    size_t any, fewest = c->n + 1;
    int with[2] = { NONE, NONE };
    for (int a = 0; a < slips.n && fewest; a++)
        for (int b = a + 1; b < slips.n && fewest && !is_refuted(reference, slips.says[a]); b++)
            if (!is_refuted(reference, slips.says[b]) &&
                judge_made(c, run(reference, arg, out, a, b), &any) && any < fewest)
                with[0] = a, with[1] = b, fewest = any;
    if (with[0] == NONE)
        return (struct judge_mistake){ NULL, NULL };
    snprintf(text, sizeof text, "two things:\n  %s\n  %s", slips.says[with[0]], slips.says[with[1]]);
    return (struct judge_mistake){ text, run(reference, arg, out, with[0], with[1]) };
}

/* Numbers that are all the same, or a single one of few digits, say too little to suspect two mistakes. */
static bool varied(const struct comparison *c)
{
    for (size_t i = 1; i < c->n; i++)
        if (isfinite(c->got[i]) && !(fabs(c->got[i] - c->got[0]) <= c->tolerance))
            return true;
    return c->n == 1 && isfinite(c->got[0]) && c->got[0] != 0 && c->tolerance < 1e-6;
}

/* The mistakes to compare with: each slip, and if none of them fits, each pair of slips. One that is refuted
 * is there only if nothing else fits: it may depend on something that was not so before. */
static void collect(const struct comparison *c, judge_reference *reference, void *arg,
                    struct judge_mistake *mistakes)
{
    bool fits = false, likely = false;
    for (int i = 0; i < slips.n; i++) {             /* a slip may register others */
        size_t any;
        mistakes[i] = (struct judge_mistake){ slips.says[i], run(reference, arg, judge_room(c->n), i, NONE) };
        const bool made = judge_made(c, mistakes[i].numbers, &any);
        fits = fits || made;
        likely = likely || (made && !is_refuted(reference, slips.says[i]));
    }
    for (int i = 0; i < slips.n; i++)
        if (likely && is_refuted(reference, slips.says[i]))
            mistakes[i].says = "";
    if (!fits && varied(c))
        mistakes[slips.n] = both(c, reference, arg);
}

/* The numbers are right: which slips would have changed them? */
static void refute(const struct comparison *c, judge_reference *reference, void *arg)
{
    double *out = judge_room(c->n);
    for (int i = 0; i < slips.n; i++)
        if (!is_refuted(reference, slips.says[i]) && refuted.n < MOST_REFUTED) {
            const struct comparison with = { c->shape, c->n, run(reference, arg, out, i, NONE), c->want,
                                             c->tolerance };
            if (!judge_agrees(&with))
                refuted.of[refuted.n] = reference, refuted.says[refuted.n++] = slips.says[i];
        }
}

void judge_against(const char *name, gra_shape shape, const double *got, double tolerance,
                   judge_reference *reference, void *arg)
{
    struct judge_mistake mistakes[MOST + 2] = { 0 };
    slips.n = 0;                                    /* each comparison has its own slips */
    const double *want = run(reference, arg, judge_room(judge_size(shape)), NONE, NONE);
    const struct comparison c = judge_comparison(shape, got, want, tolerance);
    if (judge_agrees(&c))
        refute(&c, reference, arg);
    else
        collect(&c, reference, arg, mistakes);
    judge_explained(&c, name, mistakes);
}

const char *judge_slip(gra_shape shape, const double *got, double tolerance, judge_reference *reference,
                       void *arg)
{
    struct judge_mistake mistakes[MOST + 2] = { 0 };
    slips.n = 0;
    const double *want = run(reference, arg, judge_room(judge_size(shape)), NONE, NONE);
    const struct comparison c = judge_comparison(shape, got, want, tolerance);
    collect(&c, reference, arg, mistakes);
    return judge_fitting(&c, mistakes);
}
