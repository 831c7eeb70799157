/* Products of bfloat16 numbers: every value is that of a scalar loop, bit for bit, by the processor's
 * instruction and in plain C, on any number of threads. */
#include "core/tape/tape.h"
#include "core/kern/gemm.h"
#include "core/kern/gemv.h"
#include "lib/isa.h"
#include "lib/suites.h"

#include <float.h>
#include <stdlib.h>

CASE(bf16, NULL, NULL, "long")

#ifdef GRADUS_DOUBLE
TEST(bf16_is_refused_in_double)
{
    gra_tape *t = gra_open(1);
    gra_keep_going(t, true);
    ck_assert_int_eq(gra_products(t, GRA_BF16), -1);
    ck_assert_str_eq(gra_error(t), "gra_products: got GRA_BF16 in libgradus64, which computes in double: use "
                     "libgradus");
    ck_assert_int_eq(gra_products(t, GRA_FLOAT), 0);
    gra_close(t);
}
#else

/* ---- the oracle ---- */

static float flushed(float x) { return fabsf(x) < FLT_MIN ? copysignf(0, x) : x; }

/* The nearest number with 8 bits of mantissa, with ties to even, found by arithmetic. */
static float rounded(float x)
{
    int e;
    if (!isfinite(x) || flushed(x) == 0)
        return isfinite(x) ? copysignf(0, x) : x;
    const double m = frexp((double)x, &e), y = ldexp(rint(ldexp(m, 8)), e - 8);
    return (float)y;                                    /* beyond FLT_MAX: infinity */
}

/* sum + a_p b_p + a_p+1 b_p+1 for p = 0, 2, 4 ...; the second product of each pair comes first. */
static float piece(gra_mat a, gra_mat b, int i, int j, int from, int to)
{
    float sum = 0;
    for (int p = from; p < to; p += 2) {
        float x[2] = { 0 }, y[2] = { 0 };
        for (int q = 0; q < 2 && p + q < to; q++) {
            x[q] = rounded(a.p[i * a.row + (p + q) * a.col]);
            y[q] = rounded(b.p[(p + q) * b.row + j * b.col]);
        }
        sum = flushed(fmaf(x[1], y[1], sum));
        sum = flushed(fmaf(x[0], y[0], sum));
    }
    return sum;
}

static float value(gra_mat a, gra_mat b, int i, int j, bool adds, float c)
{
    const int k = a.cols, depth = 2 * GRA_DEPTH;
    float sum = adds ? c : 0;
    double groups = adds ? (double)c : 0;
    if (k > 1 << 16) {                                  /* groups of 512 in pieces of 64, groups in double */
        for (int g = 0; g < k; g += 512) {
            sum = 0;
            for (int p = g; p < g + 512 && p < k; p += 64)
                sum = piece(a, b, i, j, p, p + 64 < k ? p + 64 : k) + (p > g ? sum : 0);
            groups += (double)sum;
        }
        return (float)groups;
    }
    for (int p = 0; p < k; p += depth) {
        const float part = piece(a, b, i, j, p, p + depth < k ? p + depth : k);
        sum = adds || p > 0 ? part + sum : part;
    }
    return sum;
}

static bool same(float x, float y) { return (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0; }

/* ---- comparing ---- */

static const char *const how[] = { "base+bf16", "avx512" };     /* in plain C; by the instruction */

/* A tape whose next steps compute in bfloat16, after gra_begin, or NULL if this processor cannot. */
static gra_tape *open_bf16(int i, int threads)
{
    setenv("GRADUS_ISA", how[i], 1);
    gra_tape *t = gra_open(threads);
    unsetenv("GRADUS_ISA");
    gra_keep_going(t, true);
    if (gra_products(t, GRA_BF16) == 0) {
        gra_begin(t, GRA_GRAD, NULL);
        return t;
    }
    ck_assert(i == 1);
    gra_close(t);
    return NULL;
}

static gra_mat matrix(real *p, int rows, int cols, bool transposed)
{
    return transposed ? gra_mat_transpose(gra_mat_of(p, cols, rows)) : gra_mat_of(p, rows, cols);
}

/* Bits of all kinds: most are ordinary numbers, some are special, such as NaN and subnormals. */
static void fill(gra_rng *rng, real *x, size_t n, unsigned odd)
{
    gra_randn(rng, x, n);
    for (size_t i = 0; i < n; i++)
        if (odd && gra_randint(rng, odd) == 0) {
            const uint32_t bits = gra_random(rng), kind = (uint32_t)gra_randint(rng, 4);
            const uint32_t some[] = { bits, bits & 0x807FFFFF, 0x7F800000 | (bits & 0x80000000),
                                      (bits & 0x803FFFFF) | 0x01000000 };
            memcpy(x + i, &some[kind], sizeof x[i]);
        }
}

/* form: 1 transposes a, 2 b, 4 accumulates, 8 runs on one thread, 16 transposes c. */
static void compare(gra_tape *t, gra_rng *rng, int m, int n, int k, int form, unsigned odd)
{
    const size_t cells = (size_t)m * (size_t)n, na = (size_t)m * (size_t)k, nb = (size_t)n * (size_t)k;
    real *a = malloc(na * sizeof *a), *b = malloc(nb * sizeof *b), *c = malloc(cells * sizeof *c),
         *before = malloc(cells * sizeof *before);
    fill(rng, a, na, odd), fill(rng, b, nb, odd), fill(rng, c, cells, 0);
    memcpy(before, c, cells * sizeof *c);
    const gra_mat ma = matrix(a, m, k, form & 1), mb = matrix(b, k, n, form & 2);
    const gra_mat mc = matrix(c, m, n, form & 16), old = matrix(before, m, n, form & 16);
    if (form & 8)
        gra_gemm_alone(gra_tape_machine(t), 0, ma, mb, mc, form & 4);
    else
        gra_gemm(gra_tape_machine(t), ma, mb, mc, form & 4);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            const float is = mc.p[i * mc.row + j * mc.col];
            const float should = value(ma, mb, i, j, form & 4, old.p[i * old.row + j * old.col]);
            ck_assert_msg(same(is, should), "%d x %d x %d, form %d, (%d, %d): got %a, expected %a", m, n, k,
                          form, i, j, (double)is, (double)should);
        }
    free(a), free(b), free(c), free(before);
}

TESTS(bf16_products_are_the_scalar_loops, 2)
{
    gra_tape *t = open_bf16(_i, 2);
    gra_rng rng;
    if (!t)
        return;
    gra_manual_seed(&rng, 11);
    for (int form = 0; form < 32; form++) {
        compare(t, &rng, 64, 64, 64, form, 0);
        compare(t, &rng, 37, 83, 91, form, 0);          /* edges, an odd k */
        compare(t, &rng, 131, 70, 33, form, 20);        /* NaN, infinities, subnormals */
        compare(t, &rng, 17, 530, 45, form, 0);         /* several blocks of columns, */
        compare(t, &rng, 19, 21, 1537, form, 0);        /* and pieces of k */
    }
    compare(t, &rng, 16, 17, 65543, 0, 0);                /* a long sum */
    gra_close(t);
}

/* Products that are small, or have few rows or terms, stay in float, as if bfloat16 had not been chosen. */
TESTS(bf16_is_only_for_large_products, 2)
{
    gra_tape *t = open_bf16(_i, 1), *plain = open_with(_i ? "avx512" : "base", 1);
    static const int size[][3] = { { 31, 32, 32 }, { 15, 600, 600 }, { 512, 512, 15 }, { 32, 32, 32 } };
    gra_rng rng;
    if (!t)
        return;
    gra_manual_seed(&rng, 3);
    for (int s = 0; s < 4; s++) {
        const int m = size[s][0], n = size[s][1], k = size[s][2];
        real *a = malloc((size_t)(m * k) * sizeof *a), *b = malloc((size_t)(k * n) * sizeof *b);
        real *c[2] = { malloc((size_t)(m * n) * sizeof **c), malloc((size_t)(m * n) * sizeof **c) };
        fill(&rng, a, (size_t)(m * k), 0), fill(&rng, b, (size_t)(k * n), 0);
        const gra_mat ma = gra_mat_of(a, m, k), mb = gra_mat_of(b, k, n);
        gra_gemm(gra_tape_machine(t), ma, mb, gra_mat_of(c[0], m, n), false);
        gra_gemm(gra_tape_machine(plain), ma, mb, gra_mat_of(c[1], m, n), false);
        ck_assert_int_eq(memcmp(c[0], c[1], (size_t)(m * n) * sizeof **c) == 0, s < 3);
        free(a), free(b), free(c[0]), free(c[1]);
    }
    gra_close(t);
    gra_close(plain);
}

/* ---- training ---- */

/* Newton-Schulz does not converge in bfloat16: from the same gradient, a step of Muon gives the same bits
 * with and without that choice. */
TESTS(bf16_leaves_muon_alone, 2)
{
    gra_tape *t[] = { open_bf16(_i, 2), open_with(_i ? "avx512" : "base", 2) };
    if (!t[0])
        return;
    real *got[2];
    enum { ROWS = 96, COLS = 160 };
    for (int i = 0; i < 2; i++) {
        gra_rng rng;
        gra_manual_seed(&rng, 5);
        gra_model *m = gra_model_open(t[i], &rng);
        gra_tensor *w = gra_param(gra_root(m), "w", gra_init_normal(0, 1), GRA_SHAPE(ROWS, COLS));
        gra_muon muon;
        gra_muon_init(&muon, m, NULL);
        muon.lr = 0.02;
        gra_begin(t[i], GRA_TRAIN, &rng);
        gra_backward(t[i], gra_sum(t[i], gra_mul(t[i], w, w)));
        gra_muon_step(&muon);
        ck_assert_int_eq(gra_machine_bf16(gra_tape_machine(t[i])) != GRA_BF16_NONE, i == 0);
        got[i] = malloc(w->size * sizeof **got);
        memcpy(got[i], w->data, w->size * sizeof **got);
        gra_model_close(m);
        gra_close(t[i]);
    }
    ck_assert(memcmp(got[0], got[1], ROWS * COLS * sizeof **got) == 0);
    free(got[0]), free(got[1]);
}

/* ---- the choice ---- */

static real product_of_64(gra_tape *t, gra_mode mode)
{
    real x[64 * 64];
    gra_rng rng;
    gra_manual_seed(&rng, 1);
    gra_randn(&rng, x, 64 * 64);
    gra_begin(t, mode, NULL);
    gra_tensor *a = gra_constant(t, x, GRA_SHAPE(64, 64));
    return gra_matmul(t, a, a)->data[5];
}

TESTS(bf16_is_for_training, 2)
{
    gra_tape *t = open_bf16(_i, 1), *plain = open_with(_i ? "avx512" : "base", 1);
    if (!t)
        return;
    const real is = product_of_64(plain, GRA_GRAD);
    ck_assert(product_of_64(t, GRA_TRAIN) != is && product_of_64(t, GRA_GRAD) != is);
    ck_assert(product_of_64(t, GRA_EVAL) == is);
    ck_assert_int_eq(gra_products(t, GRA_FLOAT), 0);
    ck_assert(product_of_64(t, GRA_GRAD) == is);
    gra_close(t);
    gra_close(plain);
}

TEST(bf16_is_refused_without_an_instruction)
{
    gra_tape *t = open_with("base", 1);
    gra_keep_going(t, true);
    ck_assert_int_eq(gra_products(t, GRA_BF16), -1);
    ck_assert_str_eq(gra_error(t), "gra_products: got GRA_BF16, but this processor has no instruction for "
                     "products of bfloat16 numbers (AVX512_BF16): use GRA_FLOAT");
    gra_begin(t, GRA_GRAD, NULL);
    ck_assert(!gra_error(t));
    gra_close(t);
}
#endif
