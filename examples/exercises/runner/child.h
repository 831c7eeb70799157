/* child: a process that may do anything: it is watched, limited, and ended with all that it started. */
#ifndef RUNNER_CHILD_H
#define RUNNER_CHILD_H

#include <stdbool.h>
#include <stddef.h>

enum { CHILD_TEXT = 1 << 16 };

struct child {
    int    status;                      /* as of waitpid */
    bool   late;                        /* it was ended because its time was over */
    char   output[CHILD_TEXT];          /* what it printed, on stdout and stderr; the rest is dropped, */
    size_t printed;                     /* of so many bytes */
    char   records[CHILD_TEXT];         /* what it wrote to file descriptor 3, */
    size_t recorded;                    /* of so many bytes */
};

/* Runs argv[0], found by PATH, with `word` and a newline as its standard input. It may use `seconds` of processor
 * time, six times that by the clock, and `megabytes` of memory (0: as much as it likes). 0; -1: it could not be
 * started. */
int child_run(struct child *c, char *const argv[], const char *word, int seconds, int megabytes);

#endif
