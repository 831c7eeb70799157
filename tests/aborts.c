/* aborts: see aborts.h. */
#include "aborts.h"
#include "suites.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The first line of what f prints to stderr in a process of its own, without "gradus: ", before it aborts. */
static const char *last_words(void (*f)(void))
{
    static char line[600];
    int status = 0;
    FILE *said = tmpfile();
    ck_assert_ptr_nonnull(said);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(fileno(said), STDERR_FILENO);
        f();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    rewind(said);
    const char *got = fgets(line, sizeof line, said) ? line : "nothing";
    line[strcspn(line, "\n")] = '\0';
    ck_assert_msg(strncmp(got, "gradus: ", 8) == 0, "expected gradus: ..., got %s", got);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "status %d after %s", status, got);
    fclose(said);
    return got + 8;
}

void expect_abort(void (*f)(void), const char *sentence)
{
    const char *got = last_words(f);
    ck_assert_msg(strcmp(got, sentence) == 0, "expected %s, got %s", sentence, got);
}

void expect_abort_ending(void (*f)(void), const char *end)
{
    const char *got = last_words(f);
    const size_t n = strlen(got), m = strlen(end);
    ck_assert_msg(n > m && strcmp(got + n - m, end) == 0, "expected ...%s, got %s", end, got);
}
