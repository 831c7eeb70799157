/* fail: the errors of a step (the first is kept as a sentence), and the inputs that ops refuse. */
#include "tape.h"
#include "../random/random.h"

void gra_need_tape(const gra_tape *t, const char *who)
{
    if (!t)
        gra_abort("%s: got NULL for the tape, expected an open one: gra_open returns NULL when there is no "
                  "memory", who);
}

gra_tensor *gra_fail(gra_tape *t, const char *format, ...)
{
    gra_failure unheld = { 0 }, *error = t ? &t->error : &unheld;
    if (error->failed)
        return &t->empty;
    va_list args;
    va_start(args, format);
    gra_failure_set_args(error, format, args);
    va_end(args);
    if (!t || !gra_machine_keeps_going(t->machine))
        gra_abort("%s", error->text);
    gra_machine_set_failed(t->machine, true);
    return &t->empty;
}

bool gra_need_generator(gra_tape *t, const char *who, const gra_rng *g, const char *how)
{
    if (!g)
        gra_fail(t, "%s: got no generator, expected one: pass %s", who, how);
    else if (!gra_seeded(g))
        gra_fail(t, "%s: got a generator that was never seeded, expected a seeded one: call "
                 "gra_manual_seed(&rng, 123) first", who);
    return !t->error.failed;
}

bool gra_need_rng(gra_tape *t, const char *op)
{
    return gra_need_generator(t, op, t->rng, "it to gra_begin(t, GRA_TRAIN, &rng)");
}

bool gra_is_closed(gra_tape *t, const gra_tensor *x, const char *who)
{
    if (x->tape || x->data || x->panels)
        return false;
    gra_fail(t, "%s: got the parameter %s of a closed model, expected one of an open model: call "
             "gra_model_close after the last use of its parameters", who, x->name);
    return true;
}

bool gra_has_values(gra_tape *t, const gra_tensor *x, const char *who)
{
    if (x->data)
        return true;
    gra_fail(t, x->panels ? "%s: got the parameter %s, which is held as bfloat16, expected one in float: "
             "only gra_linear and gra_embedding read it, in steps of GRA_EVAL"
             : "%s: got a result of %s whose values were freed, expected one that has them: call "
             "gra_keep_grads(t, true) before the forward", who, x->panels ? x->name : x->op->name);
    return false;
}

/* x may be of an earlier step. Its header is intact (see keep_headers), so its step can be read and compared;
 * its values may have been overwritten. Only gra_result_n knows whether the op reads bfloat16. */
bool gra_refuses_input(gra_tape *t, const char *op, int i, const gra_tensor *x, bool may_be_null)
{
    if (!x && !may_be_null)
        gra_fail(t, "%s: got NULL for input %d, expected a tensor: a layer's parameters are made by its init",
                 op, i);
    else if (x && x->tape && (x->tape != t || x->step != t->step))
        gra_fail(t, "%s: got a tensor of another step or tape for input %d, expected one of this step: a "
                 "tensor lives until the next gra_begin of its tape", op, i);
    else if (x && x->op && !x->ran)
        gra_fail(t, "%s: got a result of %s for input %d that was never computed, expected one that gra_run "
                 "returned: an op's public function must end with return gra_run(y)", op, x->op->name, i);
    else if (x && !x->panels && !gra_is_closed(t, x, op))
        gra_has_values(t, x, op);
    return t->error.failed;
}

bool gra_bad_inputs(gra_tape *t, const char *op, int nin, gra_tensor *const *in)
{
    gra_need_tape(t, op);
    for (int i = 0; i < nin && !t->error.failed; i++)
        gra_refuses_input(t, op, i, in[i], false);
    return t->error.failed;
}

/* x's header is intact, as above. The empty tensor belongs to every step: its value is always valid. */
bool gra_is_stale(const gra_tensor *x, const char *who)
{
    if (gra_is_closed(NULL, x, who) || !x->tape || x->step == x->tape->step || x == &x->tape->empty)
        return false;
    gra_fail(x->tape, "%s: got a tensor of an earlier step, expected one of this step: call %s before the "
             "next gra_begin", who, who);
    return true;
}
