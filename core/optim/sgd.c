/* sgd: g += weight_decay p, v = momentum v + g, p -= lr v. */
#include "group.h"

int gra_sgd_init(gra_sgd *opt)
{
    opt->v = gra_group_state(opt->model, opt->takes, "sgd.momentum_buffer");
    opt->params = gra_param_count(opt->model);
    return opt->v ? 0 : -1;
}

static void move(const gra_sgd *opt, size_t n, real *p, const real *g, real *v)
{
    const real lr = (real)opt->lr, momentum = (real)opt->momentum, decay = (real)opt->weight_decay;
    for (size_t i = 0; i < n; i++) {
        v[i] = momentum * v[i] + (g[i] + decay * p[i]);     /* v starts as 0, so the first step has v = g */
        p[i] -= lr * v[i];
    }
}

void gra_sgd_step(gra_sgd *opt)
{
    if (!gra_group_ready(opt->model, "sgd", opt->v, opt->params))
        return;
    for (int i = 0; i < gra_param_count(opt->model); i++) {
        gra_tensor *p = gra_param_at(opt->model, i);
        if (opt->v[i] && p->grad)               /* no gradient: the parameter is frozen */
            move(opt, p->size, p->data, p->grad, opt->v[i]->data);
    }
}
