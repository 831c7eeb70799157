/* The ops. Tests for each row of ops_table.c: the gradient (float64), the values if the row has a formula,
 * both precisions against each other, threads that share the work, inputs without a gradient or missing, and
 * failing allocations; then the table's answers and refusals. Tests that take more than a line of the table
 * are in test_answers.c. */
#include "lib/chunks.h"
#include "lib/fault.h"
#include "lib/folder.h"
#include "lib/isa.h"
#include "lib/low_memory.h"
#include "lib/reference.h"
#include "rows.h"
#include "lib/suites.h"
#include "lib/written.h"
#include "core/check/checking.h"

static gra_tape *t;

static void open_tape(void)  { t = gra_open(1); }
static void close_tape(void) { gra_close(t); }

/* ---- every op must be in the table --------------------------------------------------------------- */

CASE(ops, open_tape, close_tape, "")

TEST(every_op_is_written)
{
    expect_written("core/ops", "core/gradus.h", "tests/ops/ops_table.c");
}

/* An unchecked op will be wrong sooner or later, and an op that broadcasts needs rows with stretched
 * operands. Returns false, and tells what is missing, if the table lacks such a row. */
static bool has_its_rows(const char *op, bool broadcasts, gra_check_report *missing)
{
    missing->text[0] = '\0';
    bool seen = false, needs[ROW_INPUTS] = { false }, stretched[ROW_INPUTS] = { false };
    for (int row = 0; row < op_cases_count; row++) {
        if (strcmp(op_cases[row].op, op) != 0)
            continue;
        for (const gra_tensor *y = run_row(t, row, EVERY_INPUT).y; y; y = y->prev) {
            if (!y->op || strcmp(y->op->name, op) != 0)
                continue;
            seen = true;
            for (int i = 0; i < y->nin && i < ROW_INPUTS; i++)
                if (y->in[i] && y->in[i]->requires_grad) {
                    needs[i] = true;
                    stretched[i] |= y->in[i]->size < y->size;
                }
        }
    }
    if (!seen) {
        gra_check_hint(missing, "core/ops/%s.c: no gradient check has seen an op called \"%s\": "
                       "add a row for it to tests/ops/ops_table.c", op, op);
        return false;
    }
    for (int i = 0; broadcasts && i < ROW_INPUTS; i++)
        if (needs[i] && !stretched[i]) {
            gra_check_hint(missing, "core/ops/%s.c broadcasts (gra_result_broadcast), but in no row of "
                           "tests/ops/ops_table.c is its operand in[%d] stretched, whose gradient is a "
                           "sum: add one such as", op, i);
            gra_check_hint(missing, "    ROW(\"%s: rows and columns\", \"%s\",", op, op);
            gra_check_hint(missing, "        gra_%s(t, x, w), X(3, 1), W(1, 17))", op);
            return false;
        }
    return true;
}

TEST(every_op_file_has_its_rows)
{
    static char text[1 << 16];
    gra_check_report missing;
    int files = 0;
    for (listed_file l = { 0 }; next_file(&l, "core/ops", ".c"); files++) {
        read_text(l.path, text, sizeof text);
        const bool broadcasts = strstr(text, "gra_result_broadcast(") != NULL;
        ck_assert_msg(has_its_rows(l.name, broadcasts, &missing), "\n%s", missing.text);
    }
    ck_assert_int_gt(files, 0);
}

/* Proves that the test above can fail. */
TEST(a_missing_row_is_reported)
{
    gra_check_report missing;
    ck_assert(has_its_rows("mul", true, &missing));
    ck_assert(!has_its_rows("no_such_op", false, &missing));
    ck_assert_str_eq(missing.text, "core/ops/no_such_op.c: no gradient check has seen an op called "
                                   "\"no_such_op\":\n  add a row for it to tests/ops/ops_table.c");
    ck_assert(!has_its_rows("mse_loss", true, &missing));      /* nothing is stretched */
    ck_assert_str_eq(missing.text,
                     "core/ops/mse_loss.c broadcasts (gra_result_broadcast), but in no row of\n"
                     "  tests/ops/ops_table.c is its operand in[0] stretched, whose gradient is a\n"
                     "  sum: add one such as\n"
                     "    ROW(\"mse_loss: rows and columns\", \"mse_loss\",\n"
                     "        gra_mse_loss(t, x, w), X(3, 1), W(1, 17))");
}

/* An earlier row of the same op that also fails, or NULL. Only the first failing row of an op shows its
 * report: rows begin with the plainest. If x is used twice or an operand is stretched, the numbers of the
 * same mistake suggest another cause. */
static const char *fails_before(int row, bool passes(int row, gra_check_report *report))
{
    gra_check_report report;
    for (int i = 0; i < row; i++)
        if (strcmp(op_cases[i].op, op_cases[row].op) == 0 && !passes(i, &report))
            return op_cases[i].name;
    return NULL;
}

/* ---- gradients: only in float64 ----------------------------------------------------------------- */

#ifdef GRADUS_DOUBLE
/* Runs a row, and notes whether the op is on its tape: if all inputs are constants, it is not. */
typedef struct watch {
    const struct op_case *row;
    bool seen;
} watch;

static gra_tensor *watched(gra_tape *tape, gra_tensor **in, void *arg)
{
    watch *w = arg;
    gra_tensor *y = w->row->f(tape, in, NULL);
    for (const gra_tensor *r = y; r; r = r->prev)
        w->seen |= r->op && strcmp(r->op->name, w->row->op) == 0;
    return y;
}

static bool watched_passes(watch *w, gra_check_report *report)
{
    gra_rng rng;
    gra_manual_seed(&rng, 1);
    note_row(w->row, "");
    return gra_check(t, &(gra_check_options){ .rng = w->row->mode == GRA_TRAIN ? &rng : NULL,
                     .nin = w->row->nin, .in = w->row->in, .f = watched, .arg = w,
                     .tolerance = w->row->tol }, report) ==
           (w->row->flat ? 2 : 0);
}

static bool gradients_pass(int row, gra_check_report *report)
{
    return watched_passes(&(watch){ .row = &op_cases[row] }, report);
}

TESTS(gradients, op_cases_count)        /* _i: a row */
{
    watch w = { .row = &op_cases[_i] };
    gra_check_report report;
    gra_keep_going(t, true);
    ck_assert_msg(w.row->tol <= 1e-6, "%s: got tolerance %g, expected at most 1e-6", w.row->name, w.row->tol);
    const bool passed = watched_passes(&w, &report);
    const char *before = passed ? NULL : fails_before(_i, gradients_pass);
    ck_assert_msg(!before, "%s:\nits gradient is wrong, as in the row \"%s\": see there", w.row->name,
                  before);
    ck_assert_msg(passed, "%s:\n%s", w.row->name, report.text);
    ck_assert_msg(w.seen, "%s: there is no %s on its tape", w.row->name, w.row->op);
}
#endif

/* ---- values ------------------------------------------------------------------------------------------ */

/* A value may be off by `off` times its size or the largest size, and always by `off` times `least`. */
static void compare_with_formula(const struct op_case *c, const gra_tensor *y, const gra_tensor *a,
                                 const gra_tensor *b, double off, bool of_largest, double least)
{
    double *want = gra_alloc(t, y->size * sizeof *want);
    char also[40] = "";
    for (int compare = 0; compare < 2; compare++)
        for (gra_walk w = gra_walk_begin(y->shape, a->shape, b->shape, 0, y->size); w.n; gra_walk_next(&w))
            for (size_t i = 0; i < w.n; i++) {
                const double va = (double)a->data[w.a + i * w.step_a], got = (double)y->data[w.y + i];
                const double vb = (double)b->data[w.b + i * w.step_b];
                if (!compare) {
                    want[w.y + i] = c->formula(va, vb);
                    least = of_largest ? fmax(least, fabs(want[w.y + i])) : least;
                    continue;
                }
                if (c->nin > 1)
                    snprintf(also, sizeof also, ", %.9g", vb);
                ck_assert_msg(fabs(got - want[w.y + i]) <= off * fmax(fabs(want[w.y + i]), least),
                              "%s(%.9g%s) is %.9g, but its formula in tests/ops/ops_table.c says %.9g", c->op,
                              va, also, got, want[w.y + i]);
            }
}

/* A gradient may agree with a wrong forward, so this compares the forward with its formula. Functions of one
 * input are also compared far from 0, where each value must be right to 4 units in the last place. (gelu's 1
 * + erf may cancel.) */
TESTS(values_are_the_formula, op_cases_count) /* _i: a row */
{
    static const double off = sizeof(real) == sizeof(double) ? 4e-15 : 2e-6;
    static const double unit = sizeof(real) == sizeof(double) ? 0x1p-52 : 0x1p-23;
    static const real far[] = { -30, -4, -1.5, -0.25, 0x1p-10, 0.75, 2, 6.5, 30 };
    const struct op_case *c = &op_cases[_i];
    if (!c->formula)
        return;
    row_run r = run_row(t, _i, EVERY_INPUT);
    compare_with_formula(c, r.y, r.in[0], r.in[c->nin - 1], off, true, 0);      /* one input: b is a */
    if (c->nin > 1)
        return;
    gra_tensor *x = gra_constant(t, far, GRA_SHAPE(LENGTH(far)));
    x = c->in[0].low > 0 ? gra_mul(t, x, x) : x;
    compare_with_formula(c, c->f(t, (gra_tensor *[]){ x }, NULL), x, x, 4 * unit, false,
                         strncmp(c->op, "gelu", 4) == 0);
}

/* All in one process, since a process takes longer than a row. */
static void for_each_row(void f(int row))
{
    for (int row = 0; row < op_cases_count; row++)
        f(row);
}

/* The answers and refusals of the table. A refusal is an error of the tape, and the op returns the empty
 * tensor; an op that gets the empty tensor returns it too, and keeps the error. */
TEST(answers_and_refusals)
{
    gra_keep_going(t, true);
    for (const struct op_fact *fact = op_facts; fact; fact = fact->next) {
        gra_rng rng;
        crash_note("crash in tests/ops/ops_table.c:%d", fact->line);
        gra_manual_seed(&rng, 123);
        gra_begin(t, fact->sentence ? GRA_TRAIN : GRA_GRAD, &rng);
        gra_tensor *y = fact->f(t, gra_input(t, (const real[]){ 1, 2, 3, 4, 5, 6 }, GRA_SHAPE(2, 3)));
        for (int again = 0; again < 2; again++) {
            const char *got = gra_error(t) ? gra_error(t) : "no error",
                       *want = fact->sentence ? fact->sentence : "no error";
            ck_assert_msg(strcmp(got, want) == 0, "tests/ops/ops_table.c:%d: got %s, expected %s", fact->line,
                          got, want);
            ck_assert(!fact->sentence || (y->shape.ndim == 0 && isnan(gra_item(y))));
            y = fact->sentence ? gra_softmax(t, gra_add(t, y, y), 3) : y;
        }
    }
}

/* NULL as an input is refused, unless it means "none". */
static void refuse_missing_inputs(int row)
{
    static const struct { const char *op; int from; } optional[] = {
        { "linear", 2 }, { "layer_norm", 1 }, { "rms_norm", 1 }, { "attention", 3 },
    };
    const struct op_case *c = &op_cases[row];
    gra_rng rng;
    gra_keep_going(t, true);
    for (int missing = 0; missing < c->nin; missing++) {
        gra_tensor *in[ROW_INPUTS] = { NULL };
        bool may = false;
        for (int i = 0; i < LENGTH(optional); i++)
            may |= strcmp(optional[i].op, c->op) == 0 && missing >= optional[i].from;
        note_row(c, ", where an input is NULL");
        gra_manual_seed(&rng, 123);
        gra_begin(t, c->mode, &rng);
        for (int i = 0; i < c->nin; i++)
            in[i] = i == missing ? NULL : draw_input(t, &rng, &c->in[i], true);
        c->f(t, in, NULL);
        const char *got = gra_error(t) ? gra_error(t) : "no error", *of = strchr(got, ':');
        ck_assert_msg(may || (of && strncmp(of, ": got NULL for input ", 21) == 0 &&
                              strstr(got, ", expected a tensor: a layer's parameters are made by its init")),
                      "%s, with NULL for input %d: %s", c->name, missing, got);
        if (!may && strcmp(c->name, c->op) == 0 && strcmp(c->op, "where") != 0)         /* the plainest row */
            ck_assert_msg(strncmp(got, c->op, (size_t)(of - got)) == 0 && of[21] == '0' + missing,
                          "%s, with NULL for input %d: %s", c->name, missing, got);
    }
}
TEST(missing_inputs_are_refused) { for_each_row(refuse_missing_inputs); }

/* ---- cut into chunks --------------------------------------------------------------------------------- */

/* Threads share the work of large tensors; the table's tensors are small. Returns false, and tells why. */
static bool chunks_pass_with(int row, unsigned grads, gra_check_report *report)
{
    const struct op_case *c = &op_cases[row];
    char where[160];
    report->text[0] = '\0';
    row_run r = run_row(t, row, grads);
    outcome whole = outcome_of(r.y, c->nin, r.in);
    for (int threads = 1; threads <= 3 && !report->text[0]; threads += 2) {
        gra_tape *cut = gra_open(threads);
        chunks_begin(cut);
        gra_machine_cut(gra_tape_machine(cut), threads == 1 ? chunks_alone : chunks_on_threads);
        r = run_row(cut, row, grads);
        outcome chunks = outcome_of(r.y, c->nin, r.in);
        if (chunks_fault())
            snprintf(report->text, sizeof report->text, "%s", chunks_fault());
        else if (outcomes_differ(&whole, &chunks, where))
            gra_check_hint(report,
                           "%s: cut into chunks of one unit, %s, %s: a chunk must fill all of its units "
                           "[from, to), and read nothing that another chunk writes", c->op,
                           threads == 1 ? "each by itself" : "on three threads", where);
        outcome_free(&chunks);
        gra_close(cut);
    }
    outcome_free(&whole);
    return !report->text[0];
}

static bool chunks_pass(int row, gra_check_report *report)      /* memory to fill, and memory to add to */
{
    return chunks_pass_with(row, EVERY_INPUT, report) &&
           chunks_pass_with(row, EVERY_INPUT | USED_AGAIN, report);
}

TESTS(chunks_of_one, op_cases_count)    /* _i: a row */
{
    gra_check_report report;
    const bool passed = chunks_pass(_i, &report);
    const char *before = passed ? NULL : fails_before(_i, chunks_pass);
    ck_assert_msg(!before, "%s:\nits chunks are wrong, as in the row \"%s\": see there", op_cases[_i].name,
                  before);
    ck_assert_msg(passed, "%s:\n%s", op_cases[_i].name, report.text);
}

/* ---- tracing, only some gradients, running out of memory --------------------------------------- */

static void trace_row(int row)
{
    char where[160];
    outcome o[2];
    for (int traced = 0; traced < 2; traced++) {
        gra_trace_nan(t, traced);
        row_run r = run_row(t, row, EVERY_INPUT);
        o[traced] = outcome_of(r.y, op_cases[row].nin, r.in);
        ck_assert_msg(!gra_error(t), "%s: %s", op_cases[row].name, gra_error(t));
    }
    ck_assert_msg(!outcomes_differ(&o[0], &o[1], where), "%s: when it is traced, %s", op_cases[row].name,
                  where);
    outcome_free(&o[0]);
    outcome_free(&o[1]);
}
TEST(tracing_finds_nothing_and_changes_nothing) { for_each_row(trace_row); }

/* If fewer inputs need a gradient, y and the remaining gradients must not change. */
static void choose_gradients(int row)
{
    const struct op_case *c = &op_cases[row];
    char where[160];
    row_run r = run_row(t, row, EVERY_INPUT);
    outcome all = outcome_of(r.y, c->nin, r.in);
    for (unsigned grads = 0; grads + 1 < 1u << c->nin; grads++) {
        r = run_row(t, row, grads);
        outcome some = outcome_of(r.y, c->nin, r.in);
        for (int i = 0; i < c->nin; i++) {
            if (grads >> i & 1)
                continue;
            ck_assert_msg(!r.in[i]->grad, "%s:\ninput %d got a gradient", c->name, i);
            memcpy(some.values[1 + i], all.values[1 + i], all.size[1 + i] * sizeof(real));
        }
        ck_assert_msg(!outcomes_differ(&all, &some, where),
                      "%s:\nwhere not all inputs need a gradient (choice %u),\n%s", c->name, grads, where);
        outcome_free(&some);
    }
    outcome_free(&all);
}
TEST(each_choice_of_gradients) { for_each_row(choose_gradients); }

/* Runs a row with `taken` lines of memory in use. */
static bool has_room(const struct op_case *c, size_t taken)
{
    static const real values[8192] = { 0 };
    gra_rng rng;
    gra_tensor *in[4], *handed[4];
    gra_manual_seed(&rng, 123);
    low_memory_begin(t, c->mode, &rng, taken);
    for (int i = 0; i < c->nin; i++)
        handed[i] = in[i] = gra_input(t, c->in[i].data ? c->in[i].data : values, c->in[i].shape);
    gra_tensor *y = c->f(t, handed, NULL), *loss = gra_sum(t, y);
    const int status = gra_backward(t, loss);
    fault_disarm();
    if (!gra_error(t) || strstr(gra_error(t), "depends on no parameter"))
        return true;
    ck_assert_msg(strncmp(gra_error(t), "out of memory: ", 15) == 0, "%s: %s", c->name, gra_error(t));
    ck_assert_int_eq(status, -1);
    return false;
}

/* Each allocation of a step fails in turn, which must be an error and not a crash. */
static void end_memory(int row)
{
    note_row(&op_cases[row], ", where memory ends");
    gra_keep_going(t, true);
    gra_keep_attention(t, true);
    const size_t all = lines_left(t);
    size_t lines = 0;
    while (lines < all && !has_room(&op_cases[row], all - lines))
        lines++;
    ck_assert_msg(lines > 3 || all == 0, "%s took no memory", op_cases[row].name);
}
TEST(memory_ends_anywhere) { for_each_row(end_memory); }

/* ---- against float64: float32, and each instruction set -----------------------------------------------
 * The float64 suite writes y and all gradients of each row, with inputs that are floats, to a file, and both
 * suites compare. Errors are relative to a tensor's largest value, or to 1e-3 |loss| if all values are
 * rounding errors. Errors of y are relative to 1e-2 of the largest input if that is larger: a sum whose terms
 * cancel has the rounding errors of its terms. */

/* One rounding error is 6e-8, or 1e-16; tens of them add up in a row of the table. */
static const double precision_tolerance = sizeof(real) == sizeof(float) ? 2e-6 : 4e-15;

/* Is one tensor of a row within the tolerance? */
static void agree(reference *f, int row, const char *what, const real *x, size_t n, double floor)
{
    ck_assert_msg(reference_off(f, x, n, 1, floor) <= precision_tolerance, "%s, %s: %s", op_cases[row].name,
                  what, f->place);
}

/* Writes all rows, or compares them. False: there is no reference, or it has another table. */
static bool all_agree(const char *name, bool writes, const char *left_out)
{
    reference f = reference_open(name, writes);
    for (int row = 0; f.same && row < op_cases_count; row++) {
        row_run r = run_row(t, row, EVERY_INPUT);
        double most = 0;
        for (int i = 0; i < op_cases[row].nin; i++)
            for (size_t j = 0; j < r.in[i]->size; j++)
                most = fmax(most, fabs((double)r.in[i]->data[j]));
        reference_title(&f, op_cases[row].name);
        const double loss = fabs(reference_number(&f, gra_item(r.loss)));
        agree(&f, row, "y", r.y->data, r.y->size, fmax(1e-3 * loss, 1e-2 * most));
        for (int i = 0; i < op_cases[row].nin; i++)
            agree(&f, row, "gradient", r.in[i]->grad, r.in[i]->size, 1e-3 * loss);
    }
    return reference_close(&f, left_out);
}

#define REFERENCE "ops_reference.txt"

#ifdef GRADUS_DOUBLE
TEST(write_reference) { all_agree(REFERENCE, true, NULL); }
#endif

TESTS(each_instruction_set_agrees_with_float64, ISAS)
{
    gra_close(t);
    t = open_with(isa[_i], 1);
    if (t)
        all_agree(REFERENCE, false, _i ? NULL : "ops against ops");
}

TEST(without_a_reference_nothing_is_compared)
{
    reference other = reference_open("another_table.txt", true);
    reference_title(&other, "another row");
    reference_close(&other, NULL);
    ck_assert(!all_agree("no_such_file.txt", false, NULL) && !all_agree("another_table.txt", false, NULL));
}
