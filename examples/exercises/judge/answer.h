/* answer.h: judges an answer that computes numbers by a formula, as most answers do. A judge gives the
 * formula in the notation of the exercise (../README.md, "The notation") and cases; the mistakes and their
 * sentences are made from the formula by rules (rules.c). */
#ifndef EXERCISES_ANSWER_H
#define EXERCISES_ANSWER_H

#include "formula.h"
#include "judge.h"

enum { MOST_IN = 12, MOST_OUT = 12, MOST_SPECIALS = 20 };

/* The arguments of an answer: sizes in the order of `sizes`, arrays in the order of `in` and `out`; ids has
 * the arrays of `in` that are int. */
struct judge_call {
    const int     *size;
    double *const *in;
    int    *const *ids;
    double *const *out;
};

struct judge_answer {
    const char *sizes[LETTERS + 1];     /* "k rows": an index and its size */
    const char *in[MOST_IN + 1];        /* "x[k,i]", "int ids[i] in 0..rows-1", "h in 0.1..1  # the step";
                                           "a[i,j] =": the formula computes it from the inputs before it */
    const char *out[MOST_OUT + 1];      /* "y[k,i]": stored; "dx[k,i] +=": added to the old dx, dx0[k,i] */
    const char *held[MOST_OUT];         /* the range of the old numbers, "0.2..2"; NULL: that of the case */
    const char *lines;                  /* the formula; mistakes of an output below an empty line are sought
                                           below it first */
    struct {
        const char *says, *lines;       /* a mistake that no rule makes, and its lines; with a %, the first
                                           number of the lines may be any; "": gra_check says what is wrong */
    } special[MOST_SPECIALS + 1];
    const struct judge_function *functions;     /* functions that the formula calls, or NULL */
    int telling[LETTERS];               /* sizes that distinguish mistakes: all different, not 1 */

    void (*call)(const struct judge_call *c);   /* calls the answer */

    /* Or, if the answer makes a tensor (`in` has tensors first, then ints): f's arg is the judge_call,
     * `out` has one name, y, and the gradients have the names of `in` with a d. op: the answer's op that must
     * make y, or NULL; without: the library's op that the answer may not use, or NULL. */
    gra_check_fn *f;
    const char   *op, *without;
};

struct judge_case {
    const char   *part;                 /* its name */
    int           size[LETTERS];
    const double *in[MOST_IN];          /* NULL: drawn */
    const double *held[MOST_OUT];       /* the old numbers of outputs that are added to; NULL: drawn */
    double        low, high;            /* of numbers drawn without a given range; both 0: -2 and 2 */
    double        tolerance;            /* relative to the largest expected number, or to 1; 0: 1e-12 */
    bool          gradients;            /* of a tensor */
    bool          apart;                /* each output is a part: "part: dv" */
    const char   *says;                 /* the finding if no mistake fits; NULL: that of comparison.c */
};

/* A `call` or an `f` of one expression: CALLS(forward, softmax(c->in[0], c->out[0], c->size[0])) */
#define CALLS(name, ...) static void name(const struct judge_call *c) { __VA_ARGS__; }
#define MAKES(name, ...) static gra_tensor *name(gra_tape *t, gra_tensor **in, void *arg) \
    { const struct judge_call *c = arg; (void)c; return __VA_ARGS__; }

#define CASE(name, ...) { .part = name, .size = __VA_ARGS__ }       /* CASE("one row", { 1, 4 }, .low = 0) */

/* Judges the answer in one case: each output in the order of `out`, then gradients, the last input's first.
 * judge_cases does so in each case of a list whose last part is NULL, and CASES(&answer, CASE(...),
 * CASE(...)) in each of these cases. */
void judge_case(const struct judge_answer *a, struct judge_case c);
void judge_cases(const struct judge_answer *a, const struct judge_case *cases);
#define CASES(answer, ...) judge_cases(answer, (const struct judge_case[]){ __VA_ARGS__, { .part = NULL } })

/* For an answer that makes a tensor: checks that an op does not crash where an input is a constant, and calls
 * gra_check with the telling sizes. */
void judge_end(const struct judge_answer *a);

#endif
