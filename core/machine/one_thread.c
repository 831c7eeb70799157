/* one_thread: replaces threads.c on systems without threads. */
#include "threads.h"

#if GRA_ONE_THREAD
struct gra_workers {
    int count;
};

static gra_workers one = { 1 };

gra_workers *gra_workers_open(int n)                  { (void)n; return &one; }
void         gra_workers_close(gra_workers *t)        { (void)t; }
int          gra_workers_count(const gra_workers *t)  { return t->count; }
int          gra_cores(void)                          { return one.count; }

void gra_workers_run(gra_workers *t, size_t n, size_t chunk, gra_work *f, void *arg)
{
    (void)t;
    for (size_t from = 0; chunk > 0 && from < n; from += chunk)
        f(arg, from, n - from < chunk ? n : from + chunk, 0);
}
#endif
