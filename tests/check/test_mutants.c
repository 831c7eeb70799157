/* Would the tests of the ops notice a wrong gradient? For each op we make several wrong gradients,
 * mechanically, and at least one row of the op's table must notice each.
 *
 * A mutant wraps the op's backward: it sets the inputs' gradients aside, lets the original backward add to
 * zeros, and puts back a spoilt sum. The mutant gets onto the tape between forward and backward. Views
 * (reshape) have no backward to spoil: they share their gradient. */
#include "ops/ops_table.h"
#include "lib/suites.h"

#include <stdlib.h>

#ifdef GRADUS_DOUBLE

enum { NONE, A_THOUSANDTH, DROPPED, A_HOLE, OVERWRITTEN, KINDS };

static const struct {
    const char *name;
    double      factor;                 /* of the added sum: all of it, one input's, one element's */
} kinds[KINDS] = {
    { "the original", 1 },              /* must pass, or the other mutants prove nothing */
    { "factor 1.001", 1.001 },          /* a test that notices this also notices -1 or 2 */
    { "input dropped", 0 }, { "one element missing", 0 },
    { "not accumulated", 1 },           /* "=" instead of "+=": the check itself uses the inputs again */
};

enum { MAX_RECORDS = 128, MAX_INPUTS = 8 };

typedef struct mutant {
    gra_op        op;                   /* first member: y->op leads here */
    const gra_op *original;
    struct trial *trial;
} mutant;

typedef struct trial {                  /* one mutant in one row of the table */
    const struct op_case *row;
    int      kind;
    int      input;                     /* the number for DROPPED, counting each gradient once */
    mutant   mutants[MAX_RECORDS];
    int      count;                     /* in this step of the tape, which may use f twice */
    unsigned step;
    int      most_inputs;               /* of one record */
    bool     view;                      /* the op has no backward to spoil */
    bool     changed;                   /* the mutant did spoil something */
} trial;

/* new: the sum that the original would add; old: the previous value. */
static void spoil(trial *k, int input, const real *old, real *grad, size_t n)
{
    double largest = 0;
    size_t hole = n;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs((double)grad[i]));
    for (size_t i = 0; i < n; i++)
        if (fabs((double)grad[i]) > 1e-3 * largest)
            hole = i;                   /* the last element that is not almost 0 */
    for (size_t i = 0; i < n; i++) {
        const bool hit = k->kind == DROPPED ? input == k->input : k->kind == A_HOLE ? i == hole : true;
        const real right = old[i] + grad[i], factor = hit ? (real)kinds[k->kind].factor : 1;
        grad[i] = (k->kind == OVERWRITTEN ? 0 : old[i]) + factor * grad[i];
        k->changed |= grad[i] != right;
    }
}

static void mutant_backward(gra_tensor *y)
{
    const mutant *m = (const mutant *)(const void *)y->op;
    real *old[MAX_INPUTS], *grad[MAX_INPUTS];
    size_t size[MAX_INPUTS];
    int n = 0;
    for (int i = 0; i < y->nin; i++) {
        real *g = y->in[i] ? y->in[i]->grad : NULL;
        bool known = g == NULL;
        for (int j = 0; j < n; j++)     /* mul(x, x), or a tensor and its view: one gradient */
            known |= grad[j] == g;
        if (known)
            continue;
        ck_assert_int_lt(n, MAX_INPUTS);
        grad[n] = g;
        size[n] = y->in[i]->size;
        old[n] = malloc((size[n] + 1) * sizeof(real));
        memcpy(old[n], g, size[n] * sizeof(real));
        memset(g, 0, size[n] * sizeof(real));
        n++;
    }
    m->original->backward(y);
    for (int i = 0; i < n; i++) {
        spoil(m->trial, i, old[i], grad[i], size[i]);
        free(old[i]);
    }
    if (n > m->trial->most_inputs)
        m->trial->most_inputs = n;
}

static gra_tensor *mutated(gra_tape *t, gra_tensor **in, void *arg)
{
    trial *k = arg;
    gra_tensor *y = k->row->f(t, in, NULL);
    k->count = y && y->step == k->step ? k->count : 0;
    k->step = y ? y->step : 0;
    for (gra_tensor *r = y; r; r = r->prev) {
        if (!r->op || strcmp(r->op->name, k->row->op) != 0 || r->op->backward == mutant_backward)
            continue;
        k->view |= r->op->view;
        if (!r->op->backward)
            continue;
        ck_assert_int_lt(k->count, MAX_RECORDS);
        mutant *m = &k->mutants[k->count++];
        *m = (mutant){ .op = *r->op, .original = r->op, .trial = k };
        m->op.backward = mutant_backward;
        m->op.overwrites_grad = false;      /* the tape zeroes fresh gradients */
        r->op = &m->op;
    }
    return y;
}

/* Some row of this op must fail with the mutant. Returns the largest number of inputs of the op. */
static int caught(gra_tape *t, const char *op, int kind, int input)
{
    bool seen = false, failed = false, view = false;
    int inputs = 0;
    for (int i = 0; i < op_cases_count; i++) {
        const struct op_case *row = &op_cases[i];
        trial k = { .row = row, .kind = kind, .input = input };
        gra_check_report report;
        gra_rng rng;
        gra_manual_seed(&rng, 1);
        if (strcmp(row->op, op) != 0)
            continue;
        const int status = gra_check(t, &(gra_check_options){ .rng = row->mode == GRA_TRAIN ? &rng : NULL,
                                     .nin = row->nin, .in = row->in, .f = mutated, .arg = &k,
                                     .tolerance = row->tol }, &report);
        ck_assert_msg(status >= 0, "%s with %s:\n%s", row->name, kinds[kind].name, report.text);
        ck_assert_msg(kind != NONE || status != 1, "%s: its gradient is wrong: see the suite ops",
                      row->name);
        ck_assert_msg(k.changed || status != 1, "%s with %s: nothing was changed, and yet\n%s", row->name,
                      kinds[kind].name, report.text);
        view |= k.view;
        seen |= k.changed;
        failed |= status == 1;
        inputs = k.most_inputs > inputs ? k.most_inputs : inputs;
    }
    ck_assert_msg(inputs > 0 || view, "%s: no row of the table takes its gradient", op);
    if (kind != NONE && input < inputs) {
        ck_assert_msg(seen, "%s: no row can tell \"%s\" (input %d)", op, kinds[kind].name, input);
        ck_assert_msg(failed, "%s: no row notices \"%s\" (input %d)", op, kinds[kind].name, input);
    }
    return inputs;
}

static bool first_of_its_op(int row)
{
    for (int i = 0; i < row; i++)
        if (strcmp(op_cases[i].op, op_cases[row].op) == 0)
            return false;
    return true;
}

CASE(mutants, NULL, NULL, "mutants")

TESTS(mutants_are_caught, op_cases_count)
{
    gra_tape *t = gra_open(1);
    gra_keep_going(t, true);
    ck_assert_int_gt(op_cases_count, 0);
    if (first_of_its_op(_i)) {
        int inputs = caught(t, op_cases[_i].op, NONE, 0);
        for (int kind = A_THOUSANDTH; kind < KINDS; kind++)
            for (int input = 0; input < (kind == DROPPED || inputs == 0 ? inputs : 1); input++)
                caught(t, op_cases[_i].op, kind, input);
    }
    gra_close(t);
}

#endif
