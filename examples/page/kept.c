/* kept: see kept.h. */
#include "kept.h"
#include <stdlib.h>
#include <string.h>

gra_real *kept_copy(const gra_model *m, gra_real *to)
{
    gra_real *values = to = to ? to : malloc(gra_param_values(m) * sizeof *to);
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

/* How many states are kept: at least 4, although even 4 may need too much memory. */
static int most(const gra_model *m)
{
    const size_t n = KEPT_BYTES / (gra_param_values(m) * sizeof(gra_real) + 1);
    return n > KEPT_MOST ? KEPT_MOST : n < 4 ? 4 : (int)n;
}

static void forget(struct kept_state *s)
{
    free(s->values);
    free(s->norms);
    free(s->sample);
}

static void thin(kept *k)
{
    int n = 0;
    k->distance *= 2;
    for (int i = 0; i < k->n; i++)
        if (k->state[i].step % k->distance == 0)
            k->state[n++] = k->state[i];
        else
            forget(&k->state[i]);
    k->n = n;
}

void kept_add(kept *k, const gra_model *m, long step, const double *norms, size_t n)
{
    if (k->distance == 0)
        k->distance = 1;
    if (k->n == most(m) && step % k->distance == 0)
        thin(k);
    if (step % k->distance)
        return;
    struct kept_state s = { .step = step, .values = kept_copy(m, NULL), .norms = malloc(n * sizeof *norms) };
    if (s.values && s.norms) {
        memcpy(s.norms, norms, n * sizeof *norms);
        k->state[k->n++] = s;
    } else
        forget(&s);
}

struct kept_state *kept_near(kept *k, long step)
{
    struct kept_state *near = NULL;
    for (struct kept_state *s = k->state; s < k->state + k->n; s++)
        if (!near || labs(s->step - step) < labs(near->step - step))
            near = s;
    return near;
}

void kept_free(kept *k)
{
    for (int i = 0; i < k->n; i++)
        forget(&k->state[i]);
    *k = (kept){ 0 };
}
