/* threads.h: a machine's threads. */
#ifndef GRADUS_THREADS_H
#define GRADUS_THREADS_H

#include "../kernel.h"

#define GRA_MAX_THREADS 256

/* A WebAssembly module has one thread, the caller: one_thread.c is used there instead of threads.c. */
#ifdef __wasm__
#define GRA_ONE_THREAD 1
#else
#define GRA_ONE_THREAD 0
#endif

typedef struct gra_workers gra_workers;
gra_workers *gra_workers_open(int n);           /* at most n, the caller included; NULL: out of memory */
void         gra_workers_close(gra_workers *t);         /* NULL is allowed */
int          gra_workers_count(const gra_workers *t);   /* how many are running, the caller included */
int          gra_cores(void);                           /* that this process may use */
/* The least of `cores` and the time quotas of this process's control groups, rounded down, but at least 1.
 * root: "", or a folder to use as the root of the file system. */
int          gra_quota(const char *root, int cores);

/* Runs f(arg, from, to, worker) on all of [0, n), in chunks of a given size. */
void         gra_workers_run(gra_workers *t, size_t n, size_t chunk, gra_work *f, void *arg);

#endif
