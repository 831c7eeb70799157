/* sgd: g += weight_decay p, v = momentum v + g, p -= lr v. Without momentum, v does not change, and p -= lr
 * g. */
#include "group.h"

static const char kind[] = "sgd.momentum_buffer";

int gra_sgd_init(gra_sgd *opt, gra_model *m, gra_param_filter *filter)
{
    gra_need_optimiser(opt, __func__);
    gra_need_model(m, __func__);
    *opt = (gra_sgd){ .model = m, .filter = filter, .lr = GRA_NO_LR };
    opt->v = gra_group_state(m, filter, kind);
    opt->params = gra_param_count(m);
    return opt->v ? 0 : -1;
}

static void move(gra_chunk *s, size_t from, size_t to)
{
    const gra_sgd *opt = s->arg;
    const real lr = (real)opt->lr, momentum = (real)opt->momentum, decay = (real)opt->weight_decay;
    const real *g = s->p->grad;
    real *p = s->p->data, *v = opt->v[s->number]->data;
    for (size_t i = from; i < to; i++) {
        const real step = momentum * v[i] + (g[i] + decay * p[i]);  /* v starts as 0: at first v = g */
        v[i] = momentum != 0 ? step : v[i];
        p[i] -= lr * step;
    }
}

GRA_PARAM_KERNEL(move_all, move, 2)

void gra_sgd_step(gra_sgd *opt)
{
    gra_need_optimiser(opt, __func__);
    if (gra_group_ready(opt->model, "sgd", opt->lr, opt->v, opt->params) &&
        gra_group_thawed(opt->model, opt->filter, kind, opt->v))
        move_all(opt->model, opt->v, opt);
}
