/* session: the runner in a terminal. It shows an exercise, judges the answer at each save, and reacts to
 * keys. */
#ifndef RUNNER_SESSION_H
#define RUNNER_SESSION_H

#include "solved.h"

/* The exit status. */
int session(const struct ladder *l, struct progress *p, const char *build, int seconds);

#endif
