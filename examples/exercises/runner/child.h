/* child: a process that may do anything: it is watched, limited, and ended with all that it started. */
#ifndef RUNNER_CHILD_H
#define RUNNER_CHILD_H

#include <stdbool.h>
#include <stddef.h>

enum { CHILD_TEXT = 1 << 16, CHILD_FLOOD = 4 << 20 };

struct child {
    int    status;                      /* as of waitpid */
    bool   late;                        /* it was ended because its time was over, */
    bool   large;                       /* or since it took too much memory, */
    bool   loud;                        /* or since it printed more than CHILD_FLOOD bytes, */
    bool   stopped;                     /* or since child_stop said so */
    char   output[CHILD_TEXT];          /* what it printed, on stdout and stderr; the rest is dropped, */
    size_t printed;                     /* of so many bytes */
    char   records[CHILD_TEXT];         /* what it wrote to file descriptor 3, */
    size_t recorded;                    /* of so many bytes */
};

struct child_limits {
    const char *folder;                 /* where it runs; NULL: here */
    const char *word;                   /* its standard input: this and a newline */
    int         seconds;                /* of processor time, and six times that by the clock */
    int         megabytes;              /* of memory that it uses: watched where /proc tells it */
    int         addresses;              /* megabytes of addresses: the system refuses more; 0: any number */
};

/* Runs argv[0], found by PATH. 0; -1: it could not be started. */
int child_run(struct child *c, char *const argv[], const struct child_limits *limits);

/* Asked every few milliseconds while a child runs: true ends it. NULL: nobody is asked. */
extern bool (*child_stop)(void);

#endif
