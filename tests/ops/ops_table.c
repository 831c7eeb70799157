/* The table of all ops, at the end of this file, with one or more rows for each, after the functions that the
 * rows call. Every row is checked as ops_table.h describes.
 *
 *     UNARY(sum)          defines do_sum, which calls gra_sum(t, in[0]), and do_sum_again
 *     FORMULA(exp, exp(x))    the same for an elementwise op, with its formula in C's double, with which its
 *                         values are compared
 *     BINARY(hypot, hypot(a, b))      the same for two operands, and do_hypot_self and do_hypot_view, whose
 *                         operands are one tensor
 *     F(name, y)          defines only the function of that name: y, of t and the inputs in[0] ...
 *     AGAIN(name, n)      defines name_again, which uses the n inputs once more: their gradients are not zero
 *                         when the op's backward runs, so that `=` instead of `+=` is detected
 *
 *     ROW(name, op, function, n, input, ...)     a row: its name in messages, the .name of the gra_op that it
 *                         checks, the function, and its n inputs
 *     TRAIN(...)          a row that runs in training mode, where something is dropped
 *     FLAT(...)           a row with a gradient that is 0 throughout
 *     UNARY_ROWS(sum, X)  the two rows of do_sum and do_sum_again, with these inputs; FORMULA_ROWS,
 *                         BINARY_ROWS, OVER_ROWS and ALONG_ROWS do the same for the functions that FORMULA,
 *                         BINARY, OVER and ALONG define
 *
 *     X(3, 17)            an input named "x" in reports, of that shape, with values from -2 to 2
 *     W(17), B(17)        the second and the third, "w" and "b"
 *     MASK(3, 17)         the fourth, "mask"
 *     X0, W0              scalars: they have no dimensions
 *     WIDE(17)            an "x" from -6 to 6, where a function becomes flat
 *     POSITIVE(17)        an "x" from 0.5 to 3, for logarithms and roots
 *     DIVISOR(17)         a "w" from -3 to -0.5, which is not 0
 *     PROBABILITY("x", 17)    values from 0.05 to 0.95
 *
 * Begin with the plainest row of an op: if several fail, only the first shows its report. Sizes are odd on
 * purpose (1, 3, 17), so that no loop over whole vectors fits them; a few exceed the blocks in which an op
 * works. */
#include "ops_table.h"

#define F(name, ...)                                                                                     \
    static gra_tensor *name(gra_tape *t, gra_tensor **in, void *arg)                                     \
    {                                                                                                    \
        (void)arg;                                                                                       \
        return __VA_ARGS__;                                                                              \
    }

/* y and the n inputs, all of them in a row. The sweep reaches this use of the inputs first. */
static gra_tensor *again(gra_tape *t, gra_tensor *y, int n, gra_tensor **in)
{
    gra_tensor *flat[5] = { gra_reshape(t, y, GRA_SHAPE(-1)) };
    for (int i = 0; i < n; i++)
        flat[i + 1] = gra_reshape(t, in[i], GRA_SHAPE(-1));
    return gra_concat(t, n + 1, flat, 0);
}

#define AGAIN(f, n) F(f##_again, again(t, f(t, in, NULL), n, in))

static gra_tensor *view(gra_tape *t, gra_tensor *x, gra_shape shape)
{
    return gra_reshape(t, x, shape);
}

/* ---- element by element ---- */

#define BINARY(op, y)                                                                                    \
    F(do_##op, gra_##op(t, in[0], in[1]))                                                                \
    AGAIN(do_##op, 2)                                                                                    \
    F(do_##op##_self, gra_##op(t, in[0], in[0]))                                                         \
    F(do_##op##_view, gra_##op(t, view(t, in[0], GRA_SHAPE(3, 1, 17)), view(t, in[0], GRA_SHAPE(1, 3, 17)))) \
    static double op##_of(double a, double b) { return y; }

BINARY(add, a + b)
BINARY(sub, a - b)
BINARY(mul, a * b)
BINARY(div, a / b)

#define UNARY(op) F(do_##op, gra_##op(t, in[0])) AGAIN(do_##op, 1)

#define FORMULA(op, y)                                                                                   \
    UNARY(op)                                                                                            \
    static double op##_of(double x, double b) { (void)b; return y; }

FORMULA(neg,       -x)
FORMULA(exp,       exp(x))
FORMULA(log,       log(x))
FORMULA(sqrt,      sqrt(x))
FORMULA(sin,       sin(x))
FORMULA(cos,       cos(x))
FORMULA(tanh,      tanh(x))
FORMULA(sigmoid,   1 / (1 + exp(-x)))
FORMULA(relu,      x > 0 ? x : 0)
FORMULA(gelu,      x * erfc(-x * 0.7071067811865476) / 2)
FORMULA(gelu_tanh, x / 2 * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))))
FORMULA(silu,      x / (1 + exp(-x)))
FORMULA(abs,       fabs(x))

F(do_clamp, gra_clamp(t, in[0], -1.25, 0.75))
AGAIN(do_clamp, 1)
F(do_add_scalar, gra_add_scalar(t, in[0], -1.5))
AGAIN(do_add_scalar, 1)
F(do_where, gra_where(t, gra_gt(t, in[0], in[1]), in[0], in[1]))
AGAIN(do_where, 2)
static double where_of(double a, double b) { return a > b ? a : b; }
F(where_self, gra_where(t, gra_lt(t, in[0], gra_full(t, 0, GRA_SCALAR)), in[0], in[0]))
F(where_rows, gra_where(t, gra_constant(t, (const real[]){ 1, 0, 1 }, GRA_SHAPE(3, 1)), in[0], in[1]))

F(do_scale, gra_scale(t, in[0], -2.5))
AGAIN(do_scale, 1)
F(scale_by_nothing, gra_scale(t, in[0], 0))

F(square, gra_pow(t, in[0], 2))
AGAIN(square, 1)
F(cube, gra_pow(t, in[0], 3))
F(to_the_first, gra_pow(t, in[0], 1))
F(to_the_zeroth, gra_pow(t, in[0], 0))
F(to_the_half, gra_pow(t, in[0], 0.5))
F(to_a_negative, gra_pow(t, in[0], -1.5))

F(do_dropout, gra_dropout(t, in[0], 0.5))
AGAIN(do_dropout, 1)
F(dropout_a_little, gra_dropout(t, in[0], 0.1))
F(dropout_twice, gra_dropout(t, gra_dropout(t, in[0], 0.25), 0.25))

static gra_tensor *mask(gra_tape *t, gra_shape shape)
{
    /* 17, or the first ones */
    static const real some[] = { 0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0 };
    return gra_constant(t, some, shape);
}

F(do_masked_fill, gra_masked_fill(t, in[0], mask(t, GRA_SHAPE(17)), -3))
AGAIN(do_masked_fill, 1)
F(masked_rows, gra_masked_fill(t, in[0], mask(t, GRA_SHAPE(3, 1)), 0.5))
F(masked_by_one, gra_masked_fill(t, in[0], mask(t, GRA_SCALAR), 7))
F(masked_weights, gra_softmax(t, gra_masked_fill(t, in[0], mask(t, GRA_SHAPE(17)), -(double)INFINITY), -1))

/* A gradient cannot be checked at -inf, but at the softmax of it. */
F(causal_weights, gra_softmax(t, gra_causal_mask(t, in[0]), -1))
AGAIN(causal_weights, 1)

/* ---- products ---- */

#define PRODUCT(op)                                                                                      \
    F(do_##op, gra_##op(t, in[0], in[1]))                                                                \
    AGAIN(do_##op, 2)                                                                                    \
    F(do_##op##_self, gra_##op(t, in[0], in[0]))

PRODUCT(matmul)
PRODUCT(matmul_nt)
PRODUCT(matmul_tn)

F(do_linear, gra_linear(t, in[0], in[1], in[2]))
AGAIN(do_linear, 3)
F(linear_without_bias, gra_linear(t, in[0], in[1], NULL))
F(linear_self, gra_linear(t, in[0], in[0], NULL))

/* ---- over dimensions ---- */

UNARY(sum)
UNARY(mean)
UNARY(max)
UNARY(min)
F(do_var, gra_var(t, in[0], 1))
AGAIN(do_var, 1)
F(var_1, gra_var_dim(t, in[0], 1, 0, true))
F(var_last, gra_var_dim(t, in[0], -1, 1, false))

#define OVER(op)                                                                                         \
    F(op##_0, gra_##op##_dim(t, in[0], 0, false))                                                        \
    F(op##_1, gra_##op##_dim(t, in[0], 1, false))                                                        \
    F(op##_1_kept, gra_##op##_dim(t, in[0], 1, true))                                                    \
    F(op##_last, gra_##op##_dim(t, in[0], -1, false))                                                    \
    F(op##_last_kept, gra_##op##_dim(t, in[0], -1, true))                                                \
    AGAIN(op##_1, 1)

OVER(sum)
OVER(mean)
OVER(max)
OVER(min)

#define ALONG(op)                                                                                        \
    F(op##_0, gra_##op(t, in[0], 0))                                                                     \
    F(op##_1, gra_##op(t, in[0], 1))                                                                     \
    F(op##_last, gra_##op(t, in[0], -1))                                                                 \
    AGAIN(op##_1, 1)                                                                                     \
    AGAIN(op##_last, 1)

ALONG(softmax)
ALONG(log_softmax)

#define EPS 1e-5
F(do_layer_norm, gra_layer_norm(t, in[0], in[1], in[2], EPS))
AGAIN(do_layer_norm, 3)
F(layer_norm_bare, gra_layer_norm(t, in[0], NULL, NULL, EPS))
F(layer_norm_weight, gra_layer_norm(t, in[0], in[1], NULL, EPS))
F(layer_norm_bias, gra_layer_norm(t, in[0], NULL, in[1], EPS))
F(layer_norm_self, gra_layer_norm(t, in[0], in[0], in[0], EPS))

F(do_rms_norm, gra_rms_norm(t, in[0], in[1], EPS))
AGAIN(do_rms_norm, 2)
F(rms_norm_bare, gra_rms_norm(t, in[0], NULL, EPS))
F(rms_norm_of_one, gra_rms_norm(t, in[0], in[1], 0.5))     /* with a tiny eps, y would be w or -w */
F(rms_norm_self, gra_rms_norm(t, in[0], in[0], EPS))

/* ---- shape ---- */

/* A view's gradient is that of its base: squaring the view shows whether it arrives. */
F(reshaped, gra_mul(t, view(t, in[0], GRA_SHAPE(17, 3)), view(t, in[0], GRA_SHAPE(17, -1))))
F(reshaped_twice, gra_exp(t, view(t, view(t, in[0], GRA_SHAPE(-1)), GRA_SHAPE(3, 1, 17))))
F(reshaped_to_one, gra_exp(t, view(t, in[0], GRA_SCALAR)))
F(reshaped_result, gra_exp(t, view(t, gra_neg(t, in[0]), GRA_SHAPE(17, 3))))
F(reshaped_returned, view(t, gra_exp(t, in[0]), GRA_SHAPE(17, 3)))

F(squeezed, gra_mul(t, gra_squeeze(t, in[0], 1), gra_squeeze(t, in[0], -2)))
F(squeezed_twice, gra_exp(t, gra_squeeze(t, gra_squeeze(t, gra_neg(t, in[0]), 0), -1)))
F(squeezed_returned, gra_squeeze(t, gra_exp(t, in[0]), 0))

F(unsqueezed, gra_mul(t, gra_unsqueeze(t, in[0], 0), gra_unsqueeze(t, in[0], -1)))
F(unsqueezed_twice, gra_exp(t, gra_unsqueeze(t, gra_unsqueeze(t, gra_neg(t, in[0]), 1), -1)))
F(unsqueezed_returned, gra_unsqueeze(t, gra_exp(t, in[0]), 0))

F(expanded, gra_expand(t, in[0], GRA_SHAPE(2, 3, 17)))
AGAIN(expanded, 1)
F(expanded_kept, gra_expand(t, in[0], GRA_SHAPE(2, -1, -1, 4)))

F(transposed, gra_transpose(t, in[0], 0, 1))
AGAIN(transposed, 1)
F(transposed_last, gra_transpose(t, in[0], -2, -1))
F(transposed_first, gra_transpose(t, in[0], 0, 1))
F(transposed_ends, gra_transpose(t, in[0], 0, -1))
F(transposed_same, gra_transpose(t, in[0], 1, 1))
F(permuted_heads, gra_permute(t, in[0], (const int[]){ 0, 2, 1, 3 }))
F(permuted_round, gra_permute(t, in[0], (const int[]){ 1, 2, 3, 0 }))
F(permuted_back, gra_permute(t, in[0], (const int[]){ -1, 0, 1, 2 }))
F(permuted_nothing, gra_permute(t, in[0], NULL))

F(concat_first, gra_concat(t, 3, in, 0))
F(concat_last, gra_concat(t, 3, in, -1))
F(concat_middle, gra_concat(t, 2, in, 1))
F(concat_one, gra_concat(t, 1, in, 0))
F(concat_self, gra_concat(t, 3, (gra_tensor *[]){ in[0], in[0], view(t, in[0], GRA_SHAPE(3, 17)) }, 1))
AGAIN(concat_middle, 2)

F(stack_first, gra_stack(t, 2, in, 0))
F(stack_middle, gra_stack(t, 2, in, 1))
F(stack_last, gra_stack(t, 3, (gra_tensor *[]){ in[0], in[1], in[0] }, -1))

F(slice_first, gra_slice(t, in[0], 0, 1, 3))
F(slice_middle, gra_slice(t, in[0], 1, -3, -1))
F(slice_last, gra_slice(t, in[0], -1, 5, 17))
F(slice_all, gra_slice(t, in[0], 0, 0, 3))
F(slice_overlapping, gra_mul(t, gra_slice(t, in[0], -1, 0, 10), gra_slice(t, in[0], -1, 7, 17)))
AGAIN(slice_middle, 1)

/* ---- for language models ---- */

static const int ids[] = { 2, 0, 4, 4, 1, 2 };          /* 3 is absent, 2 and 4 occur twice */

F(do_embedding, gra_embedding(t, in[0], ids, GRA_SHAPE(6)))
AGAIN(do_embedding, 1)
F(embedding_of_matrix, gra_embedding(t, in[0], ids, GRA_SHAPE(2, 3)))
F(embedding_of_one, gra_embedding(t, in[0], ids, GRA_SCALAR))

static const int target[] = { 2, 0, 4, 4, 1, 2 };
static const int some_target[] = { 1, GRA_IGNORE_INDEX, 0, GRA_IGNORE_INDEX, 4, 3 };
static const int far_target[] = { 299, 17 }, first_target[6] = { 0 };

F(do_cross_entropy, gra_cross_entropy(t, in[0], target))
AGAIN(do_cross_entropy, 1)
F(cross_entropy_some, gra_cross_entropy(t, in[0], some_target))
F(cross_entropy_wide, gra_cross_entropy(t, in[0], far_target))
F(cross_entropy_narrow, gra_cross_entropy(t, in[0], first_target))

F(cross_entropy_rows, gra_cross_entropy_unreduced(t, in[0], target))
AGAIN(cross_entropy_rows, 1)
F(cross_entropy_some_rows, gra_cross_entropy_unreduced(t, in[0], some_target))
F(cross_entropy_wide_rows, gra_cross_entropy_unreduced(t, in[0], far_target))

F(do_mse_loss, gra_mse_loss(t, in[0], in[1]))
AGAIN(do_mse_loss, 2)
F(do_bce, gra_binary_cross_entropy(t, in[0], in[1]))
AGAIN(do_bce, 2)
F(do_bce_logits, gra_binary_cross_entropy_with_logits(t, in[0], in[1]))
AGAIN(do_bce_logits, 2)
F(mse_loss_view, gra_mse_loss(t, gra_scale(t, in[0], 2), view(t, in[0], GRA_SHAPE(3, 17))))

static gra_tensor *hidden(gra_tape *t)          /* the second of three queries sees no key */
{
    const real no = -(real)INFINITY;
    return gra_constant(t, (const real[]){ 0, no, 0, no, no, no, no, 0, 0 }, GRA_SHAPE(3, 3));
}

#define HOW(...) &(gra_attention_options){ __VA_ARGS__ }
#define ATTENTION(name, ...)                                                                             \
    F(name, gra_attention(t, in[0], in[1], in[2], HOW(__VA_ARGS__)))                                     \
    AGAIN(name, 3)                                                                                       \
    F(name##_self, gra_attention(t, in[0], in[0], in[0], HOW(__VA_ARGS__)))

ATTENTION(attend, .heads = 1)
ATTENTION(attend_heads, .heads = 3)
ATTENTION(attend_back, .heads = 1, .causal = true)
ATTENTION(attend_back_heads, .heads = 3, .causal = true)
F(attend_groups, gra_attention(t, in[0], in[1], in[2], HOW(.heads = 4, .causal = true)))
AGAIN(attend_groups, 3)
ATTENTION(attend_dropped, .heads = 1, .dropout = 0.3)
F(attend_groups_dropped, gra_attention(t, in[0], in[1], in[2], HOW(.heads = 4, .dropout = 0.3)))
ATTENTION(attend_back_dropped, .heads = 3, .causal = true, .dropout = 0.3)
F(attend_masked, gra_attention(t, in[0], in[1], in[2], HOW(.heads = 3, .mask = in[3])))
AGAIN(attend_masked, 4)
F(attend_back_masked, gra_attention(t, in[0], in[1], in[2], HOW(.heads = 4, .causal = true, .mask = in[3])))
F(attend_masked_by_itself, gra_attention(t, in[0], in[0], in[0], HOW(.heads = 1, .mask = in[0])))
F(attend_hidden, gra_attention(t, in[0], in[1], in[2], HOW(.heads = 1, .mask = hidden(t))))
F(attend_masked_dropped,
  gra_attention(t, in[0], in[1], in[2], HOW(.heads = 2, .mask = in[3], .dropout = 0.3)))

/* ---- the table ---- */

#define COUNT(...) (int)(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int))
#define OF(...)    .shape = { COUNT(__VA_ARGS__), { __VA_ARGS__ } }
#define X(...)        { .name = "x", OF(__VA_ARGS__) }
#define W(...)        { .name = "w", OF(__VA_ARGS__) }
#define B(...)        { .name = "b", OF(__VA_ARGS__) }
#define MASK(...)     { .name = "mask", OF(__VA_ARGS__) }
#define X0            { .name = "x" }                           /* scalars have no dimensions */
#define W0            { .name = "w" }
#define WIDE(...)     { .name = "x", OF(__VA_ARGS__), .low = -6, .high = 6 }
#define POSITIVE(...) { .name = "x", OF(__VA_ARGS__), .low = 0.5, .high = 3 }
#define PROBABILITY(name_, ...) { .name = name_, OF(__VA_ARGS__), .low = 0.05, .high = 0.95 }
#define DIVISOR(...)  { .name = "w", OF(__VA_ARGS__), .low = -3, .high = -0.5 }

#define ROW(name, op, f, nin, ...)   { name, op, GRA_GRAD, nin, { __VA_ARGS__ }, f, 1e-6, false, NULL }
#define FLAT(name, op, f, nin, ...)  { name, op, GRA_GRAD, nin, { __VA_ARGS__ }, f, 1e-6, true, NULL }
#define TRAIN(name, op, f, nin, ...) { name, op, GRA_TRAIN, nin, { __VA_ARGS__ }, f, 1e-6, false, NULL }

#define UNARY_ROWS(op, IN)                                                                               \
    ROW(#op, #op, do_##op, 1, IN(3, 17)),                                                                \
    ROW(#op ", again", #op, do_##op##_again, 1, IN(17))
#define COMPARED(name, op, nin, ...)                                                                     \
    { name, #op, GRA_GRAD, nin, { __VA_ARGS__ }, do_##op, 1e-6, false, op##_of }
#define FORMULA_ROWS(op, IN)                                                                             \
    COMPARED(#op, op, 1, IN(3, 17)),                                                                     \
    ROW(#op ", again", #op, do_##op##_again, 1, IN(17))
#define BINARY_ROWS(op, IN)                                                                              \
    COMPARED(#op, op, 2, X(3, 17), IN(3, 17)),                                                           \
    COMPARED(#op ": a vector to rows", op, 2, X(2, 3, 17), IN(17)),                                      \
    COMPARED(#op ": rows and columns", op, 2, X(3, 1), IN(1, 17)),                                       \
    COMPARED(#op ": stretched in the middle", op, 2, X(3, 1, 5), IN(3, 4, 1)),                           \
    ROW(#op ", again", #op, do_##op##_again, 2, X(3, 17), IN(3, 1))
#define OVER_ROWS(f, op)                                                                                 \
    ROW(#f "_dim: first", op, f##_0, 1, X(3, 2, 17)),                                                    \
    ROW(#f "_dim: middle", op, f##_1, 1, X(2, 3, 17)),                                                   \
    ROW(#f "_dim: middle, again", op, f##_1_again, 1, X(2, 3, 5)),                                       \
    ROW(#f "_dim: middle, kept", op, f##_1_kept, 1, X(2, 3, 5)),                                         \
    ROW(#f "_dim: last", op, f##_last, 1, X(2, 3, 17)),                                                  \
    ROW(#f "_dim: last, kept", op, f##_last_kept, 1, X(3, 17))
#define ALONG_ROWS(op)                                                                                   \
    ROW(#op ": first", #op, op##_0, 1, X(17, 3)),                                                        \
    ROW(#op ": middle", #op, op##_1, 1, X(2, 5, 3)),                                                     \
    ROW(#op ": middle, again", #op, op##_1_again, 1, X(2, 5, 3)),                                        \
    ROW(#op ": last", #op, op##_last, 1, X(2, 3, 17)),                                                   \
    ROW(#op ": last, again", #op, op##_last_again, 1, X(3, 17)),                                         \
    ROW(#op ": of a vector", #op, op##_0, 1, X(37))

const struct op_case op_cases[] = {
    BINARY_ROWS(add, W),
    ROW("add: a smaller first", "add", do_add, 2, X(17), W(3, 17)),
    ROW("add: numbers", "add", do_add, 2, X0, W0),
    ROW("add: a number", "add", do_add, 2, X(3, 17), W0),
    ROW("add: x twice", "add", do_add_self, 1, X(3, 17)),
    ROW("add: two views of x", "add", do_add_view, 1, X(3, 17)),

    BINARY_ROWS(sub, W),
    ROW("sub: a number", "sub", do_sub, 2, X0, W(3, 17)),
    FLAT("sub: x from itself", "sub", do_sub_self, 1, X(17)),
    ROW("sub: two views of x", "sub", do_sub_view, 1, X(3, 17)),

    BINARY_ROWS(mul, W),
    ROW("mul: by a number", "mul", do_mul, 2, X(3, 17), W0),
    ROW("mul: x twice", "mul", do_mul_self, 1, X(3, 17)),
    ROW("mul: two views of x", "mul", do_mul_view, 1, X(3, 17)),

    BINARY_ROWS(div, DIVISOR),
    ROW("div: a number", "div", do_div, 2, X0, DIVISOR(3, 17)),
    FLAT("div: x by itself", "div", do_div_self, 1, POSITIVE(17)),
    ROW("div: two views of x", "div", do_div_view, 1, POSITIVE(3, 17)),

    FORMULA_ROWS(neg, X),
    UNARY_ROWS(scale, X),
    FLAT("scale: by 0", "scale", scale_by_nothing, 1, X(3)),
    ROW("pow: x^2", "pow", square, 1, X(3, 17)),
    ROW("pow: x^2, again", "pow", square_again, 1, X(17)),
    ROW("pow: x^3", "pow", cube, 1, X(17)),
    ROW("pow: x^1", "pow", to_the_first, 1, X(17)),
    FLAT("pow: x^0", "pow", to_the_zeroth, 1, X(3)),
    ROW("pow: x^0.5", "pow", to_the_half, 1, POSITIVE(17)),
    ROW("pow: x^-1.5", "pow", to_a_negative, 1, POSITIVE(17)),
    FORMULA_ROWS(exp, X),
    ROW("exp: a number", "exp", do_exp, 1, X0),
    FORMULA_ROWS(log, POSITIVE),
    FORMULA_ROWS(sqrt, POSITIVE),
    FORMULA_ROWS(sin, WIDE),
    FORMULA_ROWS(cos, WIDE),
    FORMULA_ROWS(tanh, X),
    FORMULA_ROWS(sigmoid, WIDE),
    FORMULA_ROWS(relu, X),
    FORMULA_ROWS(gelu, WIDE),
    FORMULA_ROWS(gelu_tanh, WIDE),
    FORMULA_ROWS(silu, WIDE),

    FORMULA_ROWS(abs, X),
    UNARY_ROWS(clamp, X),
    UNARY_ROWS(add_scalar, X),
    BINARY_ROWS(where, W),
    ROW("where: by rows", "where", where_rows, 2, X(3, 17), W(17)),
    ROW("where: x or x", "where", where_self, 1, X(17)),

    TRAIN("dropout", "dropout", do_dropout, 1, X(3, 17)),
    TRAIN("dropout, again", "dropout", do_dropout_again, 1, X(3, 17)),
    TRAIN("dropout: 1 in 10", "dropout", dropout_a_little, 1, X(7, 17)),
    TRAIN("dropout: of a dropout", "dropout", dropout_twice, 1, X(3, 17)),
    TRAIN("dropout: a number", "dropout", dropout_a_little, 1, X0),

    UNARY_ROWS(masked_fill, X),
    ROW("masked_fill: rows", "masked_fill", masked_rows, 1, X(2, 3, 5)),
    ROW("masked_fill: a number as mask", "masked_fill", masked_by_one, 1, X(3)),
    ROW("masked_fill: -inf, softmax", "masked_fill", masked_weights, 1, X(3, 17)),
    ROW("causal_mask", "causal_mask", causal_weights, 1, X(2, 5, 5)),
    ROW("causal_mask, again", "causal_mask", causal_weights_again, 1, X(5, 5)),
    ROW("causal_mask: more keys", "causal_mask", causal_weights, 1, X(3, 7)),
    ROW("causal_mask: fewer keys", "causal_mask", causal_weights, 1, X(2, 7, 3)),
    FLAT("causal_mask: one score", "causal_mask", causal_weights, 1, X(1, 1)),

    ROW("matmul", "matmul", do_matmul, 2, X(3, 17), W(17, 5)),
    ROW("matmul, again", "matmul", do_matmul_again, 2, X(3, 5), W(5, 2)),
    ROW("matmul: beyond one tile", "matmul", do_matmul, 2, X(17, 9), W(9, 37)),
    ROW("matmul: one value", "matmul", do_matmul, 2, X(1, 1), W(1, 1)),
    ROW("matmul: column by row", "matmul", do_matmul, 2, X(3, 1), W(1, 17)),
    ROW("matmul: row by column", "matmul", do_matmul, 2, X(1, 17), W(17, 1)),
    ROW("matmul: a batch", "matmul", do_matmul, 2, X(3, 2, 5), W(3, 5, 4)),
    ROW("matmul: a batch by one", "matmul", do_matmul, 2, X(3, 2, 5), W(5, 4)),
    ROW("matmul: one by a batch", "matmul", do_matmul, 2, X(2, 5), W(3, 5, 4)),
    ROW("matmul: stretched batches", "matmul", do_matmul, 2, X(2, 1, 3, 4), W(5, 4, 2)),
    ROW("matmul: x by itself", "matmul", do_matmul_self, 1, X(3, 3)),
    ROW("matmul_nt", "matmul", do_matmul_nt, 2, X(3, 17), W(5, 17)),
    ROW("matmul_nt, again", "matmul", do_matmul_nt_again, 2, X(3, 5), W(2, 5)),
    ROW("matmul_nt: stretched batches", "matmul", do_matmul_nt, 2, X(2, 1, 3, 4), W(5, 2, 4)),
    ROW("matmul_nt: x by itself", "matmul", do_matmul_nt_self, 1, X(3, 5)),
    ROW("matmul_tn", "matmul", do_matmul_tn, 2, X(17, 3), W(17, 5)),
    ROW("matmul_tn, again", "matmul", do_matmul_tn_again, 2, X(5, 3), W(5, 2)),
    ROW("matmul_tn: stretched batches", "matmul", do_matmul_tn, 2, X(2, 1, 4, 3), W(5, 4, 2)),
    ROW("matmul_tn: x by itself", "matmul", do_matmul_tn_self, 1, X(5, 3)),

    ROW("linear", "linear", do_linear, 3, X(3, 17), W(5, 17), B(5)),
    ROW("linear, again", "linear", do_linear_again, 3, X(3, 5), W(2, 5), B(2)),
    ROW("linear: a vector", "linear", do_linear, 3, X(17), W(3, 17), B(3)),
    ROW("linear: a batch", "linear", do_linear, 3, X(2, 3, 5), W(7, 5), B(7)),
    ROW("linear: one value", "linear", do_linear, 3, X(1, 1), W(1, 1), B(1)),
    ROW("linear: no bias", "linear", linear_without_bias, 2, X(2, 3, 5), W(4, 5)),
    ROW("linear: x by itself", "linear", linear_self, 1, X(3, 5)),

    UNARY_ROWS(sum, X),
    ROW("sum: a number", "sum", do_sum, 1, X0),
    OVER_ROWS(sum, "sum"),
    ROW("sum_dim: of a vector", "sum", sum_0, 1, X(17)),
    ROW("sum_dim: of size 1", "sum", sum_1, 1, X(3, 1, 5)),
    ROW("mean", "sum", do_mean, 1, X(3, 17)),
    ROW("mean, again", "sum", do_mean_again, 1, X(17)),
    OVER_ROWS(mean, "sum"),
    ROW("max", "max", do_max, 1, X(3, 17)),
    ROW("max, again", "max", do_max_again, 1, X(37)),
    ROW("max: a number", "max", do_max, 1, X0),
    OVER_ROWS(max, "max"),

    ROW("min", "min", do_min, 1, X(3, 17)),
    ROW("min, again", "min", do_min_again, 1, X(37)),
    OVER_ROWS(min, "min"),
    UNARY_ROWS(var, X),
    ROW("var_dim: middle, kept", "var", var_1, 1, X(2, 3, 17)),
    ROW("var_dim: last", "var", var_last, 1, X(2, 3, 17)),

    ALONG_ROWS(softmax),
    FLAT("softmax: of one", "softmax", softmax_last, 1, X(3, 1)),
    ALONG_ROWS(log_softmax),

    ROW("layer_norm", "layer_norm", do_layer_norm, 3, X(3, 17), W(17), B(17)),
    ROW("layer_norm, again", "layer_norm", do_layer_norm_again, 3, X(2, 3, 5), W(5), B(5)),
    ROW("layer_norm: long rows", "layer_norm", do_layer_norm, 3, X(2, 131), W(131), B(131)),
    FLAT("layer_norm: rows of one", "layer_norm", do_layer_norm, 3, X(3, 1), W(1), B(1)),
    ROW("layer_norm: no weight, no bias", "layer_norm", layer_norm_bare, 1, X(3, 17)),
    ROW("layer_norm: no bias", "layer_norm", layer_norm_weight, 2, X(3, 5), W(5)),
    ROW("layer_norm: no weight", "layer_norm", layer_norm_bias, 2, X(3, 5), B(5)),
    ROW("layer_norm: x by itself", "layer_norm", layer_norm_self, 1, X(17)),
    ROW("rms_norm", "rms_norm", do_rms_norm, 2, X(3, 17), W(17)),
    ROW("rms_norm, again", "rms_norm", do_rms_norm_again, 2, X(2, 3, 5), W(5)),
    ROW("rms_norm: long rows", "rms_norm", do_rms_norm, 2, X(2, 131), W(131)),
    ROW("rms_norm: rows of one", "rms_norm", rms_norm_of_one, 2, X(3, 1), W(1)),
    ROW("rms_norm: no weight", "rms_norm", rms_norm_bare, 1, X(3, 17)),
    ROW("rms_norm: x by itself", "rms_norm", rms_norm_self, 1, X(17)),

    ROW("reshape: two views of x", "reshape", reshaped, 1, X(3, 17)),
    ROW("reshape: a view of a view", "reshape", reshaped_twice, 1, X(3, 17)),
    ROW("reshape: to a number", "reshape", reshaped_to_one, 1, X(1, 1)),
    ROW("reshape: a result", "reshape", reshaped_result, 1, X(3, 17)),
    ROW("reshape: what is returned", "reshape", reshaped_returned, 1, X(3, 17)),
    ROW("squeeze: two views of x", "squeeze", squeezed, 1, X(3, 1, 17)),
    ROW("squeeze: no size of 1", "squeeze", squeezed, 1, X(3, 5)),
    ROW("squeeze: a view of a view", "squeeze", squeezed_twice, 1, X(1, 3, 1)),
    ROW("squeeze: to a number", "squeeze", squeezed_returned, 1, X(1)),
    ROW("squeeze: what is returned", "squeeze", squeezed_returned, 1, X(1, 17)),
    ROW("unsqueeze: an outer product", "unsqueeze", unsqueezed, 1, X(17)),
    ROW("unsqueeze: a number", "unsqueeze", unsqueezed, 1, X0),
    ROW("unsqueeze: a view of a view", "unsqueeze", unsqueezed_twice, 1, X(3, 17)),
    ROW("unsqueeze: what is returned", "unsqueeze", unsqueezed_returned, 1, X(3, 17)),
    ROW("expand: a column", "expand", expanded, 1, X(3, 1)),
    ROW("expand: a column, again", "expand", expanded_again, 1, X(3, 1)),
    ROW("expand: in the middle", "expand", expanded, 1, X(2, 1, 17)),
    ROW("expand: first and last", "expand", expanded, 1, X(1, 3, 1)),
    ROW("expand: a vector to rows", "expand", expanded, 1, X(17)),
    ROW("expand: a number", "expand", expanded, 1, X0),
    ROW("expand: nothing", "expand", expanded, 1, X(2, 3, 17)),
    ROW("expand: sizes kept", "expand", expanded_kept, 1, X(3, 1, 1)),
    ROW("transpose", "permute", transposed, 1, X(3, 17)),
    ROW("transpose, again", "permute", transposed_again, 1, X(3, 5)),
    ROW("transpose: beyond a group", "permute", transposed, 1, X(19, 37)),
    ROW("transpose: last two", "permute", transposed_last, 1, X(2, 3, 17)),
    ROW("transpose: first two", "permute", transposed_first, 1, X(2, 3, 17)),
    ROW("transpose: first and last", "permute", transposed_ends, 1, X(2, 3, 17)),
    ROW("transpose: nothing", "permute", transposed_same, 1, X(3, 17)),
    ROW("permute: heads", "permute", permuted_heads, 1, X(2, 3, 4, 5)),
    ROW("permute: first to last", "permute", permuted_round, 1, X(2, 3, 4, 5)),
    ROW("permute: last to first", "permute", permuted_back, 1, X(2, 3, 4, 5)),
    ROW("permute: a number", "permute", permuted_nothing, 1, X0),
    ROW("concat: first", "concat", concat_first, 3, X(3, 5), W(1, 5), B(2, 5)),
    ROW("concat: last", "concat", concat_last, 3, X(3, 17), W(3, 1), B(3, 5)),
    ROW("concat: middle", "concat", concat_middle, 2, X(2, 3, 5), W(2, 1, 5)),
    ROW("concat: middle, again", "concat", concat_middle_again, 2, X(2, 1, 5), W(2, 3, 5)),
    ROW("concat: of one", "concat", concat_one, 1, X(3, 5)),
    ROW("concat: x three times", "concat", concat_self, 1, X(3, 17)),
    ROW("stack: first", "concat", stack_first, 2, X(3, 5), W(3, 5)),
    ROW("stack: middle", "concat", stack_middle, 2, X(3, 5), W(3, 5)),
    ROW("stack: last, one twice", "concat", stack_last, 2, X(3, 5), W(3, 5)),
    ROW("slice: first", "slice", slice_first, 1, X(3, 17)),
    ROW("slice: middle", "slice", slice_middle, 1, X(2, 7, 5)),
    ROW("slice: middle, again", "slice", slice_middle_again, 1, X(2, 7, 3)),
    ROW("slice: last", "slice", slice_last, 1, X(3, 17)),
    ROW("slice: all of it", "slice", slice_all, 1, X(3, 5)),
    ROW("slice: two that overlap", "slice", slice_overlapping, 1, X(3, 17)),

    ROW("embedding", "embedding", do_embedding, 1, W(5, 17)),
    ROW("embedding, again", "embedding", do_embedding_again, 1, W(5, 3)),
    ROW("embedding: a matrix of ids", "embedding", embedding_of_matrix, 1, W(5, 3)),
    ROW("embedding: one id", "embedding", embedding_of_one, 1, W(5, 3)),
    ROW("cross_entropy", "cross_entropy", do_cross_entropy, 1, X(6, 17)),
    ROW("cross_entropy, again", "cross_entropy", do_cross_entropy_again, 1, X(6, 5)),
    ROW("cross_entropy: a batch", "cross_entropy", do_cross_entropy, 1, X(2, 3, 5)),
    ROW("cross_entropy: one row", "cross_entropy", do_cross_entropy, 1, X(3)),
    ROW("cross_entropy: rows ignored", "cross_entropy", cross_entropy_some, 1, X(6, 5)),
    ROW("cross_entropy: many classes", "cross_entropy", cross_entropy_wide, 1, X(2, 300)),
    FLAT("cross_entropy: one class", "cross_entropy", cross_entropy_narrow, 1, X(3, 1)),
    ROW("cross_entropy_unreduced", "cross_entropy_unreduced", cross_entropy_rows, 1, X(6, 17)),
    ROW("cross_entropy_unreduced, again", "cross_entropy_unreduced", cross_entropy_rows_again, 1, X(6, 5)),
    ROW("cross_entropy_unreduced: a batch", "cross_entropy_unreduced", cross_entropy_rows, 1, X(2, 3, 5)),
    ROW("cross_entropy_unreduced: one row", "cross_entropy_unreduced", cross_entropy_rows, 1, X(3)),
    ROW("cross_entropy_unreduced: rows ignored", "cross_entropy_unreduced", cross_entropy_some_rows, 1,
        X(6, 5)),
    ROW("cross_entropy_unreduced: many classes", "cross_entropy_unreduced", cross_entropy_wide_rows, 1,
        X(2, 300)),
    ROW("mse_loss", "mse_loss", do_mse_loss, 2, X(3, 17), W(3, 17)),
    ROW("mse_loss, again", "mse_loss", do_mse_loss_again, 2, X(3, 5), W(3, 5)),
    ROW("mse_loss: numbers", "mse_loss", do_mse_loss, 2, X0, W0),
    ROW("mse_loss: x with itself", "mse_loss", mse_loss_view, 1, X(3, 17)),
    ROW("binary_cross_entropy", "binary_cross_entropy", do_bce, 2, PROBABILITY("x", 3, 17),
        PROBABILITY("w", 3, 17)),
    ROW("binary_cross_entropy, again", "binary_cross_entropy", do_bce_again, 2, PROBABILITY("x", 5),
        PROBABILITY("w", 5)),
    ROW("binary_cross_entropy_with_logits", "binary_cross_entropy_with_logits", do_bce_logits, 2, WIDE(3, 17),
        PROBABILITY("w", 3, 17)),
    ROW("binary_cross_entropy_with_logits, again", "binary_cross_entropy_with_logits", do_bce_logits_again, 2,
        X(5), PROBABILITY("w", 5)),

    ROW("attention", "attention", attend, 3, X(2, 3, 5), W(2, 3, 5), B(2, 3, 7)),
    ROW("attention, again", "attention", attend_again, 3, X(1, 3, 2), W(1, 5, 2), B(1, 5, 3)),
    ROW("attention: self", "attention", attend_self, 1, X(2, 3, 5)),
    FLAT("attention: one of each", "attention", attend, 3, X(1, 1, 1), W(1, 1, 1), B(1, 1, 1)),
    ROW("attention: 17 keys", "attention", attend, 3, X(1, 3, 4), W(1, 17, 4), B(1, 17, 2)),
    ROW("attention: heads", "attention", attend_heads, 3, X(2, 4, 6), W(2, 5, 6), B(2, 5, 9)),
    ROW("attention: heads, again", "attention", attend_heads_again, 3, X(1, 2, 3), W(1, 4, 3), B(1, 4, 6)),
    ROW("attention: heads, self", "attention", attend_heads_self, 1, X(2, 5, 6)),
    ROW("attention: grouped", "attention", attend_groups, 3, X(2, 5, 12), W(2, 6, 6), B(2, 6, 10)),
    ROW("attention: grouped, again", "attention", attend_groups_again, 3, X(1, 3, 8), W(1, 4, 2), B(1, 4, 3)),
    ROW("attention: one key-value head", "attention", attend_groups, 3, X(1, 3, 8), W(1, 3, 2), B(1, 3, 2)),
    ROW("attention: causal", "attention", attend_back, 3, X(2, 5, 3), W(2, 5, 3), B(2, 5, 2)),
    ROW("attention: causal, again", "attention", attend_back_again, 3, X(1, 3, 2), W(1, 3, 2), B(1, 3, 1)),
    ROW("attention: causal, self", "attention", attend_back_self, 1, X(1, 5, 3)),
    ROW("attention: causal, more keys", "attention", attend_back, 3, X(1, 3, 2), W(1, 7, 2), B(1, 7, 2)),
    ROW("attention: causal, fewer keys", "attention", attend_back, 3, X(1, 5, 2), W(1, 3, 2), B(1, 3, 2)),
    ROW("attention: causal, heads", "attention", attend_back_heads, 3, X(2, 3, 6), W(2, 5, 6), B(2, 5, 3)),
    ROW("attention: causal, heads, again", "attention", attend_back_heads_again, 3,
        X(1, 3, 6), W(1, 3, 6), B(1, 3, 3)),
    ROW("attention: causal, heads, self", "attention", attend_back_heads_self, 1, X(2, 3, 6)),
    TRAIN("attention: grouped, dropout", "attention", attend_groups_dropped, 3, X(2, 3, 8), W(2, 4, 4),
          B(2, 4, 6)),
    TRAIN("attention: dropout", "attention", attend_dropped, 3, X(2, 3, 5), W(2, 4, 5), B(2, 4, 2)),
    TRAIN("attention: dropout, again", "attention", attend_dropped_again, 3,
          X(1, 3, 2), W(1, 4, 2), B(1, 4, 2)),
    TRAIN("attention: dropout, self", "attention", attend_dropped_self, 1, X(2, 3, 5)),
    TRAIN("attention: all at once", "attention", attend_back_dropped, 3, X(2, 3, 6), W(2, 5, 6), B(2, 5, 9)),
    TRAIN("attention: all at once, again", "attention", attend_back_dropped_again, 3,
          X(1, 3, 6), W(1, 3, 6), B(1, 3, 3)),
    TRAIN("attention: all at once, self", "attention", attend_back_dropped_self, 1, X(2, 5, 6)),
    ROW("attention: a mask", "attention", attend_masked, 4, X(2, 4, 6), W(2, 5, 6), B(2, 5, 9),
        MASK(2, 3, 4, 5)),
    ROW("attention: a mask, again", "attention", attend_masked_again, 4, X(1, 2, 3), W(1, 3, 3), B(1, 3, 3),
        MASK(2, 3)),
    ROW("attention: a mask of heads", "attention", attend_masked, 4, X(2, 4, 6), W(2, 5, 6), B(2, 5, 9),
        MASK(3, 1, 5)),
    ROW("attention: a mask of sequences", "attention", attend_masked, 4, X(2, 34, 3), W(2, 3, 3), B(2, 3, 3),
        MASK(2, 1, 34, 3)),
    ROW("attention: a mask, grouped, causal", "attention", attend_back_masked, 4,
        X(2, 5, 12), W(2, 6, 6), B(2, 6, 10), MASK(5, 6)),
    ROW("attention: a mask of one query", "attention", attend_masked, 4, X(2, 1, 6), W(2, 5, 6), B(2, 5, 9),
        MASK(2, 3, 1, 5)),
    ROW("attention: its own mask", "attention", attend_masked_by_itself, 1, X(1, 3, 3)),
    ROW("attention: hidden keys", "attention", attend_hidden, 3, X(2, 3, 4), W(2, 3, 4), B(2, 3, 2)),
    TRAIN("attention: a mask, dropout", "attention", attend_masked_dropped, 4,
          X(2, 3, 8), W(2, 4, 8), B(2, 4, 6), MASK(4)),
};

const int op_cases_count = (int)(sizeof op_cases / sizeof *op_cases);
