/* verdict: compiles an answer, runs it under its judge, and says in words what came of it. */
#ifndef RUNNER_VERDICT_H
#define RUNNER_VERDICT_H

#include <stdbool.h>

struct verdict {
    bool passed;
    char parts[4000];                   /* what was looked at, a line each; unless passed, the last is wrong */
    char finding[5000];                 /* what is wrong; "": passed */
    char printed[2000];                 /* what the answer itself printed */
};

/* Judges the answer in `file` by the judge of exercise `name` ("08_softmax"), in the folder `build`, where make has
 * put what it needs. `seconds`: of processor time. */
void verdict_of(struct verdict *v, const char *build, const char *name, const char *file, int seconds);

#endif
