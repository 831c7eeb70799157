/* What the other tests find, and what they say of it: mistakes made on purpose. */
#include "crash.h"
#include "suites.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- crashes ---- */

START_TEST(a_crash_is_blamed_on_its_note)
{
    char said[256] = "";
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        crash_note("crash in %s", "an op");
        raise(SIGFPE);
        _exit(0);
    }
    int status;
    close(ends[1]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_gt((int)read(ends[0], said, sizeof said - 1), 0);
    ck_assert_msg(strncmp(said, "crash in an op\n", 15) == 0, "%s", said);
    ck_assert(!WIFEXITED(status) || WEXITSTATUS(status) != 0);  /* the signal came again */
    close(ends[0]);
}
END_TEST

/* ---- names of suites ---- */

START_TEST(an_unknown_suite_is_refused)
{
    char said[1024] = "";
    FILE *f = tmpfile();
    ck_assert_ptr_nonnull(f);
    ck_assert(suite_known(NULL, f));
    ck_assert(suite_known("ops", f));
    ck_assert_int_eq(ftell(f), 0);
    ck_assert(!suite_known("op", f));
    rewind(f);
    ck_assert_uint_gt(fread(said, 1, sizeof said - 1, f), 0);
    ck_assert_ptr_nonnull(strstr(said, "there is no suite of the name \"op\"; there are\n    tests random "));
    for (int i = 0; suites[i].name; i++)
        ck_assert_ptr_nonnull(strstr(said, suites[i].name));
    fclose(f);
}
END_TEST

Suite *tests_suite(void)
{
    Suite *s = suite_create("tests");
    TCase *c = tcase_create("mistakes made on purpose");
    tcase_add_test(c, a_crash_is_blamed_on_its_note);
    tcase_add_test(c, an_unknown_suite_is_refused);
    suite_add_tcase(s, c);
    return s;
}
