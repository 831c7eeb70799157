/* verdict: compiles an answer, runs it under its judge, and says in words what came of it. */
#ifndef RUNNER_VERDICT_H
#define RUNNER_VERDICT_H

#include "child.h"

enum verdict_result { PASSED, NOT_PASSED, NOT_JUDGED };

struct verdict {
    enum verdict_result result;         /* NOT_JUDGED: there is no file, or no judge, or it was interrupted */
    char   parts[6000];                /* what was looked at, a line each; unless passed, the last is wrong */
    char   finding[6000];               /* what is wrong, or why it was not judged; "": passed */
    char   warnings[2000];              /* of the compiler, a line each */
    char   printed[CHILD_TEXT];         /* what the answer itself printed, */
    size_t nprinted;                    /* of so many bytes, which may be any */
};

/* Judges the answer in `file` by the judge of exercise `name` ("08_softmax"), in the folder `build`, where
 * make has put what it needs. `seconds`: of processor time. What it writes meanwhile, into build/exercises,
 * it removes. */
void verdict_of(struct verdict *v, const char *build, const char *name, const char *file, int seconds);

#endif
