/* group: which parameters an optimiser moves, and the buffers that it keeps for them. */
#include "group.h"

bool gra_filter_matrices(const gra_tensor *p) { return p->shape.ndim >= 2; }
bool gra_filter_vectors(const gra_tensor *p)  { return p->shape.ndim < 2; }

void gra_need_optimiser(const void *opt, const char *who)
{
    if (!opt)
        gra_abort("%s: got NULL for the optimiser, expected the address of its struct", who);
}

gra_tensor **gra_group_state(gra_model *m, gra_param_filter *filter, const char *kind)
{
    const int n = gra_param_count(m);
    gra_tensor **state = gra_model_alloc(m, ((size_t)n + 1) * sizeof *state);
    for (int i = 0; state && i < n; i++) {
        const gra_tensor *p = gra_param_at(m, i);
        if (filter && !filter(p))
            continue;
        state[i] = gra_state(m, kind, p);
        if (!state[i])
            return NULL;
        memset(state[i]->data, 0, p->size * sizeof(real));      /* an earlier optimiser may have used it */
        state[i]->owner = state;
    }
    return state;
}

/* The first parameter whose buffer a later init of another optimiser took, or NULL. */
static const gra_tensor *lost(const gra_model *m, gra_tensor *const *state)
{
    for (int i = 0; i < gra_param_count(m); i++)
        if (state[i] && state[i]->owner != state)
            return gra_param_at(m, i);
    return NULL;
}

bool gra_group_ready(gra_model *m, const char *optimiser, double lr, gra_tensor *const *state, int params)
{
    if (!m)
        gra_abort("an optimiser's step: it has no model: call its init first");
    char step[40];
    snprintf(step, sizeof step, "gra_%s_step", optimiser);
    gra_need_model(m, step);
    if (!state)
        gra_model_fail(m, "gra_%s_step: call gra_%s_init first", optimiser, optimiser);
    else if (params != gra_param_count(m))
        gra_model_fail(m, "gra_%s_step: there are %d parameters, but there were %d when gra_%s_init was "
                       "called: call it after the last is made", optimiser, gra_param_count(m), params,
                       optimiser);
    else if (lost(m, state))
        gra_model_fail(m, "gra_%s_step: the moments of %s belong to another optimiser since its gra_%s_init: "
                       "let `filter` give each parameter to one of a kind", optimiser, lost(m, state)->name,
                       optimiser);
    else if (isnan(lr))
        gra_model_fail(m, "gra_%s_step: lr is nan: set it after gra_%s_init, for it has no default",
                       optimiser, optimiser);
    else
        return !gra_machine_failed(gra_model_machine(m));
    return false;
}
