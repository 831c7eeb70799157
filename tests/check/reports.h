/* reports.h: functions for gra_check, and what its reports say. */
#ifndef TESTS_REPORTS_H
#define TESTS_REPORTS_H

#include "core/op.h"
#include "lib/fixture.h"

/* Defines name, which computes y of the inputs in[0], in[1], ... on `tape`; `arg` is what gra_check was
 * given. */
#define FUNCTION(name, ...)                                                                              \
    static gra_tensor *name(gra_tape *tape, gra_tensor **in, void *arg)                                  \
    {                                                                                                    \
        (void)tape, (void)in, (void)arg;                                                                 \
        return __VA_ARGS__;                                                                              \
    }

/* Does its text contain the phrase, wherever lines are broken? "a ... b": first a, and b behind it. */
bool report_says(const gra_check_report *r, const char *phrase);

/* Of a suite's tests: the last report, and what it must say. checked: gra_check on the fixture's tape. */
extern gra_check_report report;
#define says(phrase) report_says(&report, phrase)
int  checked(gra_check_fn *f, void *arg, int nin, const gra_check_in *in);
void expect(int status, int wanted, const char *phrase);

#endif
