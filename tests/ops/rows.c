/* rows: see rows.h. */
#include "rows.h"
#include "lib/crash.h"
#include "core/tape/tape.h"

#include <check.h>
#include <stdlib.h>

static const double *drawn_weights(size_t n)            /* floats in [0.5, 1.5] */
{
    static double c[4096];
    static real u[4096];
    gra_rng own;
    gra_manual_seed(&own, 2);
    ck_assert_uint_le(n, sizeof c / sizeof *c);
    gra_rand(&own, u, n);
    for (size_t i = 0; i < n; i++)
        c[i] = 0.5 + (double)u[i];
    return c;
}

/* loss = sum_i c_i y_i, and its backward. `again`: n tensors to add to the loss, so their gradients are not
 * zero when the backward of y's op runs. */
static gra_tensor *sweep(gra_tape *t, gra_tensor *y, int n, gra_tensor *const *again)
{
    const double *c = drawn_weights(y->size);
    real *copy = gra_alloc(t, (y->size + 1) * sizeof(real));
    for (size_t i = 0; i < y->size; i++)
        copy[i] = (real)(float)c[i];
    gra_tensor *loss = gra_sum(t, gra_mul(t, y, gra_constant(t, copy, y->shape)));
    for (int i = 0; i < n; i++)
        loss = gra_add(t, loss, gra_sum(t, again[i]));
    if (loss->requires_grad)
        ck_assert_int_eq(gra_backward(t, loss), 0);
    return loss;
}

gra_tensor *draw_input(gra_tape *t, gra_rng *g, const gra_check_in *in, bool grad)
{
    size_t n;
    ck_assert(gra_shape_size(in->shape, &n));
    real *x = gra_alloc(t, n * sizeof(real));
    double low = in->low < in->high ? in->low : -2, high = in->low < in->high ? in->high : 2;
    gra_rand(g, x, n);
    for (size_t i = 0; i < n; i++)
        x[i] = in->data ? in->data[i] : (real)(float)(low + (high - low) * (double)x[i]);
    return grad ? gra_input(t, x, in->shape) : gra_constant(t, x, in->shape);
}

/* The seed depends on the name, so a new row in the table does not change the numbers of later ones. */
static uint64_t seed_of(const struct op_case *c)
{
    uint64_t seed = 1;
    for (const char *at = c->name; *at; at++)
        seed = seed * 31 + (unsigned char)*at;
    return seed;
}

/* ---- the note of a crash ---- */

typedef struct probe {                  /* watches a row that is only recorded */
    const char *op;
    int         inputs;                 /* the largest number; 0: the op is absent */
} probe;

static void clear(void *watcher, void *piece, size_t bytes)
{
    (void)watcher;
    memset(piece, 0, bytes);
}

static void nothing(gra_tensor *y) { (void)y; }

static void count_inputs(void *watcher, gra_tensor *y, bool backward)
{
    static const gra_op idle = { .name = "idle", .forward = nothing };
    probe *p = watcher;
    (void)backward;
    if (strcmp(y->op->name, p->op) == 0 && y->nin > p->inputs)
        p->inputs = y->nin;
    y->op = &idle;                      /* keeps the op's forward from running */
}

/* The number of inputs of the op, found on a separate tape; no forward runs. */
static int inputs_of_op(const struct op_case *c)
{
    static gra_rng rng;
    static const gra_watch watch = { .on_alloc = clear, .before_run = count_inputs };
    probe p = { .op = c->op };
    gra_tape *t = gra_open(1);
    gra_tensor *in[ROW_INPUTS];
    gra_manual_seed(&rng, 123);
    gra_keep_going(t, true);
    gra_tape_watch(t, GRA_WATCH_CHECK, &watch, &p);
    gra_begin(t, c->mode, &rng);
    for (int i = 0; i < c->nin; i++)
        in[i] = draw_input(t, &rng, &c->in[i], true);
    c->f(t, in, NULL);
    gra_close(t);
    return p.inputs;
}

void note_row(const struct op_case *c, const char *how)
{
    crash_note("crash in the row \"%s\" of tests/ops/ops_table.c", c->name);
    const int inputs = inputs_of_op(c);
    char fewer[256] = "";
    if (inputs == 1 && c->nin > 1)
        snprintf(fewer, sizeof fewer, "\n%s was made with one input, but the row has %d:\n"
                 "gra_result_broadcast(t, &op, a, b), or gra_result(t, &op, shape, a, b, ...)", c->op,
                 c->nin);
    crash_note("crash in the row \"%s\" of tests/ops/ops_table.c%s%s", c->name, how, fewer);
}

static void note_row_and_missing(const struct op_case *c, unsigned grads)
{
    const unsigned all = (1u << c->nin) - 1;
    char missing[64] = "", how[320] = "";
    for (int i = 0; i < c->nin; i++)
        if (!(grads >> i & 1))
            snprintf(missing + strlen(missing), sizeof missing - strlen(missing), " in[%d]->grad", i);
    if ((grads & all) != all)
        snprintf(how, sizeof how, ", where not all inputs need a gradient.\n"
                 "NULL in its backward:%s. Test it before adding to it: if (db) db[i] += ...", missing);
    note_row(c, how);
}

row_run run_row(gra_tape *t, int row, unsigned grads)
{
    static gra_rng rng;
    const struct op_case *c = &op_cases[row];
    row_run r = { 0 };
    gra_rng own;
    note_row_and_missing(c, grads);
    gra_manual_seed(&rng, 123);
    gra_begin(t, c->mode, &rng);
    gra_manual_seed(&own, seed_of(c));
    for (int i = 0; i < c->nin; i++)
        r.in[i] = draw_input(t, &own, &c->in[i], grads >> i & 1);
    gra_tensor *handed[ROW_INPUTS];
    memcpy(handed, r.in, sizeof handed);
    r.y = c->f(t, handed, NULL);
    r.loss = sweep(t, r.y, grads & USED_AGAIN ? c->nin : 0, r.in);
    return r;
}

static void copy_values(outcome *o, const real *x, size_t n)
{
    o->size[o->n] = n;
    o->values[o->n] = calloc(n + 1, sizeof(real));
    if (x)
        memcpy(o->values[o->n], x, n * sizeof(real));
    o->n++;
}

outcome outcome_of(const gra_tensor *y, int nin, gra_tensor *const *in)
{
    outcome o = { 0 };
    copy_values(&o, y->data, y->size);
    for (int i = 0; i < nin; i++)
        copy_values(&o, in[i]->grad, in[i]->size);
    return o;
}

void outcome_free(outcome *o)
{
    for (int i = 0; i < o->n; i++)
        free(o->values[i]);
}

bool outcomes_differ(const outcome *a, const outcome *b, char where[160])
{
    for (int i = 0; i < a->n; i++)
        for (size_t j = 0; j < a->size[i]; j++) {
            if (memcmp(&a->values[i][j], &b->values[i][j], sizeof(real)) == 0)
                continue;
            char what[64] = "y";
            if (i > 0)
                snprintf(what, sizeof what, "the gradient of input %d", i - 1);
            snprintf(where, 160, "element %zu of %s is %.9g, not %.9g", j, what, (double)b->values[i][j],
                     (double)a->values[i][j]);
            return true;
        }
    return false;
}

void expect_values(const char *file, int line, const char *what, const real *x, const double *want, size_t n)
{
    static const double step = sizeof(real) == 8 ? 0x1p-52 : 0x1p-23;   /* from 1 to the next real */
    ck_assert_msg(x != NULL, "%s:%d: there is no %s", file, line, what);
    for (size_t i = 0; i < n; i++) {
        const real to = (real)want[i];
        ck_assert_msg(x[i] == to || (isnan(x[i]) && isnan(to)) ||
                      fabs((double)(x[i] - to)) <= 4 * step * fabs(want[i]),
                      "%s:%d: %s %zu is %.9g, expected %.9g", file, line, what, i, (double)x[i], want[i]);
    }
}
