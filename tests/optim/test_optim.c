/* The optimisers against PyTorch's, or against a formula, step by step; clipping and the schedules.
 *
 * tests/golden/optim holds the results of make_optim.py with PyTorch in float64: parameters, gradients, and
 * the parameters after each of five steps. Here float64 must agree to 1e-12 (the file's tolerance), float32
 * to 1e-6 of the tensor's largest value. */
#include "core/tape/tape.h"
#include "core/model/model.h"
#include "lib/aborts.h"
#include "lib/fault.h"
#include "lib/fixture.h"
#include "lib/folder.h"
#include "lib/golden.h"
#include "lib/low_memory.h"
#include "lib/suites.h"
#include "lib/written.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define STEPS 5
#define FLOAT_ERROR 1e-6

/* ---- the kinds of optimisers, for tests that all of them pass ---- */

typedef union optimiser {
    gra_sgd   sgd;
    gra_adamw adamw;
    gra_muon  muon;
} optimiser;

#define KIND(name)                                                                                       \
    static int name##_init(optimiser *o, gra_model *m, gra_param_filter *filter)                         \
    {                                                                                                    \
        return gra_##name##_init((gra_##name *)o, m, filter);                                            \
    }                                                                                                    \
    static void name##_step(optimiser *o) { gra_##name##_step((gra_##name *)o); }
KIND(sgd)
KIND(adamw)
KIND(muon)

/* One step of one value p with the gradient g, in double: returns the new p. v begins as zeros. */
typedef double by_hand(const optimiser *o, int step, double p, double g, double v[2]);

static double sgd_by_hand(const optimiser *o, int step, double p, double g, double v[2])
{
    (void)step;
    v[0] = o->sgd.momentum * v[0] + g + o->sgd.weight_decay * p;
    return p - o->sgd.lr * v[0];
}

enum {
    SGD, ADAMW, MUON,
    KINDS
};

static const struct {
    const char *name;
    int       (*init)(optimiser *, gra_model *, gra_param_filter *);
    void      (*step)(optimiser *);
    gra_param_filter  *filter;                  /* the parameters that test_group gives it */
    size_t      v;                      /* where its buffers are */
    by_hand    *formula;                /* NULL: PyTorch's numbers alone */
} kinds[KINDS] = {
    [SGD]   = { "sgd",   sgd_init,   sgd_step,   gra_filter_vectors,  offsetof(optimiser, sgd.v),
                sgd_by_hand },
    [ADAMW] = { "adamw", adamw_init, adamw_step, gra_filter_matrices, offsetof(optimiser, adamw.v), NULL },
    [MUON]  = { "muon",  muon_init,  muon_step,  NULL,               offsetof(optimiser, muon.v), NULL },
};

static const struct {
    int         kind;
    const char *name;
    size_t      at;
} settings[] = {
    { SGD,   "lr",           offsetof(optimiser, sgd.lr) },
    { SGD,   "momentum",     offsetof(optimiser, sgd.momentum) },
    { SGD,   "weight_decay", offsetof(optimiser, sgd.weight_decay) },
    { ADAMW, "lr",           offsetof(optimiser, adamw.lr) },
    { ADAMW, "beta1",        offsetof(optimiser, adamw.beta1) },
    { ADAMW, "beta2",        offsetof(optimiser, adamw.beta2) },
    { ADAMW, "eps",          offsetof(optimiser, adamw.eps) },
    { ADAMW, "weight_decay", offsetof(optimiser, adamw.weight_decay) },
    { MUON,  "lr",           offsetof(optimiser, muon.lr) },
    { MUON,  "momentum",     offsetof(optimiser, muon.momentum) },
    { MUON,  "weight_decay", offsetof(optimiser, muon.weight_decay) },
};

static void set(int kind, optimiser *o, const char *name, double value)
{
    for (int i = 0; i < LENGTH(settings); i++)
        if (settings[i].kind == kind && strcmp(settings[i].name, name) == 0)
            memcpy((char *)o + settings[i].at, &value, sizeof value);
}

/* An optimiser that is ready to step, with lr 1. */
static optimiser made(int kind, gra_model *m, gra_param_filter *filter)
{
    optimiser o;
    ck_assert_int_eq(kinds[kind].init(&o, m, filter), 0);
    set(kind, &o, "lr", 1);
    return o;
}

/* ---- a model and its gradients from a file ---- */

static golden    *g;
static gra_model *of_file;              /* with two threads, and the file's parameters */

static golden *open_golden(const char *system)
{
    char path[128];
    snprintf(path, sizeof path, "tests/golden/optim/%s.txt", system);
    return golden_open(path);
}

static void open_run(const char *system)
{
    gra_tape *tape = gra_open(2);
    g = open_golden(system);
    of_file = gra_model_open(tape, NULL);
    ck_assert_ptr_nonnull(of_file);
    gra_close(tape);                                    /* the model keeps its two threads */
    for (int i = 0; i < g->tensors; i++) {
        const golden_tensor *want = &g->tensor[i];
        if (strcmp(want->role, "param") != 0)
            continue;
        gra_tensor *p = gra_param(gra_root(of_file), want->name, gra_init_zeros(), want->shape);
        for (size_t j = 0; j < want->size; j++)
            p->data[j] = (real)want->values[j];
    }
}

static const golden_tensor *numbered(const char *role, const gra_tensor *p, const char *what, int step)
{
    char full[GOLDEN_WORD];
    snprintf(full, sizeof full, "%s%s.%d", p->name, what, step);
    return golden_get(g, role, full);
}

static void agree(const real *x, const golden_tensor *want)
{
    double largest = 0;
    for (size_t i = 0; i < want->size; i++)
        largest = fmax(largest, fabs(want->values[i]));
    const double tol = sizeof(real) == sizeof(double) ? want->tol : FLOAT_ERROR * largest;
    for (size_t i = 0; i < want->size; i++)
        ck_assert_msg(fabs((double)x[i] - want->values[i]) <= tol, "%s[%zu] is %.17g, but PyTorch has %.17g",
                      want->name, i, (double)x[i], want->values[i]);
}

/* Five steps of an optimiser, and of a second if it is not NULL, compared after each. */
static void follow(int kind, optimiser *o, optimiser *second)
{
    for (int i = 1; i <= STEPS; i++) {
        for (int j = 0; j < gra_param_count(of_file); j++) {
            gra_tensor *p = gra_param_at(of_file, j);
            const golden_tensor *dp = numbered("input", p, ".grad", i);
            for (size_t k = 0; p->grad && k < p->size; k++)
                p->grad[k] = (real)dp->values[k];
        }
        kinds[kind].step(o);
        if (second)
            kinds[kind].step(second);
        for (int j = 0; j < gra_param_count(of_file); j++) {
            gra_tensor *p = gra_param_at(of_file, j);
            agree(p->data, numbered("expect", p, "", i));
        }
    }
    ck_assert_ptr_null(gra_model_error(of_file));
}

/* ---- against PyTorch ---- */

/* The file's settings. Others keep the value set by init, PyTorch's default. */
static void set_from_file(int kind, optimiser *o)
{
    for (int i = 0; i < LENGTH(settings); i++) {
        const golden_tensor *given = golden_find(g, "input", settings[i].name);
        if (given)
            set(kind, o, settings[i].name, given->values[0]);
    }
}

static const struct {
    int         kind;
    const char *file, *frozen;          /* "groups": two optimisers, of matrices and of vectors */
} runs[] = {
    { SGD,   "sgd",               NULL },
    { SGD,   "sgd_momentum",      NULL },
    { SGD,   "sgd_decay",         NULL },
    { SGD,   "sgd_frozen",        "b" },
    { ADAMW, "adamw_defaults",    NULL },
    { ADAMW, "adamw",             NULL },
    { ADAMW, "adamw_no_momentum", NULL },
    { ADAMW, "adamw_frozen",      "b" },
    { ADAMW, "adamw_groups",      NULL },
    { MUON,  "muon",              NULL },
    { MUON,  "muon_decay",        NULL },
};

CASE(optim, open_all, close_all, "")

TESTS(five_steps, LENGTH(runs))         /* _i: of runs */
{
    const int kind = runs[_i].kind;
    const bool groups = strstr(runs[_i].file, "groups") != NULL;
    optimiser o, vectors;
    open_run(runs[_i].file);
    if (runs[_i].frozen)
        gra_freeze(gra_param_find(of_file, runs[_i].frozen), true);
    ck_assert_int_eq(kinds[kind].init(&o, of_file, groups ? gra_filter_matrices : NULL), 0);
    set_from_file(kind, &o);
    if (groups) {
        vectors = made(kind, of_file, gra_filter_vectors);
        set_from_file(kind, &vectors);
        set(kind, &vectors, "weight_decay", 0);
    }
    follow(kind, &o, groups ? &vectors : NULL);
    ck_assert(kind != ADAMW || o.adamw.steps == STEPS);
    gra_model_close(of_file);
    golden_close(g);
}

/* ---- against a formula ---- */

static void fill(real *x, size_t n, int k)             /* multiples of 1/64 in (-2, 2), as in make_optim.py */
{
    for (size_t i = 0; i < n; i++)
        x[i] = (real)((int)(i * i * 37 + i * 11 + (size_t)k * 101) % 251 - 125) / 64;
}

/* Five steps with init's settings, and five with momentum and decay. */
TESTS(steps_are_the_formula, 2 * KINDS) /* _i / 2: the kind */
{
    enum { SIZE = 21 };
    const int kind = _i / 2, decay = _i % 2;
    const double tolerance = sizeof(real) == sizeof(double) ? 1e-12 : 4 * FLOAT_ERROR;
    double p[SIZE], v[SIZE][2] = { { 0 } };
    if (!kinds[kind].formula)
        return;
    gra_tensor *w = gra_param(gra_root(model), "w", gra_init_zeros(), GRA_SHAPE(3, SIZE / 3));
    fill(w->data, SIZE, 0);
    optimiser o = made(kind, model, NULL);
    set(kind, &o, "lr", 0.1);
    if (decay) {                        /* otherwise what init sets */
        set(kind, &o, "momentum", 0.5);
        set(kind, &o, "weight_decay", 0.25);
    }
    for (int i = 0; i < SIZE; i++)
        p[i] = (double)w->data[i];
    for (int step = 1; step <= STEPS; step++) {
        fill(w->grad, SIZE, 7 * step);
        kinds[kind].step(&o);
        for (int i = 0; i < SIZE; i++) {
            p[i] = kinds[kind].formula(&o, step, p[i], (double)w->grad[i], v[i]);
            ck_assert_msg(fabs((double)w->data[i] - p[i]) <= tolerance,
                          "step %d%s: gra_%s_step makes %.9g of w[%d], "
                          "but %s_by_hand in tests/optim/test_optim.c makes %.9g", step,
                          decay ? ", with weight_decay" : "",
                          kinds[kind].name, (double)w->data[i], i, kinds[kind].name, p[i]);
        }
    }
}

/* ---- groups and frozen parameters ---- */

static gra_tensor *parameter(gra_model *m, const char *name, gra_shape shape)
{
    gra_tensor *p = gra_param(gra_root(m), name, gra_init_ones(), shape);
    ck_assert_ptr_nonnull(p);
    for (size_t i = 0; i < p->size; i++)
        p->grad[i] = (real)(1 + i % 7);
    return p;
}

static bool unmoved(const gra_tensor *p)
{
    for (size_t i = 0; i < p->size; i++)
        if (p->data[i] != 1)
            return false;
    return true;
}

TEST(test_filter)
{
    const gra_tensor *p[] = { parameter(model, "scalar", GRA_SCALAR),
                              parameter(model, "vector", GRA_SHAPE(3)),
                              parameter(model, "matrix", GRA_SHAPE(3, 2)),
                              parameter(model, "cube", GRA_SHAPE(3, 2, 4)) };
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(gra_filter_matrices(p[i]), i >= 2);
        ck_assert_int_eq(gra_filter_vectors(p[i]), i < 2);
    }
}

/* An optimiser updates the parameters of its group that are not frozen; only its group has buffers. */
TESTS(test_group, KINDS)                /* _i: the kind */
{
    gra_tensor *w = parameter(model, "w", GRA_SHAPE(3, 2)), *b = parameter(model, "b", GRA_SHAPE(3)),
               *frozen = parameter(model, "frozen", GRA_SHAPE(2, 2));
    const bool matrices = kinds[_i].filter != gra_filter_vectors;         /* Muon updates only matrices */
    gra_freeze(frozen, true);
    optimiser o = made(_i, model, kinds[_i].filter);
    set(_i, &o, "weight_decay", 0.5);
    gra_tensor **v;
    memcpy(&v, (char *)&o + kinds[_i].v, sizeof v);
    const int buffers = _i == ADAMW ? 2 : 1;            /* for each parameter */
    ck_assert(!v[0] == !matrices && !v[1] == matrices && !v[2]);

    kinds[_i].step(&o);
    ck_assert(unmoved(w) == !matrices && unmoved(b) == matrices && unmoved(frozen));
    ck_assert_int_eq(gra_owned_count(model), 3 + buffers);      /* none for the frozen parameter */

    gra_freeze(frozen, false);          /* now it moves, and has buffers, which begin as 0 */
    for (size_t i = 0; i < frozen->size; i++) {
        ck_assert(frozen->grad[i] == 0);
        frozen->grad[i] = 2;
    }
    kinds[_i].step(&o);
    ck_assert(unmoved(frozen) == !matrices && !v[2] == !matrices);
    ck_assert_int_eq(gra_owned_count(model), 3 + (matrices ? 2 : 1) * buffers);
    kinds[_i].step(&o);                 /* and keeps them */
    ck_assert_int_eq(gra_owned_count(model), 3 + (matrices ? 2 : 1) * buffers);
}

TEST(test_defaults)                  /* every field is filled; lr is marked as not set */
{
    gra_sgd sgd;
    gra_adamw adamw;
    gra_muon muon;
    memset(&sgd, 0x55, sizeof sgd);
    memset(&adamw, 0x55, sizeof adamw);
    memset(&muon, 0x55, sizeof muon);
    ck_assert_int_eq(gra_sgd_init(&sgd, model, NULL), 0);
    ck_assert_int_eq(gra_adamw_init(&adamw, model, gra_filter_vectors), 0);
    ck_assert_int_eq(gra_muon_init(&muon, model, NULL), 0);
    ck_assert(isnan(sgd.lr) && isnan(adamw.lr) && isnan(muon.lr));
    ck_assert(sgd.model == model && !sgd.filter && sgd.momentum == 0 && sgd.weight_decay == 0);
    ck_assert(adamw.model == model && adamw.filter == gra_filter_vectors && adamw.beta1 == 0.9 &&
              adamw.beta2 == 0.999 && adamw.eps == 1e-8 && adamw.weight_decay == 0.01 && adamw.steps == 0);
    ck_assert(muon.model == model && muon.momentum == 0.95 && muon.weight_decay == 0 && muon.ns_steps == 5);
}

/* ---- muon by itself ---- */

/* A gradient of zeros has no direction: nothing moves, and nothing becomes NaN. */
TEST(test_muon_of_nothing)
{
    gra_tensor *w = parameter(model, "w", GRA_SHAPE(3, 5));
    gra_zero_grad(model);
    optimiser o = made(MUON, model, NULL);
    muon_step(&o);
    ck_assert(unmoved(w));
}

/* x = dw / |dw| after steps of Newton-Schulz, made of ops: x becomes 3.4445 x + (-4.7750 a + 2.0315 a^2) x,
 * where a = x x^T. */
static gra_tensor *newton_schulz(const gra_tensor *dw, int steps)
{
    double norm = 0;
    for (size_t i = 0; i < dw->size; i++)
        norm += (double)dw->data[i] * (double)dw->data[i];
    gra_tensor *x = gra_constant(t, dw->data, dw->shape);
    x = gra_scale(t, x, 1 / (sqrt(norm) + 1e-7));
    for (int i = 0; i < steps; i++) {
        gra_tensor *a = gra_matmul_nt(t, x, x);
        gra_tensor *b = gra_add(t, gra_scale(t, a, -4.7750), gra_scale(t, gra_matmul(t, a, a), 2.0315));
        x = gra_add(t, gra_scale(t, x, 3.4445), gra_matmul(t, b, x));
    }
    return x;
}

/* The shapes: square, tall (X is multiplied once for all steps), wide, slightly wide; with one block or
 * several, with rows that fill cache lines and rows that do not. */
TEST(test_muon_steps)
{
    static const int shape[][2] = { { 2, 2 }, { 40, 2 }, { 2, 40 }, { 2, 3 }, { 24, 24 }, { 70, 70 },
                                    { 33, 100 }, { 70, 90 }, { 150, 70 }, { 64, 64 }, { 32, 96 } };
    const double tolerance = sizeof(real) == sizeof(float) ? 1e-4 : 1e-11;
    for (int steps = 1; steps <= 6; steps++)
        for (int i = 0; i < LENGTH(shape); i++) {
            const int rows = shape[i][0], cols = shape[i][1];
            another_model();
            gra_begin(t, GRA_EVAL, NULL);
            gra_tensor *w = parameter(model, "w", GRA_SHAPE(rows, cols));
            memset(w->data, 0, w->size * sizeof(real));
            gra_randn(&rng, w->grad, w->size);
            gra_tensor *first = gra_scale(t, gra_constant(t, w->grad, w->shape), 0.05 + 0.95 * 0.05);
            const double scale = sqrt(rows > cols ? (double)rows / cols : 1);
            const gra_tensor *want = gra_scale(t, newton_schulz(first, steps), -scale);
            optimiser o = made(MUON, model, NULL);
            o.muon.ns_steps = steps;
            muon_step(&o);
            for (size_t k = 0; k < w->size; k++)
                ck_assert_double_eq_tol((double)w->data[k], (double)want->data[k], tolerance);
        }
}

/* Each allocation of an init fails in turn: there is an error with a sentence, and no step is made. */
TESTS(memory_ends_in_an_optimiser, KINDS) /* _i: the kind */
{
    gra_model *m;
    bool well = !fault_wrapped();
    for (size_t lines = 0; !well && (m = low_memory_model(NULL, lines, 0)); lines++) {
        gra_tensor *p = gra_param_find(m, "first");
        optimiser o;
        for (size_t i = 0; i < p->size; i++)
            p->grad[i] = 1;
        const int status = kinds[_i].init(&o, m, NULL);
        set(_i, &o, "lr", 1);
        const bool failed = gra_model_error(m);
        if (status == 0)
            kinds[_i].step(&o);
        fault_disarm();
        ck_assert_int_eq(status, failed ? -1 : 0);
        well = !gra_model_error(m);
        ck_assert_msg(well || strncmp(gra_model_error(m), "out of memory: ", 15) == 0, "%s",
                      gra_model_error(m));
        for (size_t i = 0; i < p->size; i++)
            ck_assert_int_eq(p->data[i] != 0, well);
        gra_model_close(m);
    }
    ck_assert(well);
}

/* After an error on the tape the gradients are wrong. So no step is made, and the sentence stays until
 * gra_begin, or until the tape is closed. */
TESTS(no_step_after_an_error, 2 * KINDS)        /* _i / 2: the kind */
{
    const int kind = _i / 2;
    gra_tensor *w = parameter(model, "w", GRA_SHAPE(3, 5));
    optimiser o = made(kind, model, NULL);
    gra_begin(t, GRA_GRAD, NULL);
    gra_fail(t, "something");
    gra_fail(t, "something else");
    kinds[kind].step(&o);
    ck_assert(unmoved(w));
    ck_assert_str_eq(gra_error(t), "something");
    if (_i % 2) {
        gra_close(t);
        t = NULL;
    } else
        gra_begin(t, GRA_GRAD, NULL);
    kinds[kind].step(&o);
    ck_assert(!unmoved(w) && (kind != ADAMW || o.adamw.steps == 1));
}

/* Momentum that is switched on, off and on again: torch.optim.SGD 1.13.1 gives these. A step without momentum
 * does not change v. */
TEST(momentum_in_mid_run)
{
    static const struct { double momentum, g, p; } steps[] = {
        { 0, 1, 0.9 }, { 0.9, 0.5, 0.85 }, { 0, 1, 0.75 }, { 0.9, 0, 0.705 }
    };
    gra_tensor *w = gra_param(gra_root(model), "w", gra_init_ones(), GRA_SHAPE(1));
    optimiser o = made(SGD, model, NULL);
    o.sgd.lr = 0.1;
    for (int i = 0; i < LENGTH(steps); i++) {
        o.sgd.momentum = steps[i].momentum;
        w->grad[0] = (real)steps[i].g;
        sgd_step(&o);
        ck_assert_double_eq_tol((double)w->data[0], steps[i].p, 1e-6);
    }
}

/* ---- refusals ---- */

static void two_parameters(void)        /* an error does not abort */
{
    another_model();
    parameter(model, "w", GRA_SHAPE(3, 2));
    parameter(model, "b", GRA_SHAPE(3));
}

TEST(muon_without_memory)               /* a step after an init that has failed changes nothing */
{
    for (int n = 1; n < 6; n++) {
        another_model();
        gra_tensor *w = parameter(model, "w", GRA_SHAPE(300, 300));
        gra_muon muon;
        fault_arm(FAULT_ALLOC, n, ENOMEM, true);
        const int status = gra_muon_init(&muon, model, NULL);
        const bool struck = fault_disarm() > 0;
        muon.lr = 1;
        gra_muon_step(&muon);
        ck_assert(status == (struck ? -1 : 0) && (!struck || w->data[0] == w->data[1]));
    }
}

static bool everything(const gra_tensor *p) { return p != NULL; }

TEST(init_begins_anew)                                  /* both moments and steps */
{
    two_parameters();
    gra_tensor *w = gra_param_at(model, 0);
    for (int round = 0; round < 2; round++) {
        optimiser o = made(ADAMW, model, NULL);
        o.adamw.weight_decay = 0;
        const double was = (double)w->data[0];
        w->grad[0] = round ? -1 : 1;
        adamw_step(&o);                                 /* the first step moves by lr, against the gradient */
        ck_assert_double_eq_tol((double)w->data[0] - was, round ? 1 : -1, 1e-6);
        for (int i = 0; i < 20 && round == 0; i++)
            adamw_step(&o);
    }
}

TEST(muon_leaves_the_step_alone)
{
    two_parameters();
    optimiser o = made(MUON, model, gra_filter_matrices);
    for (int step = 0; step < 3; step++) {
        gra_begin(t, GRA_GRAD, NULL);
        gra_tensor *loss = gra_sum(t, gra_mul(t, gra_param_at(model, 0), gra_param_at(model, 0)));
        const double before = gra_item(loss);
        ck_assert_int_eq(gra_backward(t, loss), 0);
        muon_step(&o);
        ck_assert_double_eq(gra_item(loss), before);
    }
}

static void step_refused(int kind, optimiser o, const char *sentence, const char *a, const char *b)
{
    char expected[400];
    snprintf(expected, sizeof expected, sentence, a, b);
    kinds[kind].step(&o);
    ck_assert(unmoved(gra_param_at(model, 0)) && (kind != ADAMW || o.adamw.steps == 0));
    expect_model_error(expected);
}

TESTS(forgotten, KINDS)                 /* _i: the kind */
{
    const char *name = kinds[_i].name;
    two_parameters();
    optimiser o;
    ck_assert_int_eq(kinds[_i].init(&o, model, NULL), 0);
    step_refused(_i, o, "gra_%s_step: got nan for lr, expected a learning rate: set it after gra_%s_init, "
                        "for it has no default", name, name);

    two_parameters();
    memset(&o, 0, sizeof o);
    o.sgd.model = model;                                    /* every kind begins with its model */
    set(_i, &o, "lr", 1);
    step_refused(_i, o, "gra_%s_step: got an optimiser without moments: call gra_%s_init first", name, name);

    two_parameters();
    o = made(_i, model, NULL);
    gra_param(gra_root(model), "one_more", gra_init_ones(), GRA_SHAPE(2));
    step_refused(_i, o, "gra_%s_step: got 3 parameters, expected the 2 that there were at gra_%s_init: "
                        "make all parameters before init", name, name);
}

TEST(muon_refuses)
{
    two_parameters();
    gra_muon muon;
    ck_assert_int_eq(gra_muon_init(&muon, model, everything), -1);
    expect_model_error("gra_muon_init: got b (3), expected only matrices: give it to another optimiser");
    two_parameters();
    optimiser o = made(MUON, model, gra_filter_matrices);
    o.muon.ns_steps = 0;
    step_refused(MUON, o, "gra_muon_step: got 0 for ns_steps, expected 1 or more", "", "");
}

static int  kind_of_nothing;
static void init_of_nothing(void)   { kinds[kind_of_nothing].init(NULL, model, NULL); }
static void step_of_nothing(void)   { kinds[kind_of_nothing].step(NULL); }
static void step_without_init(void) { gra_sgd_step(&(gra_sgd){ 0 }); }

TEST(test_no_optimiser)                 /* there is no model to keep the sentence */
{
    char sentence[120];
    for (int i = 0; i < 2 * KINDS; i++) {
        kind_of_nothing = i / 2;
        snprintf(sentence, sizeof sentence, "gra_%s_%s: got NULL for the optimiser, expected the address of "
                 "its struct", kinds[i / 2].name, i % 2 ? "step" : "init");
        expect_abort(i % 2 ? step_of_nothing : init_of_nothing, sentence);
    }
    expect_abort(step_without_init,
                 "gra_sgd_step: got an optimiser without a model: call gra_sgd_init first");
}

TEST(test_one_optimiser_of_a_kind_for_each_parameter)
{
    two_parameters();
    optimiser first = made(ADAMW, model, NULL);
    adamw_step(&first);
    optimiser other = made(SGD, model, NULL);           /* of another kind, with separate moments */
    optimiser second = made(ADAMW, model, NULL), copy = second;         /* one after the other works */
    adamw_step(&second);
    adamw_step(&copy);
    sgd_step(&other);
    ck_assert_ptr_null(gra_model_error(model));
    adamw_step(&first);                                 /* both at once do not */
    expect_model_error("gra_adamw_step: got w, whose moments a later gra_adamw_init has taken, expected "
                       "each parameter in one such optimiser only: divide them by `filter`");
}

/* ---- clipping ---- */

TESTS(test_clip, 2)
{
    char name[GOLDEN_WORD];
    g = open_golden(_i ? "clip_not" : "clip");
    for (int i = 0; i < g->tensors; i++) {
        const golden_tensor *grad = &g->tensor[i];
        const char *dot = strstr(grad->name, ".grad");
        if (!dot)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(dot - grad->name), grad->name);
        gra_tensor *p = parameter(model, name, grad->shape);
        for (size_t j = 0; j < grad->size; j++)
            p->grad[j] = (real)grad->values[j];
    }
    gra_tensor *frozen = parameter(model, "frozen", GRA_SHAPE(2));  /* neither counts nor is scaled */
    gra_freeze(frozen, true);

    const golden_tensor *norm = golden_get(g, "expect", "norm");
    double got = gra_clip_grad_norm(model, golden_get(g, "input", "max_norm")->values[0]);
    ck_assert_msg(fabs(got - norm->values[0]) <= norm->tol, "the norm is %.17g, but PyTorch has %.17g", got,
                  norm->values[0]);
    ck_assert_int_eq(gra_param_count(model), 4);
    for (int i = 0; i < 3; i++) {
        const gra_tensor *p = gra_param_at(model, i);
        snprintf(name, sizeof name, "%s.clipped", p->name);
        agree(p->grad, golden_get(g, "expect", name));
        ck_assert(unmoved(p));
    }
    golden_close(g);
}

TEST(test_clip_nothing)
{
    gra_tensor *w = parameter(model, "w", GRA_SHAPE(2));
    ck_assert(fabs(gra_clip_grad_norm(model, 0) - sqrt(5.0)) < 1e-15);
    ck_assert(w->grad[0] == 1 && w->grad[1] == 2);
    w->grad[1] = (real)NAN;
    ck_assert(isnan(gra_clip_grad_norm(model, 1)));
    ck_assert(isnan(w->grad[0]) && isnan(w->grad[1]));
}

/* ---- schedules ---- */

TEST(test_schedules)
{
    g = open_golden("schedule");
    const golden_tensor *step = golden_get(g, "input", "step");
    static const struct {
        const char *name;
        long warmup, hold, steps;               /* hold -1: the cosine schedule */
        double lr;
    } curve[] = {
        { "cosine_10_100",     10, -1, 100, 4e-3 },
        { "cosine_0_100",       0, -1, 100, 4e-3 },
        { "cosine_100_50",    100, -1,  50, 4e-3 },
        { "cosine_100_100",   100, -1, 100, 4e-3 },
        { "linear_10_30_100",  10, 30, 100, 0.02 },
        { "linear_0_0_100",     0,  0, 100, 0.02 },
        { "linear_55_30_100",  55, 30, 100, 0.02 },
        { "linear_100_30_100", 100, 30, 100, 0.02 },
    };
    for (int c = 0; c < LENGTH(curve); c++) {
        const golden_tensor *want = golden_get(g, "expect", curve[c].name);
        for (size_t i = 0; i < want->size; i++) {
            long s = (long)step->values[i];
            long warmup = curve[c].warmup, hold = curve[c].hold, steps = curve[c].steps;
            double lr = hold < 0 ? gra_warmup_cosine(s, warmup, steps, curve[c].lr, 4e-4)
                                 : gra_warmup_linear(s, warmup, hold, steps, curve[c].lr, 4e-4);
            ck_assert_msg(fabs(lr - want->values[i]) <= want->tol, "%s at step %ld is %.17g, expected %.17g",
                          want->name, s, lr, want->values[i]);
        }
    }
    golden_close(g);
}

/* ---- every optimiser has its test ---- */

TEST(every_optimiser_is_written)
{
    expect_written("core/optim", "core/gradus.h", "tests/optim/test_optim.c");
}

static bool is_compared(const char *name)       /* with a formula, or with a file of numbers */
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; strcmp(kinds[kind].name, name) == 0 && i < LENGTH(runs); i++)
            if (kinds[kind].formula || runs[i].kind == kind)
                return true;
    return false;
}

TEST(every_optimiser_is_compared)
{
    static char text[1 << 17];
    int optimisers = 0;
    for (listed_file l = { 0 }; next_file(&l, "core/optim", ".c");) {
        char step[300];
        read_text(l.path, text, sizeof text);
        snprintf(step, sizeof step, "\nvoid gra_%s_step(", l.name);
        if (!strstr(text, step))
            continue;
        ck_assert_msg(is_compared(l.name), "%s has gra_%s_step, which is compared with nothing: "
                      "tests/optim/test_optim.c wants it among its kinds, with a formula or with PyTorch's "
                      "numbers, of which tests/golden/make_optim.py makes a trajectory('%s', ...)", l.path,
                      l.name, l.name);
        optimisers++;
    }
    ck_assert_int_ge(optimisers, KINDS);
}

/* ---- threads ---- */

/* Parameters of all sizes (chunks begin and end within them), and matrices that are wide, tall, square, small
 * enough for one thread each, and large enough for all threads together. */
static const int shapes[][2] = { { 1, 1 }, { 300, 210 }, { 7, 0 }, { 40, 130 }, { 130, 40 }, { 64, 64 },
                                 { 3001, 0 }, { 4100, 260 }, { 5, 0 }, { 70, 330 }, { 830, 1300 } };

static gra_model *many_parameters(gra_tape *tape)
{
    gra_model *m = gra_model_open(tape, NULL);
    for (int i = 0; i < LENGTH(shapes); i++)
        ck_assert_ptr_nonnull(gra_param(gra_enter(gra_root(m), "%d", i), "p", gra_init_ones(),
                                        (gra_shape){ shapes[i][1] ? 2 : 1, { shapes[i][0], shapes[i][1] } }));
    gra_freeze(gra_param_at(m, 3), true);
    return m;
}

static void fill_grads(gra_model *m, size_t step)
{
    for (int i = 0; i < LENGTH(shapes); i++) {
        gra_tensor *p = gra_param_at(m, i);
        for (size_t j = 0; p->grad && j < p->size; j++)
            p->grad[j] = ((real)((j * j * 37 + j * 11 + step * 101) % 251) - 125) / 7;  /* sums round */
    }
}

/* Two steps of all optimisers; returns the parameters and their gradients. */
static real *moved(gra_model *m, double norm[2])
{
    optimiser o[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        o[kind] = made(kind, m, kind == SGD ? gra_filter_vectors : NULL);
        set(kind, &o[kind], "lr", kind == MUON ? 0.1 : 1e-2);
        set(kind, &o[kind], "weight_decay", 0.1);
    }
    o[SGD].sgd.momentum = 0.9;
    real *all = calloc(2 * gra_param_values(m), sizeof *all), *end = all;
    for (size_t step = 0; step < 2; step++) {
        gra_zero_grad(m);
        ck_assert(gra_clip_grad_norm(m, 0) == 0);
        fill_grads(m, step);
        norm[step] = gra_clip_grad_norm(m, 1);
        for (int kind = 0; kind < KINDS; kind++)
            kinds[kind].step(&o[kind]);
    }
    for (int i = 0; i < LENGTH(shapes); i++) {
        const gra_tensor *p = gra_param_at(m, i);
        end = (real *)memcpy(end, p->data, p->size * sizeof *end) + p->size;
        if (p->grad)
            end = (real *)memcpy(end, p->grad, p->size * sizeof *end) + p->size;
        ck_assert_int_eq(unmoved(p), i == 3);
    }
    return all;
}

CASE(threads, open_all, close_all, "long")

TEST(threads_change_no_bit)
{
    real *want = NULL;
    double norm[2], norms[2];
    for (int threads = 1; threads <= 4; threads++) {
        gra_tape *tape = gra_open(threads);
        gra_model *m = many_parameters(tape);
        real *got = moved(m, want ? norms : norm);
        if (want) {
            ck_assert_msg(memcmp(want, got, 2 * gra_param_values(m) * sizeof *want) == 0,
                          "%d threads: other bits", threads);
            ck_assert_msg(memcmp(norm, norms, sizeof norm) == 0, "%d threads: another norm", threads);
            free(got);
        } else
            want = got;
        gra_model_close(m);
        gra_close(tape);
    }
    free(want);
}

/* Models keep the machine of a closed tape, and still work; and they may be closed before the tape. */
TEST(models_and_tapes_end_in_any_order)
{
    gra_tape *tape = gra_open(3);
    gra_model *m[3];
    real *want = NULL;
    for (int i = 0; i < 3; i++) {
        m[i] = many_parameters(tape);
        ck_assert_ptr_eq(gra_model_machine(m[i]), gra_tape_machine(tape));
    }
    for (int i = 0; i < 3; i++) {                       /* before the tape is closed, and twice after */
        real *got = moved(m[i], (double[2]){ 0 });
        want = want ? want : got;
        ck_assert(memcmp(want, got, gra_param_values(m[i]) * sizeof *want) == 0);
        if (got != want)
            free(got);
        gra_model_close(m[i]);
        if (i == 0)
            gra_close(tape);
    }
    free(want);
    ck_assert_ptr_null(gra_model_open(NULL, NULL));
}
