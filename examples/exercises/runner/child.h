/* child: runs a program, which is watched, limited, and ended with all processes of its group. */
#ifndef RUNNER_CHILD_H
#define RUNNER_CHILD_H

#include <stdbool.h>
#include <stddef.h>

enum { CHILD_TEXT = 1 << 16, CHILD_FLOOD = 4 << 20 };

struct child {
    int    status;                      /* as of waitpid */
    bool   late;                        /* it was ended because its time was up, */
    bool   large;                       /* or because it used too much memory, */
    bool   loud;                        /* or because it printed more than CHILD_FLOOD bytes, */
    bool   stopped;                     /* or because child_stop returned true */
    bool   lost;                        /* what it wrote could not be read */
    char   output[CHILD_TEXT];          /* what it printed on stdout and stderr, as far as it fits, */
    size_t printed;                     /* and its length */
    char   records[CHILD_TEXT];         /* what it wrote to file descriptor 3, as far as it fits, */
    size_t recorded;                    /* and its length */
};

struct child_limits {
    const char *folder;                 /* where it runs; NULL: here */
    const char *input;                  /* what it reads on its standard input: ninput bytes, */
    size_t      ninput;                 /* which fit in a pipe: at most 4096 */
    int         seconds;                /* of processor time, and six times that by the clock */
    int         megabytes;              /* of memory that it uses: watched where there is /proc */
    int         addresses;              /* megabytes of address space, enforced by the system; 0: no limit */
    bool fixed;                         /* addresses are not random, where the system allows that */
};

/* Runs argv[0], found by PATH. 0; -1: it could not be started, or what it wrote could not be read. */
int child_run(struct child *c, char *const argv[], const struct child_limits *limits);

/* Called every few milliseconds while a child runs, unless NULL: true ends the child. */
extern bool (*child_stop)(void);

#endif
