/* solved: which exercises are solved, and the current exercise; kept in examples/exercises/.progress. */
#ifndef RUNNER_PROGRESS_H
#define RUNNER_PROGRESS_H

#include "ladder.h"

struct progress {
    bool solved[LADDER_MOST];
    int  current;                       /* the first unsolved exercise, until a different one is opened */
};

void progress_read(struct progress *p, const struct ladder *l);
int  progress_write(const struct progress *p, const struct ladder *l);         /* 0; -1 with errno */
int  progress_count(const struct progress *p, const struct ladder *l);         /* how many are solved */

/* "[#######-----] 7 of 34" */
void progress_bar(const struct progress *p, const struct ladder *l, char *text, size_t room);

#endif
