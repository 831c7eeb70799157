/* Values that gra_checkpoint and gra_forget do not keep but compute again: the same bits, less memory,
 * refusals. */
#include "core/tape/tape.h"
#include "layers/gpt.h"
#include "lib/fixture.h"
#include "lib/suites.h"

#include <stdlib.h>
#include <string.h>

CASE(checkpoint, open_all, close_all, "")

/* ---- a GPT's blocks ---- */

static const gra_gpt_config config = { .vocab_size = 11, .context_length = 8, .emb_dim = 32, .n_heads = 2,
                                       .n_layers = 4, .drop_rate = 0.2, .bias = true };
static struct gra_gpt gpt;
enum { SEQUENCES = 1600 };

static gra_tensor *loss_of(bool recompute)
{
    int ids[SEQUENCES * 8];             /* large enough for gra_forget to free a block's results */
    for (int i = 0; i < SEQUENCES * 8; i++)
        ids[i] = i * i % 11;
    gpt.config.recompute = recompute;
    return gra_cross_entropy(t, gra_gpt_forward(t, &gpt, ids, SEQUENCES, 8), ids);
}

/* Two steps whose gradients add up. Returns the gradients in a row, then the losses and the generator's next
 * draw. *memory: the bytes that the second step allocated, except headers and `all`'s kept gradients. */
static size_t run_gpt(bool recompute, bool all, real **values, size_t *memory)
{
    another_model();
    gra_manual_seed(&rng, 3);
    gra_gpt_init(&gpt, gra_root(model), &config);
    const size_t size = gra_param_values(model), bytes = (size + 3) * sizeof(real);
    real *x = *values = malloc(bytes);
    gra_keep_grads(t, all);
    for (int i = 0; i < 2; i++) {
        gra_begin(t, GRA_TRAIN, &rng);
        gra_tensor *loss = loss_of(recompute);
        *memory = gra_arena_used(&t->arena);
        ck_assert_int_eq(gra_backward(t, loss), 0);
        ck_assert_uint_eq(gra_arena_used(&t->inner), 0);
        x[size + (size_t)i] = loss->data[0];
    }
    gra_keep_grads(t, false);
    for (int i = 0; i < gra_param_count(model); x += gra_param_at(model, i++)->size)
        memcpy(x, gra_param_at(model, i)->grad, gra_param_at(model, i)->size * sizeof *x);
    gra_rand(&rng, x + 2, 1);
    return bytes;
}

TEST(a_gpt_has_the_same_bits)
{
    real *kept, *forgotten, *again, *both;
    size_t keeping, forgetting, recomputing, used;
    const size_t bytes = run_gpt(false, true, &kept, &keeping);
    run_gpt(false, false, &forgotten, &forgetting);
    run_gpt(true, false, &again, &recomputing);
    run_gpt(true, true, &both, &used);
    ck_assert_msg(memcmp(kept, forgotten, bytes) == 0, "gra_forget");
    ck_assert_msg(memcmp(kept, again, bytes) == 0, "gra_checkpoint");
    ck_assert_msg(memcmp(kept, both, bytes) == 0, "gra_checkpoint, all gradients kept");
    ck_assert_msg(4 * forgetting < 3 * keeping, "%zu of %zu bytes", forgetting, keeping);
    ck_assert_msg(2 * recomputing < forgetting, "%zu of %zu bytes", recomputing, forgetting);
    free(kept), free(forgotten), free(again), free(both);
}

TEST(a_tape_with_checkpoints_is_shown)
{
    char *text = NULL;
    size_t size, memory;
    real *values;
    run_gpt(true, false, &values, &memory);
    free(values);
    gra_trace_nan(t, true);
    gra_begin(t, GRA_TRAIN, &rng);
    ck_assert_int_eq(gra_backward(t, loss_of(true)), 0);
    FILE *f = open_memstream(&text, &size);
    gra_fprint_tape(f, t);
    fclose(f);
    ck_assert(strstr(text, "checkpoint") && !strstr(text, "attention"));
    free(text);
    gpt.trf_blocks[1].norm2.bias->data[3] = (real)NAN;
    gra_begin(t, GRA_TRAIN, &rng);
    loss_of(true);
    expect_part("layer_norm: the parameter trf_blocks.1.norm2.shift contains nan at (3)");
    gra_trace_nan(t, false);
}

/* ---- any function ---- */

struct tensors { gra_tensor *p, *outside; bool plain; };

static gra_tensor *inner(gra_tape *tape, void *arg, gra_tensor *x)
{
    const struct tensors *of = arg;
    return gra_dropout(tape, gra_tanh(tape, gra_mul(tape, x, gra_add(tape, of->p, of->outside))), 0.3);
}

static gra_tensor *itself(gra_tape *tape, void *arg, gra_tensor *x)  { return (void)tape, (void)arg, x; }

static gra_tensor *call(gra_tape *tape, gra_checkpoint_fn *f, void *arg, gra_tensor *x)
{
    return ((struct tensors *)arg)->plain ? f(tape, arg, x) : gra_checkpoint(tape, f, arg, x);
}

/* A checkpoint in a checkpoint; one of them returns a view, and one returns its input. */
static gra_tensor *outer(gra_tape *tape, void *arg, gra_tensor *x)
{
    gra_tensor *y = call(tape, inner, arg, gra_sin(tape, x));
    y = gra_add(tape, gra_dropout(tape, y, 0.2), call(tape, itself, arg, x));
    return gra_reshape(tape, gra_mul(tape, y, call(tape, inner, arg, y)), GRA_SHAPE(3, 2));
}

/* x is used before, in and after the checkpoint, which is called twice. */
static gra_tensor *whole(gra_tape *tape, gra_tensor **in, void *arg)
{
    struct tensors *of = gra_alloc(tape, sizeof *of);   /* in this call: a check makes two calls */
    *of = *(struct tensors *)arg;
    of->outside = gra_exp(tape, in[1]);
    gra_tensor *x = gra_cos(tape, in[0]), *y = call(tape, outer, of, x);
    y = gra_add(tape, gra_reshape(tape, y, GRA_SHAPE(2, 3)), call(tape, inner, of, x));
    return gra_mul(tape, gra_mul(tape, y, of->outside), gra_reshape(tape, call(tape, outer, of, y),
                                                                    GRA_SHAPE(2, 3)));
}

TEST(any_function_has_the_same_bits)
{
    static const real values[12] = { 1, -2, 3, 0.5, 0.25, -1, 2, 1.5, -0.5, 0.75, -0.125, 0.375 };
    real got[2][18];
    struct tensors of = { .p = gra_param(gra_root(model), "p", gra_init_uniform(-1, 1), GRA_SHAPE(2, 3)) };
    for (int i = 0; i < 2; i++) {
        of.plain = i == 0;
        gra_manual_seed(&rng, 4);
        gra_zero_grad(model);
        gra_begin(t, GRA_TRAIN, &rng);
        gra_tensor *in[2];
        for (int j = 0; j < 2; j++)
            in[j] = gra_input(t, values + 6 * j, GRA_SHAPE(2, 3));
        ck_assert_int_eq(gra_backward(t, gra_sum(t, whole(t, in, &of))), 0);
        memcpy(got[i], gra_grad(in[0]), 6 * sizeof(real));
        memcpy(got[i] + 6, gra_grad(in[1]), 6 * sizeof(real));
        memcpy(got[i] + 12, of.p->grad, 6 * sizeof(real));
    }
    ck_assert(memcmp(got[0], got[1], sizeof *got) == 0 && got[0][12] != 0);
}

#ifdef GRADUS_DOUBLE
TEST(gradients_with_dropout)
{
    static const gra_check_in in[] = { { .name = "x", .shape = { 2, { 2, 3 } } },
                                       { .name = "z", .shape = { 2, { 2, 3 } } } };
    struct tensors of = { .p = gra_param(gra_root(model), "p", gra_init_uniform(-1, 1), GRA_SHAPE(2, 3)) };
    static gra_check_report report;
    gra_check(t, &(gra_check_options){ .nin = 2, .in = in, .f = whole, .arg = &of, .model = model,
              .rng = &rng }, &report);
    ck_assert_msg(report.error < 1e-6 && report.elements == 18, "%s", report.text);
}
#endif

/* ---- what is refused ---- */

static int          calls;
static gra_tensor  *escaped;

static gra_tensor *changing(gra_tape *tape, void *arg, gra_tensor *x)
{
    (void)arg;
    escaped = gra_exp(tape, x);
    return calls++ ? gra_sum(tape, escaped) : gra_neg(tape, escaped);
}

static gra_tensor *nothing(gra_tape *tape, void *arg, gra_tensor *x)
{
    (void)tape, (void)arg, (void)x;
    return NULL;
}

static gra_tensor *times(gra_tape *tape, void *p, gra_tensor *x)    { return gra_mul(tape, p, x); }

static gra_tensor *tanh_of_sum(gra_tape *tape, void *p, gra_tensor *x)
{
    return gra_tanh(tape, gra_add(tape, x, p));         /* add's backward reads no values, but tanh's does */
}

static gra_tensor *with_leaf(gra_tape *tape, void *arg, gra_tensor *x)
{
    (void)arg;
    escaped = gra_full(tape, 2, x->shape);
    return gra_mul(tape, x, escaped);
}

TEST(what_is_refused)
{
    gra_tensor *p = gra_param(gra_root(model), "p", gra_init_ones(), GRA_SHAPE(2));
    gra_adamw opt;
    gra_adamw_init(&opt, model, NULL);
    opt.lr = 1;
    gra_begin(t, GRA_GRAD, NULL);
    gra_checkpoint(t, NULL, NULL, p);
    expect_error("gra_checkpoint: got NULL for f, expected a function");
    gra_begin(t, GRA_GRAD, NULL);
    gra_checkpoint(t, nothing, NULL, p);
    expect_part("gra_checkpoint: f's result: got NULL");
    gra_begin(t, GRA_GRAD, NULL);
    gra_checkpoint(t, changing, NULL, p);
    gra_sum(t, escaped);
    expect_part("sum: got a tensor of another step or tape");
    gra_begin(t, GRA_GRAD, NULL);
    gra_checkpoint(t, with_leaf, NULL, p);
    gra_sum(t, escaped);
    expect_part("sum: got a tensor of another step or tape");
    for (int i = 0; i < 4; i++) {
        gra_begin(t, GRA_GRAD, NULL);
        calls = 0;
        gra_tensor *ones = gra_ones(t, p->shape), *sum = gra_add(t, ones, p);
        gra_tensor *y = i == 0 ? gra_checkpoint(t, times, p, ones)
                      : i == 1 ? gra_checkpoint(t, changing, NULL, gra_tanh(t, p))
                      : i == 2 ? gra_checkpoint(t, tanh_of_sum, p, ones) : gra_sin(t, sum);
        gra_tensor *loss = gra_sum(t, y);
        gra_forget(sum);
        if (i != 1)
            gra_adamw_step(&opt);
        ck_assert_int_eq(gra_backward(t, loss), -1);
        expect_part(i == 1 ? "gra_checkpoint: got () from f in the backward, expected (2), as in the forward"
                      : "gra_backward: got the parameter \"p\" (2), which an optimiser's step has changed");
        ck_assert(t->last == loss);
    }
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *old = gra_exp(t, gra_input(t, (real[2]){ 1, 2 }, GRA_SHAPE(2)));
    gra_begin(t, GRA_GRAD, NULL);
    gra_forget(old);
    expect_part("gra_forget: got a tensor of");
    gra_begin(t, GRA_EVAL, NULL);
    calls = 1;
    ck_assert(gra_checkpoint(t, changing, NULL, p)->shape.ndim == 0 && gra_node_count(t) == 0);
}

TEST(forgotten_values)
{
    const real x[2] = { 1, 2 };
    gra_tensor *y[3];
    for (int i = 0; i < 3; i++) {
        gra_begin(t, GRA_GRAD, NULL);
        gra_tensor *in = gra_input(t, x, GRA_SHAPE(2));
        y[0] = gra_exp(t, in);
        y[1] = gra_tanh(t, y[0]);                       /* mul's backward reads it, as both inputs */
        y[2] = gra_mul(t, y[1], y[1]);
        gra_tensor *seen = gra_tanh(t, in), *view = gra_reshape(t, seen, GRA_SHAPE(2, 1));
        gra_forget(y[0]);
        gra_forget(y[1]);
        gra_forget(in);
        gra_forget(seen);
        ck_assert(!y[0]->data && !y[1]->data && in->data && seen->data == view->data);
        ck_assert_int_eq(gra_backward(t, gra_sum(t, y[2])), 0);
        for (int j = 0; j < 2; j++) {
            const double e = exp((double)x[j]), th = tanh(e);
            ck_assert_double_eq_tol((double)gra_grad(in)[j], 2 * th * (1 - th * th) * e, 1e-6);
        }
        if (i == 0)
            gra_neg(t, y[0]);
        else if (i == 1)
            gra_print(y[0]);
        else
            gra_item(y[1]);
        expect_part("got a result of");
        expect_part("whose values were freed, expected one that has them: call gra_keep_grads(t, true)");
    }
}
