/* aborts: see aborts.h. */
#include "aborts.h"
#include "suites.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void expect_abort(void (*f)(void), const char *sentence)
{
    char line[600] = "";
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
    ck_assert_msg(strncmp(got, "gradus: ", 8) == 0 && strcmp(got + 8, sentence) == 0, "wanted gradus: %s, got %s",
                  sentence, got);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "status %d", status);
    fclose(said);
}
