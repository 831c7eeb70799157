/* What ops refuse: the sentence for each invalid shape, size, index and value. */
#include "lib/suites.h"
#include "lib/tensors.h"

/* Each call runs in a step of its own, in which x is (2, 3). It must set the tape's error to this sentence
 * and return the empty tensor; ops that get the empty tensor also return it, and keep the first error. */
static gra_tensor *x;

static void refusing_step(void)
{
    gra_keep_going(t, true);
    gra_begin(t, GRA_TRAIN, &rng);
    x = MATRIX(2, 3, 1, 2, 3, 4, 5, 6);
}

static void refused(const gra_tensor *y, const char *sentence)
{
    ck_assert_str_eq(or_none(gra_error(t)), sentence);
    ck_assert_int_eq(y->shape.ndim, 0);
    ck_assert(isnan(gra_item(gra_softmax(t, gra_add(t, (gra_tensor *)y, (gra_tensor *)y), 3))));
    ck_assert_str_eq(gra_error(t), sentence);
}
#define REFUSED(call, sentence) (refusing_step(), refused(call, sentence))

#define NEVER_MADE(i) ": got NULL for input " #i ", expected a tensor: a layer's parameters are made by " \
                      "its init"
#define HAS_2        " of a tensor (2, 3), expected one of its 2" FROM_0
#define FROM_0       " dimensions: count them from 0, or from the end with -1"
#define TO_BROADCAST ", expected shapes that broadcast: from the right, sizes must agree or be 1"
#define OWN_SIZES    ", expected its own sizes from the right: only a 1 may change, -1 keeps a size, a new " \
                     "dimension has no size to keep"
#define ONE_ROW      ", expected matrices: reshape a vector to one row or column"
#define ONES(...)    gra_full(t, 1, GRA_SHAPE(__VA_ARGS__))
#define OF_3         ", expected one of 3 classes (0 to 2), or -100 to skip the row"
#define OF_3_ENTRIES " in dimension 1 of a tensor (2, 3), expected a range within its 3 entries"
#define NOT_FILLED   ": the 6 values do not fill it"
#define IN_ALL       ", and at most 8 dimensions in all"
#define ONE_FOR_EACH ": one for each dimension, new dimensions first"
#define NO_ROWS      gra_slice(t, x, 0, 0, 0)

CASE(refusals, open_all, close_all, "")

TEST(refused_elements)
{
    REFUSED(gra_add(t, x, VECTOR(1, 2)), "add: got shapes (2, 3) and (2)" TO_BROADCAST);
    REFUSED(gra_sub(t, x, NULL), "sub" NEVER_MADE(1));
    REFUSED(gra_mul(t, x, MATRIX(3, 2, 1, 2, 3, 4, 5, 6)), "mul: got shapes (2, 3) and (3, 2)" TO_BROADCAST);
    REFUSED(gra_gelu(t, NULL), "gelu" NEVER_MADE(0));
    REFUSED(gra_sin(t, NULL), "sin" NEVER_MADE(0));
    REFUSED(gra_cos(t, NULL), "cos" NEVER_MADE(0));
    REFUSED(gra_where(t, VECTOR(1, 0), x, x), "where: got c (2), a (2, 3) and b (2, 3)" TO_BROADCAST);
    REFUSED(gra_where(t, x, VECTOR(1, 0), x), "where: got c (2, 3), a (2) and b (2, 3)" TO_BROADCAST);
    REFUSED(gra_where(t, x, x, NULL), "where" NEVER_MADE(2));
    REFUSED(gra_lt(t, x, VECTOR(1, 2)), "lt: got shapes (2, 3) and (2)" TO_BROADCAST);
    REFUSED(gra_clamp(t, x, 2, 1), "clamp: got low 2 and high 1, expected low <= high");
    REFUSED(gra_clamp(t, x, (double)NAN, 1), "clamp: got low nan and high 1, expected low <= high");
    REFUSED(gra_arange(t, -1),
            "gra_arange: got the shape (-1), expected sizes of 0 or more that fit in memory");
    REFUSED(gra_dropout(t, x, 1.5), "dropout: got p 1.5, expected a probability, 0 <= p <= 1");
    REFUSED(gra_dropout(t, x, (double)NAN), "dropout: got p nan, expected a probability, 0 <= p <= 1");
    REFUSED(gra_masked_fill(t, x, VECTOR(1, 2), 0),
            "masked_fill: got mask (2) for x (2, 3), expected one that broadcasts to x");
    REFUSED(gra_masked_fill(t, VECTOR(1, 2, 3), x, 0),
            "masked_fill: got mask (2, 3) for x (3), expected one that broadcasts to x");
    REFUSED(gra_masked_fill(t, MATRIX(1, 3, 1, 2, 3), x, 0),
            "masked_fill: got mask (2, 3) for x (1, 3), expected one that broadcasts to x");
    REFUSED(gra_masked_fill(t, x, NULL, 0), "masked_fill" NEVER_MADE(1));
    REFUSED(gra_causal_mask(t, VECTOR(1, 2)), "causal_mask: got x (2), expected (..., queries, keys)");
    REFUSED(gra_causal_mask(t, NULL), "causal_mask" NEVER_MADE(0));
}

TEST(refused_products)
{
    REFUSED(gra_matmul(t, x, x), "matmul: got a (2, 3) and b (2, 3): the inner sizes 3 and 2 differ");
    REFUSED(gra_matmul(t, x, VECTOR(1, 2, 3)), "matmul: got a (2, 3) and b (3)" ONE_ROW);
    REFUSED(gra_matmul(t, ONES(2, 1, 1), ONES(3, 1, 1)),
            "matmul: got a (2, 1, 1) and b (3, 1, 1): their batch dimensions do not broadcast");
    REFUSED(gra_matmul(t, VECTOR(1, 2, 3), x), "matmul: got a (3) and b (2, 3)" ONE_ROW);
    REFUSED(gra_matmul_nt(t, x, MATRIX(1, 2, 1, 2)),
            "matmul: got a (2, 3) and b (1, 2) transposed: the inner sizes 3 and 2 differ");
    REFUSED(gra_matmul_tn(t, x, MATRIX(3, 1, 1, 2, 3)),
            "matmul: got a (2, 3) transposed and b (3, 1): the inner sizes 2 and 3 differ");
    REFUSED(gra_linear(t, x, MATRIX(1, 2, 1, 2), NULL),
            "linear: got x (2, 3) for weight (1, 2), expected (..., 2)");
    REFUSED(gra_linear(t, x, VECTOR(1, 2, 3), NULL), "linear: got weight (3), expected (out, in)");
    REFUSED(gra_linear(t, x, x, VECTOR(1, 2, 3)), "linear: got bias (3) for weight (2, 3), expected (2)");
    REFUSED(gra_linear(t, gra_sum(t, x), x, NULL), "linear: got x () for weight (2, 3), expected (..., 3)");
    REFUSED(gra_linear(t, x, x, x), "linear: got bias (2, 3) for weight (2, 3), expected (2)");
}

TEST(refused_dimensions)
{
    REFUSED(gra_sum_dim(t, x, 2, false), "sum_dim: got dimension 2" HAS_2);
    REFUSED(gra_mean(t, NULL), "mean" NEVER_MADE(0));
    REFUSED(gra_mean_dim(t, x, -3, false), "mean_dim: got dimension -3" HAS_2);
    REFUSED(gra_max(t, NO_ROWS), "max: got x (0, 3), expected at least one value to take the largest of");
    REFUSED(gra_max(t, NULL), "max" NEVER_MADE(0));
    REFUSED(gra_max_dim(t, x, 5, false), "max_dim: got dimension 5" HAS_2);
    REFUSED(gra_max_dim(t, NO_ROWS, 0, false),
            "max_dim: got x (0, 3), expected at least one value to take the largest of");
    REFUSED(gra_max_dim(t, NULL, 0, false), "max_dim" NEVER_MADE(0));
    REFUSED(gra_min(t, NO_ROWS), "min: got x (0, 3), expected at least one value to take the smallest of");
    REFUSED(gra_min(t, NULL), "min" NEVER_MADE(0));
    REFUSED(gra_min_dim(t, NO_ROWS, 0, true),
            "min_dim: got x (0, 3), expected at least one value to take the smallest of");
    REFUSED(gra_min_dim(t, x, 2, false), "min_dim: got dimension 2" HAS_2);
    REFUSED(gra_var(t, NULL, 1), "var" NEVER_MADE(0));
    REFUSED(gra_var_dim(t, x, 2, 1, false), "var_dim: got dimension 2" HAS_2);
    REFUSED(gra_var_dim(t, NULL, 0, 1, false), "var_dim" NEVER_MADE(0));
    REFUSED((gra_argmax(t, x, 2), gra_empty(t)), "argmax: got dimension 2" HAS_2);
    REFUSED((gra_argmax(t, NO_ROWS, 0), gra_empty(t)),
            "argmax: got x (0, 3), expected at least one value to take the largest of");
    REFUSED(gra_softmax(t, x, 2), "softmax: got dimension 2" HAS_2);
    REFUSED(gra_softmax(t, gra_sum(t, x), 0),
            "softmax: got dimension 0 of a tensor (), expected one of its 0" FROM_0);
    REFUSED(gra_log_softmax(t, x, -3), "log_softmax: got dimension -3" HAS_2);
    REFUSED(gra_log_softmax(t, NULL, 0), "log_softmax" NEVER_MADE(0));
    REFUSED(gra_layer_norm(t, x, VECTOR(1, 2, 3, 4, 5), NULL, 1e-5),
            "layer_norm: got weight (5) for x (2, 3), expected (3)");
    REFUSED(gra_layer_norm(t, x, NULL, x, 1e-5), "layer_norm: got bias (2, 3) for x (2, 3), expected (3)");
    REFUSED(gra_layer_norm(t, gra_sum(t, x), NULL, NULL, 1e-5),
            "layer_norm: got x (), expected at least one dimension to take the mean over");
    REFUSED(gra_layer_norm(t, x, x, NULL, 1e-5), "layer_norm: got weight (2, 3) for x (2, 3), expected (3)");
    REFUSED(gra_layer_norm(t, x, NULL, VECTOR(1, 2), 1e-5),
            "layer_norm: got bias (2) for x (2, 3), expected (3)");
    REFUSED(gra_layer_norm(t, NULL, NULL, NULL, 1e-5), "layer_norm" NEVER_MADE(0));
    REFUSED(gra_rms_norm(t, x, VECTOR(1, 2), 1e-5), "rms_norm: got weight (2) for x (2, 3), expected (3)");
    REFUSED(gra_rms_norm(t, gra_sum(t, x), NULL, 1e-5),
            "rms_norm: got x (), expected at least one dimension to take the mean over");
    REFUSED(gra_rms_norm(t, x, x, 1e-5), "rms_norm: got weight (2, 3) for x (2, 3), expected (3)");
    REFUSED(gra_rms_norm(t, NULL, NULL, 1e-5), "rms_norm" NEVER_MADE(0));
}

TEST(refused_shapes)
{
    REFUSED(gra_reshape(t, x, GRA_SHAPE(4, 2)), "reshape: got x (2, 3) and shape (4, 2)" NOT_FILLED);
    REFUSED(gra_reshape(t, x, GRA_SHAPE(4, -1)), "reshape: got x (2, 3) and shape (4, -1)" NOT_FILLED);
    REFUSED(gra_reshape(t, x, GRA_SHAPE(-1, -1)), "reshape: got shape (-1, -1), expected at most one -1");
    REFUSED(gra_reshape(t, x, GRA_SHAPE(-2, -3)),
            "reshape: got shape (-2, -3): a size is negative, or there are too many values");
    REFUSED(gra_reshape(t, NO_ROWS, GRA_SHAPE(0, -1)),
            "reshape: got shape (0, -1): beside a 0, -1 could be any size");
    REFUSED(gra_reshape(t, x, (gra_shape){ 9, { 1, 1, 1, 1, 1, 1, 1, 1 } }),
            "reshape: got 9 dimensions, expected 0 to 8");
    REFUSED(gra_reshape(t, x, (gra_shape){ .ndim = -1 }), "reshape: got -1 dimensions, expected 0 to 8");
    REFUSED(gra_reshape(t, gra_borrow(t, x->data, GRA_SHAPE(65536, 65536)), GRA_SHAPE(-1)),
            ADDRESSES_OF_32_BITS
                ? "gra_borrow: got the shape (65536, 65536), expected sizes of 0 or more that fit in "
                  "memory"
                : "reshape: got x (65536, 65536) and shape (-1): the 4294967296 values do not fill it");
    REFUSED(gra_squeeze(t, x, 2), "squeeze: got dimension 2" HAS_2);
    REFUSED(gra_squeeze(t, gra_sum(t, x), -1),
            "squeeze: got dimension -1 of a tensor (), expected one of its 0"
            FROM_0);
    REFUSED(gra_squeeze(t, NULL, 0), "squeeze" NEVER_MADE(0));
    REFUSED(gra_unsqueeze(t, x, 3), "unsqueeze: got dimension 3 for a tensor (2, 3), expected -3 to 2: "
            "count from 0, or from the end with -1");
    REFUSED(gra_unsqueeze(t, x, -4), "unsqueeze: got dimension -4 for a tensor (2, 3), expected -3 to 2: "
            "count from 0, or from the end with -1");
    REFUSED(gra_unsqueeze(t, ONES(2, 1, 1, 1, 1, 1, 1, 1), 0),
            "unsqueeze: got a tensor (2, 1, 1, 1, 1, 1, 1, 1), expected one of at most 7 dimensions: there "
            "is no room for another");
    REFUSED(gra_unsqueeze(t, NULL, 0), "unsqueeze" NEVER_MADE(0));
    REFUSED(gra_expand(t, x, GRA_SHAPE(4, 3)), "expand: got shape (4, 3) for a tensor (2, 3)" OWN_SIZES);
    REFUSED(gra_expand(t, x, GRA_SHAPE(1, 3)), "expand: got shape (1, 3) for a tensor (2, 3)" OWN_SIZES);
    REFUSED(gra_expand(t, x, GRA_SHAPE(0, 3)), "expand: got shape (0, 3) for a tensor (2, 3)" OWN_SIZES);
    REFUSED(gra_expand(t, x, GRA_SHAPE(-2, 3)), "expand: got shape (-2, 3) for a tensor (2, 3)" OWN_SIZES);
    REFUSED(gra_expand(t, x, GRA_SHAPE(-1, 2, 3)),
            "expand: got shape (-1, 2, 3) for a tensor (2, 3)" OWN_SIZES);
    REFUSED(gra_expand(t, NO_ROWS, GRA_SHAPE(1, 3)),
            "expand: got shape (1, 3) for a tensor (0, 3)" OWN_SIZES);
    REFUSED(gra_expand(t, gra_scalar(t, 1), GRA_SHAPE(-1)),
            "expand: got shape (-1) for a tensor ()" OWN_SIZES);
    REFUSED(gra_expand(t, x, GRA_SHAPE(3)),
            "expand: got 1 sizes for a tensor (2, 3), expected 2 to 8" ONE_FOR_EACH);
    REFUSED(gra_expand(t, x, (gra_shape){ 9, { 1, 1, 1, 1, 1, 1, 2, 3 } }),
            "expand: got 9 sizes for a tensor (2, 3), expected 2 to 8" ONE_FOR_EACH);
    REFUSED(gra_expand(t, NULL, GRA_SHAPE(3)), "expand" NEVER_MADE(0));
    REFUSED(gra_permute(t, x, (const int[]){ 0, 2 }), "permute: got dimension 2" HAS_2);
    REFUSED(gra_permute(t, x, (const int[]){ 1, -1 }),
            "permute: got dimension 1 twice, expected each of the 2 dimensions of (2, 3) once");
    REFUSED(gra_permute(t, x, NULL),
            "permute: got NULL for the dims, expected an order of the 2 dimensions of (2, 3)");
    REFUSED(gra_permute(t, NULL, (const int[]){ 0 }), "permute" NEVER_MADE(0));
    REFUSED(gra_transpose(t, x, 0, 2), "transpose: got dimension 2" HAS_2);
    REFUSED(gra_transpose(t, x, 3, 0), "transpose: got dimension 3" HAS_2);
    REFUSED(gra_transpose(t, NULL, 0, 1), "transpose" NEVER_MADE(0));
    REFUSED(gra_concat(t, 2, (gra_tensor *[]){ x, MATRIX(2, 2, 1, 2, 3, 4) }, 0),
            "concat: got tensor 0 (2, 3) and tensor 1 (2, 2), expected them to differ only in dimension 0");
    REFUSED(gra_concat(t, 2, (gra_tensor *[]){ x, VECTOR(1, 2, 3) }, 0),
            "concat: got tensor 0 (2, 3) and tensor 1 (3), expected them to differ only in dimension 0");
    REFUSED(gra_concat(t, 1, &x, 2), "concat: got dimension 2" HAS_2);
    REFUSED(gra_concat(t, 2, (gra_tensor *[]){ ONES(INT_MAX, 0), ONES(1, 0) }, 0),
            ADDRESSES_OF_32_BITS ? "gra_full: got the shape (2147483647, 0), expected sizes of 0 or more "
                                   "that fit in memory"
                                 : "concat: dimension 0 would have more than 2147483647 entries");
    REFUSED(gra_concat(t, 0, &x, 0), "concat: got 0 tensors, expected at least one");
    REFUSED(gra_concat(t, 2, NULL, 0), "concat: got NULL for the tensors, expected an array of 2");
    REFUSED(gra_concat(t, 2, (gra_tensor *[]){ x, NULL }, 0), "concat" NEVER_MADE(1));
    REFUSED(gra_stack(t, 2, (gra_tensor *[]){ x, VECTOR(1, 2, 3) }, 0),
            "stack: got tensor 0 (2, 3) and tensor 1 (3), expected one shape");
    REFUSED(gra_stack(t, 1, &x, 3), "stack: got new dimension 3 for tensors (2, 3), expected -3 to 2" IN_ALL);
    REFUSED(gra_stack(t, 1, &x, -4),
            "stack: got new dimension -4 for tensors (2, 3), expected -3 to 2" IN_ALL);
    REFUSED(gra_stack(t, 0, &x, 0), "stack: got 0 tensors, expected at least one");
    REFUSED(gra_concat(t, -1, NULL, 0), "concat: got -1 tensors, expected at least one");
    REFUSED(gra_stack(t, 1, NULL, 0), "stack: got NULL for the tensors, expected an array of 1");
    REFUSED(gra_stack(t, 1, (gra_tensor *[]){ gra_reshape(t, x, GRA_SHAPE(2, 3, 1, 1, 1, 1, 1, 1)) }, 0),
            "stack: got new dimension 0 for tensors (2, 3, 1, 1, 1, 1, 1, 1), expected -9 to 8" IN_ALL);
    REFUSED(gra_stack(t, 2, (gra_tensor *[]){ x, NULL }, 0), "stack" NEVER_MADE(1));
    REFUSED(gra_slice(t, x, 1, 2, 4), "slice: got 2:4" OF_3_ENTRIES);
    REFUSED(gra_slice(t, x, 1, -4, 2), "slice: got -4:2" OF_3_ENTRIES);
    REFUSED(gra_slice(t, x, 1, 2, 1), "slice: got 2:1" OF_3_ENTRIES);
    REFUSED(gra_slice(t, x, 2, 0, 1), "slice: got dimension 2" HAS_2);
    REFUSED(gra_slice(t, NULL, 0, 0, 1), "slice" NEVER_MADE(0));
}

TEST(refused_language)
{
    REFUSED(gra_embedding(t, x, (const int[]){ 0, 1, 1, 2 }, GRA_SHAPE(2, 2)),
            "embedding: got id 2 at position 3, expected one of the vocabulary's 2 entries (0 to 1)");
    REFUSED(gra_embedding(t, x, (const int[]){ -1 }, GRA_SHAPE(1)),
            "embedding: got id -1 at position 0, expected one of the vocabulary's 2 entries (0 to 1)");
    REFUSED(gra_embedding(t, x, NULL, GRA_SHAPE(4)), "embedding: got NULL for the ids, expected 4");
    REFUSED(gra_embedding(t, VECTOR(1, 2), (const int[]){ 0 }, GRA_SHAPE(1)),
            "embedding: got weight (2), expected (vocabulary, dim)");
    REFUSED(gra_embedding(t, x, (const int[]){ 0 }, (gra_shape){ 9, { 1, 1, 1, 1, 1, 1, 1, 1 } }),
            "embedding: got ids of 9 dimensions, expected 0 to 7, and no negative size");
    REFUSED(gra_embedding(t, x, (const int[]){ 0 }, GRA_SHAPE(-1)),
            "embedding: got ids of 1 dimensions, expected 0 to 7, and no negative size");
    REFUSED(gra_cross_entropy(t, x, (const int[]){ 0, 3 }), "cross_entropy: got target 3 in row 1" OF_3);
    REFUSED(gra_cross_entropy(t, x, (const int[]){ -1, 0 }), "cross_entropy: got target -1 in row 0" OF_3);
    REFUSED(gra_cross_entropy(t, x, NULL), "cross_entropy: got NULL for the targets, expected 2");
    REFUSED(gra_cross_entropy(t, gra_sum(t, x), (const int[]){ 0 }),
            "cross_entropy: got logits (), expected (..., classes)");
    REFUSED(gra_cross_entropy_unreduced(t, x, (const int[]){ 0, 3 }),
            "cross_entropy_unreduced: got target 3 in row 1" OF_3);
    REFUSED(gra_cross_entropy_unreduced(t, x, NULL),
            "cross_entropy_unreduced: got NULL for the targets, expected 2");
    REFUSED(gra_cross_entropy_unreduced(t, gra_sum(t, x), (const int[]){ 0 }),
            "cross_entropy_unreduced: got logits (), expected (..., classes)");
    REFUSED(gra_cross_entropy_unreduced(t, gra_slice(t, x, 1, 0, 0), (const int[]){ 0, 0 }),
            "cross_entropy_unreduced: got logits (2, 0), expected (..., classes) with at least one class: "
            "the loss of a row is that of its target");
    REFUSED(gra_cross_entropy_unreduced(t, NULL, NULL), "cross_entropy_unreduced" NEVER_MADE(0));
    REFUSED(gra_mse_loss(t, x, VECTOR(1, 2, 3)),
            "mse_loss: got x (2, 3) and target (3): their shapes differ");
    REFUSED(gra_mse_loss(t, NULL, x), "mse_loss" NEVER_MADE(0));
    REFUSED(gra_binary_cross_entropy(t, x, VECTOR(1, 2, 3)),
            "binary_cross_entropy: got p (2, 3) and target (3): their shapes differ");
    REFUSED(gra_binary_cross_entropy(t, x, x),
            "binary_cross_entropy: got 2 in element 1 of p, expected a probability, from 0 to 1: for logits "
            "call gra_binary_cross_entropy_with_logits");
    REFUSED(gra_binary_cross_entropy(t, VECTOR(0, -1), VECTOR(1, 1)),
            "binary_cross_entropy: got -1 in element 1 of p, expected a probability, from 0 to 1: for logits "
            "call gra_binary_cross_entropy_with_logits");
    REFUSED(gra_binary_cross_entropy(t, x, NULL), "binary_cross_entropy" NEVER_MADE(1));
    REFUSED(gra_binary_cross_entropy_with_logits(t, x, VECTOR(1, 2, 3)),
            "binary_cross_entropy_with_logits: got x (2, 3) and target (3): their shapes differ");
    REFUSED(gra_binary_cross_entropy_with_logits(t, NULL, x),
            "binary_cross_entropy_with_logits" NEVER_MADE(0));
}

#define ATTEND(q, k, v, ...)                                                                             \
    gra_attention(t, gra_full(t, 1, GRA_SHAPE q), gra_full(t, 1, GRA_SHAPE k), gra_full(t, 1, GRA_SHAPE v), \
                  HOW(__VA_ARGS__))
#define THREE  ", expected (batch, time, dim) for each"
#define AGREE  ", expected one batch size, and one time for k and v"
#define REFUSED_QKV(q, k, v, why)                                                                        \
    REFUSED(ATTEND(q, k, v, .heads = 1), "attention: got q " #q ", k " #k ", v " #v why)
#define OF_4   " columns, expected as many heads in k and v, or a divisor of 4"
#define SHARED ", expected a last size that is a multiple of the heads, and not 0"
#define MASKED ", expected one that broadcasts to the scores, (batch, heads, time, keys) = "

TEST(refused_attention)
{
    REFUSED_QKV((2, 4), (1, 2, 4), (1, 2, 4), THREE);
    REFUSED_QKV((1, 2, 4), (2, 4), (1, 2, 4), THREE);
    REFUSED_QKV((1, 2, 4), (1, 2, 4), (2, 4), THREE);
    REFUSED_QKV((1, 2, 4), (1, 3, 4), (1, 2, 4), AGREE);
    REFUSED_QKV((2, 2, 4), (1, 2, 4), (1, 2, 4), AGREE);
    REFUSED_QKV((1, 2, 4), (1, 2, 4), (2, 2, 4), AGREE);
    REFUSED(ATTEND((1, 2, 4), (1, 2, 4), (1, 2, 6), .heads = 4),
            "attention: got k (1, 2, 4) and v (1, 2, 6) for q (1, 2, 4) of 4 heads of 1" OF_4);
    REFUSED(ATTEND((1, 2, 8), (1, 2, 6), (1, 2, 6), .heads = 4),
            "attention: got k (1, 2, 6) and v (1, 2, 6) for q (1, 2, 8) of 4 heads of 2" OF_4);
    REFUSED(ATTEND((1, 2, 8), (1, 2, 4), (1, 2, 5), .heads = 4),
            "attention: got k (1, 2, 4) and v (1, 2, 5) for q (1, 2, 8) of 4 heads of 2" OF_4);
    REFUSED(ATTEND((1, 2, 8), (1, 2, 0), (1, 2, 8), .heads = 4),
            "attention: got k (1, 2, 0) and v (1, 2, 8) for q (1, 2, 8) of 4 heads of 2" OF_4);
    REFUSED(ATTEND((1, 2, 4), (1, 2, 6), (1, 2, 4), .heads = 1),
            "attention: got k (1, 2, 6) and v (1, 2, 4) for q (1, 2, 4) of 1 head of 4 columns, expected as "
            "many heads in k and v, or a divisor of 1");
    REFUSED(ATTEND((1, 2, 4), (1, 2, 4), (1, 2, 4), .heads = 0),
            "attention: got 0 heads for q (1, 2, 4)" SHARED);
    REFUSED(ATTEND((1, 2, 4), (1, 2, 4), (1, 2, 6), .heads = 3),
            "attention: got 3 heads for q (1, 2, 4)" SHARED);
    REFUSED(ATTEND((1, 2, 0), (1, 2, 0), (1, 2, 4), .heads = 2),
            "attention: got 2 heads for q (1, 2, 0)" SHARED);
    REFUSED(ATTEND((1, 2, 4), (1, 2, 4), (1, 2, 4), .heads = 1, .dropout = 1),
            "attention: got dropout 1, expected 0 <= dropout < 1");
    REFUSED(ATTEND((1, 2, 4), (1, 2, 4), (1, 2, 4), .heads = 1, .dropout = -1),
            "attention: got dropout -1, expected 0 <= dropout < 1");
    REFUSED(ATTEND((2, 3, 4), (2, 5, 4), (2, 5, 4), .heads = 2, .mask = ONES(4, 5)),
            "attention: got mask (4, 5)" MASKED "(2, 2, 3, 5)");
    REFUSED(ATTEND((1, 3, 4), (1, 3, 4), (1, 3, 4), .heads = 1, .mask = ONES(2, 1, 1, 1, 3)),
            "attention: got mask (2, 1, 1, 1, 3)" MASKED "(1, 1, 3, 3)");
    REFUSED(gra_attention(t, x, x, x, NULL),
            "attention: got NULL for the options, expected a gra_attention_options, as in "
            "&(gra_attention_options){ .heads = 1 }");
}

TEST(dropout_needs_a_generator)
{
    gra_keep_going(t, true);
    gra_begin(t, GRA_TRAIN, NULL);
    gra_dropout(t, VECTOR(1, 2), 0.5);
    expect_error("dropout: got no generator, expected one: pass it to gra_begin(t, GRA_TRAIN, &rng)");
    gra_begin(t, GRA_TRAIN, NULL);
    ck_assert(isnan(gra_item(ATTEND((1, 2, 4), (1, 2, 4), (1, 2, 4), .heads = 1, .dropout = 0.5))));
    expect_error("attention: got no generator, expected one: pass it to gra_begin(t, GRA_TRAIN, &rng)");
}
