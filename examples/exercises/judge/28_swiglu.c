/* 28 swiglu: the judge. */
#include "answer.h"
#include <math.h>

static double silu_(const double *z) { return z[0] / (1 + exp(-z[0])); }
static double relu_(const double *z) { return fmax(z[0], 0); }
static double gelu_(const double *z) { return z[0] * 0.5 * (1 + erf(z[0] / sqrt(2))); }

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    const int *n = ((const struct judge_call *)arg)->size;
    const struct swiglu l = { { in[1], NULL }, { in[2], NULL }, { in[3], NULL } };
    const gra_shape shape = GRA_SHAPE(n[1], n[2]);      /* of one text */
    if (n[0] > 1)
        return swiglu_forward(t, &l, in[0]);
    gra_tensor *y = swiglu_forward(t, &l, gra_reshape(t, in[0], shape));
    judge_tensor(t, "y", y, shape);
    return gra_reshape(t, y, in[0]->shape);
}

static const struct judge_answer answer = {
    .sizes = { "b batch", "r rows", "i dim", "h hidden" }, .telling = { 2, 3, 5, 4 }, .f = f,
    .functions = (const struct judge_function[]){ { "silu", 1, silu_ }, { "relu", 1, relu_ },
                                                  { "gelu", 1, gelu_ }, { NULL, 0, NULL } },
    .in = { "x[b,r,i]", "W_gate[h,i]", "W_up[h,i]", "W_down[i,h]" }, .out = { "y[b,r,i]" }, .lines =
        "gate[b,r,h] = sum(i, W_gate[h,i] * x[b,r,i])        # the gate\n"
        "up[b,r,h] = sum(i, W_up[h,i] * x[b,r,i])            # up\n"
        "product[b,r,h] = silu(gate[b,r,h]) * up[b,r,h]      # the product\n"
        "y[b,r,i] = sum(h, W_down[i,h] * product[b,r,h])\n", .special = {
        { "gate and up are exchanged: apply silu to the gate",
          "product[b,r,h] = silu(up[b,r,h]) * gate[b,r,h]" },
        { "silu is applied to gate and up: apply it only to the gate",
          "product[b,r,h] = silu(gate[b,r,h]) * silu(up[b,r,h])" } } };

static void init(void)
{
    /* the numbers of PyTorch 1.13 */
    static const double first[3] = { 0.14724482595920563, -0.265575647354126, 0.4128328859806061 };
    struct swiglu l = { { NULL, NULL }, { NULL, NULL }, { NULL, NULL } };
    gra_tape *t;
    gra_model *m = judge_open(&t, GRA_TRAIN, 28);
    judge_part("init makes three weights, for dim = 3 and hidden = 5");
    swiglu_init(&l, gra_enter(gra_root(m), "ffn"), 3, 5);
    judge_params(m, 3, (const struct judge_param[]){
        { "ffn.gate_proj.weight", GRA_SHAPE(5, 3), l.gate.weight },
        { "ffn.up_proj.weight", GRA_SHAPE(5, 3), l.up.weight },
        { "ffn.down_proj.weight", GRA_SHAPE(3, 5), l.down.weight } });
    for (int i = 0; i < 3; i++) {
        judge_clue("PyTorch has the expected number with this seed: make the Linears with gra_linear_init");
        judge_numbers(gra_param_at(m, i)->name, GRA_SHAPE(1), gra_param_at(m, i)->data, first + i, 1e-8);
    }
    judge_close(t, m);
}

void judge_exercise(void)
{
    init();
    CASES(&answer,
        CASE("x of three dimensions", { 3, 2, 5, 4 }), CASE("two rows", { 1, 2, 4, 6 }),
        CASE("hidden as large as dim, x of one row", { 1, 1, 3, 3 }));
    judge_end(&answer);
}
