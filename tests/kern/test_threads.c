/* Threads and instruction sets: every product agrees with the naive loop, and the bits do not depend on the
 * number of threads. */
#include "core/tape/tape.h"
#include "core/kern/gemm.h"
#include "core/machine/limits.h"
#include "core/machine/threads.h"
#include "layers/gpt.h"
#include "lib/isa.h"
#include "lib/suites.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static real *drawn(gra_rng *rng, size_t n)
{
    real *x = malloc(n * sizeof *x);
    gra_randn(rng, x, n);
    return x;
}

/* ---- products ---- */

/* The oracle: c = a b (+ c), in double, and the sum of magnitudes, which bounds the rounding error. */
static double value(gra_mat x, int i, int j) { return (double)x.p[i * x.row + j * x.col]; }

static void naive(gra_mat a, gra_mat b, gra_mat c, bool accumulate, double *sum, double *size)
{
    for (int i = 0; i < c.rows; i++)
        for (int j = 0; j < c.cols; j++) {
            double s = accumulate ? value(c, i, j) : 0, z = fabs(s);
            for (int p = 0; p < a.cols; p++) {
                double term = value(a, i, p) * value(b, p, j);
                s += term;
                z += fabs(term);
            }
            *sum++ = s;
            *size++ = z;
        }
}

static gra_mat matrix(real *p, int rows, int cols, bool transposed)
{
    return transposed ? gra_mat_transpose(gra_mat_of(p, cols, rows)) : gra_mat_of(p, rows, cols);
}

enum { STRIDES = 6 };                   /* every second value of every third row */
static gra_mat spread(gra_mat x)
{
    return x.col == 1 ? (gra_mat){ x.p, x.rows, x.cols, STRIDES * x.row, 2 }
                      : (gra_mat){ x.p, x.rows, x.cols, 2, STRIDES * x.col };
}

static void compare_product(gra_tape *t, gra_rng *rng, int m, int n, int k, int form)
{
    const bool ta = form & 1, tb = form & 2, tc = form & 16, accumulate = form & 4, alone = form & 8;
    const size_t cells = (size_t)m * (size_t)n;
    const size_t room = form & 32 ? STRIDES : 1;
    real *a = drawn(rng, (size_t)m * (size_t)k * room + 1), *b = drawn(rng, (size_t)n * (size_t)k * room + 1),
         *c = drawn(rng, cells);
    double *sum = malloc(cells * sizeof *sum), *size = malloc(cells * sizeof *size);
    gra_mat ma = matrix(a, m, k, ta), mb = matrix(b, k, n, tb);
    const gra_mat mc = matrix(c, m, n, tc);
    if (form & 32)
        ma = spread(ma), mb = spread(mb);
    naive(ma, mb, mc, accumulate, sum, size);
    if (alone)
        gra_gemm_alone(gra_tape_machine(t), 0, ma, mb, mc, accumulate);
    else
        gra_gemm(gra_tape_machine(t), ma, mb, mc, accumulate);
    const double unit = sizeof(real) == 4 ? 0x1p-24 : 0x1p-53;
    /* Higham: |error| <= k u sum |a||b|; errors partly cancel, so a much smaller k is enough */
    for (size_t i = 0; i < cells; i++) {
        const double is = value(mc, (int)i / n, (int)i % n);
        ck_assert_msg(fabs(is - sum[i]) <= (2 + sqrt(k)) * 4 * unit * size[i],
                      "%s: %d x %d x %d, form %d, %zu: got %.17g, expected %.17g", gra_isa_name(t), m, n, k,
                      form, i, is, sum[i]);
    }
    free(a), free(b), free(c), free(sum), free(size);
}

CASE(products, NULL, NULL, "long")

TESTS(products_are_right, 3)            /* _i: an instruction set */
{
    gra_tape *t = open_with(isa[_i], 2);
    if (!t)
        return;
    static const int edge[] = { 1, 2, 3, 5, 6, 7, 8, 11, 12, 13, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100 };
    gra_rng rng;
    gra_manual_seed(&rng, 7);
    for (int form = 0; form < 32; form++) {
        for (int i = 0; i < 60; i++)
            compare_product(t, &rng, edge[gra_randint(&rng, 20)], edge[gra_randint(&rng, 20)],
                            edge[gra_randint(&rng, 20)], form);
        compare_product(t, &rng, 5, 4, 0, form);
        compare_product(t, &rng, 131, 70, 700, form);           /* several pieces of k, */
        compare_product(t, &rng, 1300, 9, 17, form);            /* several blocks of rows, */
        compare_product(t, &rng, 7, 2200, 19, form);            /* and of columns */
        compare_product(t, &rng, 1, 1500, 70, form);            /* few rows use another kernel */
        compare_product(t, &rng, 2, 203, 700, form);
        compare_product(t, &rng, 20, 48, 1024, form);         /* rows of a, or of b, that share cache sets */
        compare_product(t, &rng, 20, 1024, 17, form);
        compare_product(t, &rng, 700, 513, 3, form);            /* many groups of packed rows */
        compare_product(t, &rng, 300, 1, 600, form);            /* a single column */
        if (!(form & 16))
            compare_product(t, &rng, 20, 1100, 30, form | 32);  /* enough columns for rows to be packed */
    }
    gra_close(t);
}

/* A row of a product has the same bits whether one thread computes it alone, or several threads compute it
 * with other rows: generation with a key-value cache computes one token at a time. */
TESTS(few_rows_have_the_bits_of_many, 3)        /* _i: an instruction set */
{
    gra_tape *t = open_with(isa[_i], 7), *alone = open_with(isa[_i], 1);
    if (!t)
        return;
    enum { M = 13, N = 1131, K = 603 };
    gra_rng rng;
    gra_manual_seed(&rng, 11);
    real *a = drawn(&rng, M * K), *b = drawn(&rng, N * K), *before = drawn(&rng, M * N);
    real *many = malloc(M * N * sizeof *many), *few = malloc(M * N * sizeof *few);
    static const int depth[] = { 1, 6, 255, 256, 257, 299, K };
    for (int form = 0; form < 4; form++)
        for (size_t d = 0; d < sizeof depth / sizeof *depth; d++) {
            const int k = depth[d];
            const bool accumulate = form & 1;
            const gra_mat whole_a = { a, M, k, K, 1 };
            const gra_mat mb = form & 2 ? (gra_mat){ b, k, N, 1, K } : (gra_mat){ b, k, N, N, 1 };
            memcpy(many, before, M * N * sizeof *many);
            memcpy(few, before, M * N * sizeof *few);
            gra_gemm(gra_tape_machine(t), whole_a, mb, gra_mat_of(many, M, N), accumulate);
            for (int i = 0, m; i < M; i += m) {
                m = i < 9 ? 1 : 2;
                gra_gemm(gra_tape_machine(alone), gra_mat_part(whole_a, i, m, 0, k), mb,
                         gra_mat_of(few + i * N, m, N), accumulate);
            }
            for (int i = 0; i < M * N; i++)
                ck_assert_msg(few[i] == many[i],
                              "%s, form %d, k = %d, row %d, column %d: %.17g, with others %.17g",
                              isa[_i], form, k, i / N, i % N, (double)few[i], (double)many[i]);
        }
    free(a), free(b), free(before), free(many), free(few);
    gra_close(t);
    gra_close(alone);
}

CASE(pool, NULL, NULL, "")

/* ---- the pool ---- */

struct tally {
    atomic_int seen[5000];
    atomic_int wrong_worker;
    int        threads;
};

static void tally_up(void *arg, size_t from, size_t to, int worker)
{
    struct tally *y = arg;
    if (worker < 0 || worker >= y->threads)
        atomic_fetch_add(&y->wrong_worker, 1);
    for (size_t i = from; i < to; i++)
        atomic_fetch_add(&y->seen[i], 1);
}

TESTS(every_unit_once, 5)
{
    const int threads = 1 + _i;
    gra_tape *t = gra_open(threads);
    ck_assert_int_eq(gra_threads(t), threads);
    struct tally *y = calloc(1, sizeof *y);
    y->threads = threads;
    int jobs = 0;
    for (; jobs < 3000; jobs++)         /* many short jobs: a late worker must not take part in the next */
        gra_parallel(gra_tape_machine(t), 1 + (size_t)(jobs % 50), 1 + (size_t)(jobs % 3), tally_up, y);
    gra_parallel(gra_tape_machine(t), 5000, 7, tally_up, y);
    ck_assert_int_eq(y->wrong_worker, 0);
    for (int i = 0; i < 5000; i++) {
        int expected = 1;
        for (int j = 0; i < 50 && j < jobs; j++)
            expected += i < 1 + j % 50;
        ck_assert_int_eq(y->seen[i], expected);
    }
    free(y);
    gra_close(t);
}

TEST(opening_and_closing_often)
{
    for (int i = 0; i < 50; i++)
        gra_close(gra_open(1 + i % 5));
    gra_tape *t = gra_open(0);
    ck_assert_int_ge(gra_threads(t), 1);
    gra_close(t);
    t = gra_open(100000);
    ck_assert_int_eq(gra_threads(t), 256);
    gra_close(t);
    gra_close(NULL);
}

/* ---- ops: large enough to be cut ---- */

static gra_tensor *forward(gra_tape *t, gra_tensor *x, gra_tensor *w, gra_tensor *b)
{
    gra_tensor *y = gra_layer_norm(t, gra_linear(t, x, w, b), b, b, 1e-5);
    y = gra_dropout(t, gra_gelu_tanh(t, gra_add(t, y, b)), 0.1);
    gra_tensor *z = gra_attention(t, y, y, y,
                                  &(gra_attention_options){ .heads = 4, .causal = true, .dropout = 0.1 });
    return gra_mean(t, gra_softmax(t, gra_mul(t, gra_rms_norm(t, z, b, 1e-6), y), -1));
}

TEST(ops_have_the_same_bits)
{
    enum { B = 6, T = 96, C = 64, N = B * T * C };
    gra_rng rng;
    gra_manual_seed(&rng, 9);
    real *x = drawn(&rng, N), *w = drawn(&rng, C * C), *b = drawn(&rng, C);
    real *first = NULL;
    for (int threads = 1; threads <= 4; threads++) {
        gra_tape *t = gra_open(threads);
        gra_manual_seed(&rng, 10);
        gra_begin(t, GRA_TRAIN, &rng);
        gra_tensor *in[] = { gra_input(t, x, GRA_SHAPE(B, T, C)), gra_input(t, w, GRA_SHAPE(C, C)),
                             gra_input(t, b, GRA_SHAPE(C)) };
        gra_tensor *loss = forward(t, in[0], in[1], in[2]);
        ck_assert_int_eq(gra_backward(t, loss), 0);
        real *all = malloc((1 + N + C * C + C) * sizeof *all), *end = all;
        *end++ = loss->data[0];
        for (int i = 0; i < 3; i++)
            end = (real *)memcpy(end, gra_grad(in[i]), in[i]->size * sizeof(real)) + in[i]->size;
        if (!first)
            first = all;
        ck_assert_msg(memcmp(first, all, (1 + N + C * C + C) * sizeof(real)) == 0, "%d threads", threads);
        if (all != first)
            free(all);
        gra_close(t);
    }
    free(first), free(x), free(w), free(b);
}

/* A mask's gradient: threads share heads only if the heads add to different values of it. */
TESTS(mask_gradients_have_the_same_bits, 6)     /* _i: a shape of the mask */
{
    enum { B = 4, T = 33, KEYS = 40, HEADS = 6, KV_HEADS = 3, D = 5 };
    const gra_shape shapes[] = { GRA_SHAPE(T, KEYS), GRA_SHAPE(HEADS, T, KEYS), GRA_SHAPE(B, 1, T, KEYS),
                                 GRA_SHAPE(B, HEADS, T, KEYS), GRA_SHAPE(B, 1, 1, KEYS),
                                 GRA_SHAPE(HEADS, 1, KEYS) };
    gra_rng rng;
    gra_manual_seed(&rng, 12);
    real *q = drawn(&rng, B * T * HEADS * D), *k = drawn(&rng, B * KEYS * KV_HEADS * D),
         *m = drawn(&rng, B * HEADS * T * KEYS), *first = malloc(B * HEADS * T * KEYS * sizeof(real));
    for (int threads = 1; threads <= 5; threads++) {
        gra_tape *t = gra_open(threads);
        gra_begin(t, GRA_GRAD, NULL);
        gra_tensor *mask = gra_input(t, m, shapes[_i]),
                   *keys = gra_input(t, k, GRA_SHAPE(B, KEYS, KV_HEADS * D));
        gra_tensor *y = gra_attention(t, gra_input(t, q, GRA_SHAPE(B, T, HEADS * D)), keys, keys,
                                      &(gra_attention_options){ .heads = HEADS, .mask = mask });
        ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_mul(t, y, y))), 0);
        if (threads == 1)
            memcpy(first, gra_grad(mask), mask->size * sizeof(real));
        ck_assert_msg(memcmp(first, gra_grad(mask), mask->size * sizeof(real)) == 0, "%d threads", threads);
        gra_close(t);
    }
    free(q), free(k), free(m), free(first);
}

/* ---- several tapes at once ---- */

enum { VOCAB = 11, TIME = 8, BATCH = 4, STEPS = 15 };

static const gra_gpt_config small = { .vocab_size = VOCAB, .context_length = TIME, .emb_dim = 12,
                                      .n_heads = 3, .n_layers = 1, .drop_rate = 0.1, .bias = true };

static gra_tensor *some_loss(gra_tape *tape, const struct gra_gpt *gpt, uint64_t seed)
{
    gra_rng rng;
    int ids[BATCH * TIME], next[BATCH * TIME];
    gra_manual_seed(&rng, seed);
    for (int i = 0; i < BATCH * TIME; i++) {
        ids[i] = (int)gra_randint(&rng, VOCAB);
        next[i] = (int)gra_randint(&rng, VOCAB);
    }
    return gra_cross_entropy(tape, gra_gpt_forward(tape, gpt, ids, BATCH, TIME), next);
}

static void *train_one(void *last_loss)                 /* each with its model and tape */
{
    gra_rng rng;
    gra_manual_seed(&rng, 5);
    gra_tape *tape = gra_open(2);
    gra_model *m = gra_model_open(tape, &rng);
    struct gra_gpt gpt;
    gra_gpt_init(&gpt, gra_root(m), &small);
    gra_adamw opt;
    gra_adamw_init(&opt, m, NULL);
    opt.lr = 0.01;
    for (uint64_t step = 0; step < STEPS; step++) {
        gra_begin(tape, GRA_TRAIN, &rng);
        gra_tensor *loss = some_loss(tape, &gpt, step);
        gra_zero_grad(m);
        gra_backward(tape, loss);
        *(double *)last_loss = gra_item(loss);
        gra_adamw_step(&opt);
    }
    gra_model_close(m);
    gra_close(tape);
    return NULL;
}

TEST(two_models_in_two_threads)
{
    double alone, beside[2];
    pthread_t thread[2];
    train_one(&alone);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, train_one, &beside[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    ck_assert(beside[0] == alone && beside[1] == alone);
}

struct shared {                                         /* a model: one tape trains, other tapes evaluate */
    struct gra_gpt          gpt;
    pthread_rwlock_t lock;                              /* held for writing only by the optimiser's step */
};

static void *evaluate(void *arg)
{
    struct shared *s = arg;
    gra_tape *tape = gra_open(1);
    for (uint64_t seed = 0; seed < STEPS; seed++) {     /* bounded: readers may delay a writer */
        pthread_rwlock_rdlock(&s->lock);
        gra_begin(tape, GRA_EVAL, NULL);
        double loss = gra_item(some_loss(tape, &s->gpt, seed));
        pthread_rwlock_unlock(&s->lock);
        if (!(loss > 0 && loss < 100))
            abort();
    }
    gra_close(tape);
    return NULL;
}

TEST(evaluation_beside_training)
{
    struct shared s;
    pthread_t thread[3];
    gra_rng rng;
    gra_manual_seed(&rng, 5);
    gra_tape *tape = gra_open(2);
    gra_model *m = gra_model_open(tape, &rng);
    gra_gpt_init(&s.gpt, gra_root(m), &small);
    pthread_rwlock_init(&s.lock, NULL);
    gra_sgd opt;
    ck_assert_int_eq(gra_sgd_init(&opt, m, NULL), 0);
    opt.lr = 0.1;
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, evaluate, &s), 0);
    for (uint64_t step = 0; step < STEPS; step++) {
        pthread_rwlock_rdlock(&s.lock);
        gra_begin(tape, GRA_TRAIN, &rng);
        gra_zero_grad(m);
        ck_assert_int_eq(gra_backward(tape, some_loss(tape, &s.gpt, step)), 0);
        pthread_rwlock_unlock(&s.lock);
        pthread_rwlock_wrlock(&s.lock);
        gra_sgd_step(&opt);
        pthread_rwlock_unlock(&s.lock);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    pthread_rwlock_destroy(&s.lock);
    gra_model_close(m);
    gra_close(tape);
}

/* ---- how many ---- */

/* Containers: there are 16 cores, and control groups allow fewer. The command runs in the groups' folder. */
static void make_groups(const char *groups, const char *command)
{
    char all[600];
    snprintf(all, sizeof all,
             "cd %s && rm -rf quota && mkdir -p quota/proc/self quota/sys/fs/cgroup/a/b && cd quota &&"
             "printf '%s\\n' >proc/self/cgroup && cd sys/fs/cgroup && { %s; }", GRADUS_BUILD, groups,
             command);
    ck_assert_int_eq(system(all), 0);
}

TEST(quotas_of_control_groups)
{
    static const struct {
        const char *groups, *command;
        int cores;
    } all[] = {
        { "0::/a/b", "echo 100000 100000 >a/b/cpu.max", 1 },
        { "0::/a/b", "echo 150000 100000 >a/b/cpu.max", 1 },
        { "0::/a/b", "echo 5000 100000 >a/b/cpu.max", 1 },
        { "0::/a/b", "echo 9990000 10000 >a/b/cpu.max", 16 },
        { "0::/a/b", "echo max 100000 >a/b/cpu.max; echo 200000 100000 >a/cpu.max", 2 },
        { "0::/a/b", "echo 300000 100000 >a/b/cpu.max; echo max 100000 >a/cpu.max", 3 },
        { "0::/a", "echo 100000 100000 >a/b/cpu.max", 16 },
        { "0::/", "echo 400000 100000 >cpu.max", 4 },
        { "0::/not/seen", "echo 250000 50000 >cpu.max", 5 },
        { "0::/a", "mkdir -p unified/a; echo 600000 100000 >unified/a/cpu.max", 6 },
        { "3:cpu,cpuacct:/b\n0::/", "mv a cpu,cpuacct; cd cpu,cpuacct/b; echo 200000 >cpu.cfs_quota_us;"
          "echo 100000 >cpu.cfs_period_us", 2 },
        { "4:cpuset,cpu:/", "mv a cpu; cd cpu; echo 1500 >cpu.cfs_quota_us; echo 500 >cpu.cfs_period_us", 3 },
        { "4:cpu:/b", "mv a cpu; cd cpu/b; echo -1 >cpu.cfs_quota_us; echo 5 >cpu.cfs_period_us", 16 },
        { "4:cpuset:/b", "mv a cpu; cd cpu/b; echo 9 >cpu.cfs_quota_us; echo 9 >cpu.cfs_period_us", 16 },
        { "no group", "echo 100000 100000 >cpu.max", 16 },
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        make_groups(all[i].groups, all[i].command);
        ck_assert_msg(gra_quota(GRADUS_BUILD "/quota", 16) == all[i].cores, "%s: got %d, expected %d",
                      all[i].command, gra_quota(GRADUS_BUILD "/quota", 16), all[i].cores);
    }
    ck_assert_int_eq(gra_quota(GRADUS_BUILD "/none", 16), 16);
}

TEST(memory_of_control_groups)
{
    static const char *const all[][2] = {               /* 2000 bytes */
        { "0::/a/b", "echo 3000 >a/b/memory.max; echo 2000 >a/memory.max; echo max >memory.max" },
        { "9:memory:/b\n1:cpu:/", "mv a memory; echo 2000 >memory/b/memory.limit_in_bytes" },
        { "9:memory:/c\n1:cpu:/", "mv a memory; echo 2000 >memory/memory.limit_in_bytes" },
    };
    for (int i = 0; i < 3; i++) {
        make_groups(all[i][0], all[i][1]);
        ck_assert_double_eq(gra_limit(GRADUS_BUILD "/quota", "memory", "memory.max", "memory.limit_in_bytes",
                                      NULL), 2000);
    }
}
