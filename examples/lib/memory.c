/* memory: see memory.h. */
#include "memory.h"
#include "../../core/base/system.h"
#include "../../core/machine/limits.h"
#include "message.h"
#include <math.h>
#include <stdio.h>

/* ---- what there is ------------------------------------------------------------------------------------ */

/* Infinity: unknown. */
static double swap_space(void)
{
    char line[200];
    double kib = HUGE_VAL;
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "SwapTotal: %lf", &kib) != 1)
        ;
    if (f)
        fclose(f);
    return fmin(1024 * kib, gra_limit("", "memory", "memory.swap.max", "memory.swap.max", NULL));
}

/* *most: with the memory that the system moves to the disk; infinity: unknown. */
static double available(double *most)
{
    static const char both[] = "memory.memsw.limit_in_bytes";
    double address = HUGE_VAL, here = gra_limit("", "memory", "memory.max", "memory.limit_in_bytes", NULL);
#ifdef RLIMIT_AS
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        address = (double)limit.rlim_cur;
#endif
#ifdef _SC_PHYS_PAGES
    here = fmin(here, (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE));
#endif
    *most = fmin(fmin(address, gra_limit("", "memory", both, both, NULL)), here + swap_space());
    return fmin(address, here);
}

/* ---- what is needed ----------------------------------------------------------------------------------- */

int memory_check(const options *o, int vocab_size)
{
    const double w = (double)o->width, value = sizeof(gra_real);
    const double tokens = (double)o->batch * (double)o->context;
    const double block = 12 * w * w + 13 * w, blocks = (double)o->layers * block;
    const double outside = ((double)vocab_size * (o->tied ? 1 : 2) + (double)o->positions) * w;
    const double parameters = value * (blocks + outside);
    const double trained = o->train_last ? value * (double)o->train_last * block : parameters;
    const double moments = trained * (o->optimizer ? 1 : 2);
    const double rows = o->recompute ? (double)o->layers + 30 : 10 * (double)o->layers + 20;
    const double step = value * tokens * (rows * w + 2 * (double)vocab_size) +
                        (o->layout ? parameters : 0);           /* a copy, while it is written */
    const double fixed = parameters + trained + moments, all = fixed + step;
    double most;
    const double here = available(&most);
    const bool too_much = fixed + step / 2 > most;              /* the estimate of a step is rough */
    if (all > here)
        warn("%s fit in memory: it needs about %.2f GB (parameters %.2f, gradients %.2f, moments %.2f, "
             "a batch %.2f), and there are %.2f GB: to need less, give --recompute, --train-last N, a "
             "smaller --batch with --accumulate, or a smaller --context",
             too_much ? "the run does not" : "the run may not", all / 1e9, parameters / 1e9,
             trained / 1e9, moments / 1e9, step / 1e9, here / 1e9);
    return too_much ? -1 : 0;
}
