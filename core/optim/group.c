/* group: which parameters an optimiser updates, and the buffers that it keeps for them. */
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
    gra_tensor **state = gra_model_alloc(m, ((size_t)gra_param_count(m) + 1) * sizeof *state);
    return state && gra_group_thawed(m, filter, kind, state) ? state : NULL;
}

bool gra_group_thawed(gra_model *m, gra_param_filter *filter, const char *kind, gra_tensor **state)
{
    for (int i = 0; i < gra_param_count(m); i++) {
        const gra_tensor *p = gra_param_at(m, i);
        if (state[i] || !p->grad || (filter && !filter(p)))
            continue;
        state[i] = gra_state(m, kind, p);
        if (!state[i])
            return false;
        memset(state[i]->data, 0, p->size * sizeof(real));      /* an earlier optimiser may have used it */
        state[i]->owner = state;
    }
    return true;
}

/* The first parameter whose buffer was taken by a later optimiser's init, or NULL. */
static const gra_tensor *lost(const gra_model *m, gra_tensor *const *state)
{
    for (int i = 0; i < gra_param_count(m); i++)
        if (state[i] && state[i]->owner != state)
            return gra_param_at(m, i);
    return NULL;
}

static void mark_changed(gra_model *m, gra_tensor *const *state)
{
    const unsigned update = gra_machine_count_update(gra_model_machine(m));
    for (int i = 0; i < gra_param_count(m); i++)
        if (state[i])
            gra_param_at(m, i)->updates = update;
}

bool gra_group_ready(gra_model *m, const char *optimiser, double lr, gra_tensor *const *state, int params)
{
    char step[40];
    snprintf(step, sizeof step, "gra_%s_step", optimiser);
    if (!m)
        gra_abort("%s: got an optimiser without a model: call gra_%s_init first", step, optimiser);
    gra_need_model(m, step);
    if (!state)
        gra_model_fail(m, "%s: got an optimiser without moments: call gra_%s_init first", step, optimiser);
    else if (params != gra_param_count(m))
        gra_model_fail(m, "%s: got %d parameters, expected the %d that there were at gra_%s_init: make all "
                       "parameters before init", step, gra_param_count(m), params, optimiser);
    else if (lost(m, state))
        gra_model_fail(m, "%s: got %s, whose moments a later gra_%s_init has taken, expected each parameter "
                       "in one such optimiser only: divide them by `filter`", step, lost(m, state)->name,
                       optimiser);
    else if (isnan(lr))
        gra_model_fail(m, "%s: got nan for lr, expected a learning rate: set it after gra_%s_init, for it "
                       "has no default", step, optimiser);
    else if (!gra_machine_failed(gra_model_machine(m))) {
        gra_machine_say_undropped(gra_model_machine(m), step);
        mark_changed(m, state);
        return true;
    }
    return false;
}
