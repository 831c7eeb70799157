/* The table of all ops: for each op, rows whose gradients, values and chunks are checked (test_ops.c tells
 * how), then its answers and refusals. A line registers itself before main begins, like a test.
 *
 *     ROW(name, op, y, input, ...)    a row: its name in messages, the .name of the gra_op that it checks,
 *                         y as an expression of t and x, w, b, m (or in[0] ...), and these inputs
 *     TRAIN(...), FLAT(...)   a row that runs in training mode, with dropout; a row with a
 *                         gradient that is 0 throughout
 *     FORMULA(exp, exp(x), X)     a row of gra_exp(t, x), of an X, and its formula in C's double, with which
 *                         the values are compared, also from -30 to 30
 *     CALL(scale, gra_scale(t, x, 3), 3 * x, X)   the same for an op with arguments
 *     BINARY(add, a + b, W)   four rows of two operands, stretched in several ways, with their formula
 *     OVER(max, "max"), ALONG(softmax)    rows of an op over, or along, a dimension
 *
 *     X(3, 17)            an input named "x" in reports, of that shape, with values from -2 to 2
 *     W(17), B(17)        the second and the third, "w" and "b"; M(3, 17) the fourth, "mask"
 *     X0, W0              scalars: they have no dimensions
 *     WIDE(17)            an "x" from -6 to 6, where a function becomes flat
 *     POSITIVE(17)        an "x" from 0.5 to 3, for logarithms and roots
 *     DIVISOR(17)         a "w" from -3 to -0.5, which is not 0
 *     PROBABILITY("x", 17)    values from 0.05 to 0.95
 *
 *     ANSWER(y, TO(1, 2))     these are y's values, to 4 units in the last place
 *     ANSWERS(x, y, TO(1, 2), TO(3))  the same for y of this x, and x's gradient of 1 y_0 + 2 y_1 + 3 y_2 ...
 *     SHAPE(y, 2, 3)      y has this shape
 *     REFUSED(call, sentence)     the error of this call, whose x is (2, 3) with the values 1 to 6
 *
 * Begin with the plainest row of an op: if several fail, only the first shows its report. Sizes are odd on
 * purpose (1, 3, 17), so no loop over whole vectors fits; a few exceed the blocks in which an op works. */
#include "rows.h"
#include "lib/suites.h"

/* ---- how a line becomes a row ---- */

enum { BEFORE = __COUNTER__ };          /* each row takes the next number */

#define ROW(name, op, y, ...)   ADD(__COUNTER__, name, op, y, GRA_GRAD, false, NULL, __VA_ARGS__)
#define FLAT(name, op, y, ...)  ADD(__COUNTER__, name, op, y, GRA_GRAD, true, NULL, __VA_ARGS__)
#define TRAIN(name, op, y, ...) ADD(__COUNTER__, name, op, y, GRA_TRAIN, false, NULL, __VA_ARGS__)
#define COMPARED(name, op, y, ...) ADD(__COUNTER__, name, #op, y, GRA_GRAD, false, op##_of, __VA_ARGS__)
#define ADD(...) ADD_(__VA_ARGS__)
#define ADD_(id, name_, op_, y_, mode_, flat_, formula_, ...)                                            \
    enum { n_##id = sizeof((gra_check_in[]){ __VA_ARGS__ }) / sizeof(gra_check_in) };                    \
    static gra_tensor *row_##id(gra_tape *t, gra_tensor **in, void *arg)                                 \
    {                                                                                                    \
        enum { n = n_##id };                                                                             \
        gra_tensor *x = in[0], *w = n > 1 ? in[1] : NULL;                                                \
        gra_tensor *b = n > 2 ? in[2] : NULL, *m = n > 3 ? in[3] : NULL;                                 \
        (void)x, (void)w, (void)b, (void)m, (void)arg;                                                   \
        return y_;                                                                                       \
    }                                                                                                    \
    __attribute__((constructor)) static void add_##id(void)                                              \
    {                                                                                                    \
        op_cases[id - BEFORE - 1] = (struct op_case){ name_, op_, mode_, n_##id, { __VA_ARGS__ }, row_##id, \
                                                      1e-6, flat_, formula_ };                           \
    }

#define CALL(op, y, formula, KIND)                                                                         \
    static double op##_of(double x, double b) { (void)b; return formula; }                               \
    COMPARED(#op, op, y, KIND(3, 17))
#define FORMULA(op, formula, KIND) CALL(op, gra_##op(t, x), formula, KIND)
#define BINARY(op, formula, KIND) OPERANDS(op, gra_##op(t, x, w), formula, KIND)
#define OPERANDS(op, y, formula, KIND)                                                                     \
    static double op##_of(double a, double b) { return formula; }                                        \
    COMPARED(#op, op, y, X(3, 17), KIND(3, 17))                                                            \
    COMPARED(#op ": a vector to rows", op, y, X(2, 3, 17), KIND(17))                                       \
    COMPARED(#op ": rows and columns", op, y, X(3, 1), KIND(1, 17))                                        \
    COMPARED(#op ": stretched in the middle", op, y, X(3, 1, 5), KIND(3, 4, 1))
#define OVER(f, op)                                                                                      \
    ROW(#f "_dim: first", op, gra_##f##_dim(t, x, 0, false), X(3, 2, 17))                                \
    ROW(#f "_dim: middle", op, gra_##f##_dim(t, x, 1, false), X(2, 3, 17))                               \
    ROW(#f "_dim: middle, kept", op, gra_##f##_dim(t, x, 1, true), X(2, 3, 5))                           \
    ROW(#f "_dim: last", op, gra_##f##_dim(t, x, -1, false), X(2, 3, 17))                                \
    ROW(#f "_dim: last, kept", op, gra_##f##_dim(t, x, -1, true), X(3, 17))
#define ALONG(op)                                                                                        \
    ROW(#op ": first", #op, gra_##op(t, x, 0), X(17, 3))                                                 \
    ROW(#op ": middle", #op, gra_##op(t, x, 1), X(2, 5, 3))                                              \
    ROW(#op ": last", #op, gra_##op(t, x, -1), X(2, 3, 17))                                              \
    ROW(#op ": of a vector", #op, gra_##op(t, x, 0), X(37))

#define IN(name_, ...) { .name = name_, .shape = SIZES(__VA_ARGS__) }
#define SIZES(...)    { LENGTH(((int[]){ __VA_ARGS__ })), { __VA_ARGS__ } }
#define X(...)        IN("x", __VA_ARGS__)
#define W(...)        IN("w", __VA_ARGS__)
#define B(...)        IN("b", __VA_ARGS__)
#define M(...)        IN("mask", __VA_ARGS__)
#define X0            { .name = "x" }
#define W0            { .name = "w" }
#define WIDE(...)     { .name = "x", .shape = SIZES(__VA_ARGS__), .low = -6, .high = 6 }
#define POSITIVE(...) { .name = "x", .shape = SIZES(__VA_ARGS__), .low = 0.5, .high = 3 }
#define DIVISOR(...)  { .name = "w", .shape = SIZES(__VA_ARGS__), .low = -3, .high = -0.5 }
#define PROBABILITY(name_, ...) { .name = name_, .shape = SIZES(__VA_ARGS__), .low = 0.05, .high = 0.95 }

/* ---- answers and refusals ---- */

static gra_tensor *answer(int line, gra_tape *t, gra_tensor *y, size_t n, const double *want)
{
    ck_assert_msg(y->size == n, "tests/ops/ops_table.c:%d: got %zu values, expected %zu", line, y->size, n);
    expect_values(__FILE__, line, "value", y->data, want, n);
    return gra_empty(t);
}

static gra_tensor *answers(int line, gra_tape *t, gra_tensor *x, gra_tensor *y, size_t n, const double *want,
                           const double *dx)
{
    answer(line, t, y, n, want);
    gra_tensor *by = gra_arange(t, (int)n + 1), *flat = gra_reshape(t, y, GRA_SHAPE(-1));
    ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_mul(t, flat, gra_slice(t, by, 0, 1, (int)n + 1)))), 0);
    expect_values(__FILE__, line, "gradient", gra_grad(x), dx, x->size);
    return gra_empty(t);
}

static gra_tensor *shape(int line, gra_tape *t, gra_tensor *y, gra_shape want)
{
    ck_assert_msg(gra_same_shape(y->shape, want), "tests/ops/ops_table.c:%d: got %s, expected %s", line,
                  GRA_SHAPE_OF(y), GRA_SHAPE_STRING(want));
    return gra_empty(t);
}

#define PASTE_(a, b) a##b
#define PASTE(a, b)  PASTE_(a, b)
#define FACT(call, sentence_)                                                                            \
    static gra_tensor *PASTE(fact_, __LINE__)(gra_tape *t, gra_tensor *x) { (void)x; return call; }      \
    __attribute__((constructor)) static void PASTE(add_fact_, __LINE__)(void)                            \
    {                                                                                                    \
        static struct op_fact fact = { __LINE__, sentence_, PASTE(fact_, __LINE__), NULL };              \
        fact.next = op_facts;                                                                            \
        op_facts = &fact;                                                                                \
        op_facts_count++;                                                                                \
    }
const struct op_fact *op_facts;
int op_facts_count;

#define TO(...) { __VA_ARGS__ }
#define VALUES(...) sizeof((double[])__VA_ARGS__) / sizeof(double), (const double[])__VA_ARGS__
#define ANSWER(y, ...)          FACT(answer(__LINE__, t, y, VALUES(__VA_ARGS__)), NULL)
#define ANSWERS(x_, y, to, dx)                                                                           \
    FACT((x = x_, answers(__LINE__, t, x, y, VALUES(to), (const double[])dx)), NULL)
#define SHAPE(y, want)          FACT(shape(__LINE__, t, y, want), NULL)
#define REFUSED(call, sentence) FACT(call, sentence)

#define REALS(...)        (const real[]){ __VA_ARGS__ }
#define MATRIX(m, n, ...) gra_input(t, REALS(__VA_ARGS__), GRA_SHAPE(m, n))
#define VECTOR(...)       gra_input(t, REALS(__VA_ARGS__), GRA_SHAPE(LENGTH((REALS(__VA_ARGS__)))))

#define AS(x, ...)   gra_reshape(t, x, GRA_SHAPE(__VA_ARGS__))
#define ONES(...)    gra_full(t, 1, GRA_SHAPE(__VA_ARGS__))
#define LIST(...)    (gra_tensor *[]){ __VA_ARGS__ }
#define INTS(...)    (const int[]){ __VA_ARGS__ }
#define HOW(...)     &(gra_attention_options){ __VA_ARGS__ }
#define NO_ROWS      gra_slice(t, x, 0, 0, 0)

#define inf  ((double)INFINITY)
#define nan_ ((double)NAN)
static const double over3 = 1.0 / 3, e1 = 2.71828182845904523536, log2_ = 0.69314718055994530942;

/* The loss of a confident, right prediction with the logit x, and the probability of all other classes. */
#define LOSS(x)      log1p(exp(-(double)(x)))
#define SLIGHT(x)    (1 / (1 + exp((double)(x))))
#define NEXT         (sizeof(real) == 8 ? 0x1p-52 : 0x1p-23)
#define NEAR_1       VECTOR((real)(1 + NEXT), 1, 1, 1)
#define OVER_ROOT    (NEXT / 0x1.9e7c6e43390b7p-9)       /* over sqrt(1e-5): the variance is far below 1e-5 */

#define HAS_2        " of a tensor (2, 3), expected one of its 2" FROM_0
#define HAS_0        " of a tensor (), expected one of its 0" FROM_0
#define FROM_0       " dimensions: count them from 0, or from the end with -1"
#define TO_BROADCAST ", expected shapes that broadcast: from the right, sizes must agree or be 1"
#define LARGEST      ", expected at least one value to take the largest of"
#define SMALLEST     ", expected at least one value to take the smallest of"

/* 17, or the first ones */
static const real some[] = { 0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0 };
#define BITS(...) gra_constant(t, some, GRA_SHAPE(__VA_ARGS__))

/* ---- element by element ---- */

BINARY(add, a + b, W)
ROW("add: a smaller first", "add", gra_add(t, x, w), X(17), W(3, 17))
ROW("add: numbers", "add", gra_add(t, x, w), X0, W0)
ROW("add: a number", "add", gra_add(t, x, w), X(3, 17), W0)
ROW("add: x twice", "add", gra_add(t, x, x), X(3, 17))
ROW("add: two views of x", "add", gra_add(t, AS(x, 3, 1, 17), AS(x, 1, 3, 17)), X(3, 17))
ROW("add: a long vector", "add", gra_add(t, x, w), X(2, 300), W(300))        /* sums of 256 columns, */
ROW("add: a vector to many rows", "add", gra_add(t, x, w), X(300, 3), W(3))     /* and of 256 rows */
REFUSED(gra_add(t, x, VECTOR(1, 2)), "add: got shapes (2, 3) and (2)" TO_BROADCAST)
REFUSED(gra_lt(t, x, VECTOR(1, 2)), "lt: got shapes (2, 3) and (2)" TO_BROADCAST)

BINARY(sub, a - b, W)
ROW("sub: a number", "sub", gra_sub(t, x, w), X0, W(3, 17))
FLAT("sub: x from itself", "sub", gra_sub(t, x, x), X(17))
ROW("sub: two views of x", "sub", gra_sub(t, AS(x, 3, 1, 17), AS(x, 1, 3, 17)), X(3, 17))

BINARY(mul, a * b, W)
ROW("mul: by a number", "mul", gra_mul(t, x, w), X(3, 17), W0)
ROW("mul: x twice", "mul", gra_mul(t, x, x), X(3, 17))
ROW("mul: two views of x", "mul", gra_mul(t, AS(x, 3, 1, 17), AS(x, 1, 3, 17)), X(3, 17))
REFUSED(gra_mul(t, x, AS(x, 3, 2)), "mul: got shapes (2, 3) and (3, 2)" TO_BROADCAST)

BINARY(div, a / b, DIVISOR)
ROW("div: a number", "div", gra_div(t, x, w), X0, DIVISOR(3, 17))
FLAT("div: x by itself", "div", gra_div(t, x, x), POSITIVE(17))
ROW("div: two views of x", "div", gra_div(t, AS(x, 3, 1, 17), AS(x, 1, 3, 17)), POSITIVE(3, 17))
ANSWER(gra_div(t, VECTOR(-1, 2), VECTOR(0, 0)), TO(-inf, inf))

FORMULA(neg, -x, X)
CALL(scale, gra_scale(t, x, -2.5), -2.5 * x, X)
FLAT("scale: by 0", "scale", gra_scale(t, x, 0), X(3))
CALL(pow, gra_pow(t, x, 2.5), pow(x, 2.5), POSITIVE)
ROW("pow: x^2", "pow", gra_pow(t, x, 2), X(3, 17))
ROW("pow: x^3", "pow", gra_pow(t, x, 3), X(17))
ROW("pow: x^1", "pow", gra_pow(t, x, 1), X(17))
FLAT("pow: x^0", "pow", gra_pow(t, x, 0), X(3))
ROW("pow: x^0.5", "pow", gra_pow(t, x, 0.5), POSITIVE(17))
ROW("pow: x^-1.5", "pow", gra_pow(t, x, -1.5), POSITIVE(17))
ANSWER(gra_pow(t, VECTOR(0, 0, -8, -1), 0), TO(1, 1, 1, 1))
ANSWER(gra_pow(t, VECTOR(-8, 0, 16), 0.25), TO(nan_, 0, 2))
ANSWER(gra_pow(t, VECTOR(0, 4), -0.5), TO(inf, 0.5))
ANSWERS(VECTOR(0, -1, 1), gra_pow(t, x, 0), TO(1, 1, 1), TO(0, 0, 0))
ANSWERS(VECTOR(0, -1, 1), gra_pow(t, x, 2), TO(0, 1, 1), TO(0, -4, 6))

FORMULA(exp, exp(x), X)
ROW("exp: a number", "exp", gra_exp(t, x), X0)
ANSWER(gra_exp(t, VECTOR(-inf, inf, nan_, 0, 10000)), TO(0, inf, nan_, 1, inf))
FORMULA(log, log(x), POSITIVE)
ANSWER(gra_log(t, VECTOR(0, inf, nan_, 1, -1)), TO(-inf, inf, nan_, 0, nan_))
FORMULA(sqrt, sqrt(x), POSITIVE)
ANSWERS(VECTOR(0, inf, nan_, 4, -1), gra_sqrt(t, x), TO(0, inf, nan_, 2, nan_), TO(inf, 0, nan_, 1, nan_))
FORMULA(sin, sin(x), WIDE)
ANSWER(gra_sin(t, VECTOR(-inf, inf, nan_, 0)), TO(nan_, nan_, nan_, 0))
FORMULA(cos, cos(x), WIDE)
ANSWER(gra_cos(t, VECTOR(-inf, inf, nan_, 0)), TO(nan_, nan_, nan_, 1))
/* Each x is a float, and the answers were computed with 400 digits of pi: subtracting multiples of a rounded
 * pi is not accurate enough. */
#define ANGLES VECTOR((real)0x1.921fb6p+1, 10000, (real)0x1p60, (real)0x1.fffffep+127, (real)0x1p-20, \
                      (real)0x1.4p-147)
ANSWER(gra_sin(t, ANGLES), TO(-8.7422780003724745258e-08, -0.30561438888825214136, -0.83064921763725465058,
       -0.52187652333365854055, 9.5367431640610543971e-07, 0x1.4p-147))
ANSWER(gra_cos(t, ANGLES), TO(-0.99999999999999617863, -0.95215536825901485124, -0.55679608227664170368,
       0.85302103983030415805, 0.99999999999954525265, 1))

FORMULA(tanh, tanh(x), X)
ANSWER(gra_tanh(t, VECTOR(-inf, inf, nan_, 0)), TO(-1, 1, nan_, 0))
FORMULA(sigmoid, 1 / (1 + exp(-x)), WIDE)
ANSWERS(VECTOR(100, -100), gra_tanh(t, x), TO(1, -1), TO(0, 0))     /* the slope from y, which is rounded */
ANSWER(gra_sigmoid(t, VECTOR(-inf, inf, nan_, 0)), TO(0, 1, nan_, 0.5))
FORMULA(relu, x > 0 ? x : 0, X)
ANSWERS(VECTOR(-inf, inf, nan_, 0, -1), gra_relu(t, x), TO(0, inf, nan_, 0, 0), TO(0, 2, 3, 0, 0))
FORMULA(gelu, x * erfc(-x * 0.7071067811865476) / 2, WIDE)
ANSWER(gra_gelu(t, VECTOR(inf, nan_, 0, 100, -100)), TO(inf, nan_, 0, 100, 0))
FORMULA(gelu_tanh, x / 2 * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))), WIDE)
ANSWER(gra_gelu_tanh(t, VECTOR(inf, nan_, 0, 100, -100)), TO(inf, nan_, 0, 100, 0))
ANSWER(gra_gelu_tanh(t, VECTOR(-2)), TO(-2 * SLIGHT(1.5957691216057308 * (2 + 0.044715 * 8))))
FORMULA(silu, x / (1 + exp(-x)), WIDE)
ANSWER(gra_silu(t, VECTOR(inf, nan_, 0, 10000, -10000)), TO(inf, nan_, 0, 10000, 0))
FORMULA(abs, fabs(x), X)
ANSWER(gra_abs(t, VECTOR(-2, 0, 2, -inf, nan_)), TO(2, 0, 2, inf, nan_))
CALL(clamp, gra_clamp(t, x, -1.25, 0.75), fmin(fmax(x, -1.25), 0.75), X)
ANSWER(gra_clamp(t, VECTOR(-5, -1, 0, 1, 5, nan_, inf), -1, 1), TO(-1, -1, 0, 1, 1, nan_, 1))
ANSWER(gra_clamp(t, VECTOR(-5, 5), 0, (double)inf), TO(0, 5))
REFUSED(gra_clamp(t, x, 2, 1), "clamp: got low 2 and high 1, expected low <= high")
REFUSED(gra_clamp(t, x, (double)NAN, 1), "clamp: got low nan and high 1, expected low <= high")

CALL(add_scalar, gra_add_scalar(t, x, -1.5), x - 1.5, X)
OPERANDS(where, gra_where(t, gra_gt(t, x, w), x, w), a > b ? a : b, W)
ROW("where: by rows", "where", gra_where(t, BITS(3, 1), x, w), X(3, 17), W(17))
ROW("where: x or x", "where", gra_where(t, gra_lt(t, x, gra_full(t, 0, GRA_SCALAR)), x, x), X(17))
ANSWER(gra_lt(t, VECTOR(1, 2, 3, nan_), VECTOR(2)), TO(1, 0, 0, 0))     /* for a NaN only != holds */
ANSWER(gra_le(t, VECTOR(1, 2, 3, nan_), VECTOR(2)), TO(1, 1, 0, 0))
ANSWER(gra_gt(t, VECTOR(1, 2, 3, nan_), VECTOR(2)), TO(0, 0, 1, 0))
ANSWER(gra_ge(t, VECTOR(1, 2, 3, nan_), VECTOR(2)), TO(0, 1, 1, 0))
ANSWER(gra_eq(t, VECTOR(1, 2, 3, nan_), VECTOR(2)), TO(0, 1, 0, 0))
ANSWER(gra_ne(t, VECTOR(1, 2, 3, nan_), VECTOR(2)), TO(1, 0, 1, 1))
REFUSED(gra_where(t, VECTOR(1, 0), x, x), "where: got c (2), a (2, 3) and b (2, 3)" TO_BROADCAST)
REFUSED(gra_where(t, x, VECTOR(1, 0), x), "where: got c (2, 3), a (2) and b (2, 3)" TO_BROADCAST)

TRAIN("dropout", "dropout", gra_dropout(t, x, 0.5), X(3, 17))
TRAIN("dropout: 1 in 10", "dropout", gra_dropout(t, x, 0.1), X(7, 17))
TRAIN("dropout: of a dropout", "dropout", gra_dropout(t, gra_dropout(t, x, 0.25), 0.25), X(3, 17))
TRAIN("dropout: a number", "dropout", gra_dropout(t, x, 0.1), X0)
REFUSED(gra_dropout(t, x, 1.5), "dropout: got p 1.5, expected a probability, 0 <= p <= 1")
REFUSED(gra_dropout(t, x, (double)NAN), "dropout: got p nan, expected a probability, 0 <= p <= 1")
REFUSED((gra_begin(t, GRA_TRAIN, NULL), gra_dropout(t, VECTOR(1, 2), 0.5)),
        "dropout: got no generator, expected one: pass it to gra_begin(t, GRA_TRAIN, &rng)")

ROW("masked_fill", "masked_fill", gra_masked_fill(t, x, BITS(17), -3), X(3, 17))
ROW("masked_fill: rows", "masked_fill", gra_masked_fill(t, x, BITS(3, 1), 0.5), X(2, 3, 5))
ROW("masked_fill: a number as mask", "masked_fill",
    gra_masked_fill(t, x, gra_constant(t, some, GRA_SCALAR), 7), X(3))
ROW("masked_fill: -inf, softmax", "masked_fill",
    gra_softmax(t, gra_masked_fill(t, x, BITS(17), (double)-inf), -1), X(3, 17))
ANSWER(gra_masked_fill(t, x, VECTOR(0, 1, 0), 9), TO(1, 9, 3, 4, 9, 6))
ANSWER(gra_masked_fill(t, x, MATRIX(2, 1, -1, 0), (double)-inf), TO(-inf, -inf, -inf, 4, 5, 6))
REFUSED(gra_masked_fill(t, x, VECTOR(1, 2), 0),
        "masked_fill: got mask (2) for x (2, 3), expected one that broadcasts to x")
REFUSED(gra_masked_fill(t, VECTOR(1, 2, 3), x, 0),
        "masked_fill: got mask (2, 3) for x (3), expected one that broadcasts to x")
REFUSED(gra_masked_fill(t, MATRIX(1, 3, 1, 2, 3), x, 0),
        "masked_fill: got mask (2, 3) for x (1, 3), expected one that broadcasts to x")
REFUSED(gra_masked_fill(t, x, NULL, 0), "masked_fill: got NULL for input 1, expected a tensor: a layer's "
        "parameters are made by its init")

/* A gradient cannot be checked at -inf, but it can be checked at the softmax. */
ROW("causal_mask", "causal_mask", gra_softmax(t, gra_causal_mask(t, x), -1), X(2, 5, 5))
ROW("causal_mask: more keys", "causal_mask", gra_softmax(t, gra_causal_mask(t, x), -1), X(3, 7))
ROW("causal_mask: fewer keys", "causal_mask", gra_softmax(t, gra_causal_mask(t, x), -1), X(2, 7, 3))
FLAT("causal_mask: one score", "causal_mask", gra_softmax(t, gra_causal_mask(t, x), -1), X(1, 1))
ANSWER(gra_causal_mask(t, x), TO(1, 2, -inf, 4, 5, 6))
ANSWER(gra_causal_mask(t, AS(x, 3, 2)), TO(-inf, -inf, 3, -inf, 5, 6))
ANSWER(gra_causal_mask(t, MATRIX(2, 2, 1, 2, 3, 4)), TO(1, -inf, 3, 4))
REFUSED(gra_causal_mask(t, VECTOR(1, 2)), "causal_mask: got x (2), expected (..., queries, keys)")

/* ---- products ---- */

ROW("matmul", "matmul", gra_matmul(t, x, w), X(3, 17), W(17, 5))
ROW("matmul: beyond one tile", "matmul", gra_matmul(t, x, w), X(17, 9), W(9, 37))
ROW("matmul: one value", "matmul", gra_matmul(t, x, w), X(1, 1), W(1, 1))
ROW("matmul: column by row", "matmul", gra_matmul(t, x, w), X(3, 1), W(1, 17))
ROW("matmul: row by column", "matmul", gra_matmul(t, x, w), X(1, 17), W(17, 1))
ROW("matmul: a batch", "matmul", gra_matmul(t, x, w), X(3, 2, 5), W(3, 5, 4))
ROW("matmul: a batch by one", "matmul", gra_matmul(t, x, w), X(3, 2, 5), W(5, 4))
ROW("matmul: one by a batch", "matmul", gra_matmul(t, x, w), X(2, 5), W(3, 5, 4))
ROW("matmul: stretched batches", "matmul", gra_matmul(t, x, w), X(2, 1, 3, 4), W(5, 4, 2))
ROW("matmul: x by itself", "matmul", gra_matmul(t, x, x), X(3, 3))
ROW("matmul_nt", "matmul", gra_matmul_nt(t, x, w), X(3, 17), W(5, 17))
ROW("matmul_nt: stretched batches", "matmul", gra_matmul_nt(t, x, w), X(2, 1, 3, 4), W(5, 2, 4))
ROW("matmul_nt: x by itself", "matmul", gra_matmul_nt(t, x, x), X(3, 5))
ROW("matmul_tn", "matmul", gra_matmul_tn(t, x, w), X(17, 3), W(17, 5))
ROW("matmul_tn: stretched batches", "matmul", gra_matmul_tn(t, x, w), X(2, 1, 4, 3), W(5, 4, 2))
ROW("matmul_tn: x by itself", "matmul", gra_matmul_tn(t, x, x), X(5, 3))
#define ONE_ROW ", expected matrices: reshape a vector to one row or column"
REFUSED(gra_matmul(t, x, x), "matmul: got a (2, 3) and b (2, 3): the inner sizes 3 and 2 differ")
REFUSED(gra_matmul(t, x, VECTOR(1, 2, 3)), "matmul: got a (2, 3) and b (3)" ONE_ROW)
REFUSED(gra_matmul(t, VECTOR(1, 2, 3), x), "matmul: got a (3) and b (2, 3)" ONE_ROW)
REFUSED(gra_matmul(t, ONES(2, 1, 1), ONES(3, 1, 1)),
        "matmul: got a (2, 1, 1) and b (3, 1, 1): their batch dimensions do not broadcast")
REFUSED(gra_matmul_nt(t, x, MATRIX(1, 2, 1, 2)),
        "matmul: got a (2, 3) and b (1, 2) transposed: the inner sizes 3 and 2 differ")
REFUSED(gra_matmul_tn(t, x, MATRIX(3, 1, 1, 2, 3)),
        "matmul: got a (2, 3) transposed and b (3, 1): the inner sizes 2 and 3 differ")

ROW("linear", "linear", gra_linear(t, x, w, b), X(3, 17), W(5, 17), B(5))
ROW("linear: a vector", "linear", gra_linear(t, x, w, b), X(17), W(3, 17), B(3))
ROW("linear: a batch", "linear", gra_linear(t, x, w, b), X(2, 3, 5), W(7, 5), B(7))
ROW("linear: one value", "linear", gra_linear(t, x, w, b), X(1, 1), W(1, 1), B(1))
ROW("linear: many outputs", "linear", gra_linear(t, x, w, b), X(2, 1), W(270, 1), B(270))
ROW("linear: no bias", "linear", gra_linear(t, x, w, NULL), X(2, 3, 5), W(4, 5))
ROW("linear: x by itself", "linear", gra_linear(t, x, x, NULL), X(3, 5))
REFUSED(gra_linear(t, x, AS(x, 3, 2), NULL), "linear: got x (2, 3) for weight (3, 2), expected (..., 2)")
REFUSED(gra_linear(t, gra_sum(t, x), x, NULL), "linear: got x () for weight (2, 3), expected (..., 3)")
REFUSED(gra_linear(t, x, VECTOR(1, 2, 3), NULL), "linear: got weight (3), expected (out, in)")
REFUSED(gra_linear(t, x, x, VECTOR(1, 2, 3)), "linear: got bias (3) for weight (2, 3), expected (2)")
REFUSED(gra_linear(t, x, x, x), "linear: got bias (2, 3) for weight (2, 3), expected (2)")

/* ---- over dimensions ---- */

ROW("sum", "sum", gra_sum(t, x), X(3, 17))
ROW("sum: a number", "sum", gra_sum(t, x), X0)
OVER(sum, "sum")
ROW("sum_dim: of a vector", "sum", gra_sum_dim(t, x, 0, false), X(17))
ROW("sum_dim: long columns", "sum", gra_sum_dim(t, x, 0, false), X(600, 3))    /* blocks of 256 rows, */
ROW("sum_dim: many columns", "sum", gra_sum_dim(t, x, 0, false), X(2, 530))    /* and of 256 columns */
ROW("sum_dim: of size 1", "sum", gra_sum_dim(t, x, 1, false), X(3, 1, 5))
ROW("mean", "sum", gra_mean(t, x), X(3, 17))
OVER(mean, "sum")
ANSWER(gra_sum(t, x), TO(21))
ANSWER(gra_mean(t, x), TO(3.5))
ANSWER(gra_sum_dim(t, x, 0, false), TO(5, 7, 9))
ANSWER(gra_sum_dim(t, x, -1, false), TO(6, 15))
ANSWER(gra_mean_dim(t, x, 1, false), TO(2, 5))
SHAPE(gra_sum(t, x), GRA_SCALAR)
SHAPE(gra_sum_dim(t, x, 0, false), GRA_SHAPE(3))
SHAPE(gra_sum_dim(t, x, 0, true), GRA_SHAPE(1, 3))
SHAPE(gra_mean_dim(t, x, 1, true), GRA_SHAPE(2, 1))
REFUSED(gra_sum_dim(t, x, 2, false), "sum_dim: got dimension 2" HAS_2)
REFUSED(gra_mean_dim(t, x, -3, false), "mean_dim: got dimension -3" HAS_2)

ROW("max", "max", gra_max(t, x), X(3, 17))
ROW("max: a number", "max", gra_max(t, x), X0)
OVER(max, "max")
ANSWERS(MATRIX(2, 3, 7, 7, 1, 2, 7, 7), gra_max(t, x), TO(7), TO(1, 0, 0, 0, 0, 0))  /* the first */
ANSWERS(MATRIX(2, 3, 7, 7, 1, 2, 7, 7), gra_max_dim(t, x, 0, false), TO(7, 7, 7), TO(1, 2, 0, 0, 0, 3))
ANSWERS(MATRIX(2, 3, 7, 7, 1, 2, 7, 7), gra_max_dim(t, x, 1, false), TO(7, 7), TO(1, 0, 0, 0, 2, 0))
ANSWERS(VECTOR(5, nan_, 9, nan_), gra_max(t, x), TO(nan_), TO(0, 1, 0, 0))
ANSWERS(MATRIX(3, 2, 5, 1, nan_, 2, nan_, 3), gra_max_dim(t, x, 0, false), TO(nan_, 3), TO(0, 0, 1, 0, 0, 2))
ANSWER(gra_max_dim(t, MATRIX(2, 2, nan_, 1, 3, nan_), 0, false), TO(nan_, nan_))
ANSWER(gra_max(t, VECTOR(-inf, -inf)), TO(-inf))
SHAPE(gra_max_dim(t, x, -1, true), GRA_SHAPE(2, 1))
REFUSED(gra_max(t, NO_ROWS), "max: got x (0, 3)" LARGEST)
REFUSED(gra_max_dim(t, x, 5, false), "max_dim: got dimension 5" HAS_2)
REFUSED(gra_max_dim(t, NO_ROWS, 0, false), "max_dim: got x (0, 3)" LARGEST)
REFUSED((gra_argmax(t, x, 2), gra_empty(t)), "argmax: got dimension 2" HAS_2)
REFUSED((gra_argmax(t, NO_ROWS, 0), gra_empty(t)), "argmax: got x (0, 3)" LARGEST)

ROW("min", "min", gra_min(t, x), X(3, 17))
OVER(min, "min")
ANSWERS(VECTOR(2, 1, 1), gra_min(t, x), TO(1), TO(0, 1, 0))
ANSWER(gra_min(t, VECTOR(3, nan_, 2)), TO(nan_))
REFUSED(gra_min(t, NO_ROWS), "min: got x (0, 3)" SMALLEST)
REFUSED(gra_min_dim(t, NO_ROWS, 0, true), "min_dim: got x (0, 3)" SMALLEST)
REFUSED(gra_min_dim(t, x, 2, false), "min_dim: got dimension 2" HAS_2)

ROW("var", "var", gra_var(t, x, 1), X(3, 17))
ROW("var_dim: middle, kept", "var", gra_var_dim(t, x, 1, 0, true), X(2, 3, 17))
ROW("var_dim: last", "var", gra_var_dim(t, x, -1, 1, false), X(2, 3, 17))
ANSWER(gra_var(t, VECTOR(1, 2, 3, 6), 1), TO(14.0 / 3))
ANSWER(gra_var(t, VECTOR(1, 2, 3, 6), 0), TO(3.5))
ANSWER(gra_var(t, VECTOR(5), 1), TO(nan_))              /* of a sample of one: 0/0, as in PyTorch */
ANSWER(gra_var_dim(t, MATRIX(2, 2, 1, 3, 4, 4), 1, 1, false), TO(2, 0))
ANSWER(gra_var_dim(t, gra_full(t, 100.1, GRA_SHAPE(2, 2048)), 1, 1, false), TO(0, 0))
ANSWERS(NEAR_1, gra_var(t, x, 0), TO(NEXT * NEXT * 3 / 16), TO(NEXT * 3 / 8, -NEXT / 8, -NEXT / 8, -NEXT / 8))
REFUSED(gra_var_dim(t, x, 2, 1, false), "var_dim: got dimension 2" HAS_2)

ALONG(softmax)
FLAT("softmax: of one", "softmax", gra_softmax(t, x, -1), X(3, 1))
/* Scores of 10000, 9999 and -10000, whose softmax is HIGH, LOW and 0: exp would overflow. */
#define HIGH (e1 / (1 + e1))
#define LOW  (1 / (1 + e1))
#define SCORES 10000, 9999, -10000
#define HIDDEN -inf, -inf, -inf, -inf, 2, -inf, 1, nan_, 1
ANSWERS(MATRIX(1, 3, SCORES), gra_softmax(t, x, -1), TO(HIGH, LOW, 0), TO(-HIGH * LOW, HIGH * LOW, 0))
ANSWERS(MATRIX(3, 1, SCORES), gra_softmax(t, x, 0), TO(HIGH, LOW, 0), TO(-HIGH * LOW, HIGH * LOW, 0))
ANSWER(gra_softmax(t, gra_full(t, -10000, GRA_SHAPE(3)), 0), TO(over3, over3, over3))
ANSWER(gra_softmax(t, MATRIX(3, 3, HIDDEN), 1), TO(0, 0, 0, 0, 1, 0, nan_, nan_, nan_))
ANSWER(gra_softmax(t, gra_transpose(t, MATRIX(3, 3, HIDDEN), 0, 1), 0),
       TO(0, 0, nan_, 0, 1, nan_, 0, 0, nan_))
ANSWERS(MATRIX(2, 3, -inf, -inf, -inf, -inf, 2, -inf), gra_softmax(t, x, 1), TO(0, 0, 0, 0, 1, 0),
        TO(0, 0, 0, 0, 0, 0))
ANSWERS(MATRIX(3, 2, -inf, -inf, -inf, 2, -inf, -inf), gra_softmax(t, x, 0), TO(0, 0, 0, 1, 0, 0),
        TO(0, 0, 0, 0, 0, 0))
ANSWER(gra_softmax(t, VECTOR(inf, 0, 0), 0), TO(nan_, nan_, nan_))
REFUSED(gra_softmax(t, x, 2), "softmax: got dimension 2" HAS_2)
REFUSED(gra_softmax(t, gra_sum(t, x), 0), "softmax: got dimension 0" HAS_0)

ALONG(log_softmax)
#define LOG_HIGH (-0.31326168751822283405)
#define LOGS TO(LOG_HIGH, LOG_HIGH - 1, LOG_HIGH - 20000)
ANSWERS(MATRIX(1, 3, SCORES), gra_log_softmax(t, x, -1), LOGS, TO(1 - 6 * HIGH, 2 - 6 * LOW, 3))
ANSWERS(MATRIX(3, 1, SCORES), gra_log_softmax(t, x, 0), LOGS, TO(1 - 6 * HIGH, 2 - 6 * LOW, 3))
ANSWER(gra_log_softmax(t, gra_full(t, -10000, GRA_SHAPE(2)), 0), TO(-log2_, -log2_))
ANSWER(gra_log_softmax(t, MATRIX(2, 2, 20, 0, 0, 40), 1), TO(-LOSS(20), -20 - LOSS(20), -40, -LOSS(40)))
#define LOG_HIDDEN -inf, -inf, -inf, -inf, 2, -inf, inf, 0, 0
ANSWER(gra_log_softmax(t, MATRIX(3, 3, LOG_HIDDEN), 1), TO(-inf, -inf, -inf, -inf, 0, -inf, nan_, nan_, nan_))
ANSWER(gra_log_softmax(t, gra_transpose(t, MATRIX(3, 3, LOG_HIDDEN), 0, 1), 0),
       TO(-inf, -inf, nan_, -inf, 0, nan_, -inf, -inf, nan_))
ANSWERS(MATRIX(2, 3, -inf, -inf, -inf, -inf, 2, -inf),  /* only the 0 is not masked */
        gra_masked_fill(t, gra_log_softmax(t, x, 1), MATRIX(2, 3, 1, 1, 1, 1, 0, 1), 0), TO(0, 0, 0, 0, 0, 0),
        TO(0, 0, 0, 0, 0, 0))
REFUSED(gra_log_softmax(t, x, -3), "log_softmax: got dimension -3" HAS_2)

#define EPS 1e-5
ROW("layer_norm", "layer_norm", gra_layer_norm(t, x, w, b, EPS), X(3, 17), W(17), B(17))
ROW("layer_norm: long rows", "layer_norm", gra_layer_norm(t, x, w, b, EPS), X(2, 131), W(131), B(131))
FLAT("layer_norm: rows of one", "layer_norm", gra_layer_norm(t, x, w, b, EPS), X(3, 1), W(1), B(1))
ROW("layer_norm: no weight, no bias", "layer_norm", gra_layer_norm(t, x, NULL, NULL, EPS), X(3, 17))
ROW("layer_norm: no bias", "layer_norm", gra_layer_norm(t, x, w, NULL, EPS), X(3, 5), W(5))
ROW("layer_norm: no weight", "layer_norm", gra_layer_norm(t, x, NULL, w, EPS), X(3, 5), B(5))
ROW("layer_norm: x by itself", "layer_norm", gra_layer_norm(t, x, x, x, EPS), X(17))
#define EQUAL gra_full(t, 100.1, GRA_SHAPE(2, 2048))
ANSWER(gra_sum(t, gra_abs(t, gra_layer_norm(t, EQUAL, NULL, NULL, EPS))), TO(0))
ANSWER(gra_layer_norm(t, NEAR_1, NULL, NULL, EPS), TO(0.75 * OVER_ROOT, -OVER_ROOT / 4, -OVER_ROOT / 4,
                                                      -OVER_ROOT / 4))
ANSWER(gra_layer_norm(t, ONES(1, 3), VECTOR(1, 2, 3), VECTOR(7, 8, 9), EPS), TO(7, 8, 9))   /* the bias */
REFUSED(gra_layer_norm(t, x, ONES(2), NULL, EPS), "layer_norm: got weight (2) for x (2, 3), expected (3)")
REFUSED(gra_layer_norm(t, x, x, NULL, EPS), "layer_norm: got weight (2, 3) for x (2, 3), expected (3)")
REFUSED(gra_layer_norm(t, x, NULL, ONES(2), EPS), "layer_norm: got bias (2) for x (2, 3), expected (3)")
REFUSED(gra_layer_norm(t, x, NULL, x, EPS), "layer_norm: got bias (2, 3) for x (2, 3), expected (3)")
REFUSED(gra_layer_norm(t, gra_sum(t, x), NULL, NULL, EPS),
        "layer_norm: got x (), expected at least one dimension to take the mean over")

ROW("rms_norm", "rms_norm", gra_rms_norm(t, x, w, EPS), X(3, 17), W(17))
ROW("rms_norm: long rows", "rms_norm", gra_rms_norm(t, x, w, EPS), X(2, 131), W(131))
ROW("rms_norm: rows of one", "rms_norm", gra_rms_norm(t, x, w, 0.5), X(3, 1), W(1))
ROW("rms_norm: no weight", "rms_norm", gra_rms_norm(t, x, NULL, EPS), X(3, 17))
ROW("rms_norm: x by itself", "rms_norm", gra_rms_norm(t, x, x, EPS), X(17))
ANSWER(gra_rms_norm(t, gra_full(t, 4, GRA_SHAPE(1, 3)), VECTOR(1, 2, 3), 0), TO(1, 2, 3))
ANSWER(gra_rms_norm(t, VECTOR(1, -1), NULL, 3), TO(0.5, -0.5))
REFUSED(gra_rms_norm(t, x, VECTOR(1, 2), EPS), "rms_norm: got weight (2) for x (2, 3), expected (3)")
REFUSED(gra_rms_norm(t, x, x, EPS), "rms_norm: got weight (2, 3) for x (2, 3), expected (3)")
REFUSED(gra_rms_norm(t, gra_sum(t, x), NULL, EPS),
        "rms_norm: got x (), expected at least one dimension to take the mean over")

/* ---- shape ---- */

ROW("reshape: two views of x", "reshape", gra_mul(t, AS(x, 17, 3), AS(x, 17, -1)), X(3, 17))
ROW("reshape: a view of a view", "reshape", gra_exp(t, AS(AS(x, -1), 3, 1, 17)), X(3, 17))
ROW("reshape: to a number", "reshape", gra_exp(t, gra_reshape(t, x, GRA_SCALAR)), X(1, 1))
ROW("reshape: a result", "reshape", gra_exp(t, AS(gra_neg(t, x), 17, 3)), X(3, 17))
ROW("reshape: what is returned", "reshape", AS(gra_exp(t, x), 17, 3), X(3, 17))
SHAPE(AS(x, 3, -1), GRA_SHAPE(3, 2))
SHAPE(AS(x, -1), GRA_SHAPE(6))
SHAPE(AS(x, 6, -1, 1), GRA_SHAPE(6, 1, 1))
SHAPE(AS(NO_ROWS, 3, 0), GRA_SHAPE(3, 0))
SHAPE(AS(NO_ROWS, 3, -1), GRA_SHAPE(3, 0))
#define NOT_FILLED ": the 6 values do not fill it"
REFUSED(AS(x, 4, 2), "reshape: got x (2, 3) and shape (4, 2)" NOT_FILLED)
REFUSED(AS(x, 4, -1), "reshape: got x (2, 3) and shape (4, -1)" NOT_FILLED)
REFUSED(AS(x, -1, -1), "reshape: got shape (-1, -1), expected at most one -1")
REFUSED(AS(x, -2, -3), "reshape: got shape (-2, -3): a size is negative, or there are too many values")
REFUSED(AS(NO_ROWS, 0, -1), "reshape: got shape (0, -1): beside a 0, -1 could be any size")
REFUSED(gra_reshape(t, x, (gra_shape){ .ndim = 9 }), "reshape: got 9 dimensions, expected 0 to 8")
REFUSED(gra_reshape(t, x, (gra_shape){ .ndim = -1 }), "reshape: got -1 dimensions, expected 0 to 8")
REFUSED(AS(gra_borrow(t, x->data, GRA_SHAPE(65536, 65536)), -1),
        ADDRESSES_OF_32_BITS
            ? "gra_borrow: got the shape (65536, 65536), expected sizes of 0 or more that fit in memory"
            : "reshape: got x (65536, 65536) and shape (-1): the 4294967296 values do not fill it")

ROW("squeeze: two views of x", "squeeze", gra_mul(t, gra_squeeze(t, x, 1), gra_squeeze(t, x, -2)),
    X(3, 1, 17))
ROW("squeeze: no size of 1", "squeeze", gra_mul(t, gra_squeeze(t, x, 1), gra_squeeze(t, x, -2)), X(3, 5))
ROW("squeeze: a view of a view", "squeeze", gra_exp(t, gra_squeeze(t, gra_squeeze(t, gra_neg(t, x), 0), -1)),
    X(1, 3, 1))
ROW("squeeze: to a number", "squeeze", gra_squeeze(t, gra_exp(t, x), 0), X(1))
ROW("squeeze: what is returned", "squeeze", gra_squeeze(t, gra_exp(t, x), 0), X(1, 17))
SHAPE(gra_squeeze(t, AS(x, 1, 6), 0), GRA_SHAPE(6))
SHAPE(gra_squeeze(t, AS(x, 6, 1), -1), GRA_SHAPE(6))
SHAPE(gra_squeeze(t, AS(x, 1, 6), 1), GRA_SHAPE(1, 6))          /* size 6 stays, as in PyTorch */
SHAPE(gra_squeeze(t, gra_full(t, 1, GRA_SHAPE(1, 1)), 0), GRA_SHAPE(1))
SHAPE(gra_squeeze(t, NO_ROWS, 0), GRA_SHAPE(0, 3))
REFUSED(gra_squeeze(t, x, 2), "squeeze: got dimension 2" HAS_2)
REFUSED(gra_squeeze(t, gra_sum(t, x), -1), "squeeze: got dimension -1" HAS_0)

ROW("unsqueeze: an outer product", "unsqueeze", gra_mul(t, gra_unsqueeze(t, x, 0), gra_unsqueeze(t, x, -1)),
    X(17))
ROW("unsqueeze: a number", "unsqueeze", gra_mul(t, gra_unsqueeze(t, x, 0), gra_unsqueeze(t, x, -1)), X0)
ROW("unsqueeze: a view of a view", "unsqueeze",
    gra_exp(t, gra_unsqueeze(t, gra_unsqueeze(t, gra_neg(t, x), 1), -1)), X(3, 17))
ROW("unsqueeze: what is returned", "unsqueeze", gra_unsqueeze(t, gra_exp(t, x), 0), X(3, 17))
SHAPE(gra_unsqueeze(t, x, 0), GRA_SHAPE(1, 2, 3))
SHAPE(gra_unsqueeze(t, x, -1), GRA_SHAPE(2, 3, 1))
SHAPE(gra_unsqueeze(t, x, -2), GRA_SHAPE(2, 1, 3))
SHAPE(gra_unsqueeze(t, x, -3), GRA_SHAPE(1, 2, 3))
SHAPE(gra_unsqueeze(t, NO_ROWS, 1), GRA_SHAPE(0, 1, 3))
SHAPE(gra_unsqueeze(t, gra_scalar(t, 2), -1), GRA_SHAPE(1))
SHAPE(gra_unsqueeze(t, ONES(2, 1, 1, 1, 1, 1, 3), -1), GRA_SHAPE(2, 1, 1, 1, 1, 1, 3, 1))
#define FROM_THE_END " for a tensor (2, 3), expected -3 to 2: count from 0, or from the end with -1"
REFUSED(gra_unsqueeze(t, x, 3), "unsqueeze: got dimension 3" FROM_THE_END)
REFUSED(gra_unsqueeze(t, x, -4), "unsqueeze: got dimension -4" FROM_THE_END)
REFUSED(gra_unsqueeze(t, ONES(2, 1, 1, 1, 1, 1, 1, 1), 0),
        "unsqueeze: got a tensor (2, 1, 1, 1, 1, 1, 1, 1), "
        "expected one of at most 7 dimensions: there is no room for another")

ROW("expand: a column", "expand", gra_expand(t, x, GRA_SHAPE(2, 3, 17)), X(3, 1))
ROW("expand: in the middle", "expand", gra_expand(t, x, GRA_SHAPE(2, 3, 17)), X(2, 1, 17))
ROW("expand: first and last", "expand", gra_expand(t, x, GRA_SHAPE(2, 3, 17)), X(1, 3, 1))
ROW("expand: a vector to rows", "expand", gra_expand(t, x, GRA_SHAPE(2, 3, 17)), X(17))
ROW("expand: a number", "expand", gra_expand(t, x, GRA_SHAPE(2, 3, 17)), X0)
ROW("expand: nothing", "expand", gra_expand(t, x, GRA_SHAPE(2, 3, 17)), X(2, 3, 17))
ROW("expand: sizes kept", "expand", gra_expand(t, x, GRA_SHAPE(2, -1, -1, 4)), X(3, 1, 1))
ANSWER(gra_expand(t, MATRIX(1, 3, 1, 2, 3), GRA_SHAPE(2, 3)), TO(1, 2, 3, 1, 2, 3))
ANSWER(gra_expand(t, MATRIX(2, 1, 4, 5), GRA_SHAPE(-1, 3)), TO(4, 4, 4, 5, 5, 5))
ANSWER(gra_expand(t, MATRIX(2, 1, 4, 5), GRA_SHAPE(2, -1, 2)), TO(4, 4, 5, 5, 4, 4, 5, 5))
ANSWER(gra_expand(t, gra_scalar(t, 7), GRA_SHAPE(3)), TO(7, 7, 7))
SHAPE(gra_expand(t, ONES(2, 1), GRA_SHAPE(2, -1, 2)), GRA_SHAPE(2, 2, 2))
SHAPE(gra_expand(t, gra_scalar(t, 7), GRA_SCALAR), GRA_SCALAR)
SHAPE(gra_expand(t, ONES(1, 3), GRA_SHAPE(0, 3)), GRA_SHAPE(0, 3))
SHAPE(gra_expand(t, NO_ROWS, GRA_SHAPE(2, -1, 3)), GRA_SHAPE(2, 0, 3))
SHAPE(gra_expand(t, ONES(1, 3), GRA_SHAPE(1, 1, 1, 1, 1, 2, -1, -1)), GRA_SHAPE(1, 1, 1, 1, 1, 2, 1, 3))
#define OWN_SIZES ", expected its own sizes from the right: only a 1 may change, -1 keeps a size, a new "    \
                  "dimension has no size to keep"
#define ONE_FOR_EACH " for a tensor (2, 3), expected 2 to 8: one for each dimension, new dimensions first"
REFUSED(gra_expand(t, x, GRA_SHAPE(4, 3)), "expand: got shape (4, 3) for a tensor (2, 3)" OWN_SIZES)
REFUSED(gra_expand(t, x, GRA_SHAPE(1, 3)), "expand: got shape (1, 3) for a tensor (2, 3)" OWN_SIZES)
REFUSED(gra_expand(t, x, GRA_SHAPE(0, 3)), "expand: got shape (0, 3) for a tensor (2, 3)" OWN_SIZES)
REFUSED(gra_expand(t, x, GRA_SHAPE(-2, 3)), "expand: got shape (-2, 3) for a tensor (2, 3)" OWN_SIZES)
REFUSED(gra_expand(t, x, GRA_SHAPE(-1, 2, 3)), "expand: got shape (-1, 2, 3) for a tensor (2, 3)" OWN_SIZES)
REFUSED(gra_expand(t, NO_ROWS, GRA_SHAPE(1, 3)), "expand: got shape (1, 3) for a tensor (0, 3)" OWN_SIZES)
REFUSED(gra_expand(t, gra_scalar(t, 1), GRA_SHAPE(-1)), "expand: got shape (-1) for a tensor ()" OWN_SIZES)
REFUSED(gra_expand(t, x, GRA_SHAPE(3)), "expand: got 1 sizes" ONE_FOR_EACH)
REFUSED(gra_expand(t, x, (gra_shape){ 9, { 1, 1, 1, 1, 1, 1, 2, 3 } }), "expand: got 9 sizes" ONE_FOR_EACH)

ROW("transpose", "permute", gra_transpose(t, x, 0, 1), X(3, 17))
ROW("transpose: beyond a group", "permute", gra_transpose(t, x, 0, 1), X(19, 37))
ROW("transpose: last two", "permute", gra_transpose(t, x, -2, -1), X(2, 3, 17))
ROW("transpose: first two", "permute", gra_transpose(t, x, 0, 1), X(2, 3, 17))
ROW("transpose: first and last", "permute", gra_transpose(t, x, 0, -1), X(2, 3, 17))
ROW("transpose: nothing", "permute", gra_transpose(t, x, 1, 1), X(3, 17))
ROW("permute: heads", "permute", gra_permute(t, x, INTS(0, 2, 1, 3)), X(2, 3, 4, 5))
ROW("permute: first to last", "permute", gra_permute(t, x, INTS(1, 2, 3, 0)), X(2, 3, 4, 5))
ROW("permute: last to first", "permute", gra_permute(t, x, INTS(-1, 0, 1, 2)), X(2, 3, 4, 5))
ROW("permute: a number", "permute", gra_permute(t, x, NULL), X0)
ANSWER(gra_transpose(t, x, 0, 1), TO(1, 4, 2, 5, 3, 6))
ANSWER(gra_permute(t, AS(x, 1, 2, 3), INTS(2, 0, 1)), TO(1, 4, 2, 5, 3, 6))
SHAPE(gra_permute(t, AS(x, 1, 2, 3), INTS(2, 0, 1)), GRA_SHAPE(3, 1, 2))
REFUSED(gra_permute(t, x, INTS(0, 2)), "permute: got dimension 2" HAS_2)
REFUSED(gra_permute(t, x, INTS(1, -1)),
        "permute: got dimension 1 twice, expected each of the 2 dimensions of (2, 3) once")
REFUSED(gra_permute(t, x, NULL),
        "permute: got NULL for the dims, expected an order of the 2 dimensions of (2, 3)")
REFUSED(gra_transpose(t, x, 0, 2), "transpose: got dimension 2" HAS_2)
REFUSED(gra_transpose(t, x, 3, 0), "transpose: got dimension 3" HAS_2)

ROW("concat: first", "concat", gra_concat(t, 3, in, 0), X(3, 5), W(1, 5), B(2, 5))
ROW("concat: last", "concat", gra_concat(t, 3, in, -1), X(3, 17), W(3, 1), B(3, 5))
ROW("concat: middle", "concat", gra_concat(t, 2, in, 1), X(2, 3, 5), W(2, 1, 5))
ROW("concat: of one", "concat", gra_concat(t, 1, in, 0), X(3, 5))
ROW("concat: x three times", "concat", gra_concat(t, 3, LIST(x, x, AS(x, 3, 17)), 1), X(3, 17))
ROW("stack: first", "concat", gra_stack(t, 2, in, 0), X(3, 5), W(3, 5))
ROW("stack: middle", "concat", gra_stack(t, 2, in, 1), X(3, 5), W(3, 5))
ROW("stack: last, one twice", "concat", gra_stack(t, 3, LIST(x, w, x), -1), X(3, 5), W(3, 5))
ANSWER(gra_concat(t, 2, LIST(x, MATRIX(1, 3, 7, 8, 9)), 0), TO(1, 2, 3, 4, 5, 6, 7, 8, 9))
ANSWER(gra_concat(t, 2, LIST(x, MATRIX(2, 1, 7, 8)), -1), TO(1, 2, 3, 7, 4, 5, 6, 8))
#define AND_0_ONLY ", expected them to differ only in dimension 0"
#define IN_ALL      ", and at most 8 dimensions in all"
REFUSED(gra_concat(t, 2, LIST(x, AS(x, 3, 2)), 0),
        "concat: got tensor 0 (2, 3) and tensor 1 (3, 2)" AND_0_ONLY)
REFUSED(gra_concat(t, 2, LIST(x, ONES(3)), 0), "concat: got tensor 0 (2, 3) and tensor 1 (3)" AND_0_ONLY)
REFUSED(gra_concat(t, 1, &x, 2), "concat: got dimension 2" HAS_2)
REFUSED(gra_concat(t, 2, LIST(ONES(INT_MAX, 0), ONES(1, 0)), 0),
        ADDRESSES_OF_32_BITS
            ? "gra_full: got the shape (2147483647, 0), expected sizes of 0 or more that fit in memory"
            : "concat: dimension 0 would have more than 2147483647 entries")
REFUSED(gra_concat(t, 0, &x, 0), "concat: got 0 tensors, expected at least one")
REFUSED(gra_concat(t, -1, NULL, 0), "concat: got -1 tensors, expected at least one")
REFUSED(gra_concat(t, 2, NULL, 0), "concat: got NULL for the tensors, expected an array of 2")
REFUSED(gra_stack(t, 2, LIST(x, ONES(3)), 0),
        "stack: got tensor 0 (2, 3) and tensor 1 (3), expected one shape")
REFUSED(gra_stack(t, 1, &x, 3), "stack: got new dimension 3 for tensors (2, 3), expected -3 to 2" IN_ALL)
REFUSED(gra_stack(t, 1, &x, -4), "stack: got new dimension -4 for tensors (2, 3), expected -3 to 2" IN_ALL)
REFUSED(gra_stack(t, 1, LIST(AS(x, 2, 3, 1, 1, 1, 1, 1, 1)), 0),
        "stack: got new dimension 0 for tensors (2, 3, 1, 1, 1, 1, 1, 1), expected -9 to 8" IN_ALL)
REFUSED(gra_stack(t, 0, &x, 0), "stack: got 0 tensors, expected at least one")
REFUSED(gra_stack(t, 1, NULL, 0), "stack: got NULL for the tensors, expected an array of 1")

ROW("slice: first", "slice", gra_slice(t, x, 0, 1, 3), X(3, 17))
ROW("slice: middle", "slice", gra_slice(t, x, 1, -3, -1), X(2, 7, 5))
ROW("slice: last", "slice", gra_slice(t, x, -1, 5, 17), X(3, 17))
ROW("slice: all of it", "slice", gra_slice(t, x, 0, 0, 3), X(3, 5))
ROW("slice: two that overlap", "slice", gra_mul(t, gra_slice(t, x, -1, 0, 10), gra_slice(t, x, -1, 7, 17)),
    X(3, 17))
ANSWER(gra_slice(t, x, 1, 1, 3), TO(2, 3, 5, 6))
ANSWER(gra_slice(t, x, -2, -1, 2), TO(4, 5, 6))
#define OF_3_ENTRIES " in dimension 1 of a tensor (2, 3), expected a range within its 3 entries"
REFUSED(gra_slice(t, x, 1, 2, 4), "slice: got 2:4" OF_3_ENTRIES)
REFUSED(gra_slice(t, x, 1, -4, 2), "slice: got -4:2" OF_3_ENTRIES)
REFUSED(gra_slice(t, x, 1, 2, 1), "slice: got 2:1" OF_3_ENTRIES)
REFUSED(gra_slice(t, x, 2, 0, 1), "slice: got dimension 2" HAS_2)

/* ---- for language models ---- */

static const int ids[] = { 2, 0, 4, 4, 1, 2 };          /* 3 is absent; 2 and 4 occur twice */
ROW("embedding", "embedding", gra_embedding(t, x, ids, GRA_SHAPE(6)), W(5, 17))
ROW("embedding: a matrix of ids", "embedding", gra_embedding(t, x, ids, GRA_SHAPE(2, 3)), W(5, 3))
ROW("embedding: one id", "embedding", gra_embedding(t, x, ids, GRA_SCALAR), W(5, 3))
#define OF_2 ", expected one of the vocabulary's 2 entries (0 to 1)"
REFUSED(gra_embedding(t, x, INTS(0, 1, 1, 2), GRA_SHAPE(4)), "embedding: got id 2 at position 3" OF_2)
REFUSED(gra_embedding(t, x, INTS(-1), GRA_SHAPE(1)), "embedding: got id -1 at position 0" OF_2)
REFUSED(gra_embedding(t, x, NULL, GRA_SHAPE(4)), "embedding: got NULL for the ids, expected 4")
REFUSED(gra_embedding(t, VECTOR(1, 2), INTS(0), GRA_SHAPE(1)),
        "embedding: got weight (2), expected (vocabulary, dim)")
REFUSED(gra_embedding(t, x, INTS(0), (gra_shape){ .ndim = 9 }),
        "embedding: got ids of 9 dimensions, expected 0 to 7, and no negative size")
REFUSED(gra_embedding(t, x, INTS(0), GRA_SHAPE(-1)),
        "embedding: got ids of 1 dimensions, expected 0 to 7, and no negative size")

static const int target[] = { 2, 0, 4, 4, 1, 2 }, far_target[] = { 299, 17 }, first_target[6] = { 0 };
static const int some_target[] = { 1, GRA_IGNORE_INDEX, 0, GRA_IGNORE_INDEX, 4, 3 };
#define ENTROPY(op)                                                                                      \
    ROW(#op, #op, gra_##op(t, x, target), X(6, 17))                                                      \
    ROW(#op ": a batch", #op, gra_##op(t, x, target), X(2, 3, 5))                                        \
    ROW(#op ": one row", #op, gra_##op(t, x, target), X(3))                                              \
    ROW(#op ": rows ignored", #op, gra_##op(t, x, some_target), X(6, 5))                                 \
    ROW(#op ": many classes", #op, gra_##op(t, x, far_target), X(2, 300))
ENTROPY(cross_entropy)
FLAT("cross_entropy: one class", "cross_entropy", gra_cross_entropy(t, x, first_target), X(3, 1))
/* The losses of these rows: (0, 0) log 2, (10000, -10000) 0 or 20000, (1, 2) with target 0 SECOND. */
#define SECOND 1.3132616875182228340
#define LOGITS MATRIX(3, 2, 0, 0, 10000, -10000, 1, 2)
ANSWER(gra_cross_entropy(t, LOGITS, INTS(1, 0, 0)), TO((log2_ + SECOND) / 3))
ANSWER(gra_cross_entropy(t, LOGITS, INTS(1, 1, 0)), TO((log2_ + 20000 + SECOND) / 3))
ANSWER(gra_cross_entropy(t, LOGITS, INTS(-100, -100, 0)), TO(SECOND))
ANSWERS(MATRIX(2, 2, 20, 0, -40, 0), gra_cross_entropy_unreduced(t, x, INTS(0, 1)), TO(LOSS(20), LOSS(40)),
        TO(-SLIGHT(20), SLIGHT(20), 2 * SLIGHT(40), -2 * SLIGHT(40)))
ANSWER(gra_cross_entropy(t, MATRIX(1, 2, 1, nan_), INTS(0)), TO(nan_))
ANSWER(gra_cross_entropy(t, MATRIX(1, 2, inf, 0), INTS(0)), TO(nan_))
ANSWERS(MATRIX(1, 3, 10000, 10000, 10000), gra_cross_entropy(t, x, INTS(1)),
        TO(1.09861228866810969140), TO(over3, over3 - 1, over3))
ANSWERS(MATRIX(1, 3, SCORES), gra_cross_entropy(t, x, INTS(2)), TO(20000 - LOG_HIGH), TO(HIGH, LOW, -1))
ANSWERS(MATRIX(3, 3, -inf, -inf, -inf, 0, -inf, 0, -inf, 1e4, -inf), gra_cross_entropy(t, x, INTS(2, 0, 1)),
        TO(log2_ / 3), TO(0, 0, 0, -0.5 / 3, 0, 0.5 / 3, 0, 0, 0))
ANSWERS(MATRIX(2, 2, -inf, -inf, -inf, -inf), gra_cross_entropy(t, x, INTS(1, 0)), TO(0), TO(0, 0, 0, 0))
ANSWERS(MATRIX(1, 2, 5, -inf), gra_cross_entropy(t, x, INTS(1)), TO(inf), TO(1, -1))     /* -log 0 */
ANSWERS(MATRIX(2, 2, 1, 2, 3, 4), gra_cross_entropy(t, x, INTS(-100, -100)), TO(nan_), TO(0, 0, 0, 0))
#define OF_3 ", expected one of 3 classes (0 to 2), or -100 to skip the row"
REFUSED(gra_cross_entropy(t, x, INTS(0, 3)), "cross_entropy: got target 3 in row 1" OF_3)
REFUSED(gra_cross_entropy(t, x, INTS(-1, 0)), "cross_entropy: got target -1 in row 0" OF_3)
REFUSED(gra_cross_entropy(t, x, NULL), "cross_entropy: got NULL for the targets, expected 2")
REFUSED(gra_cross_entropy(t, gra_sum(t, x), INTS(0)), "cross_entropy: got logits (), expected (..., classes)")

ENTROPY(cross_entropy_unreduced)
ANSWERS(MATRIX(5, 2, 0, 0, 10000, -10000, 1, 2, -inf, -inf, nan_, 0),
        gra_cross_entropy_unreduced(t, x, INTS(1, 1, 0, 1, -100)), TO(log2_, 20000, SECOND, 0, 0),
        TO(0.5, -0.5, 2, -2, -3 * HIGH, 3 * HIGH, 0, 0, 0, 0))
SHAPE(gra_cross_entropy_unreduced(t, LOGITS, INTS(0, 0, 0)), GRA_SHAPE(3))
SHAPE(gra_cross_entropy_unreduced(t, gra_zeros(t, GRA_SHAPE(2, 0, 3)), NULL), GRA_SHAPE(2, 0))
SHAPE(gra_cross_entropy_unreduced(t, gra_zeros(t, GRA_SHAPE(2, 1, 3)), INTS(0, 2)), GRA_SHAPE(2, 1))
SHAPE(gra_cross_entropy_unreduced(t, VECTOR(0, 0), INTS(0)), GRA_SCALAR)
REFUSED(gra_cross_entropy_unreduced(t, x, INTS(0, 3)), "cross_entropy_unreduced: got target 3 in row 1" OF_3)
REFUSED(gra_cross_entropy_unreduced(t, x, NULL),
        "cross_entropy_unreduced: got NULL for the targets, expected 2")
REFUSED(gra_cross_entropy_unreduced(t, gra_sum(t, x), INTS(0)),
        "cross_entropy_unreduced: got logits (), expected (..., classes)")
REFUSED(gra_cross_entropy_unreduced(t, gra_slice(t, x, 1, 0, 0), INTS(0, 0)),
        "cross_entropy_unreduced: got logits (2, 0), expected (..., classes) with at least one class: "
        "the loss of a row is that of its target")

ROW("mse_loss", "mse_loss", gra_mse_loss(t, x, w), X(3, 17), W(3, 17))
ROW("mse_loss: numbers", "mse_loss", gra_mse_loss(t, x, w), X0, W0)
ROW("mse_loss: x with itself", "mse_loss", gra_mse_loss(t, gra_scale(t, x, 2), AS(x, 3, 17)), X(3, 17))
REFUSED(gra_mse_loss(t, x, VECTOR(1, 2, 3)), "mse_loss: got x (2, 3) and target (3): their shapes differ")

ROW("binary_cross_entropy", "binary_cross_entropy", gra_binary_cross_entropy(t, x, w),
    PROBABILITY("x", 3, 17), PROBABILITY("w", 3, 17))
ANSWERS(VECTOR(0, 1, 1), gra_binary_cross_entropy(t, x, VECTOR(0, 1, 0)), TO(100 * over3), /* no log < -100 */
        TO(0, 0, 1e12 / 3))                             /* p (1 - p) counts as at least 1e-12 */
ANSWERS(VECTOR(0, 1, 0), gra_binary_cross_entropy(t, VECTOR(0, 1, 1), x), TO(100 * over3),
        TO(100 * over3, -100 * over3, -100 * over3))
ANSWER(gra_binary_cross_entropy(t, VECTOR(0, 1), VECTOR(1, 0)), TO(100))
ANSWERS(VECTOR(0, 0), gra_binary_cross_entropy(t, VECTOR(0x1p-40, 0x1p-30), x),
        TO(-(log1p(-0x1p-40) + log1p(-0x1p-30)) / 2),
        TO((40 * log2_ + log1p(-0x1p-40)) / 2, (30 * log2_ + log1p(-0x1p-30)) / 2))
ANSWER(gra_binary_cross_entropy(t, VECTOR(0x1p-60), VECTOR(0)), TO(0x1p-60))
REFUSED(gra_binary_cross_entropy(t, x, VECTOR(1, 2, 3)),
        "binary_cross_entropy: got p (2, 3) and target (3): their shapes differ")
#define PROBABILITIES ", expected a probability, from 0 to 1: for logits call "                              \
                      "gra_binary_cross_entropy_with_logits"
REFUSED(gra_binary_cross_entropy(t, x, x), "binary_cross_entropy: got 2 in element 1 of p" PROBABILITIES)
REFUSED(gra_binary_cross_entropy(t, VECTOR(0, -1), VECTOR(1, 1)),
        "binary_cross_entropy: got -1 in element 1 of p" PROBABILITIES)

ROW("binary_cross_entropy_with_logits", "binary_cross_entropy_with_logits",
    gra_binary_cross_entropy_with_logits(t, x, w), WIDE(3, 17), PROBABILITY("w", 3, 17))
ANSWERS(VECTOR(10000, -10000, 10000), gra_binary_cross_entropy_with_logits(t, x, VECTOR(1, 0, 0)),
        TO(10000 * over3), TO(0, 0, over3))
ANSWERS(VECTOR(20), gra_binary_cross_entropy_with_logits(t, x, VECTOR(1)), TO(LOSS(20)), TO(-SLIGHT(20)))
ANSWERS(VECTOR(-40), gra_binary_cross_entropy_with_logits(t, x, VECTOR(0)), TO(LOSS(40)), TO(SLIGHT(40)))
ANSWER(gra_binary_cross_entropy_with_logits(t, VECTOR(10, -80), VECTOR(1, 0)), TO((LOSS(10) + LOSS(80)) / 2))
ANSWER(gra_binary_cross_entropy_with_logits(t, VECTOR(41), VECTOR((real)(1 - 2 * NEXT))),
       TO(41 * 2 * NEXT + LOSS(41)))
REFUSED(gra_binary_cross_entropy_with_logits(t, x, VECTOR(1, 2, 3)),
        "binary_cross_entropy_with_logits: got x (2, 3) and target (3): their shapes differ")

ROW("binary_cross_entropy_unreduced", "binary_cross_entropy_unreduced",
    gra_binary_cross_entropy_unreduced(t, x, w), PROBABILITY("x", 3, 17), PROBABILITY("w", 3, 17))
ROW("binary_cross_entropy_with_logits_unreduced", "binary_cross_entropy_with_logits_unreduced",
    gra_binary_cross_entropy_with_logits_unreduced(t, x, w), WIDE(3, 17), PROBABILITY("w", 3, 17))

static gra_tensor *hidden(gra_tape *t)          /* the second of three queries sees no key */
{
    return gra_constant(t, (const real[]){ 0, -inf, 0, -inf, -inf, -inf, -inf, 0, 0 }, GRA_SHAPE(3, 3));
}

/* test_attention.c compares attention with other ops, in all sizes, causal or not, with dropout or a mask. */
#define ATTENDED(...)  gra_attention(t, x, w, b, HOW(__VA_ARGS__))
#define TO_ITSELF(...) gra_attention(t, x, x, x, HOW(__VA_ARGS__))
ROW("attention", "attention", ATTENDED(.heads = 1), X(2, 3, 5), W(2, 3, 5), B(2, 3, 7))
ROW("attention: heads", "attention", ATTENDED(.heads = 3), X(2, 4, 6), W(2, 5, 6), B(2, 5, 9))
ROW("attention: heads, self", "attention", TO_ITSELF(.heads = 3), X(2, 5, 6))
ROW("attention: grouped", "attention", ATTENDED(.heads = 4, .causal = true),
    X(2, 5, 12), W(2, 6, 6), B(2, 6, 10))
ROW("attention: causal, heads", "attention", ATTENDED(.heads = 3, .causal = true),
    X(2, 3, 6), W(2, 5, 6), B(2, 5, 3))
TRAIN("attention: all at once", "attention", ATTENDED(.heads = 3, .causal = true, .dropout = 0.3),
    X(2, 3, 6), W(2, 5, 6), B(2, 5, 9))
ROW("attention: a mask", "attention", ATTENDED(.heads = 3, .mask = m),
    X(2, 4, 6), W(2, 5, 6), B(2, 5, 9), M(2, 3, 4, 5))
ROW("attention: a mask of heads", "attention", ATTENDED(.heads = 3, .mask = m),
    X(2, 4, 6), W(2, 5, 6), B(2, 5, 9), M(3, 1, 5))
ROW("attention: a mask of sequences", "attention", ATTENDED(.heads = 3, .mask = m),
    X(2, 34, 3), W(2, 3, 3), B(2, 3, 3), M(2, 1, 34, 3))
ROW("attention: a mask, grouped, causal", "attention", ATTENDED(.heads = 4, .causal = true, .mask = m),
    X(2, 5, 12), W(2, 6, 6), B(2, 6, 10), M(5, 6))
ROW("attention: its own mask", "attention", TO_ITSELF(.heads = 1, .mask = x), X(1, 3, 3))
ROW("attention: hidden keys", "attention", ATTENDED(.heads = 1, .mask = hidden(t)),
    X(2, 3, 4), W(2, 3, 4), B(2, 3, 2))
TRAIN("attention: a mask, dropout", "attention", ATTENDED(.heads = 2, .mask = m, .dropout = 0.3),
    X(2, 3, 8), W(2, 4, 8), B(2, 4, 6), M(4))
/* Keys that give the three scores 10000, 9999 and -10000 for queries of 1. */
#define KEYS AS(VECTOR(SCORES), 1, 3, 1)
ANSWERS(AS(VECTOR(1, 2, 3), 1, 3, 1), gra_attention(t, ONES(1, 1, 1), KEYS, x, HOW(.heads = 1)),
        TO(HIGH + 2 * LOW), TO(HIGH, LOW, 0))
ANSWERS(KEYS, gra_attention(t, ONES(1, 1, 1), x, AS(VECTOR(1, 2, 3), 1, 3, 1), HOW(.heads = 1)),
        TO(HIGH + 2 * LOW), TO(-HIGH * LOW, HIGH * LOW, 0))
/* The first three of four queries precede the only key. */
#define ONE(value) AS(VECTOR(value), 1, 1, 1)
#define FOUR       AS(VECTOR(1, 2, 3, 4), 1, 4, 1)
#define BACK       HOW(.heads = 1, .causal = true)
ANSWERS(FOUR, gra_attention(t, x, ONE(5), ONE(7), BACK), TO(0, 0, 0, 7), TO(0, 0, 0, 0))
ANSWERS(ONE(5), gra_attention(t, FOUR, x, ONE(7), BACK), TO(0, 0, 0, 7), TO(0))
ANSWERS(ONE(7), gra_attention(t, FOUR, ONE(5), x, BACK), TO(0, 0, 0, 7), TO(4))
#define ATTEND(q, k, v, ...) gra_attention(t, ONES q, ONES k, ONES v, HOW(__VA_ARGS__))
#define REFUSED_QKV(q, k, v, why)                                                                        \
    REFUSED(ATTEND(q, k, v, .heads = 1), "attention: got q " #q ", k " #k ", v " #v why)
#define THREE ", expected (batch, time, dim) for each"
#define AGREE ", expected one batch size, and one time for k and v"
REFUSED_QKV((2, 4), (1, 2, 4), (1, 2, 4), THREE)
REFUSED_QKV((1, 2, 4), (2, 4), (1, 2, 4), THREE)
REFUSED_QKV((1, 2, 4), (1, 2, 4), (2, 4), THREE)
REFUSED_QKV((1, 2, 4), (1, 3, 4), (1, 2, 4), AGREE)
REFUSED_QKV((2, 2, 4), (1, 2, 4), (1, 2, 4), AGREE)
REFUSED_QKV((1, 2, 4), (1, 2, 4), (2, 2, 4), AGREE)
#define REFUSED_HEADS(q, k, v, n, each)                                                                  \
    REFUSED(ATTEND(q, k, v, .heads = n), "attention: got k " #k " and v " #v " for q " #q " of " each    \
            " columns, expected as many heads in k and v, or a divisor of " #n)
REFUSED_HEADS((1, 2, 4), (1, 2, 4), (1, 2, 6), 4, "4 heads of 1")
REFUSED_HEADS((1, 2, 8), (1, 2, 6), (1, 2, 6), 4, "4 heads of 2")
REFUSED_HEADS((1, 2, 8), (1, 2, 4), (1, 2, 5), 4, "4 heads of 2")
REFUSED_HEADS((1, 2, 8), (1, 2, 0), (1, 2, 8), 4, "4 heads of 2")
REFUSED_HEADS((1, 2, 4), (1, 2, 6), (1, 2, 4), 1, "1 head of 4")
#define REFUSED_SHARE(q, n)                                                                              \
    REFUSED(ATTEND(q, q, (1, 2, 4), .heads = n),                                                         \
            "attention: got " #n " heads for q " #q ", expected a last size that is a multiple of "    \
            "the heads, and not 0")
REFUSED_SHARE((1, 2, 4), 0)
REFUSED_SHARE((1, 2, 4), 3)
REFUSED_SHARE((1, 2, 0), 2)
REFUSED(ATTEND((1, 2, 4), (1, 2, 4), (1, 2, 4), .heads = 1, .dropout = 1),
        "attention: got dropout 1, expected 0 <= dropout < 1")
REFUSED(ATTEND((1, 2, 4), (1, 2, 4), (1, 2, 4), .heads = 1, .dropout = -1),
        "attention: got dropout -1, expected 0 <= dropout < 1")
REFUSED((gra_begin(t, GRA_TRAIN, NULL), ATTEND((1, 2, 4), (1, 2, 4), (1, 2, 4), .heads = 1, .dropout = 0.5)),
        "attention: got no generator, expected one: pass it to gra_begin(t, GRA_TRAIN, &rng)")
REFUSED(ATTEND((1, 1, 65536), (1, 1, 1), (1, 1, 65536), .heads = 65536),
        "attention: got v (1, 1, 65536) for 65536 heads, expected fewer columns: the result would have more "
        "than 2147483647")
#define MASKED ", expected one that broadcasts to the scores, (batch, heads, time, keys) = "
REFUSED(ATTEND((2, 3, 4), (2, 5, 4), (2, 5, 4), .heads = 2, .mask = ONES(4, 5)),
        "attention: got mask (4, 5)" MASKED "(2, 2, 3, 5)")
REFUSED(ATTEND((1, 3, 4), (1, 3, 4), (1, 3, 4), .heads = 1, .mask = ONES(2, 1, 1, 1, 3)),
        "attention: got mask (2, 1, 1, 1, 3)" MASKED "(1, 1, 3, 3)")
REFUSED(gra_attention(t, x, x, x, NULL), "attention: got NULL for the options, expected a "
        "gra_attention_options, as in &(gra_attention_options){ .heads = 1 }")

/* ---- tensors of a step ---- */

ANSWER(gra_scalar(t, 2.5), TO(2.5))
ANSWER(gra_zeros(t, GRA_SHAPE(2)), TO(0, 0))
ANSWER(gra_ones(t, GRA_SHAPE(1, 2)), TO(1, 1))
ANSWER(gra_arange(t, 4), TO(0, 1, 2, 3))
SHAPE(gra_scalar(t, 2.5), GRA_SCALAR)
SHAPE(gra_ones(t, GRA_SHAPE(1, 2)), GRA_SHAPE(1, 2))
SHAPE(gra_arange(t, 0), GRA_SHAPE(0))
REFUSED(gra_arange(t, -1), "gra_arange: got the shape (-1), expected sizes of 0 or more that fit in memory")

enum { ROWS = __COUNTER__ - BEFORE - 1 };
struct op_case op_cases[ROWS];
const int op_cases_count = ROWS;
