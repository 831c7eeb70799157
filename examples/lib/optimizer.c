/* optimizer: which optimiser moves which parameters, and at what rate.
 *
 *     adamw   matrices (with decay) and vectors (without), warm-up, then a cosine
 *     sgd     the same with momentum 0.9
 *     muon    the matrices inside the blocks by Muon, the rest by AdamW; warm-up, constant, then linear
 *
 * To add an optimiser, write its init and its step, a row in the table below, and its name in
 * OPTIMIZER_NAMES.
 */
#include "optimizer.h"
#include <math.h>
#include <string.h>

/* ---- which parameters --------------------------------------------------------------------------------- */

static bool in_a_block(const gra_tensor *p)
{
    return p->shape.ndim == 2 && strncmp(p->name, "trf_blocks.", strlen("trf_blocks.")) == 0;
}

static bool matrix_elsewhere(const gra_tensor *p)
{
    return gra_filter_matrices(p) && !in_a_block(p);
}

/* ---- init and step --------------------------------------------------------------- */

static int adamw_of(gra_adamw *opt, gra_model *m, gra_param_filter *filter, double decay)
{
    int failed = gra_adamw_init(opt, m, filter);
    opt->beta2 = 0.99;
    opt->weight_decay = decay;
    return failed;
}

static int adamw_init(optimizer *opt, gra_model *m)
{
    return adamw_of(&opt->adamw[0], m, gra_filter_matrices, opt->o->decay) ||
           adamw_of(&opt->adamw[1], m, gra_filter_vectors, 0) ? -1 : 0;
}

static void adamw_step(optimizer *opt, double lr)
{
    for (int i = 0; i < 2; i++) {
        opt->adamw[i].lr = lr;
        gra_adamw_step(&opt->adamw[i]);
    }
}

static int muon_init(optimizer *opt, gra_model *m)
{
    if (adamw_of(&opt->adamw[0], m, matrix_elsewhere, opt->o->decay) ||
        adamw_of(&opt->adamw[1], m, gra_filter_vectors, 0) || gra_muon_init(&opt->muon, m, in_a_block))
        return -1;
    opt->muon.weight_decay = opt->o->decay;
    opt->muon.momentum = opt->o->momentum;
    return 0;
}

static void muon_step(optimizer *opt, double lr)
{
    adamw_step(opt, lr);
    opt->muon.lr = opt->o->muon_lr * lr / opt->o->lr;   /* the same schedule */
    gra_muon_step(&opt->muon);
}

static int sgd_init(optimizer *opt, gra_model *m)
{
    for (int i = 0; i < 2; i++) {
        if (gra_sgd_init(&opt->sgd[i], m, i ? gra_filter_vectors : gra_filter_matrices))
            return -1;
        opt->sgd[i].momentum = 0.9;
        opt->sgd[i].weight_decay = i ? 0 : opt->o->decay;
    }
    return 0;
}

static void sgd_step(optimizer *opt, double lr)
{
    for (int i = 0; i < 2; i++) {
        opt->sgd[i].lr = lr;
        gra_sgd_step(&opt->sgd[i]);
    }
}

/* ---- at what rate ------------------------------------------------------------------------------------ */

static double cosine(const options *o, long step)
{
    return gra_warmup_cosine(step - 1, o->warmup, o->steps, o->lr, o->min_lr);
}

static double line(const options *o, long step)
{
    const long hold = (long)((int64_t)o->steps * 3 / 10);       /* a long may have 32 bits */
    return gra_warmup_linear(step - 1, o->warmup, hold, o->steps, o->lr, o->min_lr);
}

/* ---- the table of --optimizer ------------------------------------------------------------------------ */

static const struct kind {
    double lr, fall;                            /* the default learning rate; the final one is lr / fall */
    long   steps, warmup, eval_every;           /* defaults of a new model; warmup: at most steps / 10 */
    int    (*init)(optimizer *opt, gra_model *m);
    double (*rate)(const options *o, long step);
    void   (*step)(optimizer *opt, double lr);
} kinds[] = {                                   /* in the order of OPTIMIZER_NAMES */
    { 0.004, 10, 2000, 100, 250, adamw_init, cosine, adamw_step },
    { 0.004, 50, 620,  20,  100, muon_init,  line,   muon_step },
    { 0.1,   10, 2000, 100, 250, sgd_init,   cosine, sgd_step },
};

void optimizer_defaults(options *o)
{
    const double less = o->from ? 3e-5 / 0.004 : 1;             /* a trained model moves only a little */
    if (o->optimizer < 0)
        o->optimizer = o->from ? ADAMW : MUON;
    const struct kind *kind = &kinds[o->optimizer];
    if (o->steps == 0)
        o->steps = o->from ? 200 : kind->steps;
    if (o->warmup < 0)
        o->warmup = o->from ? 0 : o->steps / 10 < kind->warmup ? o->steps / 10 : kind->warmup;
    if (o->eval_every == 0)
        o->eval_every = o->from ? 50 : kind->eval_every;
    if (isnan(o->lr))
        o->lr = kind->lr * less;
    if (isnan(o->muon_lr))
        o->muon_lr = o->from ? 1.5e-4 : 0.03;
    if (isnan(o->min_lr))
        o->min_lr = o->lr / kind->fall;
}

int optimizer_init(optimizer *opt, const options *o, gra_model *m)
{
    *opt = (optimizer){ .o = o };
    return kinds[o->optimizer].init(opt, m);
}

void optimizer_resume(optimizer *opt, long steps)
{
    opt->adamw[0].steps = opt->adamw[1].steps = steps;
}

double optimizer_step(optimizer *opt, long step)
{
    const double lr = kinds[opt->o->optimizer].rate(opt->o, step);
    kinds[opt->o->optimizer].step(opt, lr);
    return lr;
}
