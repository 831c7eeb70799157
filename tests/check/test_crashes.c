/* A backward that crashes during a check: the last line names the backward and the input that had no
 * gradient; then the signal takes its usual course. The crashes are real, in separate processes. */
#include "core/check/checking.h"
#include "lib/aborts.h"
#include "lib/suites.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef GRADUS_DOUBLE

/* ---- ops that forget that a gradient may be NULL --------------------------------------------------- */

static void hypot_forward(gra_tensor *y)
{
    for (size_t i = 0; i < y->size; i++)
        y->data[i] = sqrt(y->in[0]->data[i] * y->in[0]->data[i] + y->in[1]->data[i] * y->in[1]->data[i]);
}

/* Otherwise UBSan would be the first to report a backward that adds to NULL. */
__attribute__((no_sanitize("undefined"))) static void add_to(const gra_tensor *y, int input)
{
    const gra_tensor *x = y->in[input];
    volatile real *dx = x->grad;
    for (size_t i = 0; i < y->size; i++)
        dx[i] += y->grad[i] * x->data[i] / y->data[i];
}

static void hypot_backward(gra_tensor *y)
{
    if (y->in[0]->grad)
        add_to(y, 0);
    add_to(y, 1);
}

static void both_backward(gra_tensor *y)
{
    add_to(y, 1);
    add_to(y, 0);
}

static void *add_in_a_thread(void *y)
{
    add_to(y, 1);
    return NULL;
}

static void thread_backward(gra_tensor *y)
{
    pthread_t thread;
    if (y->in[0]->grad)
        add_to(y, 0);
    if (pthread_create(&thread, NULL, add_in_a_thread, y) == 0)
        pthread_join(thread, NULL);
}

static const gra_op hypot_op = { .name = "hypot", .forward = hypot_forward, .backward = hypot_backward };
static const gra_op both_op = { .name = "both", .forward = hypot_forward, .backward = both_backward };
static const gra_op in_a_thread = { .name = "in_a_thread", .forward = hypot_forward,
                                    .backward = thread_backward };

static gra_tensor *first_and_second(gra_tape *t, gra_tensor **in, void *op)
{
    return gra_run(gra_result(t, op, in[0]->shape, in[0], in[1]));
}

static gra_tensor *second_constant(gra_tape *t, gra_tensor **in, void *op)
{
    return gra_add(t, gra_run(gra_result(t, op, in[0]->shape, gra_full(t, 1, in[0]->shape), in[1])), in[0]);
}

static void check_op(gra_check_fn *f, const gra_op *op)
{
    const gra_check_in in[] = { { .name = "x", .shape = { 1, { 4 } } },
                                { .name = "w", .shape = { 1, { 4 } } } };
    gra_check_report report;
    gra_tape *t = gra_open(1);
    gra_check(t, &(gra_check_options){ .nin = 2, .in = in, .f = f, .arg = (void *)(uintptr_t)op }, &report);
    gra_close(t);
}

static void check_hypot(void)       { check_op(first_and_second, &hypot_op); }
static void check_both(void)        { check_op(second_constant, &both_op); }
static void check_in_a_thread(void) { check_op(first_and_second, &in_a_thread); }

#define HYPOT "gradus: gra_check: the backward of hypot crashed while input 1 (w) was a constant, "      \
              "whose gradient is NULL: test y->in[1]->grad before adding to it\n"

static void expect_crash(void (*f)(void), const char *line)
{
    char said[16384];
    const int status = said_in_a_child(f, said, sizeof said);
    ck_assert_msg(strncmp(said, line, strlen(line)) == 0, "expected %s, got %s", line, said);
    ck_assert_msg(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) != 0), "status %d",
                  status);
}

TEST(a_crash_names_its_op_and_the_constant)
{
    expect_crash(check_hypot, HYPOT);
    expect_crash(check_both, "gradus: gra_check: the backward of both crashed while input 0 was a constant, "
                             "whose gradient is NULL: test y->in[0]->grad before adding to it\n");
}

TEST(a_crash_in_a_worker_thread)
{
    expect_crash(check_in_a_thread,
                 "gradus: gra_check: the backward of in_a_thread crashed while input 1 (w) was a ");
}

/* ---- the signal takes its usual course --------------------------------------------------------------- */

static void users_own(int number, siginfo_t *info, void *context)
{
    (void)context;
    _exit(number == SIGSEGV && (uintptr_t)info->si_addr < 4096 ? 42 : 43);
}

static void install(void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = { .sa_flags = SA_SIGINFO };
    action.sa_sigaction = handler;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

static void check_with_a_handler(void)
{
    install(users_own);
    check_hypot();
}

static void raise_in_a_backward(gra_tensor *y)
{
    (void)y;
    raise(SIGSEGV);
}

static void check_a_raise(void)
{
    static const gra_op op = { .name = "raises", .forward = hypot_forward, .backward = raise_in_a_backward };
    install(users_own);
    check_op(first_and_second, &op);
}

TEST(the_handler_of_before_gets_the_signal)
{
    char said[16384];
    int status = said_in_a_child(check_with_a_handler, said, sizeof said);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 42, "status %d", status);
    ck_assert_str_eq(said, HYPOT);
    status = said_in_a_child(check_a_raise, said, sizeof said);
    ck_assert_msg(WIFEXITED(status), "status %d", status);
    ck_assert_str_eq(said, "gradus: gra_check: the backward of raises crashed, though no gradient was "
                           "NULL: does it go past an end of a tensor?\n");
}

/* ---- two checks at once -------------------------------------------------------------------------------- */

static int inside[2];                   /* a pipe: a byte arrives when the second thread's backward runs */

static void stays_inside(gra_tensor *y)
{
    (void)y;
    if (write(inside[1], "", 1) == 1)
        while (pause())
            continue;
}

static void *check_forever(void *op)
{
    check_op(first_and_second, op);
    return NULL;
}

static void two_checks(void)
{
    static gra_op stays = { .name = "stays", .forward = hypot_forward, .backward = stays_inside };
    pthread_t thread;
    char byte;
    install(users_own);
    if (pipe(inside) || pthread_create(&thread, NULL, check_forever, &stays) ||
        read(inside[0], &byte, 1) != 1)
        _exit(1);
    check_hypot();
}

TEST(each_thread_has_its_line)
{
    char said[16384];
    ck_assert_int_ne(said_in_a_child(two_checks, said, sizeof said), 0);
    ck_assert_msg(strstr(said, HYPOT) && !strstr(said, "stays"), "%s", said);
}

static bool ours(void)
{
    struct sigaction now;
    sigaction(SIGSEGV, NULL, &now);
    return !(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != users_own;
}

static gra_tensor *squared(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return gra_mul(t, in[0], in[0]);
}

TEST(the_handler_is_there_while_a_backward_runs)
{
    struct sigaction segv, bus;
    sigaction(SIGSEGV, NULL, &segv);
    sigaction(SIGBUS, NULL, &bus);
    install(users_own);
    int at[40];
    for (int i = 0; i < 40; i++)                        /* the first 16 checks have a line */
        at[i] = gra_crash_begin("many at once");
    for (int i = 0; i < 40; i++) {
        ck_assert(ours() == (i < 36));
        gra_crash_end(at[(i + 20) % 40]);
    }
    ck_assert(!ours());
    const int last = gra_crash_begin("another handler comes while it runs");
    signal(SIGSEGV, SIG_IGN);
    gra_crash_end(last);
    ck_assert(signal(SIGSEGV, SIG_DFL) == SIG_IGN);
    install(users_own);
    gra_check_report report;
    gra_tape *t = gra_open(1);
    const gra_check_in in = { .name = "x", .shape = { 1, { 4 } } };
    ck_assert_msg(gra_check(t, &(gra_check_options){ .nin = 1, .in = &in, .f = squared }, &report) == 0, "%s",
                  report.text);
    gra_close(t);
    ck_assert(!ours());
    sigaction(SIGSEGV, &segv, NULL);
    sigaction(SIGBUS, &bus, NULL);
}

#endif
