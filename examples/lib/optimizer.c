/* optimizer: which optimiser moves which parameters, and at what rate.
 *
 *     adamw   matrices (with decay) and vectors (without), warm-up then a cosine
 *     sgd     the same with momentum 0.9
 *     muon    the matrices inside the blocks by Muon, all else by AdamW; warm-up, constant, then a line
 *
 * To add one, write its init and its step, and a line in the table below.
 */
#include "optimizer.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- which parameters --------------------------------------------------------------------------------- */

static bool in_a_block(const gra_tensor *p)
{
    return p->shape.ndim == 2 && strncmp(p->name, "trf_blocks.", strlen("trf_blocks.")) == 0;
}

static bool matrix_elsewhere(const gra_tensor *p)
{
    return gra_takes_matrices(p) && !in_a_block(p);
}

/* ---- how they begin and what a step is ------------------------------------------------------------------ */

static int adamw_of(gra_adamw *opt, gra_model *m, gra_takes *takes, double decay)
{
    int failed = gra_adamw_init(opt, m, takes);
    opt->beta2 = 0.99;
    opt->weight_decay = decay;
    return failed;
}

static int adamw_init(optimizer *opt, gra_model *m)
{
    return adamw_of(&opt->adamw[0], m, gra_takes_matrices, opt->o->decay) ||
           adamw_of(&opt->adamw[1], m, gra_takes_vectors, 0) ? -1 : 0;
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
    return adamw_of(&opt->adamw[0], m, matrix_elsewhere, opt->o->decay) ||
           adamw_of(&opt->adamw[1], m, gra_takes_vectors, 0) || gra_muon_init(&opt->muon, m, in_a_block) ? -1 : 0;
}

static void muon_step(optimizer *opt, double lr)
{
    adamw_step(opt, lr);
    opt->muon.lr = opt->o->muon_lr * lr / opt->o->lr;   /* the same shape */
    gra_muon_step(&opt->muon);
}

static int sgd_init(optimizer *opt, gra_model *m)
{
    for (int i = 0; i < 2; i++) {
        if (gra_sgd_init(&opt->sgd[i], m, i ? gra_takes_vectors : gra_takes_matrices))
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

/* ---- at what rate --------------------------------------------------------------------------------------- */

static double cosine(const options *o, long step)
{
    return gra_warmup_cosine(step - 1, o->warmup, o->steps, o->lr, o->min_lr);
}

static double line(const options *o, long step)
{
    return gra_warmup_linear(step - 1, o->warmup, o->steps * 3 / 10, o->steps, o->lr, o->min_lr);
}

/* ---- the table of --optimizer ----------------------------------------------------------------------------- */

const optimizer_kind optimizer_kinds[] = {      /* the first is the default */
    { "adamw", "AdamW", 0.004, 10, adamw_init, cosine, adamw_step },
    { "muon",  "Muon",  0.004, 50, muon_init,  line,   muon_step },
    { "sgd",   "SGD",   0.1,   10, sgd_init,   cosine, sgd_step },
};

enum { KINDS = sizeof optimizer_kinds / sizeof optimizer_kinds[0] };

/* Appends to a text, as far as there is room. */
static void append(char text[OPTIMIZER_TEXT], const char *format, ...)
{
    const size_t n = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, OPTIMIZER_TEXT - n, format, args);
    va_end(args);
}

void optimizer_texts(char names[OPTIMIZER_TEXT], char lr[OPTIMIZER_TEXT], char min_lr[OPTIMIZER_TEXT])
{
    const optimizer_kind *usual = &optimizer_kinds[0];
    names[0] = lr[0] = min_lr[0] = 0;
    append(names, "%s", usual->name);
    append(lr, "%g", usual->lr);
    append(min_lr, "lr / %g", usual->fall);
    for (const optimizer_kind *kind = usual + 1; kind < usual + KINDS; kind++) {
        append(names, "|%s", kind->name);
        if (kind->lr < usual->lr || kind->lr > usual->lr)
            append(lr, "; %g with %s", kind->lr, kind->name);
        if (kind->fall < usual->fall || kind->fall > usual->fall)
            append(min_lr, "; with %s lr / %g", kind->name, kind->fall);
    }
}

int optimizer_init(optimizer *opt, const options *o, gra_model *m)
{
    *opt = (optimizer){ .o = o };
    return optimizer_kinds[o->optimizer].init(opt, m);
}

double optimizer_step(optimizer *opt, long step)
{
    const optimizer_kind *kind = &optimizer_kinds[opt->o->optimizer];
    double lr = kind->rate(opt->o, step);
    kind->step(opt, lr);
    return lr;
}
