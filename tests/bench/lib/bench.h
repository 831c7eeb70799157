/* bench.h: code shared by step, products and peak. */
#ifndef GRADUS_BENCH_H
#define GRADUS_BENCH_H

#include "../../../core/op.h"

/* ---- time (samples.c) ----
 * samples s = samples_begin(seconds, 3);
 * while (samples_needed(&s)) { double t = now(); ...; samples_add(&s, now() - t); } */
typedef struct samples {
    int    n, least;
    double begun, seconds, value[1000];
} samples;

double  now(void);                                      /* seconds */
samples samples_begin(double seconds, int least);       /* at least this many */
bool    samples_needed(const samples *s);
void    samples_add(samples *s, double value);
double  samples_fastest(samples *s);                    /* the median of the fastest third */

/* ---- the processor (fma.c) ---- */
double fma_peak(double seconds, int threads);           /* GFLOP/s, with the best instruction set */

void *need(void *p);                    /* returns p, or ends the program if it is NULL: out of memory */

#endif
