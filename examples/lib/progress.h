/* progress: what one sees while it trains: a live line on a terminal, else a line at each validation. */
#ifndef EXAMPLES_PROGRESS_H
#define EXAMPLES_PROGRESS_H

#include "curve.h"
#include "run.h"

typedef struct progress {
    bool   quiet, live, utf8;
    long   steps, from;                 /* how many are planned; how many were done before the start */
    double begun, shown;                /* seconds: the start; when the live line was drawn */
    double loss, weight;                /* running mean of the training loss */
    double val, rate;                   /* the last of each; val NaN: none yet */
    curve  curve;
} progress;

void   progress_begin(progress *p, const options *o, const run_row *rows, long n);
                                                        /* n rows that a run which goes on has behind it */
int    progress_step(progress *p, const run_row *row);  /* 0, or -1: stdout failed, and that was said */
int    progress_end(progress *p);                       /* on a terminal, the curve */
double progress_seconds(const progress *p);
char  *progress_clock(double seconds, char text[24]);   /* "1:05" */

#endif
