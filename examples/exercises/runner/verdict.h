/* verdict: compiles an answer, runs it under its judge, and describes the result. */
#ifndef RUNNER_VERDICT_H
#define RUNNER_VERDICT_H

#include "child.h"

enum verdict_result { PASSED, NOT_PASSED, NOT_JUDGED };

struct verdict {
    enum verdict_result result;         /* NOT_JUDGED: there is no file, or no judge, or it was interrupted */
    char   parts[6000];                 /* the judged parts, a line each; unless passed, the last is wrong */
    char   finding[6000];               /* what is wrong, or why it was not judged; "": passed */
    char   warnings[2000];              /* the compiler's, a line each */
    char   printed[CHILD_TEXT];         /* what the answer printed, which may be any bytes, */
    size_t nprinted;                    /* and its length */
};

/* Judges the answer in `file` with the judge of exercise `name` ("08_softmax") and make's results in the
 * folder `build`, within `seconds` of processor time. What it writes to build/exercises is removed. */
void verdict_of(struct verdict *v, const char *build, const char *name, const char *file, int seconds);

#endif
