/* The ops. Of each row of ops_table.c: its gradient (float64), and that both precisions agree. Of large
 * tensors: that work cut in pieces gives what the pieces give. What no table can say is in test_answers.c. */
#include "fault.h"
#include "ops_table.h"
#include "room.h"
#include "suites.h"

#include <dirent.h>
#include <stdlib.h>

#define LENGTH(a) (int)(sizeof(a) / sizeof *(a))

#define REAL_STEP (sizeof(real) == 8 ? 0x1p-52 : 0x1p-23)    /* from 1 to the next real */

static gra_tape *t;
static gra_rng   rng;

static void open_tape(void)
{
    t = gra_open(1);
    gra_manual_seed(&rng, 123);
    gra_begin(t, GRA_GRAD, &rng);
}

static void close_tape(void)
{
    gra_close(t);
}

/* ---- gradients: float64 alone ------------------------------------------------------------------- */

#ifdef GRADUS_DOUBLE
/* Runs a row, and keeps the names of the ops on its tape. */
typedef struct watch {
    const struct op_case *row;
    char names[64][48];
    int  count;
} watch;

static gra_tensor *watched(gra_tape *tape, gra_tensor **in, void *arg)
{
    watch *w = arg;
    gra_tensor *y = w->row->f(tape, in, NULL);
    w->count = 0;
    for (const gra_tensor *r = y; r && w->count < LENGTH(w->names); r = r->prev)
        if (r->op)
            snprintf(w->names[w->count++], sizeof w->names[0], "%s", r->op->name);
    return y;
}

static bool has(const watch *w, const char *op)
{
    for (int i = 0; i < w->count; i++)
        if (strcmp(w->names[i], op) == 0)
            return true;
    return false;
}

static int check_row(watch *w, gra_check_report *report)
{
    gra_manual_seed(&rng, 1);
    return gra_check(t, w->row->mode, &rng, NULL, w->row->nin, w->row->in, watched, w, w->row->tol, report);
}

START_TEST(gradients)
{
    watch w = { .row = &op_cases[_i] };
    gra_check_report report;
    gra_keep_going(t, true);
    ck_assert_msg(w.row->tol <= 1e-6, "%s: 1e-6 is asked of every op, not %g", w.row->name, w.row->tol);
    ck_assert_msg(check_row(&w, &report) == 0, "%s: %s", w.row->name, report.text);
    ck_assert_msg(has(&w, w.row->op), "%s: there is no %s on its tape", w.row->name, w.row->op);
}
END_TEST

/* An op that nobody checks is wrong sooner or later. */
START_TEST(every_op_file_is_checked)
{
    DIR *folder = opendir("core/ops");
    ck_assert_msg(folder, "core/ops cannot be read: the tests run in the root of the repository");
    int files = 0;
    for (const struct dirent *e; (e = readdir(folder));) {
        const char *end = strrchr(e->d_name, '.');
        if (!end || strcmp(end, ".c") != 0)
            continue;
        char op[64];
        snprintf(op, sizeof op, "%.*s", (int)(end - e->d_name), e->d_name);
        bool checked = false;
        for (int i = 0; i < op_cases_count && !checked; i++) {
            watch w = { .row = &op_cases[i] };
            gra_check_report report;
            if (strcmp(op_cases[i].op, op) != 0)
                continue;
            check_row(&w, &report);                     /* that it passes is the test above */
            checked = has(&w, op);
        }
        ck_assert_msg(checked, "core/ops/%s: no gradient check has seen an op of the name \"%s\": "
                      "tests/ops_table.c wants a row for it", e->d_name, op);
        files++;
    }
    closedir(folder);
    ck_assert_int_gt(files, 0);
}
END_TEST
#endif

/* ---- float32 against float64 ----------------------------------------------------------------------
 * The float64 suite writes y and all gradients of each row, of inputs that are floats, to a file; the
 * float32 suite compares. Errors are relative to the largest of a tensor's values, or to 1e-3 |loss|
 * where all of them are rounding errors. */

static const double *drawn_weights(size_t n)            /* floats in [0.5, 1.5] */
{
    static double c[4096];
    static real u[4096];
    gra_rng own;
    gra_manual_seed(&own, 2);
    ck_assert_uint_le(n, LENGTH(c));
    gra_rand(&own, u, n);
    for (size_t i = 0; i < n; i++)
        c[i] = 0.5 + (double)u[i];
    return c;
}

/* loss = sum_i c_i y_i, swept. */
static gra_tensor *sweep(gra_tensor *y)
{
    const double *c = drawn_weights(y->size);
    real *copy = gra_alloc(t, (y->size + 1) * sizeof(real));
    for (size_t i = 0; i < y->size; i++)
        copy[i] = (real)(float)c[i];
    gra_tensor *loss = gra_sum(t, gra_mul(t, y, gra_constant(t, copy, y->ndim, y->shape)));
    if (loss->requires_grad)
        ck_assert_int_eq(gra_backward(t, loss), 0);
    return loss;
}

static gra_tensor *draw_input(gra_rng *g, const gra_check_in *in, bool wanted)
{
    size_t n;
    ck_assert(gra_shape_size(in->ndim, in->shape, &n));
    real *x = gra_alloc(t, n * sizeof(real));
    double low = in->low < in->high ? in->low : -2, high = in->low < in->high ? in->high : 2;
    gra_rand(g, x, n);
    for (size_t i = 0; i < n; i++)
        x[i] = in->data ? in->data[i] : (real)(float)(low + (high - low) * (double)x[i]);
    return wanted ? gra_input(t, x, in->ndim, in->shape) : gra_constant(t, x, in->ndim, in->shape);
}

/* A row's y, inputs and loss. Bit i of `wanted`: input i wants a gradient. */
static gra_tensor *run_row(int row, unsigned wanted, gra_tensor **in, gra_tensor **loss)
{
    const struct op_case *c = &op_cases[row];
    gra_rng own;
    gra_manual_seed(&rng, 123);
    gra_begin(t, c->mode, &rng);
    gra_manual_seed(&own, 1000 + (uint64_t)row);
    for (int i = 0; i < c->nin; i++)
        in[i] = draw_input(&own, &c->in[i], wanted >> i & 1);
    gra_tensor *handed[4];
    memcpy(handed, in, sizeof handed);
    gra_tensor *y = c->f(t, handed, NULL);
    *loss = sweep(y);
    return y;
}

static uint64_t hash(uint64_t h, const real *x, size_t n)       /* FNV-1a of all bits */
{
    const unsigned char *byte = (const unsigned char *)x;
    for (size_t i = 0; x && i < n * sizeof *x; i++)
        h = (h ^ byte[i]) * 1099511628211u;
    return h;
}

START_TEST(tracing_finds_nothing_and_changes_nothing)
{
    for (int row = 0; row < op_cases_count; row++) {
        uint64_t h[2] = { 1, 1 };
        for (int traced = 0; traced < 2; traced++) {
            gra_tensor *in[4], *loss;
            gra_trace_nan(t, traced);
            gra_tensor *y = run_row(row, ~0u, in, &loss);
            h[traced] = hash(h[traced], y->data, y->size);
            for (int i = 0; i < op_cases[row].nin; i++)
                h[traced] = hash(h[traced], in[i]->grad, in[i]->size);
            ck_assert_msg(!gra_error(t), "%s: %s", op_cases[row].name, gra_error(t));
        }
        ck_assert_msg(h[0] == h[1], "%s gives other bits when it is traced", op_cases[row].name);
    }
}
END_TEST

/* Which inputs want a gradient changes neither y nor the gradients of those that do. */
START_TEST(each_choice_of_gradients)
{
    for (int row = 0; row < op_cases_count; row++) {
        const struct op_case *c = &op_cases[row];
        static real all[4][4096], y_of_all[4096];
        gra_tensor *in[4], *loss, *y = run_row(row, ~0u, in, &loss);
        memcpy(y_of_all, y->data, y->size * sizeof(real));
        for (int i = 0; i < c->nin; i++) {
            ck_assert_uint_le(in[i]->size, LENGTH(all[i]));
            for (size_t j = 0; j < in[i]->size; j++)
                all[i][j] = in[i]->grad ? in[i]->grad[j] : 0;
        }
        for (unsigned wanted = 0; wanted + 1 < 1u << c->nin; wanted++) {
            y = run_row(row, wanted, in, &loss);
            ck_assert_msg(memcmp(y->data, y_of_all, y->size * sizeof(real)) == 0, "%s: another y", c->name);
            for (int i = 0; i < c->nin; i++)
                for (size_t j = 0; j < in[i]->size; j++) {
                    const bool want = wanted >> i & 1;
                    ck_assert_msg(want || !in[i]->grad, "%s: input %d got a gradient", c->name, i);
                    if (want && (in[i]->grad ? in[i]->grad[j] : 0) != all[i][j])
                        ck_abort_msg("%s: input %d, choice %u: %zu is %g, wanted %g", c->name, i, wanted, j,
                                     in[i]->grad ? (double)in[i]->grad[j] : 0, (double)all[i][j]);
                }
        }
    }
}
END_TEST

/* A row that finds so many lines of memory taken. */
static bool has_room(const struct op_case *c, size_t taken)
{
    static const real values[8192] = { 0 };
    gra_tensor *in[4], *handed[4];
    room_begin(t, c->mode, &rng, taken);
    for (int i = 0; i < c->nin; i++)
        handed[i] = in[i] = gra_input(t, c->in[i].data ? c->in[i].data : values, c->in[i].ndim,
                                      c->in[i].shape);
    gra_tensor *y = c->f(t, handed, NULL), *loss = gra_sum(t, y);
    const int status = gra_backward(t, loss);
    fault_disarm();
    if (!gra_error(t) || strstr(gra_error(t), "depends on no parameter"))
        return true;
    ck_assert_msg(strncmp(gra_error(t), "out of memory: ", 15) == 0, "%s: %s", c->name, gra_error(t));
    ck_assert_int_eq(status, -1);
    return false;
}

/* Wherever in a step it is that memory ends: a sentence, and no harm. */
START_TEST(memory_ends_anywhere)        /* _i: a row */
{
    gra_keep_going(t, true);
    gra_keep_attention(t, true);
    const size_t all = room_of(t);
    size_t lines = 0;
    while (lines < all && !has_room(&op_cases[_i], all - lines))
        lines++;
    ck_assert_msg(lines > 3 || all == 0, "%s took no memory", op_cases[_i].name);
}
END_TEST

static const char *reference_path(void)
{
    static char path[512];
    snprintf(path, sizeof path, "%.*sf64/ops_reference.txt", (int)(strlen(GRADUS_BUILD) - 3), GRADUS_BUILD);
    return path;
}

#ifdef GRADUS_DOUBLE
static void write_values(FILE *f, const char *what, const real *x, size_t n)
{
    fprintf(f, "%s %zu", what, n);
    for (size_t i = 0; i < n; i++)
        fprintf(f, " %.17g", x ? (double)x[i] : 0.0);
    fprintf(f, "\n");
}

START_TEST(write_reference)
{
    FILE *f = fopen(reference_path(), "w");
    ck_assert_msg(f, "%s cannot be written", reference_path());
    for (int row = 0; row < op_cases_count; row++) {
        gra_tensor *in[4], *loss, *y = run_row(row, ~0u, in, &loss);
        fprintf(f, "row %d %s\n", row, op_cases[row].name);
        write_values(f, "loss", loss->data, 1);
        write_values(f, "y", y->data, y->size);
        for (int i = 0; i < op_cases[row].nin; i++)
            write_values(f, "gradient", in[i]->grad, in[i]->size);
    }
    ck_assert_int_eq(fclose(f), 0);
}
END_TEST
#else
/* One rounding is 6e-8; some tens of them meet in a row of the table. */
static const double precision_tolerance = 2e-6;

/* The numbers of a line that begins with `what`. */
static size_t read_values(FILE *f, const char *what, double *x, size_t most)
{
    char word[32];
    size_t n;
    ck_assert_msg(fscanf(f, "%31s %zu", word, &n) == 2 && strcmp(word, what) == 0 && n <= most,
                  "%s is of another table: run the float64 suite again", reference_path());
    for (size_t i = 0; i < n; i++)
        ck_assert_int_eq(fscanf(f, "%lf", &x[i]), 1);
    return n;
}

static double largest(const double *x, size_t n)
{
    double m = 0;
    for (size_t i = 0; i < n; i++)
        m = fmax(m, fabs(x[i]));
    return m;
}

static void compare_values(FILE *f, const char *row, const char *what, double floor, const real *x, size_t n)
{
    static double want[4096];
    ck_assert_uint_eq(read_values(f, what, want, LENGTH(want)), n);
    double r = fmax(largest(want, n), floor);
    for (size_t i = 0; i < n; i++) {
        double got = x ? (double)x[i] : 0;
        if (!(fabs(got - want[i]) <= precision_tolerance * r))
            ck_abort_msg("%s, %s[%zu]: %.9g, in float64 %.9g: %.2g of the largest", row, what, i, got,
                         want[i], fabs(got - want[i]) / r);
    }
}

static void compare_all(void)
{
    FILE *f = fopen(reference_path(), "r");
    ck_assert_msg(f, "%s is missing: run the float64 suite first, which writes it (make test does)",
                  reference_path());
    for (int row = 0; row < op_cases_count; row++) {
        gra_tensor *in[4], *loss, *y = run_row(row, ~0u, in, &loss);
        const char *name = op_cases[row].name;
        char found[128] = "";
        int number = -1;
        int got = fscanf(f, " row %d %127[^\n]", &number, found);
        ck_assert_msg(got == 2 && number == row && strcmp(found, name) == 0,
                      "%s has \"%s\" for row %d, \"%s\": run the float64 suite again", reference_path(),
                      found, row, name);
        double want_loss;
        read_values(f, "loss", &want_loss, 1);
        compare_values(f, name, "y", 1e-3 * fabs(want_loss), y->data, y->size);
        for (int i = 0; i < op_cases[row].nin; i++)
            compare_values(f, name, "gradient", 1e-3 * fabs(want_loss), in[i]->grad, in[i]->size);
    }
    fclose(f);
}
#endif

/* ---- instruction sets ------------------------------------------------------------------------------
 * Tests that loop over them run once for each that this machine has. */

static const char *const isa[] = { "base", "avx2", "avx512" };

static bool open_with(const char *name, int threads)
{
    setenv("GRADUS_ISA", name, 1);
    gra_close(t);
    t = gra_open(threads);
    unsetenv("GRADUS_ISA");
    return strcmp(gra_isa_name(t), name) == 0;
}

#ifndef GRADUS_DOUBLE
START_TEST(float32_agrees_with_float64)
{
    if (open_with(isa[_i], 1))
        compare_all();
}
END_TEST
#endif

/* ---- large tensors: work that is cut in chunks -------------------------------------------------------
 * Where an op takes parts of x by themselves, f(x) is f of each part, put together. A part is small
 * enough to be done in one piece, x is not. */

enum joined { JOINED, MEAN, SUM, LARGEST };

struct large_case {
    const char   *name;
    gra_check_in  in[2];
    int           d;                    /* the parts are slices of in[0] along d, */
    enum joined   how;                  /* and the results are put together like this, */
    int           along;                /* along this dimension */
    gra_tensor *(*f)(gra_tape *tape, gra_tensor *x, gra_tensor *w, int first);  /* where x begins along d */
};

static const int large_target[13] = { 5, 300, 0, 7, 7, 9000, 64, 1, 2, 3, 4, 5, 6 };

#define OF(...) .ndim = (int)(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)), .shape = { __VA_ARGS__ }
#define LARGE(name, ...)                                                                                 \
    static gra_tensor *name(gra_tape *tape, gra_tensor *x, gra_tensor *w, int first)                     \
    {                                                                                                    \
        (void)w, (void)first;                                                                            \
        return __VA_ARGS__;                                                                              \
    }

LARGE(l_add, gra_add(tape, x, w))
LARGE(l_sub, gra_sub(tape, w, x))
LARGE(l_mul, gra_mul(tape, x, w))
LARGE(l_div, gra_div(tape, x, w))
LARGE(l_neg, gra_neg(tape, x))
LARGE(l_scale, gra_scale(tape, x, 3))
LARGE(l_pow, gra_pow(tape, x, 2.5))
LARGE(l_exp, gra_exp(tape, x))
LARGE(l_log, gra_log(tape, x))
LARGE(l_sqrt, gra_sqrt(tape, x))
LARGE(l_tanh, gra_tanh(tape, x))
LARGE(l_sigmoid, gra_sigmoid(tape, x))
LARGE(l_relu, gra_relu(tape, x))
LARGE(l_gelu, gra_gelu(tape, x))
LARGE(l_gelu_tanh, gra_gelu_tanh(tape, x))
LARGE(l_silu, gra_silu(tape, x))
LARGE(l_masked_fill, gra_masked_fill(tape, x, gra_relu(tape, w), 0.5))
LARGE(l_causal_mask, gra_softmax(tape, gra_causal_mask(tape, x), -1))
LARGE(l_matmul, gra_matmul(tape, x, w))
LARGE(l_matmul_nt, gra_matmul_nt(tape, x, w))
LARGE(l_linear, gra_linear(tape, x, w, NULL))
LARGE(l_sum, gra_sum(tape, x))
LARGE(l_mean, gra_mean(tape, x))
LARGE(l_max, gra_max(tape, x))
LARGE(l_sum_first, gra_sum_dim(tape, x, 0, true))
LARGE(l_sum_middle, gra_sum_dim(tape, x, 1, false))
LARGE(l_sum_last, gra_sum_dim(tape, x, -1, false))
LARGE(l_max_first, gra_max_dim(tape, x, 0, true))
LARGE(l_max_last, gra_max_dim(tape, x, -1, false))
LARGE(l_softmax_first, gra_softmax(tape, x, 0))
LARGE(l_softmax_last, gra_softmax(tape, x, -1))
LARGE(l_log_softmax_first, gra_log_softmax(tape, x, 0))
LARGE(l_log_softmax_last, gra_log_softmax(tape, x, -1))
LARGE(l_layer_norm, gra_layer_norm(tape, x, w, w, 1e-5))
LARGE(l_rms_norm, gra_rms_norm(tape, x, w, 1e-5))
LARGE(l_transpose, gra_transpose(tape, x, 0, 1))
LARGE(l_transpose_last, gra_transpose(tape, x, -2, -1))
LARGE(l_permute, gra_permute(tape, x, (const int[]){ 1, 3, 0, 2 }))
LARGE(l_concat, gra_concat(tape, 3, (gra_tensor *[]){ x, gra_neg(tape, x), x }, 1))
LARGE(l_slice, gra_slice(tape, x, 1, 3, -5))
LARGE(l_cross_entropy, gra_cross_entropy(tape, x, large_target + first))
LARGE(l_mse_loss, gra_mse_loss(tape, x, gra_neg(tape, x)))
LARGE(l_attention, gra_attention(tape, x, x, gra_neg(tape, x), 3, true, 0))

#define POSITIVE .low = 0.5, .high = 3
#define ROWS(f)  { #f, { { OF(403, 301) } }, 0, JOINED, 0, f }

static const struct large_case large_cases[] = {
    ROWS(l_neg), ROWS(l_scale), ROWS(l_exp), ROWS(l_tanh), ROWS(l_sigmoid), ROWS(l_relu), ROWS(l_gelu),
    ROWS(l_gelu_tanh), ROWS(l_silu), ROWS(l_softmax_last), ROWS(l_log_softmax_last), ROWS(l_concat),
    ROWS(l_slice),
    { "pow",            { { OF(403, 301), POSITIVE } }, 0, JOINED, 0, l_pow },
    { "log",            { { OF(403, 301), POSITIVE } }, 0, JOINED, 0, l_log },
    { "sqrt",           { { OF(403, 301), POSITIVE } }, 0, JOINED, 0, l_sqrt },
    { "add, a vector",  { { OF(403, 301) }, { OF(301) } }, 0, JOINED, 0, l_add },
    { "add, a column",  { { OF(301, 403) }, { OF(301, 1) } }, 1, JOINED, 1, l_add },
    { "sub, a vector",  { { OF(403, 301) }, { OF(301) } }, 0, JOINED, 0, l_sub },
    { "mul, columns",   { { OF(403, 1, 7) }, { OF(43, 1) } }, 0, JOINED, 0, l_mul },
    { "div, a number",  { { OF(403, 301) }, { .ndim = 0, POSITIVE } }, 0, JOINED, 0, l_div },
    { "masked_fill",    { { OF(403, 301) }, { OF(301) } }, 0, JOINED, 0, l_masked_fill },
    { "causal_mask",    { { OF(403, 17, 18) } }, 0, JOINED, 0, l_causal_mask },
    { "matmul",         { { OF(403, 301) }, { OF(301, 17) } }, 0, JOINED, 0, l_matmul },
    { "matmul, batch",  { { OF(26, 61, 101) }, { OF(101, 17) } }, 0, JOINED, 0, l_matmul },
    { "matmul_nt",      { { OF(403, 301) }, { OF(17, 301) } }, 0, JOINED, 0, l_matmul_nt },
    { "linear",         { { OF(403, 301) }, { OF(17, 301) } }, 0, JOINED, 0, l_linear },
    { "sum",            { { OF(403, 301), POSITIVE } }, 0, SUM, 0, l_sum },
    { "mean",           { { OF(403, 301), POSITIVE } }, 0, MEAN, 0, l_mean },
    { "max",            { { OF(403, 301) } }, 0, LARGEST, 0, l_max },
    { "sum_dim 0",      { { OF(301, 403) } }, 1, JOINED, 1, l_sum_first },
    { "sum_dim 1",      { { OF(403, 17, 19) } }, 0, JOINED, 0, l_sum_middle },
    { "sum_dim -1",     { { OF(403, 301) } }, 0, JOINED, 0, l_sum_last },
    { "max_dim 0",      { { OF(301, 403) } }, 1, JOINED, 1, l_max_first },
    { "max_dim -1",     { { OF(403, 301) } }, 0, JOINED, 0, l_max_last },
    { "softmax 0",      { { OF(301, 403) } }, 1, JOINED, 1, l_softmax_first },
    { "log_softmax 0",  { { OF(301, 403) } }, 1, JOINED, 1, l_log_softmax_first },
    { "layer_norm",     { { OF(403, 301) }, { OF(301) } }, 0, JOINED, 0, l_layer_norm },
    { "rms_norm",       { { OF(403, 301) }, { OF(301) } }, 0, JOINED, 0, l_rms_norm },
    { "transpose",      { { OF(403, 301) } }, 0, JOINED, 1, l_transpose },
    { "transpose last", { { OF(26, 61, 101) } }, 0, JOINED, 0, l_transpose_last },
    { "permute",        { { OF(26, 61, 5, 21) } }, 0, JOINED, 2, l_permute },
    { "cross_entropy",  { { OF(13, 9001) } }, 0, MEAN, 0, l_cross_entropy },
    { "mse_loss",       { { OF(403, 301) } }, 0, MEAN, 0, l_mse_loss },
    { "attention",      { { OF(26, 61, 63) } }, 0, JOINED, 0, l_attention },
};

enum { PARTS = 13 };                    /* which divides the sizes above */

static gra_tensor *in_parts(const struct large_case *c, gra_tensor *x, gra_tensor *w)
{
    gra_tensor *part[PARTS];
    int n = x->shape[c->d] / PARTS;
    for (int i = 0; i < PARTS; i++) {
        part[i] = c->f(t, gra_slice(t, x, c->d, i * n, (i + 1) * n), w, i * n);
        if (c->how != JOINED)
            part[i] = gra_reshape(t, part[i], GRA_DIMS(1));
    }
    gra_tensor *all = gra_concat(t, PARTS, part, c->along);
    switch (c->how) {
    case MEAN:    return gra_mean(t, all);
    case SUM:     return gra_sum(t, all);
    case LARGEST: return gra_max(t, all);
    case JOINED:  break;
    }
    return all;
}

/* What a run of a large case gave: y and the gradients of its inputs, copied. */
struct outcome {
    real  *values[3];
    size_t size[3];
};

static void copy_values(struct outcome *o, int i, const real *x, size_t n)
{
    o->size[i] = n;
    o->values[i] = calloc(n + 1, sizeof(real));
    if (x)
        memcpy(o->values[i], x, n * sizeof(real));
}

static struct outcome run_large(const struct large_case *c, bool parts)
{
    struct outcome o;
    gra_rng own;
    gra_manual_seed(&own, 3);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *x = draw_input(&own, &c->in[0], true), *w = draw_input(&own, &c->in[1], true);
    gra_tensor *y = parts ? in_parts(c, x, w) : gra_reshape(t, c->f(t, x, w, 0), GRA_DIMS(-1));
    real *dy = gra_alloc(t, y->size * sizeof(real));
    gra_uniform(&own, dy, y->size, 0.5, 1.5);
    gra_tensor *flat = gra_reshape(t, y, GRA_DIMS(-1));
    ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_mul(t, flat, gra_constant(t, dy, 1, flat->shape)))), 0);
    copy_values(&o, 0, y->data, y->size);
    copy_values(&o, 1, x->grad, x->size);
    copy_values(&o, 2, w->grad, w->size);
    return o;
}

static void forget(struct outcome *o)
{
    for (int i = 0; i < 3; i++)
        free(o->values[i]);
}

/* w's gradient sums up to 121,303 floats in one order or in another. */
static const double large_tolerance[3] = { 4 * REAL_STEP, 8 * REAL_STEP, 256 * REAL_STEP };

START_TEST(large_tensors_are_their_parts)
{
    const struct large_case *c = &large_cases[_i % LENGTH(large_cases)];
    static const char *const value[] = { "y", "x's gradient", "w's gradient" };
    if (!open_with(isa[_i / LENGTH(large_cases)], 1))
        return;
    struct outcome parts = run_large(c, true), whole = run_large(c, false);
    open_with(isa[_i / LENGTH(large_cases)], 3);
    struct outcome threads = run_large(c, false);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(parts.size[i], whole.size[i]);
        double r = 0;
        for (size_t j = 0; j < whole.size[i]; j++) {    /* not fmax: gcc 12 for aarch64 breaks down over it */
            double v = fabs((double)whole.values[i][j]);
            r = v > r ? v : r;
        }
        for (size_t j = 0; j < whole.size[i]; j++) {
            double a = (double)whole.values[i][j], b = (double)parts.values[i][j];
            if (!(fabs(a - b) <= large_tolerance[i] * r))   /* an assertion for each would take long */
                ck_abort_msg("%s: %s[%zu] is %.9g, of the parts %.9g: %.2g", c->name, value[i], j, a, b,
                             fabs(a - b) / r);
        }
        ck_assert_msg(memcmp(whole.values[i], threads.values[i], whole.size[i] * sizeof(real)) == 0,
                      "%s: three threads give another %s", c->name, value[i]);
    }
    ck_assert(whole.size[0] > 0);
    forget(&parts);
    forget(&whole);
    forget(&threads);
}
END_TEST

/* Dropout's parts are no dropouts of parts: each begins where the stream of numbers has come to. */
START_TEST(dropout_is_the_stream_number_by_number)
{
    const size_t n = 100003;
    const double p = 0.3;
    gra_rng own;
    gra_manual_seed(&own, 123);
    uint32_t x = gra_bernoulli_start(&own);
    if (!open_with(isa[_i], 3))
        return;
    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *in = gra_input(t, gra_full(t, 2, GRA_DIMS((int)n))->data, GRA_DIMS((int)n));
    gra_tensor *y = gra_dropout(t, in, p);
    gra_backward(t, gra_sum(t, y));
    size_t kept = 0;
    for (size_t i = 0; i < n; i++, x = gra_bernoulli_next(x)) {
        bool keep = (double)x / 2147483647 < 1 - p;
        real factor = keep ? 1 / (real)(1 - p) : 0;
        if (y->data[i] != 2 * factor || in->grad[i] != factor)
            ck_abort_msg("element %zu: %g, gradient %g", i, (double)y->data[i], (double)in->grad[i]);
        kept += keep;
    }
    ck_assert_double_eq_tol((double)kept / (double)n, 1 - p, 0.01);
    ck_assert_uint_eq(gra_random(&rng), gra_random(&own));         /* one number was drawn, no more */
}
END_TEST

/* ---- the suite -------------------------------------------------------------------------------------- */

static TCase *group(Suite *s, const char *name)
{
    TCase *c = tcase_create(name);
    tcase_add_checked_fixture(c, open_tape, close_tape);
    tcase_set_timeout(c, 60);
    suite_add_tcase(s, c);
    return c;
}

Suite *ops_suite(void)
{
    Suite *s = suite_create("ops");
    TCase *c;
#ifdef GRADUS_DOUBLE
    c = group(s, "gradients");
    tcase_add_loop_test(c, gradients, 0, op_cases_count);
    tcase_add_test(c, every_op_file_is_checked);
    tcase_add_test(c, write_reference);
#else
    c = group(s, "float32 against float64");
    tcase_add_loop_test(c, float32_agrees_with_float64, 0, LENGTH(isa));
#endif
    c = group(s, "large tensors");
    tcase_add_loop_test(c, large_tensors_are_their_parts, 0, LENGTH(isa) * LENGTH(large_cases));
    tcase_add_loop_test(c, dropout_is_the_stream_number_by_number, 0, LENGTH(isa));

    c = group(s, "gradients and memory");
    tcase_add_test(c, each_choice_of_gradients);
    tcase_add_loop_test(c, memory_ends_anywhere, 0, op_cases_count);

    c = group(s, "tracing");
    tcase_add_test(c, tracing_finds_nothing_and_changes_nothing);
    return s;
}
