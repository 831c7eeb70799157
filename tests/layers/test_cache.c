/* The key-value cache: a token computed with the cache has the same logits as in the forward of the whole
 * text, with any number of threads, any instruction set, and after the window has moved; and its refusals. */
#include "layers/gpt.h"
#include "lib/fault.h"
#include "lib/fixture.h"
#include "lib/isa.h"
#include "lib/suites.h"

#include <errno.h>

static const double tolerance = sizeof(real) == sizeof(double) ? 1e-12 : 1e-5;

enum { LONGEST = 290 };
static const gra_gpt_config configs[] = {
    { 13, 9, 12, 3, 2, .bias = true },
    { 13, 9, 12, 2, 3, .tied = true, .init = GRA_INIT_GPT2, .gelu = GRA_GELU_TANH, .drop_rate = 0.3 },
    { 70, LONGEST, 40, 5, 1, .bias = true, .qkv_bias = true },      /* more keys than gemm takes at once */
    { 75, 9, 104, 4, 1, .tied = true, .init = GRA_INIT_GPT2 },      /* sums in two pieces: 416 products */
};

static struct gra_gpt gpt;
static gra_kv_cache   cache;
static int            ids[LONGEST];

static bool open_tape(int threads, const char *set)     /* false: this processor does not have it */
{
    gra_tape *tape = open_with(set, threads);
    if (!tape)
        return false;
    gra_close(t);
    t = tape;
    gra_keep_going(t, true);
    return true;
}

static void open_gpt(const gra_gpt_config *c)
{
    another_model();
    gra_manual_seed(&rng, 5);
    gra_gpt_init(&gpt, gra_root(model), c);
    for (int i = 0; i < gra_param_count(model); i++) {          /* no value stays at 0 or 1 */
        gra_tensor *p = gra_param_at(model, i);
        for (size_t j = 0; j < p->size; j++)
            p->data[j] += (real)((double)(gra_random(&rng) % 1000) / 2500 - 0.2);
    }
    for (int i = 0; i < LONGEST; i++)
        ids[i] = (int)gra_randint(&rng, (uint64_t)c->vocab_size);
    ck_assert_int_eq(gra_kv_cache_open(&cache, &gpt), 0);
}

static void open_cache(void)
{
    open_all();
    open_gpt(&configs[0]);
}

static void close_cache(void)
{
    gra_kv_cache_close(&cache);
    close_all();
}

/* ---- the same logits ---------------------------------------------------------------------------------- */

static void last_logits(const int *tokens, int n, real *to)
{
    const int vocab = gpt.config.vocab_size;
    gra_begin(t, GRA_EVAL, NULL);
    gra_tensor *y = gra_gpt_forward(t, &gpt, tokens, 1, n);
    ck_assert_msg(!gra_error(t), "%s", gra_error(t));
    memcpy(to, y->data + (n - 1) * vocab, (size_t)vocab * sizeof *to);
}

/* Clears the cache, as when a window moves, passes `chunk` tokens at a time, and compares the logits after
 * each chunk. */
static void compare(int chunk, const char *what)
{
    const int vocab = gpt.config.vocab_size, context = gpt.config.context_length;
    real want[80];
    gra_kv_cache_clear(&cache);
    for (int from = 0, n; from < context; from += n) {
        n = context - from < chunk ? context - from : chunk;
        last_logits(ids, from + n, want);
        gra_begin(t, GRA_EVAL, NULL);
        gra_tensor *y = gra_gpt_forward_cached(t, &gpt, ids + from, n, &cache);
        ck_assert_msg(!gra_error(t), "%s", gra_error(t));
        ck_assert_int_eq(y->shape.ndim == 3 && y->shape.dim[0] == 1 && y->shape.dim[1] == 1 &&
                         y->shape.dim[2] == vocab, 1);
        ck_assert_int_eq(cache.time, from + n);
        for (int i = 0; i < vocab; i++)
            ck_assert_msg(fabs((double)(y->data[i] - want[i])) <= tolerance * (1 + fabs((double)want[i])),
                          "%s, %d at a time, %d tokens: logit %d is %.17g, from all of them %.17g", what,
                          chunk, from + n, i, (double)y->data[i], (double)want[i]);
    }
}

CASE(cache, open_cache, close_cache, "")

TESTS(continues_as_if_from_the_beginning, LENGTH(configs)) /* _i: a configuration */
{
    gra_kv_cache_close(&cache);
    open_gpt(&configs[_i]);
    for (int i = 0; i < ISAS; i++)
        for (int threads = 1; threads <= 4; threads++) {
            char what[80];
            if ((configs[_i].context_length == LONGEST && threads % 2) || !open_tape(threads, isa[i]))
                continue;
            snprintf(what, sizeof what, "%s, %d threads", gra_isa_name(t), threads);
            compare(1, what);
            compare(3, what);
            compare(gpt.config.context_length, what);
        }
}

/* ---- weights held as bfloat16 ------------------------------------------------------------------------- */

static void hold_as_bfloat16(void)
{
    for (int i = 0; i < gra_param_count(model); i++)
        if (gra_param_at(model, i)->shape.ndim == 2 && gra_param_at(model, i) != gpt.pos_emb.weight)
            gra_bfloat16(gra_param_at(model, i));
}

#ifndef GRADUS_DOUBLE
enum { TOKENS = 9, VOCAB = 75 };

/* All tokens at once, and one after the other with the cache. */
static void all_logits(real to[2 * TOKENS][VOCAB])
{
    gra_begin(t, GRA_EVAL, NULL);
    const gra_tensor *y = gra_gpt_forward(t, &gpt, ids, 1, TOKENS);
    expect_error("no error");
    memcpy(to, y->data, sizeof(real) * TOKENS * VOCAB);
    gra_kv_cache_clear(&cache);
    for (int i = 0; i < TOKENS; i++) {
        gra_begin(t, GRA_EVAL, NULL);
        memcpy(to[TOKENS + i], gra_gpt_forward_cached(t, &gpt, &ids[i], 1, &cache)->data, sizeof *to);
    }
}

TEST(bfloat16_has_the_bits_of_rounded_floats)           /* any instruction set, any number of threads */
{
    static real want[3][2 * TOKENS][VOCAB], got[2 * TOKENS][VOCAB];
    gra_kv_cache_close(&cache);
    open_gpt(&configs[3]);
    for (int i = 0; i < gra_param_count(model); i++) {
        gra_tensor *p = gra_param_at(model, i);
        for (size_t j = 0; j < p->size && p->shape.ndim == 2 && p != gpt.pos_emb.weight; j++) {
            int exponent;                               /* 8 bits of mantissa; nearbyint: ties to even */
            const real mantissa = frexpf(p->data[j], &exponent);
            p->data[j] = ldexpf(nearbyintf(ldexpf(mantissa, 8)), exponent - 8);
        }
    }
    for (int i = 0; i < ISAS; i++)
        if (open_tape(1, isa[i]))
            all_logits(want[i]);
    gra_kv_cache_close(&cache);
    open_gpt(&configs[3]);
    hold_as_bfloat16();
    expect_model_error("no error");
    for (int i = 0; i < ISAS; i++)
        for (int threads = 1; threads <= 4; threads++) {
            if (!open_tape(threads, isa[i]))
                continue;
            all_logits(got);
            ck_assert_msg(memcmp(got, want[i], sizeof got) == 0, "%s, %d threads", isa[i], threads);
        }
}

TEST(what_bfloat16_cannot_do)
{
    gra_tensor *w = gpt.out_head.weight;
    gra_bfloat16(w);
    gra_bfloat16(w);
    gra_freeze(w, false);
    ck_assert(!w->data && !w->grad && !w->requires_grad && !gra_grad(w));
    ck_assert_int_eq(gra_save(model, GRADUS_BUILD "/never", NULL, 0), -1);
    expect_model_part("held as bfloat16: it can be neither saved nor loaded");
    ck_assert_int_eq(gra_load(model, GRADUS_BUILD "/never"), -1);
    ck_assert_int_eq(gra_save_npy(GRADUS_BUILD "/never", w), -1);
    for (int i = 0; i < 3; i++) {
        gra_begin(t, i < 2 ? GRA_EVAL : GRA_GRAD, NULL);
        if (i == 0)
            gra_exp(t, w);
        else
            gra_linear(t, i == 1 ? w : gra_ones(t, GRA_SHAPE(1, 12)), i == 1 ? gpt.tok_emb.weight : w, NULL);
        expect_part(i ? "linear: got the parameter out_head.weight, which is held as bfloat16, expected one"
                      : "exp: got the parameter out_head.weight, which is held as bfloat16, expected one");
    }
    gra_bfloat16(gpt.final_norm.weight);
    expect_model_error("gra_bfloat16: got the parameter \"final_norm.scale\" (12), expected a matrix");
}

#else
TEST(no_bfloat16_in_double)
{
    hold_as_bfloat16();
    expect_model_part("in libgradus64, which computes in double: use libgradus");
}
#endif

/* ---- layers by themselves ----------------------------------------------------------------------------- */

TEST(attention_continues)       /* unlike the GPTs, with fewer key and value heads; in the second block */
{
    enum { TIME = 6, WIDTH = 12, KV = 4 };
    struct gra_multi_head_attention a;
    real rows[4 * TIME * KV], x[TIME * WIDTH], want[TIME * WIDTH];
    gra_kv_cache own = { .rows = rows, .blocks = 2, .context_length = TIME, .width = KV };
    gra_randn(&rng, x, TIME * WIDTH);
    gra_multi_head_attention_init(&a, gra_enter(gra_root(model), "e"), &(gra_attention_config){
        .d_in = WIDTH, .d_out = WIDTH, .context_length = TIME, .num_heads = 6, .num_kv_heads = 2,
        .qkv_bias = true });
    gra_begin(t, GRA_EVAL, NULL);
    gra_tensor *y = gra_multi_head_attention_forward(t, &a, gra_constant(t, x, GRA_SHAPE(1, TIME, WIDTH)));
    memcpy(want, y->data, sizeof want);
    for (; own.time < TIME; own.time++) {
        const real *now = want + own.time * WIDTH;
        gra_begin(t, GRA_EVAL, NULL);
        gra_tensor *xi = gra_constant(t, x + own.time * WIDTH, GRA_SHAPE(1, 1, WIDTH));
        y = gra_multi_head_attention_forward_cached(t, &a, xi, &own, 1);
        ck_assert_msg(!gra_error(t), "%s", gra_error(t));
        for (int j = 0; j < WIDTH; j++)
            ck_assert_msg(fabs((double)(y->data[j] - now[j])) <= tolerance, "token %d", own.time);
    }
}

TEST(a_token_allocates_nothing)
{
    if (!fault_wrapped())
        return;
    long before = 0;
    int failed = 0;                             /* no assertion in the loop: it may call malloc */
    for (int step = 0; step < 18; step++) {
        if (step == 9)                          /* the second time through the window */
            before = fault_count(FAULT_ALLOC);
        if (step % 9 == 0)
            gra_kv_cache_clear(&cache);
        gra_begin(t, GRA_EVAL, NULL);
        gra_gpt_forward_cached(t, &gpt, &ids[step], 1, &cache);
        failed |= gra_error(t) != NULL;
    }
    long calls = fault_count(FAULT_ALLOC) - before;
    ck_assert_int_eq(failed, 0);
    ck_assert_int_eq((int)calls, 0);
}

/* ---- refusals ------------------------------------------------------------------------------------------ */

#define NO_GRADIENT ": got a step that records, expected GRA_EVAL: no gradient flows through a " \
                    "key-value cache"

/* REFUSED(name, before, sentence, call): a test in which the call, after `before` tokens, is refused with
 * this sentence. The cache does not change, even after an earlier error. */
#define REFUSED(name, before, sentence, ...)                                                             \
    TEST(refused_##name)                                                                                 \
    {                                                                                                    \
        see(before);                                                                                     \
        __VA_ARGS__;                                                                                     \
        expect_error(sentence);                                                                          \
        ck_assert_int_eq(cache.time, before);                                                            \
        gra_begin(t, GRA_EVAL, NULL);                                                                    \
        gra_fail(t, "an error before");                                                                  \
        gra_gpt_forward_cached(t, &gpt, ids, 1, &cache);                                                 \
        expect_error("an error before");                                                                 \
    }

static void see(int tokens)             /* in a separate step */
{
    gra_begin(t, GRA_EVAL, NULL);
    if (tokens)
        gra_gpt_forward_cached(t, &gpt, ids, tokens, &cache);
    expect_error("no error");
    gra_begin(t, GRA_EVAL, NULL);
}

static void tokens(int id, int n)
{
    gra_gpt_forward_cached(t, &gpt, (int[]){ id, 1, 2 }, n, &cache);
}

#define OTHER_GPT "gpt: got a cache that was opened for another GPT, expected one of this GPT's sizes"
REFUSED(closed, 0,
        "gpt: the cache is not open: call gra_kv_cache_open(&cache, &gpt) first, which must return 0",
        gra_kv_cache_close(&cache); tokens(1, 1))
REFUSED(more_blocks, 0, OTHER_GPT, gpt.config.n_layers++; tokens(1, 1); gpt.config.n_layers--)
REFUSED(more_context, 0, OTHER_GPT, gpt.config.context_length++; tokens(1, 1); gpt.config.context_length--)
REFUSED(more_width, 0, OTHER_GPT, gpt.config.emb_dim++; tokens(1, 1); gpt.config.emb_dim--)
REFUSED(a_step_that_records, 0, "gpt" NO_GRADIENT, gra_begin(t, GRA_GRAD, NULL); tokens(1, 1))
REFUSED(no_tokens, 0, "gpt: got 0 tokens, expected at least one", tokens(1, 0))
REFUSED(too_many_tokens, 7, "gpt: got 3 tokens after 7 others, expected at most the context length 9 in all: "
        "clear the cache, and go on from the last tokens", tokens(1, 3))
REFUSED(no_such_token, 2,
        "embedding: got id 13 at position 0, expected one of the vocabulary's 13 entries (0 to 12)",
        tokens(13, 1))

static void attend(gra_shape x, int block)
{
    gra_multi_head_attention_forward_cached(t, &gpt.trf_blocks[0].att, gra_full(t, 1, x), &cache, block);
}

#define ATTENTION    "multi_head_attention: "
#define ONE_SEQUENCE ", expected (1, time, 12): a key-value cache is for one sequence"
#define OF_2_BLOCKS  ", expected one of the cache's 2 blocks of width 12"
#define TOKEN        GRA_SHAPE(1, 1, 12)
REFUSED(attention_that_records, 0, "multi_head_attention" NO_GRADIENT,
        gra_begin(t, GRA_TRAIN, NULL); attend(TOKEN, 0))
REFUSED(two_sequences, 0, ATTENTION "got x (2, 1, 12)" ONE_SEQUENCE, attend(GRA_SHAPE(2, 1, 12), 0))
REFUSED(no_batch, 0, ATTENTION "got x (1, 12)" ONE_SEQUENCE, attend(GRA_SHAPE(1, 12), 0))
REFUSED(too_many_rows, 7,
        ATTENTION "got 3 tokens after 7 others, expected at most the context length 9 in all",
        attend(GRA_SHAPE(1, 3, 12), 0))
REFUSED(a_block_too_many, 0, ATTENTION "got block 2 with keys of width 12" OF_2_BLOCKS, attend(TOKEN, 2))
REFUSED(a_block_below_0, 0, ATTENTION "got block -1 with keys of width 12" OF_2_BLOCKS, attend(TOKEN, -1))
REFUSED(fewer_key_heads, 0, ATTENTION "got block 0 with keys of width 4" OF_2_BLOCKS,
        gpt.trf_blocks[0].att.config.num_kv_heads = 1; attend(TOKEN, 0))
REFUSED(a_bidirectional_layer, 0, ATTENTION "got a bidirectional layer, expected a causal one: with a cache, "
        "later tokens cannot change earlier rows",
        gpt.trf_blocks[0].att.config.bidirectional = true; attend(TOKEN, 0))
REFUSED(no_rows, 0, ATTENTION "the cache is not open: call gra_kv_cache_open first, which must return 0",
        gra_kv_cache_close(&cache); attend(TOKEN, 0))
REFUSED(no_keys, 0,
        "linear: got NULL for input 1, expected a tensor: a layer's parameters are made by its init",
        gpt.trf_blocks[0].att.key.weight = NULL; attend(TOKEN, 0))

TEST(no_gpt_or_no_cache)
{
    const struct gra_multi_head_attention *att = &gpt.trf_blocks[0].att;
    for (int i = 0; i < 5; i++) {
        gra_begin(t, GRA_EVAL, NULL);
        gra_tensor *x = gra_full(t, 1, GRA_SHAPE(1, 1, 12));
        switch (i) {
        case 0: gra_gpt_forward_cached(t, NULL, ids, 1, &cache); break;
        case 1: gra_multi_head_attention_forward_cached(t, NULL, x, &cache, 0); break;
        case 2: gra_transformer_block_forward_cached(t, NULL, x, &cache, 0); break;
        case 3: gra_gpt_forward_cached(t, &gpt, ids, 1, NULL); break;
        case 4: gra_multi_head_attention_forward_cached(t, att, x, NULL, 0); break;
        }
        expect_part(i < 3 ? ": got NULL for the layer, expected one that its init has made" :
                    ": the cache is not open: ");
    }
}

TEST(a_cache_that_cannot_be_opened)
{
    struct gra_gpt none = { 0 }, vast = gpt;
    vast.config.context_length = vast.config.emb_dim = vast.config.n_layers = INT_MAX;
    gra_kv_cache_close(&cache);
    gra_kv_cache_close(&cache);
    ck_assert_int_eq(gra_kv_cache_open(&cache, &none), -1);
    ck_assert_int_eq(gra_kv_cache_open(&cache, &vast), -1);
    fault_arm(FAULT_ALLOC, 1, ENOMEM, false);
    const int status = gra_kv_cache_open(&cache, &gpt);
    fault_disarm();
    ck_assert(!fault_wrapped() || (status == -1 && !cache.rows));
    gra_kv_cache_close(NULL);
}

TEST(positions_out_of_range)
{
    gra_begin(t, GRA_EVAL, NULL);
    gra_positional_embedding_forward_from(t, &gpt.pos_emb, gra_full(t, 1, GRA_SHAPE(2, 12)), 8);
    expect_error("positional_embedding: got 10 tokens, expected at most the context length 9");
    gra_begin(t, GRA_EVAL, NULL);
    gra_positional_embedding_forward_from(t, &gpt.pos_emb, gra_full(t, 1, GRA_SHAPE(2, 12)), INT_MAX);
    expect_error("positional_embedding: got 2147483649 tokens, expected at most the context length 9");
    gra_begin(t, GRA_EVAL, NULL);
    gra_positional_embedding_forward_from(t, &gpt.pos_emb, gra_full(t, 1, GRA_SHAPE(2, 12)), -3);
    expect_error("positional_embedding: got first -3, expected 0 or more");
}

TEST(what_is_borrowed_is_not_copied)
{
    real x[4] = { 1, 2, 3, 4 };
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *b = gra_borrow(t, x, GRA_SHAPE(2, 2));
    ck_assert(b->data == x && b->size == 4 && !b->requires_grad && b->nin == 0 && !b->base);
    gra_tensor *w = gra_input(t, x, GRA_SHAPE(2, 2));
    gra_backward(t, gra_sum(t, gra_mul(t, b, w)));
    for (int i = 0; i < 4; i++)
        ck_assert(gra_grad(w)[i] == x[i]);
    ck_assert(!b->grad);
    gra_borrow(t, NULL, GRA_SHAPE(2));
    expect_error("gra_borrow: got NULL for the data, expected the values of the tensor");
}
