/* child: see child.h. */
#include "child.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RECORDS = 3 };                   /* the descriptor on which a judge answers */

static void limit(int what, unsigned long most, unsigned long hard)
{
    struct rlimit r = { most, hard };
    setrlimit(what, &r);
}

_Noreturn static void become(char *const argv[], const int in[2], const int out[2], const int records[2],
                             int seconds, int megabytes)
{
    setpgid(0, 0);                      /* a group of its own, so that all of it can be ended */
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_CPU, (unsigned long)seconds, (unsigned long)seconds + 1);
    limit(RLIMIT_FSIZE, 64ul << 20, 64ul << 20);
    if (megabytes)
        limit(RLIMIT_AS, (unsigned long)megabytes << 20, (unsigned long)megabytes << 20);
    const int r = fcntl(records[1], F_DUPFD, RECORDS + 1), o = fcntl(out[1], F_DUPFD, RECORDS + 1),
              i = fcntl(in[0], F_DUPFD, RECORDS + 1);
    if (dup2(i, STDIN_FILENO) < 0 || dup2(o, STDOUT_FILENO) < 0 || dup2(o, STDERR_FILENO) < 0 ||
        dup2(r, RECORDS) < 0)
        _exit(127);
    for (int fd = RECORDS + 1; fd < 64; fd++)
        close(fd);
    execvp(argv[0], argv);
    _exit(127);
}

/* Reads what is there; what no longer fits is dropped. False: the other side has closed it. */
static bool take(int fd, char *text, size_t *n)
{
    char buffer[4096];
    ssize_t got = read(fd, buffer, sizeof buffer);
    if (got <= 0)
        return got < 0 && (errno == EINTR || errno == EAGAIN);
    const size_t room = CHILD_TEXT - 1 - *n, fits = (size_t)got < room ? (size_t)got : room;
    memcpy(text + *n, buffer, fits);
    *n += fits;
    text[*n] = 0;
    return true;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Reads both pipes until the process has ended, or its time by the clock is over; then ends its whole group. */
static void watch(struct child *c, pid_t pid, int out, int records, int seconds)
{
    const double end = now() + 6.0 * seconds;
    struct pollfd fd[2] = { { .fd = out, .events = POLLIN }, { .fd = records, .events = POLLIN } };
    bool ended = false;
    while (!ended && !c->late) {
        poll(fd, 2, 20);
        ended = waitpid(pid, &c->status, WNOHANG) == pid;
        c->late = !ended && now() > end;
        for (int i = 0; i < 2; i++)
            if (fd[i].revents && !take(fd[i].fd, i ? c->records : c->output, i ? &c->recorded : &c->printed))
                fd[i].fd = -1;
    }
    kill(-pid, SIGKILL);
    if (!ended)
        waitpid(pid, &c->status, 0);
    for (int i = 0; i < 2; i++) {       /* what is left in the pipes: at most as much as was asked to be kept */
        fcntl(i ? records : out, F_SETFL, O_NONBLOCK);
        for (int n = 0; n < CHILD_TEXT / 4096 && poll(&fd[i], 1, 0) > 0; n++)
            if (!take(i ? records : out, i ? c->records : c->output, i ? &c->recorded : &c->printed))
                break;
    }
    c->late = c->late || (WIFSIGNALED(c->status) && WTERMSIG(c->status) == SIGXCPU);
}

int child_run(struct child *c, char *const argv[], const char *word, int seconds, int megabytes)
{
    int in[2], out[2], records[2];
    memset(c, 0, sizeof *c);
    if (pipe(in) < 0 || pipe(out) < 0 || pipe(records) < 0)
        return -1;
    const pid_t pid = fork();
    if (pid == 0)
        become(argv, in, out, records, seconds, megabytes);
    close(in[0]), close(out[1]), close(records[1]);
    if (pid > 0) {
        setpgid(pid, pid);
        signal(SIGPIPE, SIG_IGN);
        if (write(in[1], word, strlen(word)) < 0 || write(in[1], "\n", 1) < 0)
            c->recorded = 0;            /* it ended before it read: its status says so */
        watch(c, pid, out[0], records[0], seconds);
    }
    close(in[1]), close(out[0]), close(records[0]);
    return pid > 0 && !(WIFEXITED(c->status) && WEXITSTATUS(c->status) == 127) ? 0 : -1;
}
