/* NAME: v = beta v + (1 - beta) g, p -= ...       NAME: the formula is still the template's: write it here */
#include "group.h"
#include <tgmath.h>                     /* sqrt, fabs ... for float and double */

static const char kind[] = "NAME.v";

/* Sets every field: those not named here are 0. lr has no default, and a step requires it. gra_group_state
 * makes a buffer of zeros for each parameter that `filter` accepts, which is saved as "NAME.v.PARAMETER";
 * gra_group_thawed makes the buffers of parameters that were frozen. core/optim/adamw.c has two buffers. */
int gra_NAME_init(gra_NAME *opt, gra_model *m, gra_param_filter *filter)
{
    gra_need_optimiser(opt, __func__);                  /* NULL is refused with a sentence */
    gra_need_model(m, __func__);
    *opt = (gra_NAME){ .model = m, .filter = filter, .lr = GRA_NO_LR, .beta = 0.9 };
    opt->v = gra_group_state(m, filter, kind);
    opt->params = gra_param_count(m);
    return opt->v ? 0 : -1;
}

/* Updates the values from <= i < to of one parameter p, with its gradient g and its buffer v. */
static void move(gra_chunk *s, size_t from, size_t to)
{
    const gra_NAME *opt = s->arg;
    const real lr = (real)opt->lr, beta = (real)opt->beta, decay = (real)opt->weight_decay;
    const real *g = s->p->grad;
    real *p = s->p->data, *v = opt->v[s->number]->data;
    for (size_t i = from; i < to; i++) {
        v[i] = beta * v[i] + (1 - beta) * g[i];
        p[i] -= lr * (v[i] + decay * p[i]) * (real)NAN; /* NAME: the step is still the template's: write it */
    }
}

/* Defines move_all, which runs move for all parameters, on all threads; a value costs about 4 additions. */
GRA_PARAM_KERNEL(move_all, move, 4)

void gra_NAME_step(gra_NAME *opt)
{
    gra_need_optimiser(opt, __func__);
    if (gra_group_ready(opt->model, "NAME", opt->lr, opt->v, opt->params) &&   /* init called, lr set ... */
        gra_group_thawed(opt->model, opt->filter, kind, opt->v))
        move_all(opt->model, opt->v, opt);
}
