/* pool.h: threads that share out the chunks of one job at a time. */
#ifndef GRADUS_POOL_H
#define GRADUS_POOL_H

#include "op.h"

typedef struct gra_pool gra_pool;

gra_pool *gra_pool_open(int threads);   /* 0: as many as the process has cores; NULL: out of memory */
void      gra_pool_close(gra_pool *p);
int       gra_pool_threads(const gra_pool *p);

/* Memory for kernels that rearrange their operands: so many values for each worker. It stands as long as the
 * pool, so it is taken once. */
#define GRA_POOL_OWN ((size_t)256 << 10)
real *gra_pool_own(const gra_pool *p, int worker);

void      gra_pool_run(gra_pool *p, size_t n, size_t chunk, gra_work *f, void *arg);

#endif
