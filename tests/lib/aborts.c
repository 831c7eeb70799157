/* aborts: see aborts.h. */
#include "aborts.h"
#include "suites.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int said_in_a_child(void (*f)(void), char *said, size_t room)
{
    int status = 0;
    FILE *to = tmpfile();
    ck_assert_ptr_nonnull(to);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(fileno(to), STDERR_FILENO);
        f();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    rewind(to);
    said[fread(said, 1, room - 1, to)] = '\0';
    fclose(to);
    return status;
}

/* The first line that f, run in a child process, prints to stderr before it aborts, without "gradus: ". */
static const char *last_words(void (*f)(void))
{
    static char said[600];
    const int status = said_in_a_child(f, said, sizeof said);
    said[strcspn(said, "\n")] = '\0';
    ck_assert_msg(strncmp(said, "gradus: ", 8) == 0, "expected gradus: ..., got %s", said);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "status %d after %s", status, said);
    return said + 8;
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
