/* adamw: Adam with decoupled weight decay (Loshchilov & Hutter 2019). In step t
 *
 *     p *= 1 - lr weight_decay
 *     m  = beta1 m + (1 - beta1) g
 *     v  = beta2 v + (1 - beta2) g^2
 *     p -= lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps) */
#include "group.h"
#include <tgmath.h>

static const char first[] = "adamw.exp_avg", second[] = "adamw.exp_avg_sq";

int gra_adamw_init(gra_adamw *opt, gra_model *m, gra_param_filter *filter)
{
    gra_need_optimiser(opt, __func__);
    gra_need_model(m, __func__);
    *opt = (gra_adamw){ .model = m, .filter = filter, .lr = GRA_NO_LR, .beta1 = 0.9, .beta2 = 0.999,
                        .eps = 1e-8, .weight_decay = 0.01 };
    opt->m = gra_group_state(m, filter, first);
    opt->v = opt->m ? gra_group_state(m, filter, second) : NULL;
    opt->params = gra_param_count(m);
    return opt->v ? 0 : -1;
}

/* The factors common to all elements of a step. With r = sqrt(1 - beta2^t) the last line above is
 * p -= (lr r / (1 - beta1^t)) m / (sqrt(v) + eps r): one division per element. */
struct step {
    gra_tensor **m, **v;
    real beta1, beta2, gain1, gain2, keep, rate, eps;
};

static void move(gra_chunk *s, size_t from, size_t to)
{
    const struct step f = *(const struct step *)s->arg;
    const real *g = s->p->grad;
    real *p = s->p->data, *m = f.m[s->number]->data, *v = f.v[s->number]->data;
    for (size_t i = from; i < to; i++) {
        m[i] = f.beta1 * m[i] + f.gain1 * g[i];
        v[i] = f.beta2 * v[i] + f.gain2 * g[i] * g[i];
        p[i] = f.keep * p[i] - f.rate * m[i] / (sqrt(v[i]) + f.eps);
    }
}

GRA_PARAM_KERNEL(move_all, move, 4)

void gra_adamw_step(gra_adamw *opt)
{
    gra_need_optimiser(opt, __func__);
    if (!gra_group_ready(opt->model, "adamw", opt->lr, opt->v, opt->params) ||
        !gra_group_thawed(opt->model, opt->filter, first, opt->m) ||
        !gra_group_thawed(opt->model, opt->filter, second, opt->v))
        return;
    opt->steps++;
    const double t = (double)opt->steps, r = sqrt(1 - pow(opt->beta2, t));
    struct step f = {
        .m = opt->m, .v = opt->v,
        .beta1 = (real)opt->beta1, .gain1 = (real)(1 - opt->beta1),
        .beta2 = (real)opt->beta2, .gain2 = (real)(1 - opt->beta2),
        .keep  = (real)(1 - opt->lr * opt->weight_decay),
        .rate  = (real)(opt->lr * r / (1 - pow(opt->beta1, t))),
        .eps   = (real)(opt->eps * r),
    };
    move_all(opt->model, opt->v, &f);           /* only the parameters that have a v */
}
