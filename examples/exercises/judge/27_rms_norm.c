/* 27 rms_norm: the judge. */
#include "answer.h"

/* The dimensions before the last are left out if their size is 1. */
static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    const int *n = ((const struct judge_call *)arg)->size;
    const struct rms_norm l = { in[1] };
    const gra_shape shape = n[1] > 1 ? GRA_SHAPE(n[0], n[1], n[2])
                          : n[0] > 1 ? GRA_SHAPE(n[0], n[2]) : GRA_SHAPE(n[2]);
    gra_tensor *x = n[1] > 1 ? in[0] : gra_reshape(t, in[0], shape), *y = rms_norm_forward(t, &l, x);
    judge_tensor(t, "y", y, shape);
    return n[1] > 1 ? y : gra_reshape(t, y, in[0]->shape);
}

static const struct judge_answer answer = {
    .sizes = { "b batch", "r rows", "i dim", "j dim" }, .telling = { 3, 4, 5, 5 }, .f = f,
    .without = "rms_norm", .in = { "x[b,r,i]", "weight[i]" }, .out = { "y[b,r,i]" }, .lines =
        "eps = 1e-6\n"
        "square[b,r] = mean(i, x[b,r,i]^2)                   # the mean of squares\n"
        "root[b,r] = sqrt(square[b,r] + eps)                 # the root\n"
        "y[b,r,i] = x[b,r,i] / root[b,r] * weight[i]\n", .special = {
        { "the mean is subtracted: that is layer norm, not RMSNorm",
          "square[b,r] = mean(i, x[b,r,i]^2) - mean(i, x[b,r,i])^2\n"
          "y[b,r,i] = (x[b,r,i] - mean(j, x[b,r,j])) / root[b,r] * weight[i]" },
        { "the mean is over the first dimension: take it over the last, -1",
          "y[b,r,i] = x[b,r,i] / sqrt(mean(b, x[b,r,i]^2) + eps) * weight[i]" },
        { "x is divided by the mean of |x|: divide it by the root of the mean of x^2",
          "root[b,r] = mean(i, abs(x[b,r,i]))" } } };

static void init(void)
{
    judge_part("init makes the weight, for dim = 5");
    struct rms_norm l = { NULL };
    gra_tape *t;
    gra_model *m = judge_open(&t, GRA_GRAD, 27);
    rms_norm_init(&l, gra_enter(gra_root(m), "norm1"), 5);
    judge_params(m, 1, &(struct judge_param){ "norm1.weight", GRA_SHAPE(5), l.weight });
    if (!l.weight)
        judge_wrong("l->weight is still NULL: store there what gra_param returns");
    judge_clue("the weights of a norm are 1 at first, by gra_init_ones()");
    judge_numbers("weight", GRA_SHAPE(5), l.weight->data, (const double[]){ 1, 1, 1, 1, 1 }, 0);
    judge_close(t, m);
}

void judge_exercise(void)
{
    static const double small[] = { 1e-3, -2e-3, 5e-4, 0, 0, 0 };
    init();
    CASES(&answer,
        CASE("x of three dimensions", { 2, 3, 5, 5 }), CASE("five rows of three", { 5, 1, 3, 3 }),
        CASE("as many rows as columns", { 4, 1, 4, 4 }), CASE("x of one dimension", { 1, 1, 4, 4 }),
        CASE("rows of one number", { 3, 1, 1, 1 }),
        CASE("numbers of 1e-3, and zeros", { 2, 1, 3, 3 }, .in = { small }));
    judge_end(&answer);
}
