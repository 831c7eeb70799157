/* Buffers in a user's layer, batch norm, and the draws of torch.multinomial, compared with PyTorch 1.13. */
#include "lib/aborts.h"
#include "lib/fixture.h"
#include "lib/suites.h"

CASE(buffer, open_all, close_all, "")

struct batch_norm { gra_tensor *weight, *bias, *mean, *var; };

static void batch_norm_init(struct batch_norm *l, gra_scope s, int dim)
{
    l->weight = gra_param(s, "weight", gra_init_ones(), GRA_SHAPE(dim));
    l->bias = gra_param(s, "bias", gra_init_zeros(), GRA_SHAPE(dim));
    l->mean = gra_buffer(s, "running_mean", gra_init_zeros(), GRA_SHAPE(dim));
    l->var = gra_buffer(s, "running_var", gra_init_ones(), GRA_SHAPE(dim));
}

static gra_tensor *batch_norm_forward(gra_tape *tape, const struct batch_norm *l, gra_tensor *x)
{
    gra_tensor *mean = l->mean, *var = l->var;
    if (gra_tape_mode(tape) == GRA_TRAIN) {
        const gra_real n = (gra_real)gra_dim(x, 0);
        mean = gra_mean_dim(tape, x, 0, false);
        var = gra_var_dim(tape, x, 0, 0, false);
        for (size_t i = 0; i < mean->size; i++) {
            l->mean->data[i] += (gra_real)0.1 * (mean->data[i] - l->mean->data[i]);
            l->var->data[i] += (gra_real)0.1 * (var->data[i] * n / (n - 1) - l->var->data[i]);
        }
    }
    x = gra_div(tape, gra_sub(tape, x, mean), gra_sqrt(tape, gra_add_scalar(tape, var, 1e-5)));
    return gra_add(tape, gra_mul(tape, x, l->weight), l->bias);
}

static const real x_values[] = { 1, 2, -1, 0.5, 3, 4 };         /* (3, 2) */

static void expect_near(const gra_tensor *x, const double *expected)
{
    for (size_t i = 0; i < x->size; i++)
        ck_assert_msg(fabs((double)x->data[i] - expected[i]) < (sizeof(real) == 4 ? 4e-6 : 1e-6),
                      "%zu: got %.9g, expected %.9g", i,
                      (double)x->data[i], expected[i]);
}

TEST(batch_norm_as_in_pytorch)
{
    struct batch_norm l;
    batch_norm_init(&l, gra_enter(gra_root(model), "bn"), 2);
    ck_assert_int_eq(gra_param_count(model), 2);
    ck_assert_uint_eq(gra_param_values(model), 4);
    gra_freeze(l.var, false);
    ck_assert(!l.var->requires_grad && !l.var->grad);
    for (int i = 0; i < 2; i++) {
        gra_begin(t, GRA_TRAIN, &rng);
        gra_tensor *y = batch_norm_forward(t, &l, gra_constant(t, x_values, GRA_SHAPE(3, 2)));
        expect_near(y, (double[]){ 0, -0.116247416, -1.224742532, -1.162473679, 1.224742532, 1.278720856 });
    }
    expect_near(l.mean, (double[]){ 0.19, 0.411666691 });
    expect_near(l.var, (double[]){ 1.57, 1.395833135 });
    gra_begin(t, GRA_EVAL, NULL);
    gra_tensor *y = batch_norm_forward(t, &l, gra_constant(t, x_values, GRA_SHAPE(3, 2)));
    expect_near(y, (double[]){ 0.646448374, 1.344383955, -0.949720383, 0.0747663, 2.24261713, 3.0372074 });
}

TEST(buffers_are_saved_and_loaded)
{
    struct batch_norm l, same;
    static const char path[] = GRADUS_BUILD "/bn.safetensors";
    batch_norm_init(&l, gra_enter(gra_root(model), "bn"), 2);
    l.var->data[1] = 7;
    ck_assert_int_eq(gra_save(model, path, NULL, 0), 0);
    another_model();
    batch_norm_init(&same, gra_enter(gra_root(model), "bn"), 2);
    ck_assert_int_eq(gra_load(model, path), 0);
    ck_assert(same.var->data[0] == 1 && same.var->data[1] == 7);
    gra_param(gra_root(model), "bn.running_var", gra_init_zeros(), GRA_SHAPE(2));
    expect_model_part("the name bn.running_var a second time");
}

#ifdef GRADUS_DOUBLE
static gra_tensor *apply(gra_tape *tape, gra_tensor **in, void *arg)
{
    return batch_norm_forward(tape, arg, in[0]);
}

TEST(batch_norm_is_checked)
{
    struct batch_norm l;
    gra_check_report r;
    const gra_check_in in = { "x", GRA_SHAPE(5, 2), 0, 0, NULL };
    batch_norm_init(&l, gra_enter(gra_root(model), "bn"), 2);
    const gra_check_options o = { .nin = 1, .in = &in, .f = apply, .arg = &l, .model = model, .rng = &rng };
    ck_assert_msg(gra_check(t, &o, &r) == 0, "%s", r.text);
    expect_near(l.mean, (double[]){ 0, 0 });
    expect_near(l.var, (double[]){ 1, 1 });
}
#endif

TEST(constants_of_a_step)
{
    real drawn[4];
    gra_rng same = rng;
    gra_begin(t, GRA_EVAL, NULL);
    const gra_tensor *n = gra_constant_randn(t, &rng, GRA_SHAPE(2, 2));
    const gra_tensor *u = gra_constant_rand(t, &rng, GRA_SHAPE(4));
    gra_randn(&same, drawn, 4);
    ck_assert_mem_eq(n->data, drawn, sizeof drawn);
    gra_rand(&same, drawn, 4);
    ck_assert_mem_eq(u->data, drawn, sizeof drawn);
    const gra_tensor *c = gra_param(gra_root(model), "c", gra_init_constant(2.5), GRA_SHAPE(2));
    ck_assert(c->data[0] == (real)2.5 && c->data[1] == (real)2.5);
    static gra_rng unseeded;
    gra_constant_rand(t, NULL, GRA_SHAPE(1));
    expect_error("gra_constant_rand: got no generator, expected one: pass &rng");
    gra_begin(t, GRA_EVAL, NULL);
    gra_constant_randn(t, &unseeded, GRA_SHAPE(1));
    expect_error("gra_constant_randn: got a generator that was never seeded, expected a seeded one: "
                 "call gra_manual_seed(&rng, 123) first");
}

TEST(multinomial_as_in_pytorch)         /* torch.multinomial(p, 1, replacement), seed 2147483647 */
{
    static const int drawn[2][2][24] = {
        { { 4, 2, 4, 4, 0, 4, 2, 2, 4, 4, 4, 4, 4, 4, 2, 3, 3, 0, 0, 0, 2, 2, 2, 4 },
          { 26, 24, 21, 22, 25, 26, 20, 9, 26, 24, 18, 18, 25, 26, 10, 16, 23, 26, 20, 26, 10, 25, 14, 18 } },
        { { 4, 4, 4, 0, 0, 4, 4, 0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 4, 0, 4, 4, 4 },
          { 20, 23, 10, 16, 24, 10, 14, 11, 2, 21, 19, 20, 26, 18, 23, 26, 10, 24, 21, 17, 5, 23, 10, 12 } }
    };
    const real p[5] = { (real)0.1, 0, 0.25, (real)0.05, (real)0.6 };
    real w[27];
    for (int i = 0; i < 27; i++)
        w[i] = (real)(i + 1);
    for (int replacement = 0; replacement < 2; replacement++) {
        gra_rng g;
        gra_manual_seed(&g, 2147483647);
        for (int i = 0; i < 48; i++)
            ck_assert_int_eq(gra_multinomial(&g, i < 24 ? p : w, i < 24 ? 5 : 27, replacement),
                             drawn[replacement][i / 24][i % 24]);
    }
}

static void draw_of_nothing(void) { gra_multinomial(&rng, (const real[]){ 0, 0 }, 2, true); }
static void draw_too_large(void)
{
    gra_multinomial(&rng, (const real[]){ (real)3e38, (real)3e38, 0 }, 3, true);
}
static void draw_below_0(void)    { gra_multinomial(&rng, (const real[]){ 2, -1 }, 2, false); }

TEST(multinomial_of_no_weights)
{
    expect_abort(draw_of_nothing, "gra_multinomial: got 2 weights whose sum is 0 and whose least is 0, "
                 "expected weights of 0 or more with a finite sum above 0");
    expect_abort(draw_too_large, "gra_multinomial: got 3 weights whose sum is inf and whose least is 0, "
                 "expected weights of 0 or more with a finite sum above 0");
    expect_abort(draw_below_0, "gra_multinomial: got 2 weights whose sum is 1 and whose least is -1, "
                 "expected weights of 0 or more with a finite sum above 0");
}
