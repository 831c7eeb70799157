/* progress: what one sees while it trains: a live line on a terminal, else a line at each validation. */
#ifndef EXAMPLES_PROGRESS_H
#define EXAMPLES_PROGRESS_H

#include "run.h"

typedef struct progress {
    bool   quiet, live;
    long   steps, from;                 /* how many are planned; how many were done before this start */
    double begun, shown;                /* seconds: the start; when the live line was drawn */
    double loss, rate, weight;          /* running means of the training loss and of the tokens per second */
    double val;                         /* the last validation loss; NaN: none yet */
} progress;

void  progress_begin(progress *p, const training *t);
void  progress_step(progress *p, const run_row *row);
void  progress_end(const progress *p);                  /* clears the live line */
char *progress_clock(const progress *p, char text[24]); /* the time since the start: "1:05" */

#endif
