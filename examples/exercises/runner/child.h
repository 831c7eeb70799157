/* child: runs a program, which is watched, limited, and ended with all processes of its group. */
#ifndef RUNNER_CHILD_H
#define RUNNER_CHILD_H

#include <stdbool.h>
#include <stddef.h>

enum { CHILD_TEXT = 1 << 16, CHILD_FLOOD = 4 << 20 };

struct child {
    int    status;                      /* as of waitpid */
    bool   late;                        /* the program was ended because its time was up, */
    bool   large;                       /* or because it used too much memory, */
    bool   loud;                        /* or because it printed more than CHILD_FLOOD bytes, */
    bool   stopped;                     /* or because child_stop returned true */
    bool   lost;                        /* what the program wrote could not be read */
    char   output[CHILD_TEXT];          /* its stdout and stderr, as far as they fit, */
    size_t printed;                     /* and its length */
    char   records[CHILD_TEXT];         /* its output to file descriptor 3, as far as it fits, */
    size_t recorded;                    /* and its length */
};

struct child_limits {
    const char *folder;                 /* where the program runs; NULL: here */
    const char *input;                  /* its standard input: ninput bytes, */
    size_t      ninput;                 /* which fit in a pipe: at most 4096 */
    int         seconds;                /* of processor time, and six times as many by the clock */
    int         megabytes;              /* of memory that it uses: watched where there is /proc */
    int         addresses;              /* megabytes of address space, enforced by the system; 0: no limit */
    bool fixed;                         /* addresses are not random, where the system allows that */
};

/* Runs argv[0], found by PATH. Returns 0, or -1 if it could not be started or its output not read. */
int child_run(struct child *c, char *const argv[], const struct child_limits *limits);

/* Called every few milliseconds while a child runs, unless NULL: true ends the child. */
extern bool (*child_stop)(void);

#endif
