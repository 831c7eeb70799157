/* progress: prints a line at each validation, and every ten seconds between them. bpb: bits per byte */
#ifndef EXAMPLES_PROGRESS_H
#define EXAMPLES_PROGRESS_H

#include "run_folder.h"

typedef struct progress {
    long   first;                       /* the step after which this process began */
    double begun, last_log;             /* the time then, and when the last line was printed */
    double loss, rate, weight;          /* running means of training loss and tokens per second */
} progress;

void  progress_begin(progress *p, const training *t);
void  progress_print(progress *p, const training *t, const run_row *row);
char *progress_time(double seconds, char text[32]);     /* "1:02:03" */

#endif
