/* Memory: the arena, and that from the third training step on, malloc is not called. */
#include "core/tape/tape.h"
#include "layers/gpt.h"
#include "lib/aborts.h"
#include "lib/fault.h"
#include "lib/suites.h"

#include <string.h>
#include <sys/wait.h>

#if defined(__SANITIZE_ADDRESS__)
#define POISONED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONED
#endif
#endif

TEST(allocations_are_aligned_and_disjoint)
{
    gra_arena a = { 0 };
    unsigned char *p[200];
    for (int i = 0; i < 200; i++) {
        p[i] = gra_arena_alloc(&a, (size_t)(i * 37));
        ck_assert_ptr_nonnull(p[i]);
        ck_assert_int_eq((int)((uintptr_t)p[i] % 64), 0);
        memset(p[i], i, (size_t)(i * 37));
    }
    for (int i = 0; i < 200; i++)
        for (int j = 0; j < i * 37; j++)
            ck_assert_int_eq(p[i][j], i);
    gra_arena_free(&a);
}

TEST(an_impossible_size)
{
    gra_arena a = { 0 };
    ck_assert_ptr_null(gra_arena_alloc(&a, SIZE_MAX));
    ck_assert_ptr_null(gra_arena_alloc(&a, SIZE_MAX / 2));
    ck_assert_ptr_nonnull(gra_arena_alloc(&a, 1));
    gra_arena_free(&a);
}

/* AddressSanitizer detects what the library cannot: a program that reads x->data in a later step. */
#ifdef POISONED
static const gra_real *values;
static void read_one(void) { fprintf(stderr, "%g\n", (double)values[0]); }

TEST(values_of_an_earlier_step_are_poisoned)
{
    gra_tape *t = gra_open(1);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *x = gra_full(t, 5, GRA_SHAPE(3));
    values = x->data;
    ck_assert(values[2] == 5);
    gra_begin(t, GRA_GRAD, NULL);
    char said[4096];
    const int status = said_in_a_child(read_one, said, sizeof said);
    ck_assert(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
    ck_assert_msg(strstr(said, "AddressSanitizer: use-after-poison"), "%s", said);
    ck_assert_uint_eq(x->size, 3);                      /* the header is intact, so an op can refuse it */
    gra_full(t, 7, GRA_SHAPE(3));
    ck_assert(values[2] == 7);                          /* handed out again */
    gra_close(t);
}
#endif

TEST(the_third_training_step_allocates_nothing)
{
    if (!fault_wrapped())
        return;
    gra_rng rng;
    gra_manual_seed(&rng, 1);
    gra_tape *t = gra_open(2);
    gra_model *m = gra_model_open(t, &rng);
    struct gra_gpt gpt;
    gra_gpt_config config = { .vocab_size = 11, .context_length = 16, .emb_dim = 24, .n_heads = 3,
                              .n_layers = 2, .drop_rate = 0.1, .bias = true };
    gra_gpt_init(&gpt, gra_root(m), &config);
    gra_adamw matrices;
    gra_muon muon;
    gra_sgd vectors;
    ck_assert_int_eq(gra_adamw_init(&matrices, m, gra_filter_matrices), 0);
    ck_assert_int_eq(gra_muon_init(&muon, m, gra_filter_matrices), 0);
    ck_assert_int_eq(gra_sgd_init(&vectors, m, gra_filter_vectors), 0);
    matrices.lr = muon.lr = vectors.lr = 1e-3;
    int ids[4 * 16], next[4 * 16];
    long before = 0;
    int failed = 0;                             /* no assertion in the loop: it may call malloc */
    for (int step = 1; step <= 6; step++) {
        if (step == 3)
            before = fault_count(FAULT_ALLOC);
        for (int i = 0; i < 64; i++) {
            ids[i] = (int)gra_randint(&rng, 11);
            next[i] = (int)gra_randint(&rng, 11);
        }
        gra_begin(t, GRA_TRAIN, &rng);
        gra_tensor *logits = gra_gpt_forward(t, &gpt, ids, 4, 16);
        gra_zero_grad(m);
        failed |= gra_backward(t, gra_cross_entropy(t, logits, next));
        gra_clip_grad_norm(m, 1);
        gra_adamw_step(&matrices);
        gra_muon_step(&muon);
        gra_sgd_step(&vectors);
    }
    long calls = fault_count(FAULT_ALLOC) - before;
    ck_assert_int_eq(failed, 0);
    ck_assert_int_eq((int)calls, 0);
    gra_close(t);
    gra_model_close(m);
}

/* Steps of many scalars, whose memory is mostly headers, alternate between two lengths: after one header
 * arena has grown, the second must not have to grow. */
static const int many[][2] = { { 10, 10 }, { 500, 500 }, { 900, 900 }, { 20000, 20000 },
                               { 1434, 10 }, { 10, 1434 }, { 20000, 650 }, { 650, 20000 }, { 1434, 2000 } };

TESTS(steps_of_many_tensors_allocate_nothing, LENGTH(many))
{
    if (!fault_wrapped())
        return;
    gra_tape *t = gra_open(1);
    long before = 0;
    for (int step = 1; step <= 100; step++) {
        gra_begin(t, GRA_GRAD, NULL);
        if (step == 3)                          /* the arena has room for the previous step */
            before = fault_count(FAULT_ALLOC);
        gra_tensor *y = gra_input(t, (const gra_real[]){ 1 }, GRA_SCALAR);
        for (int i = 0; i < many[_i][(step - 1) % 2]; i++)
            y = gra_scale(t, y, 1);
        gra_backward(t, y);
    }
    const long calls = fault_count(FAULT_ALLOC) - before;
    gra_close(t);
    ck_assert_int_eq((int)calls, 0);
}
