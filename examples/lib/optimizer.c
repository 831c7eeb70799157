/* optimizer: which optimiser moves which parameters, and at what rate.
 *
 *     adamw   matrices (with decay) and vectors (without), warm-up then a cosine
 *     sgd     the same with momentum 0.9
 *     muon    the matrices inside the blocks by Muon, all else by AdamW; warm-up, constant, then a line
 */
#include "optimizer.h"
#include <string.h>

static bool in_a_block(const gra_tensor *p)
{
    return p->ndim == 2 && strncmp(p->name, "trf_blocks.", strlen("trf_blocks.")) == 0;
}

static bool matrix_elsewhere(const gra_tensor *p)
{
    return gra_takes_matrices(p) && !in_a_block(p);
}

int optimizer_init(optimizer *opt, const options *o, gra_model *m)
{
    gra_takes *matrices = o->optimizer == MUON ? matrix_elsewhere : gra_takes_matrices;
    *opt = (optimizer){ .o = o };
    for (int i = 0; i < 2; i++) {
        gra_takes *takes = i == 0 ? matrices : gra_takes_vectors;
        double decay = i == 0 ? o->decay : 0;
        if (o->optimizer == SGD ? gra_sgd_init(&opt->sgd[i], m, takes)
                                : gra_adamw_init(&opt->adamw[i], m, takes))
            return -1;
        opt->sgd[i].momentum = 0.9;
        opt->adamw[i].beta2 = 0.99;
        opt->sgd[i].weight_decay = opt->adamw[i].weight_decay = decay;
    }
    return o->optimizer == MUON ? gra_muon_init(&opt->muon, m, in_a_block) : 0;
}

double optimizer_step(optimizer *opt, long step)
{
    const options *o = opt->o;
    double lr = o->optimizer == MUON
        ? gra_warmup_linear(step - 1, o->warmup, o->steps * 3 / 10, o->steps, o->lr, o->min_lr)
        : gra_warmup_cosine(step - 1, o->warmup, o->steps, o->lr, o->min_lr);
    for (int i = 0; i < 2; i++) {
        opt->adamw[i].lr = opt->sgd[i].lr = lr;
        if (o->optimizer == SGD)
            gra_sgd_step(&opt->sgd[i]);
        else
            gra_adamw_step(&opt->adamw[i]);
    }
    opt->muon.lr = o->muon_lr * lr / o->lr;     /* the same shape */
    if (o->optimizer == MUON)
        gra_muon_step(&opt->muon);
    return lr;
}
