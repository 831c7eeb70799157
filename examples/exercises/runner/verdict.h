/* verdict: compiles an answer, runs it under its judge, and describes the result. */
#ifndef RUNNER_VERDICT_H
#define RUNNER_VERDICT_H

#include "child.h"

enum verdict_result { PASSED, NOT_PASSED, NOT_JUDGED };

struct verdict {
    enum verdict_result result;         /* NOT_JUDGED: there is no file, or no judge, or it was interrupted */
    char   parts[6000];                 /* what was judged, a line each; the last is wrong unless passed */
    char   finding[6000];               /* what is wrong, or why it was not judged; "": passed */
    char   warnings[2000];              /* the compiler's, a line each */
    char   printed[CHILD_TEXT];         /* what the answer printed, which may be any bytes, */
    size_t nprinted;                    /* and its length */
};

/* Judges the answer in `file` by the judge of exercise `name` ("08_softmax"), with what make has put in the
 * folder `build`, within `seconds` of processor time. It removes what it writes to build/exercises. */
void verdict_of(struct verdict *v, const char *build, const char *name, const char *file, int seconds);

#endif
