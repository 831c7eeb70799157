/* samples: measures times on a machine that also does other things.
 *
 * Disturbances only ever add time, so a figure is the median of the fastest third of its samples. */
#include "bench.h"
#include <stdlib.h>
#include <time.h>

enum { MOST = sizeof ((samples *)0)->value / sizeof(double) };

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

samples samples_begin(double seconds, int least)
{
    samples s;
    s.n = 0;
    s.least = least;
    s.seconds = seconds;
    s.begun = now();
    return s;
}

bool samples_needed(const samples *s)
{
    return s->n < s->least || (s->n < MOST && now() - s->begun < s->seconds);
}

void samples_add(samples *s, double value)
{
    if (s->n < MOST)
        s->value[s->n++] = value;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double samples_fastest(samples *s)
{
    qsort(s->value, (size_t)s->n, sizeof *s->value, by_size);
    const int third = (s->n + 2) / 3;
    return s->n ? s->value[(third - 1) / 2] : (double)NAN;
}

void *need(void *p)
{
    if (!p) {
        fprintf(stderr, "bench: out of memory\n");
        exit(1);
    }
    return p;
}
