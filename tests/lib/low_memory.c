/* low_memory: see low_memory.h. */
#include "alone.h"
#include "low_memory.h"
#include "crash.h"

#include <errno.h>

enum { LINE = 64 };

static void no_more(long than)          /* calls of malloc */
{
    fault_arm(FAULT_ALLOC, than + 1, ENOMEM, true);
}

size_t lines_left(gra_tape *t)
{
    size_t lines = 0;
    if (!fault_wrapped())
        return 0;
    gra_begin(t, GRA_GRAD, NULL);
    gra_alloc(t, LINE);                 /* now the arena has a block, and keeps it */
    gra_begin(t, GRA_GRAD, NULL);
    no_more(0);
    while (gra_alloc(t, LINE))
        lines++;
    fault_disarm();
    return lines;
}

void low_memory_begin(gra_tape *t, gra_mode mode, gra_rng *rng, size_t taken)
{
    gra_begin(t, mode, rng);
    no_more(0);
    gra_alloc(t, LINE * taken);
}

static gra_model *new_model(gra_rng *rng)
{
    gra_model *m = model_alone(rng);
    gra_tensor *first = gra_param(gra_root(m), "first", gra_init_zeros(), GRA_SHAPE(2, 3));
    gra_alias(gra_root(m), "first again", first);
    gra_state(m, "state", first);
    return m;
}

gra_model *low_memory_model(gra_rng *rng, size_t lines, long calls)
{
    size_t all = 0;
    if (!fault_wrapped())
        return NULL;
    gra_model *m = new_model(rng);
    no_more(0);
    while (gra_model_alloc(m, LINE))
        all++;
    fault_disarm();
    gra_model_close(m);
    if (lines > all)
        return NULL;
    m = new_model(rng);
    gra_model_alloc(m, LINE * (all - lines));
    no_more(calls);
    return m;
}
