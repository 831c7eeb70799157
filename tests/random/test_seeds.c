/* The results of a seed: whole tensors and the parameters of a GPT equal PyTorch's to the last bit; draws
 * equal those of Python's module random.
 *
 * tests/golden/random.txt and python.txt have a line for each test (make_random.py and make_python.py
 * describe the lines). */
#include "lib/alone.h"
#include "lib/hash.h"
#include "core/op.h"
#include "layers/gpt.h"
#include "lib/suites.h"

#include <inttypes.h>

enum { MOST = 3000 };                   /* values of a tensor */

typedef struct drawing {
    char     kind[16];
    uint64_t seed, hash;
    size_t   n;
    double   a, b, first, last;
} drawing;

static uint64_t hash_floats(uint64_t hash, const real *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float f = (float)x[i];
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        ck_assert_msg((real)f == x[i], "%.17g is not a float", (double)x[i]);
        hash = hash_bits(hash, bits, 4);
    }
    return hash;
}

static uint64_t hash_doubles(const double *x, size_t n)
{
    uint64_t hash = HASH_START, bits;
    for (size_t i = 0; i < n; i++) {
        memcpy(&bits, &x[i], sizeof bits);
        hash = hash_bits(hash, bits, 8);
    }
    return hash;
}

static void same(const drawing *d, uint64_t hash, double first, double last)
{
    ck_assert_msg(hash == d->hash,
                  "%s(%g, %g), seed %" PRIu64 ", %zu values: got %.9g ... %.9g, expected %.9g ... %.9g%s",
                  d->kind, d->a, d->b, d->seed, d->n, first, last, d->first, d->last,
                  first == d->first && last == d->last ? ", and others between" : "");
}

/* A weight (out, in) for an initialiser to fill. */
static gra_tensor matrix(real *x, double out, double in)
{
    return (gra_tensor){ .data = x, .size = (size_t)out * (size_t)in, .shape = { 2, { (int)out, (int)in } } };
}

static void draw_floats(const drawing *d, gra_rng *g)
{
    static real x[MOST];
    gra_tensor w = matrix(x, d->a, d->b);
    gra_init kaiming = gra_init_kaiming(), xavier = gra_init_xavier();
    if (strcmp(d->kind, "randn") == 0)
        gra_randn(g, x, d->n);
    else if (strcmp(d->kind, "normal") == 0)
        gra_normal(g, x, d->n, d->a, d->b);
    else if (strcmp(d->kind, "uniform") == 0)
        gra_uniform(g, x, d->n, d->a, d->b);
    else if (strcmp(d->kind, "kaiming") == 0)
        kaiming.fill(&kaiming, g, &w);
    else if (strcmp(d->kind, "xavier") == 0)
        xavier.fill(&xavier, g, &w);
    else
        ck_abort_msg("got kind %s, expected one of those above", d->kind);
    same(d, hash_floats(HASH_START, x, d->n), (double)x[0], (double)x[d->n - 1]);
}

/* In double the last bits depend on libm's log, sin and cos, as they do in PyTorch and Python. */
static void same_doubles(const drawing *d, const double *x)
{
    ck_assert_double_eq_tol(x[0], d->first, 1e-14);
    ck_assert_double_eq_tol(x[d->n - 1], d->last, 1e-14);
#if defined(__GLIBC__) && defined(__x86_64__)
    if (__builtin_cpu_supports("fma"))                  /* without fma, glibc uses other versions */
        same(d, hash_doubles(x, d->n), x[0], x[d->n - 1]);
#else
#endif
}

static void draw_doubles(const drawing *d, gra_rng *g)
{
    static double x[MOST];
    gra_randn_f64(g, x, d->n);
    same_doubles(d, x);
}

static void make_gpt(const drawing *d, gra_rng *g)
{
    gra_model *m = model_alone(g);
    struct gra_gpt gpt;
    gra_gpt_init(&gpt, gra_root(m), &(gra_gpt_config){ .vocab_size = 65, .context_length = 16, .emb_dim = 32,
                                                       .n_heads = 4, .n_layers = 2, .bias = true });
    uint64_t hash = HASH_START;
    for (int i = 0; i < gra_param_count(m); i++)
        hash = hash_floats(hash, gra_param_at(m, i)->data, gra_param_at(m, i)->size);
    const gra_tensor *first = gra_param_at(m, 0), *last = gra_param_at(m, gra_param_count(m) - 1);
    ck_assert_uint_eq(gra_param_values(m), d->n);
    same(d, hash, (double)first->data[0], (double)last->data[last->size - 1]);
    gra_model_close(m);
}

static void draw(const drawing *d)
{
    gra_rng g;
    gra_manual_seed(&g, d->seed);
    if (strcmp(d->kind, "gpt") == 0)
        make_gpt(d, &g);
    else
        (strcmp(d->kind, "randn_f64") == 0 ? draw_doubles : draw_floats)(d, &g);
}

/* ---- Python ---------------------------------------------------------------------------------- */

/* x[i] = a normal, a uniform and a sum over ten shuffled numbers, in turn. */
static void draw_mixed(const drawing *d, gra_rng *g, double *x)
{
    for (size_t i = 0; i < d->n; i++) {
        int order[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
        gra_real normal;
        x[i] = 0;
        if (i % 3 == 0) {
            gra_python_gauss(g, &normal, 1, d->a, d->b);
            x[i] = (double)normal;
        } else if (i % 3 == 1)
            gra_numpy_random(g, &x[i], 1);
        else {
            gra_python_shuffle(g, order, 10);
            for (int j = 0; j < 10; j++)
                x[i] += j * order[j];
        }
    }
}

/* Float rounds the normals, so in float only the first and the last number of a draw are compared. */
static void python_normals(const drawing *d, gra_rng *g)
{
    static double x[MOST];
    static gra_real normals[MOST];
    if (strcmp(d->kind, "mixed") == 0)
        draw_mixed(d, g, x);
    else {
        gra_python_gauss(g, normals, d->n, d->a, d->b);
        for (size_t i = 0; i < d->n; i++)
            x[i] = (double)normals[i];
    }
    if (sizeof(gra_real) == sizeof(double)) {
        same_doubles(d, x);
        return;
    }
    ck_assert_double_eq_tol(x[0], d->first, 1e-6);
    ck_assert_double_eq_tol(x[d->n - 1], d->last, 1e-6);
}

static void python_integers(const drawing *d, gra_rng *g)
{
    static int x[MOST];
    gra_real weights[300];
    uint64_t hash = HASH_START;
    for (int i = 0; i < (int)d->n; i++)
        x[i] = i;
    for (int i = 0; i < LENGTH(weights); i++)
        weights[i] = (gra_real)(7 * i % 11 / d->b);
    if (strcmp(d->kind, "shuffle") == 0)
        gra_python_shuffle(g, x, (int)d->n);
    for (size_t i = 0; i < d->n; i++) {
        if (strcmp(d->kind, "words") == 0)
            x[i] = (int)gra_random(g);
        else if (strcmp(d->kind, "choices") == 0)
            x[i] = gra_python_choices(g, weights, (int)d->a);
        hash = hash_bits(hash, (uint32_t)x[i], 4);
    }
    same(d, hash, (uint32_t)x[0], (uint32_t)x[d->n - 1]);
}

static void draw_python(const drawing *d)
{
    static double x[MOST];
    gra_rng g;
    gra_python_seed(&g, d->seed);
    if (strcmp(d->kind, "random") == 0) {
        gra_numpy_random(&g, x, d->n);
        same(d, hash_doubles(x, d->n), x[0], x[d->n - 1]);
    } else if (strcmp(d->kind, "gauss") == 0 || strcmp(d->kind, "mixed") == 0)
        python_normals(d, &g);
    else
        python_integers(d, &g);
}

/* ---- the files ---------------------------------------------------------------------------------- */

static void compare(const char *path, void (*drawn)(const drawing *d), int expected)
{
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    char line[256];
    int lines = 0;
    while (fgets(line, sizeof line, file)) {
        drawing d;
        if (line[0] == '#')
            continue;
        ck_assert_msg(sscanf(line, "%15s %" SCNu64 " %zu %lf %lf %lf %lf %" SCNx64, d.kind, &d.seed, &d.n,
                             &d.a, &d.b, &d.first, &d.last, &d.hash) == 8, "no drawing: %s", line);
        ck_assert(d.n <= MOST || strcmp(d.kind, "gpt") == 0);
        drawn(&d);
        lines++;
    }
    fclose(file);
    ck_assert_int_eq(lines, expected);
}

TEST(seeds)
{
    compare("tests/golden/random.txt", draw, 222);
}

TEST(python_seeds)
{
    compare("tests/golden/python.txt", draw_python, 74);
}
