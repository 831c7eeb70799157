/* clock: how much time has passed. */
#ifndef EXAMPLES_CLOCK_H
#define EXAMPLES_CLOCK_H

#include <time.h>

/* From a monotonic clock. */
static inline double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#endif
