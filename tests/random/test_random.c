/* The generator against numbers that PyTorch 1.13, NumPy 1.24 and Python 3.11 print.
 *
 * Draws in float32 must be equal to the last bit. Normals in double must agree to a few units in the last
 * place, because C libraries differ. Whole tensors of uniform and normal numbers, of any length, mean and
 * bounds, are compared in test_seeds.c; here the state that one call leaves for the next is tested. */
#include "core/random/mcg31.h"
#include "core/random/random.h"
#include "core/tape/tape.h"
#include "lib/aborts.h"
#include "lib/hash.h"
#include "lib/suites.h"

#include <inttypes.h>

#define LIBM_ERROR  1e-14

static gra_rng seeded(uint64_t seed)
{
    gra_rng g;
    gra_manual_seed(&g, seed);
    return g;
}

/* x must hold the float32 values `want` to the last bit, in both libraries. */
static void equal(const gra_real *x, const double *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(x[i] == (gra_real)(float)want[i], "element %zu: %.9g, but PyTorch has %.9g",
                      i, (double)x[i], want[i]);
}

static void near_f64(const double *x, const double *want, size_t n, double error)
{
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(fabs(x[i] - want[i]) <= error, "element %zu: got %.17g, expected %.17g",
                      i, x[i], want[i]);
}

static void same_words_to_come(gra_rng a, gra_rng b)
{
    for (int i = 0; i < 2 * 624; i++)
        ck_assert_uint_eq(gra_random(&a), gra_random(&b));
}

static void same_state(const gra_rng *a, const gra_rng *b)
{
    ck_assert(a->has_normal == b->has_normal && (!a->has_normal || a->normal == b->normal));
    same_words_to_come(*a, *b);
}

/* A generator whose next words are all equal to the output for the state word y. */
static gra_rng stuck(uint32_t y)
{
    gra_rng g = seeded(0);
    for (int i = 0; i < 624; i++)
        g.state[i] = y;
    g.at = 0;
    return g;
}

static void skip_words(gra_rng *g, size_t n)
{
    for (size_t i = 0; i < n; i++)
        gra_random(g);
}

/* ---- words ---------------------------------------------------------------------------------- */

TEST(a_seed_counts_modulo_2_to_the_32)
{
    gra_rng small = seeded(123), large = seeded(((uint64_t)1 << 32) + 123);
    same_state(&small, &large);
}

/* torch.randint(0, n, (k,)) for several n in turn */
TEST(randint)
{
    static const struct {
        uint64_t n;
        int      k;
        uint64_t want[8];
    } draws[] = {
        { 10,                8, { 2, 9, 2, 0, 0, 2, 6, 7 } },
        { (uint64_t)1 << 40, 3, { 358591625322, 531631171129, 920887908065 } },
        { (uint64_t)1 << 32, 3, { 2489768049, 601083951, 1722357280 } },
        { 4294967295,        2, { 1473938350, 2694306016 } },
        { 1,                 1, { 0 } },                        /* which also takes a word */
    };
    gra_rng g = seeded(123);
    for (int i = 0; i < LENGTH(draws); i++)
        for (int k = 0; k < draws[i].k; k++)
            ck_assert_uint_eq(gra_randint(&g, draws[i].n), draws[i].want[k]);
}

TEST(randperm)                        /* torch.manual_seed(5), randperm(10); manual_seed(7), randperm(1000) */
{
    static const int ten[] = { 1, 4, 9, 6, 3, 5, 0, 2, 8, 7 };
    int p[1000];
    gra_rng g;
    gra_manual_seed(&g, 5);
    gra_randperm(&g, p, 10);
    ck_assert_mem_eq(p, ten, sizeof ten);
    gra_manual_seed(&g, 7);
    gra_randperm(&g, p, 1000);
    uint64_t hash = HASH_START;
    for (int i = 0; i < 1000; i++)
        hash = hash_bits(hash, (uint64_t)p[i], 4);
    ck_assert_uint_eq(hash, 0xee154ed4ffd10b0du);
}

/* ---- normal, one by one --------------------------------------------------------------------- */

static const double randn_f64_123[] = { -0.11146711634581082, 0.12036294405744884,
                                        -0.36963450886574944, -0.24041797675874255,
                                        -1.1969243846077398 };

/* randn(3), randn(32), rand(2), randn(2): the fourth normal stays cached during a block and uniforms. */
TEST(the_second_normal_is_cached)
{
    static const double before[] = { -0.111467116, 0.120362945, -0.369634509 };
    static const double after[]  = { 0.406646252, 0.23180753, -0.240417972, -0.995048881 };
    gra_rng g = seeded(123);
    gra_real x[3], block[32], y[4];
    gra_randn(&g, x, 3);
    gra_randn(&g, block, 32);
    gra_rand(&g, y, 2);
    gra_randn(&g, y + 2, 2);
    equal(x, before, 3);
    equal(y, after, 4);
}

TEST(the_cached_normal_serves_both_precisions_and_any_scale)
{
    gra_rng g = seeded(123);
    gra_real x[3];
    gra_normal(&g, x, 3, 1, 2);
    equal(x, (const double[]){ 0.777065754, 1.24072587, 0.260730982 }, 3);

    gra_rng again = g;
    double y;
    gra_randn_f64(&g, &y, 1);
    near_f64(&y, &randn_f64_123[3], 1, LIBM_ERROR);
    gra_randn(&again, x, 1);
    equal(x, &randn_f64_123[3], 1);
    same_state(&g, &again);
}

/* ---- normal, in blocks ---------------------------------------------------------------------- */

/* The number of words that n normals take. Up to 15 normals are drawn one by one and take two words a pair.
 * From 16 on, a block of 16 takes 16 words, and if n is not a multiple of 16 the last 16 values are drawn
 * again. In double each normal takes twice as many words. */
TEST(normals_take_words)
{
    static const struct { size_t n, words, f64; } draws[] = {
        { 15, 32, 32 }, { 16, 16, 32 }, { 17, 33, 66 }, { 31, 47, 94 }, { 32, 32, 64 }, { 33, 49, 98 },
    };
    for (int i = 0; i < LENGTH(draws); i++) {
        size_t n = draws[i].n;
        gra_rng g = seeded(3), g64 = g, stepped = g, stepped64 = g;
        gra_real x[40];
        double y[40];
        x[n] = 99, y[n] = 99;
        gra_randn(&g, x, n);
        gra_randn_f64(&g64, y, n);
        ck_assert_msg(x[n] == 99 && y[n] == 99, "%zu normals: written past the end", n);
        skip_words(&stepped, draws[i].words);
        skip_words(&stepped64, draws[i].f64);
        same_words_to_come(g, stepped);
        same_words_to_come(g64, stepped64);
    }
    gra_rng whole = seeded(3), more = whole;            /* 16 values are a block: they begin like 20 */
    double y[20], z[20];
    gra_randn_f64(&whole, y, 16);
    gra_randn_f64(&more, z, 20);
    near_f64(y, z, 4, 0);
}

TEST(nothing_draws_nothing)
{
    gra_rng g = seeded(123), fresh = g;
    gra_real x = 99;
    double y = 99;
    int order[] = { 7, 8 };                             /* the permutation of one is 0 */
    gra_rand(&g, &x, 0), gra_uniform(&g, &x, 0, 0, 1);
    gra_randn(&g, &x, 0), gra_normal(&g, &x, 0, 0, 1);
    gra_rand_f64(&g, &y, 0), gra_randn_f64(&g, &y, 0);
    gra_numpy_random(&g, &y, 0), gra_numpy_normal(&g, &y, 0, 0, 1);
    gra_python_shuffle(&g, order, 1), gra_python_shuffle(&g, order, 0);
    gra_randperm(&g, order, 1), gra_randperm(&g, order, 0);
    ck_assert(x == 99 && y == 99 && order[0] == 0 && order[1] == 8);
    same_state(&g, &fresh);
}

/* ---- the masks of dropout ------------------------------------------------------------------- */

/* x_0 = 0 would stay 0, so words that are multiples of 2^31 - 1 start from 1 instead. */
TESTS(dropout_never_starts_at_zero, 3)
{
    static const struct {
        uint32_t state, word;
    } zeros[] = { { 0, 0 }, { 0x92CDB9B7, 2147483647 }, { 0x02FFDF7A, 4294967294 } };
    gra_rng g = stuck(zeros[_i].state), same = g;
    ck_assert_uint_eq(gra_random(&g), zeros[_i].word);
    ck_assert_uint_eq(mcg31_start(&same), 1);
}

TESTS(dropout_skips_as_it_steps, 3)
{
    static const uint32_t start[] = { 843828735, 1, 2147483646 };
    uint32_t x = start[_i];
    for (uint64_t i = 0; i <= 1000000; i++, x = mcg31_next(x)) {
        if (i <= 2000 || i % 800 == 0 || i == 999999)
            ck_assert_msg(mcg31_skip(start[_i], i) == x, "after %" PRIu64 " steps", i);
    }
}

/* a^(m-1) = 1 mod the prime m, which checks long skips without stepping: i steps and then m-1 - i steps lead
 * back to the start. */
TEST(dropout_skips_far)
{
    const uint64_t period = 2147483646;
    const uint32_t start = 843828735;
    ck_assert_uint_eq(mcg31_skip(start, period), start);
    ck_assert_uint_eq(mcg31_skip(start, period << 20), start);
    for (uint64_t i = 1; i < period; i = 3 * i + 1)
        ck_assert_uint_eq(mcg31_skip(mcg31_skip(start, i), period - i), start);
}

/* ---- NumPy ---------------------------------------------------------------------------------- */

TEST(numpy)                 /* np.random.RandomState(0): random_sample(4); from the same seed, randn(4) */
{
    static const double uniform[] = { 0.54881350392732475, 0.71518936637241948,
                                      0.60276337607164387, 0.54488318299689686 };
    static const double normal[] = { 1.764052345967664, 0.40015720836722329, 0.9787379841057392,
                                     2.2408931992014578 };
    gra_rng g = seeded(0);
    double x[4], between;
    gra_numpy_random(&g, x, 4);
    near_f64(x, uniform, 4, 0);
    g = seeded(0);
    gra_numpy_normal(&g, x, 3, 0, 1);
    gra_numpy_random(&g, &between, 1);              /* the fourth normal is cached, and scaled when used */
    gra_numpy_normal(&g, x + 3, 1, 1.5, 0.25);
    near_f64(x, normal, 3, LIBM_ERROR);
    near_f64(&x[3], &(double){ 1.5 + 0.25 * normal[3] }, 1, LIBM_ERROR);
    ck_assert(!g.has_normal);
    double more[16];                                    /* points eight and nine miss the unit disc */
    g = seeded(0);
    gra_numpy_normal(&g, more, 16, 0, 1);
    near_f64(more + 14, (const double[]){ 0.44386323274542566, 0.33367432737426683 }, 2, LIBM_ERROR);
}

/* ---- Python: whole drawings are compared in test_seeds.c ------------------------------------------ */

/* A share of 0 gives the first index with a weight above 0; the largest gives the last such index. */
TEST(python_choices_at_the_ends)
{
    const gra_real weights[] = { 0, 0, 3, 0, 1, 0 };
    gra_rng lowest = stuck(0), highest = stuck(0x12DD9BB3);
    ck_assert_int_eq(gra_python_choices(&lowest, weights, 6), 2);
    ck_assert_int_eq(gra_python_choices(&highest, weights, 6), 4);
    ck_assert_int_eq(gra_python_choices(&highest, weights + 2, 1), 0);
}

#define UNSEEDED "expected a seeded generator: call gra_manual_seed(&rng, 123) first"
static gra_rng   *drawn_from;           /* by these, none of which has a tape or a model to keep an error */
static gra_real   two[2];
static void draws_word(void)            { gra_random(drawn_from); }
static void draws_normals(void)         { gra_randn(drawn_from, two, 2); }
static void draws_numpy_normals(void)   { gra_numpy_normal(drawn_from, (double[2]){ 0 }, 2, 0, 1); }
static void draws_python_normals(void)  { gra_python_gauss(drawn_from, two, 2, 0, 1); }
static void draws_an_index(void)        { gra_multinomial(drawn_from, (gra_real[]){ 1, 1 }, 2, false); }
static void seeds(void)                 { gra_manual_seed(NULL, 1); }

TEST(an_unseeded_generator)
{
    static void (*const draws[])(void) = { draws_word, draws_normals, draws_numpy_normals,
                                           draws_python_normals, draws_an_index };
    static gra_rng none;
    for (int i = 0; i < LENGTH(draws); i++) {
        drawn_from = NULL;
        expect_abort(draws[i], "gra_rng: got NULL, " UNSEEDED);
        drawn_from = &none;
        expect_abort(draws[i], "gra_rng: got a generator that was never seeded, " UNSEEDED);
    }
    expect_abort(seeds, "gra_manual_seed: got NULL, expected the address of a gra_rng");
    ck_assert_int_eq(gra_rng_from_text(&none, NULL), -1);
}

static void integer_of_nothing(void) { gra_randint(&(gra_rng){ .at = 0 }, 0); }
static void choose_of_nothing(void)  { gra_python_choices(&(gra_rng){ .at = 0 }, (gra_real[]){ 0, 0 }, 2); }
static void choose_of_infinity(void)
{
    gra_python_choices(&(gra_rng){ .at = 0 }, (gra_real[]){ 1, (gra_real)INFINITY, 1 }, 3);
}

TEST(nothing_to_choose_from)
{
    expect_abort(integer_of_nothing, "gra_randint: got 0 for n, expected 1 or more: it draws one of "
                 "0 ... n - 1");
    expect_abort(choose_of_nothing, "gra_python_choices: got 2 weights whose sum is 0, expected a finite sum "
                 "above 0");
    expect_abort(choose_of_infinity, "gra_python_choices: got 3 weights whose sum is inf, expected a finite "
                 "sum above 0");
}

/* ---- the state as text ------------------------------------------------------------------------- */

/* A generator in use: some words drawn, a normal cached. */
static gra_rng in_use(void)
{
    gra_rng g = seeded(42);
    gra_real x[3];
    skip_words(&g, 700);
    gra_randn(&g, x, 3);
    ck_assert(g.has_normal);
    return g;
}

TEST(text_goes_out_and_in)
{
    const gra_rng all[] = { seeded(0), seeded(4294967295u), in_use(), stuck(1) };
    for (int i = 0; i < LENGTH(all); i++) {
        char text[GRA_RNG_TEXT], again[GRA_RNG_TEXT];
        gra_rng g = { 0 };
        ck_assert_int_eq(gra_rng_text(&all[i], text), 0);
        ck_assert_uint_eq(strlen(text), GRA_RNG_TEXT - 1);
        ck_assert_uint_eq(strspn(text, "mt:0123456789abcdef"), strlen(text));
        ck_assert_int_eq(gra_rng_from_text(&g, text), 0);
        ck_assert_int_eq(gra_rng_text(&g, again), 0);
        ck_assert_str_eq(text, again);
        same_state(&all[i], &g);
        ck_assert(gra_seeded(&g));
    }
}

/* The format itself: old texts must always be readable. The first word is the seed, and the position is 624
 * before the first draw. */
TEST(text_is_the_state)
{
    static const char begins[] = "mt19937:0270:0:0000000000000000:0000002a";
    gra_rng g = seeded(42);
    char text[GRA_RNG_TEXT];
    ck_assert_int_eq(gra_rng_text(&g, text), 0);
    ck_assert_msg(strncmp(text, begins, strlen(begins)) == 0, "it begins %.40s", text);
    g.has_normal = true;
    g.normal = -1;
    ck_assert_int_eq(gra_rng_text(&g, text), 0);
    ck_assert_msg(strncmp(text + 13, "1:bff0000000000000:", 19) == 0, "the normal is %.19s", text + 13);
}

TEST(text_of_nothing)
{
    gra_rng g = { 0 };
    char text[GRA_RNG_TEXT] = "left";
    ck_assert_int_eq(gra_rng_text(&g, text), -1);
    ck_assert_str_eq(text, "");
}

/* Any change, except of a digit of the state, makes the text invalid: it is refused and changes nothing. */
TEST(invalid_text)
{
    static const struct { size_t at; const char *put; } change[] = {
        { 0, "M" }, { 7, " " }, { 8, "1" }, { 8, "0271" }, { 11, "G" }, { 12, "," }, { 13, "0" }, { 13, "2" },
        { 15, "7ff0000000000000" }, { 15, "fff8000000000000" }, { 15, "BFF" }, { 32, "+" }, { 100, "A" },
        { GRA_RNG_TEXT - 2, " " }, { GRA_RNG_TEXT - 2, "g" },
    };
    const gra_rng before = in_use();
    char good[GRA_RNG_TEXT], text[GRA_RNG_TEXT + 1];
    gra_rng g = before;
    ck_assert_int_eq(gra_rng_text(&before, good), 0);
    for (int i = 0; i < LENGTH(change); i++) {
        strcpy(text, good);
        memcpy(text + change[i].at, change[i].put, strlen(change[i].put));
        ck_assert_msg(gra_rng_from_text(&g, text) == -1, "'%s' at %zu was read", change[i].put, change[i].at);
    }
    for (size_t n = 0; n < strlen(good); n++) {
        strcpy(text, good);
        text[n] = 0;
        ck_assert_int_eq(gra_rng_from_text(&g, text), -1);
    }
    snprintf(text, sizeof text, "%s0", good);
    ck_assert_int_eq(gra_rng_from_text(&g, text), -1);
    strcpy(text, good);
    memset(text + 32, '0', GRA_RNG_TEXT - 1 - 32);
    ck_assert_int_eq(gra_rng_from_text(&g, text), -1);     /* all words are 0, and would stay 0 for ever */
    same_state(&before, &g);
}
