/* kept: see kept.h. */
#include "kept.h"
#include <stdlib.h>
#include <string.h>

gra_real *kept_copy(const gra_model *m)
{
    gra_real *values = malloc(gra_param_values(m) * sizeof *values), *to = values;
    for (int i = 0; i < gra_param_count(m) && values; i++) {
        const gra_tensor *p = gra_param_at(m, i);
        memcpy(to, p->data, p->size * sizeof *to);
        to += p->size;
    }
    return values;
}

void kept_restore(gra_model *m, const gra_real *values)
{
    for (int i = 0; i < gra_param_count(m); i++) {
        gra_tensor *p = gra_param_at(m, i);
        memcpy(p->data, values, p->size * sizeof *values);
        values += p->size;
    }
}

/* How many there may be: at least 4, as few as that may be too many for the memory that there is. */
static int most(const gra_model *m)
{
    const size_t n = KEPT_BYTES / (gra_param_values(m) * sizeof(gra_real) + 1);
    return n > KEPT_MOST ? KEPT_MOST : n < 4 ? 4 : (int)n;
}

static void thin(kept *k)
{
    int n = 0;
    k->distance *= 2;
    for (int i = 0; i < k->n; i++)
        if (k->state[i].step % k->distance == 0)
            k->state[n++] = k->state[i];
        else
            free(k->state[i].values);
    k->n = n;
}

void kept_add(kept *k, const gra_model *m, long step)
{
    if (k->distance == 0)
        k->distance = 1;
    if (k->n == most(m) && step % k->distance == 0)
        thin(k);
    gra_real *values = step % k->distance == 0 ? kept_copy(m) : NULL;
    if (values)
        k->state[k->n++] = (struct kept_state){ step, values };
}

const struct kept_state *kept_near(const kept *k, long step)
{
    const struct kept_state *near = NULL;
    for (const struct kept_state *s = k->state; s < k->state + k->n; s++)
        if (!near || labs(s->step - step) < labs(near->step - step))
            near = s;
    return near;
}

void kept_free(kept *k)
{
    for (int i = 0; i < k->n; i++)
        free(k->state[i].values);
    *k = (kept){ 0 };
}
