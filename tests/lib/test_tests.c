/* Deliberate mistakes, which the other tests must find and report well. */
#include "aborts.h"
#include "chunks.h"
#include "crash.h"
#include "ops/rows.h"
#include "suites.h"

#include <signal.h>
#include <sys/wait.h>

/* ---- kernels that cannot be cut into chunks ----
 * Beginners' kernels, which are all right when run in one piece. */

static void sum_of_both(gra_tensor *y, size_t from, size_t to)         /* correct */
{
    const real *a = y->in[0]->data, *b = y->in[1]->data;
    for (gra_walk w = gra_walk_begin(y->shape, y->in[0]->shape, y->in[1]->shape, from, to); w.n;
         gra_walk_next(&w))
        for (size_t i = 0; i < w.n; i++)
            y->data[w.y + i] = a[w.a + i * w.step_a] + b[w.b + i * w.step_b];
}
GRA_KERNEL(sum_of_both_all, sum_of_both, y, y->size, 1)

static void to_both(gra_tensor *y, size_t from, size_t to)
{
    real *da = y->in[0]->grad, *db = y->in[1]->grad;
    for (gra_walk w = gra_walk_begin(y->shape, y->in[0]->shape, y->in[1]->shape, from, to); w.n;
         gra_walk_next(&w))
        for (size_t i = 0; i < w.n; i++) {
            da[w.a + i * w.step_a] += y->grad[w.y + i];
            db[w.b + i * w.step_b] += y->grad[w.y + i];
        }
}
/* should be GRA_BROADCAST_KERNEL: operands may be stretched */
GRA_KERNEL(to_both_all, to_both, y, y->size, 2)

static void to_both_of_all(gra_tensor *y, size_t from, size_t to)
{
    (void)from, (void)to;
    to_both(y, 0, y->size);
}
GRA_KERNEL(to_both_of_all_all, to_both_of_all, y, y->size, 2)

static void to_the_next(gra_tensor *y, size_t from, size_t to)         /* also writes to its neighbour */
{
    for (size_t i = from; i < to; i++) {
        y->in[0]->grad[i] += y->grad[i];
        y->in[0]->grad[(i + 1) % y->size] += y->grad[i];
    }
}
GRA_KERNEL(to_the_next_all, to_the_next, y, y->size, 2)

static const real values[6] = { 1, 2, 3, 4, 5, 6 };

typedef void pass(gra_tensor *y);

/* Runs the op, and the backward of its sum, on (2, 3) and (2, 3) or, if stretched, on (3, 1) and (1, 2). */
static gra_tensor *run(gra_tape *t, pass *forward, pass *backward, bool stretched)
{
    static gra_op op;
    op = (gra_op){ .name = "op", .forward = forward, .backward = backward };
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *a = stretched ? gra_input(t, values, GRA_SHAPE(3, 1)) : gra_input(t, values, GRA_SHAPE(2, 3));
    gra_tensor *b = stretched ? gra_input(t, values, GRA_SHAPE(1, 2)) : gra_input(t, values, GRA_SHAPE(2, 3));
    gra_tensor *y = gra_run(gra_result_broadcast(t, &op, a, b));
    ck_assert_int_eq(gra_backward(t, gra_sum(t, y)), 0);
    return y;
}

static const struct {
    pass       *forward, *backward;
    bool        stretched;
    const char *fault;
} cuts[] = {
    { sum_of_both_all, to_both_all, false, NULL },
    { sum_of_both_all, to_both_of_all_all, false,
      "op: its backward does the whole tensor in every chunk: a large one is cut into\n"
      "  chunks that threads share, so all of it would be done many times over. Loop\n"
      "  over the units of this call:\n"
      "    for (size_t i = from; i < to; i++)" },
    { sum_of_both_all, to_both_all, true,
      "op: two chunks of its backward add to the same place (element 0 of the gradient\n"
      "  of input 0, which is stretched): on a large tensor two threads would do so at\n"
      "  once, and one sum would be lost. Index its gradient as y, and let the macro\n"
      "  sum it:\n"
      "    GRA_BROADCAST_KERNEL(..., backward, y, ...)" },
    { sum_of_both_all, to_the_next_all, false,
      "op: two chunks of its backward, [0, 1) and [1, 2), write the same place\n"
      "  (element 1 of the gradient of input 0): on a large tensor two threads would\n"
      "  do so at once. Let each unit write places of its own, or give GRA_KERNEL the\n"
      "  cost GRA_SERIAL" },
};

TESTS(wrong_chunks_are_reported, LENGTH(cuts)) /* _i: of cuts */
{
    gra_tape *t = gra_open(1);
    chunks_begin(t);
    run(t, cuts[_i].forward, cuts[_i].backward, cuts[_i].stretched);
    ck_assert_ptr_null(chunks_fault());                 /* in one piece */
    chunks_begin(t);
    gra_machine_cut(gra_tape_machine(t), chunks_alone);
    run(t, cuts[_i].forward, cuts[_i].backward, cuts[_i].stretched);
    const char *fault = chunks_fault();
    if (cuts[_i].fault)
        ck_assert_msg(fault && strncmp(fault, cuts[_i].fault, strlen(cuts[_i].fault)) == 0, "%s",
                      fault ? fault : "no fault was found");
    else
        ck_assert_msg(!fault, "%s", fault);
    gra_close(t);
}

/* ---- crashes ---- */

/* Calls gra_result_like, copied from an op of one input, where gra_result_broadcast is needed. */
static gra_tensor *of_one_input(gra_tape *t, gra_tensor **in, void *arg)
{
    static const gra_op op = { .name = "op", .forward = sum_of_both_all };
    (void)arg;
    return gra_run(gra_result_like(t, &op, in[0]));
}

static const struct op_case one_input = {
    .name = "a row", .op = "op", .mode = GRA_GRAD, .nin = 2, .f = of_one_input,
    .in = { { .shape = { 1, { 3 } } }, { .shape = { 1, { 3 } } } },
};

enum { LAST_LINE = __LINE__ + 4 };      /* of the assertion before raise */
static void crash_in_a_row(void)
{
    note_row(&one_input, ", ends");
    ck_assert_int_eq(one_input.nin, 2);
    raise(SIGFPE);
}

TEST(a_crash_names_its_row)
{
    char said[1024], expected[1024];
    const int status = said_in_a_child(crash_in_a_row, said, sizeof said);
    snprintf(expected, sizeof expected,
             "crash in the row \"a row\" of tests/ops/ops_table.c, ends\n"
             "op was made with one input, but the row has 2:\n"
             "gra_result_broadcast(t, &op, a, b), or gra_result(t, &op, shape, a, b, ...)\n"
             "the last assertion that held: " __FILE__ ":%d\n", LAST_LINE);
    ck_assert_msg(strncmp(said, expected, strlen(expected)) == 0, "expected %s, got %s", expected, said);
    ck_assert(!WIFEXITED(status) || WEXITSTATUS(status) != 0);  /* the signal was raised again */
}

/* ---- names of suites ---- */

/* Runs this program with these environment variables: returns its exit status, and in `said` its output. */
static int run_with(const char *variables, char *said, size_t size)
{
    char command[512];
    snprintf(command, sizeof command,
             "unset CK_RUN_SUITE CK_RUN_CASE CK_INCLUDE_TAGS CK_EXCLUDE_TAGS CK_TAP_LOG_FILE_NAME "
             "CK_LOG_FILE_NAME CK_XML_LOG_FILE_NAME; %s " GRADUS_BUILD "/test 2>&1", variables);
    FILE *f = popen(command, "r");
    ck_assert_ptr_nonnull(f);
    said[fread(said, 1, size - 1, f)] = '\0';
    const int status = pclose(f);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TESTS(suites_are_listed, 2)            /* _i 0: when requested; 1: when no suite has that name */
{
    static const char *const begin[2] = { "suites:\n    memory shape ",
                                          "there is no suite called \"op\"; there are\n    "
                                          "memory shape " };
    char said[2048];
    ck_assert_int_eq(run_with(_i == 0 ? "CK_RUN_SUITE=help" : "CK_RUN_SUITE=op", said, sizeof said), _i);
    ck_assert_msg(strncmp(said, begin[_i], strlen(begin[_i])) == 0, "%s", said);
    for (const char *name = NULL; (name = next_suite(name));)
        ck_assert_ptr_nonnull(strstr(said, name));
    ck_assert(suite_known("tests") && suite_known("expression") == (sizeof(real) == 8) && !suite_known("op"));
}

TEST(no_test_at_all_is_a_failure)
{
    char said[2048];
    ck_assert_int_eq(run_with("CK_RUN_SUITE=shape CK_RUN_CASE=circle", said, sizeof said), 1);
    ck_assert_ptr_nonnull(strstr(said, "no test was run: CK_RUN_CASE matches none"));
#ifndef GRADUS_DOUBLE
    ck_assert_int_eq(run_with("CK_RUN_SUITE=mutants", said, sizeof said), 1);
    ck_assert_ptr_nonnull(strstr(said, "Those that check gradients, which needs double precision, are in "
                                       "build/f64/test\n"));
#endif
}
