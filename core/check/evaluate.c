/* evaluate: y = f(inputs), which must be defined unless this is a trial. */
#include "checking.h"

bool gra_check_fails(gra_checking *k, const char *sentence)
{
    if (!k->trial)
        gra_check_say(k->report, "gradient check: %s", sentence);
    return false;
}

static void hand_over(gra_checking *k)
{
    for (int i = 0; i < k->nin; i++) {
        const gra_checked *x = &k->tensor[i];
        if (i == k->constant)
            k->input[i] = gra_constant(k->tape, x->data, x->shape);
        else if (i == k->twin[1])
            k->input[i] = k->input[k->twin[0]];
        else
            k->input[i] = gra_input(k->tape, x->data, x->shape);
        k->handed[i] = k->input[i];
    }
    for (int i = k->nin; i < k->count; i++) {
        k->tensor[i].param->requires_grad = i != k->constant;
        k->tensor[i].param->grad = i != k->constant ? k->tensor[i].grad : NULL;
    }
}

/* Calls f on the same inputs with their values in reverse order. The loss does not depend on this call. */
static void use_again(gra_checking *k)
{
    for (int i = 0; i < k->nin; i++) {
        const gra_checked *x = &k->tensor[i];
        k->handed[i] = gra_input(k->tape, x->data, x->shape);
        for (size_t j = 0; !gra_error(k->tape) && j < x->size; j++)
            k->handed[i]->data[j] = x->data[x->size - 1 - j];
    }
    k->f(k->tape, k->handed, k->arg);
}

/* y = f(inputs), each time with the generator in its original state: the same dropout. */
gra_tensor *gra_check_evaluate(gra_checking *k)
{
    if (k->rng)
        *k->rng = k->start;
    gra_guard_step(&k->guard);
    gra_begin(k->tape, k->mode, k->rng);
    hand_over(k);
    gra_tensor *y = k->f(k->tape, k->handed, k->arg);
    if (y && k->again)
        use_again(k);
    if (gra_error(k->tape))
        gra_check_fails(k, gra_error(k->tape));
    else if (!y)
        gra_check_fails(k, "f returned NULL instead of a tensor");
    else
        return y;
    return NULL;
}

void gra_check_try(gra_checking *k, bool trial)
{
    k->trial = trial;
    gra_keep_going(k->tape, trial || k->keep_going);
    gra_tape_watch(k->tape, GRA_WATCH_TRACE, trial ? NULL : k->trace, NULL);
}
