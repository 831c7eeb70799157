/* child: see child.h. */
#include "child.h"
#include "../../lib/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECORDS = 3, STACK_MB = 8, FILE_MB = 64 };       /* a judge writes its records to descriptor 3 */

bool (*child_stop)(void);

/* Sanitizers crash in some starts if the kernel spreads addresses too widely for them. Linux can keep
 * addresses fixed, but may refuse to do so in a container. */
#ifdef __linux__
#include <sys/personality.h>
static void fix_addresses(void)
{
    const int now = personality(0xffffffff);
    if (now != -1)
        personality((unsigned long)now | ADDR_NO_RANDOMIZE);
}
#else
static void fix_addresses(void)
{
}
#endif

static void limit(int what, int units, int bits)
{
    struct rlimit r = { (rlim_t)units << bits, (rlim_t)units << bits };
    setrlimit(what, &r);
}

/* Turns the child into the program. In a session of its own it has no terminal to write to,
 * and a process group that it shares with nobody. */
_Noreturn static void become(char *const argv[], const int in[2], const int out[2], const int records[2],
                             const struct child_limits *l)
{
    setsid();
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    struct rlimit processor = { (rlim_t)l->seconds, (rlim_t)l->seconds + 1 };   /* SIGXCPU, then SIGKILL */
    setrlimit(RLIMIT_CPU, &processor);
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_FSIZE, FILE_MB, 20);
    limit(RLIMIT_STACK, STACK_MB, 20);
    if (l->fixed)
        fix_addresses();
    if (l->addresses)
        limit(RLIMIT_AS, l->addresses, 20);
    const int r = fcntl(records[1], F_DUPFD, RECORDS + 1), o = fcntl(out[1], F_DUPFD, RECORDS + 1),
              i = fcntl(in[0], F_DUPFD, RECORDS + 1);
    if (dup2(i, STDIN_FILENO) < 0 || dup2(o, STDOUT_FILENO) < 0 || dup2(o, STDERR_FILENO) < 0 ||
        dup2(r, RECORDS) < 0 || (l->folder && chdir(l->folder) < 0))
        _exit(127);
    for (int fd = RECORDS + 1; fd < 64; fd++)
        close(fd);
    execvp(argv[0], argv);
    _exit(127);
}

/* Reads the available part of the output, or of the records, and drops what does not fit. False: the other
 * side has closed it. */
static bool take(struct child *c, int fd, bool records, size_t *all)
{
    char buffer[4096], *text = records ? c->records : c->output;
    size_t *n = records ? &c->recorded : &c->printed;
    ssize_t got = read(fd, buffer, sizeof buffer);
    if (got <= 0) {
        const bool later = got < 0 && (errno == EINTR || errno == EAGAIN);
        c->lost = c->lost || (got < 0 && !later);
        return later;
    }
    const size_t room = CHILD_TEXT - 1 - *n, fits = (size_t)got < room ? (size_t)got : room;
    memcpy(text + *n, buffer, fits);
    *n += fits;
    *all += (size_t)got;
    text[*n] = 0;
    return true;
}

/* The megabytes that a process uses; 0 where the system has no /proc. */
static int memory_of(pid_t pid)
{
    char path[40];
    long pages = 0;
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
    FILE *f = fopen(path, "r");
    if (f) {
        if (fscanf(f, "%*s %ld", &pages) != 1)
            pages = 0;
        fclose(f);
    }
    return (int)(pages * (sysconf(_SC_PAGESIZE) >> 10) >> 10);
}

/* The process stays a zombie, so that no other process group can have its number when it is killed. */
static bool has_ended(pid_t pid)
{
    siginfo_t info = { .si_pid = 0 };
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* Reads both pipes until the process has ended or must end; then ends every process that it started. */
static void watch(struct child *c, pid_t pid, const int from[2], const struct child_limits *l)
{
    const double end = seconds_now() + 6.0 * l->seconds;
    struct pollfd fd[2] = { { .fd = from[0], .events = POLLIN }, { .fd = from[1], .events = POLLIN } };
    size_t all[2] = { 0, 0 };
    bool ended = false;
    while (!ended && !c->late && !c->large && !c->loud && !c->stopped) {
        poll(fd, 2, fd[0].fd < 0 && fd[1].fd < 0 ? 1 : 20);         /* both closed: the child is ending */
        ended = has_ended(pid);
        for (int i = 0; i < 2; i++)
            if (fd[i].revents && !take(c, fd[i].fd, i, &all[i]))
                fd[i].fd = -1;
        c->late = !ended && seconds_now() > end;
        c->loud = all[0] + all[1] > CHILD_FLOOD;
        c->large = !ended && memory_of(pid) > l->megabytes;
        c->stopped = !ended && child_stop && child_stop();
    }
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    waitpid(pid, &c->status, 0);
    for (int i = 0; i < 2; i++)         /* the rest in the pipes: at most as much as is kept */
        for (int n = 0; n < CHILD_TEXT / 4096 && poll(&fd[i], 1, 0) > 0; n++)
            if (!take(c, from[i], i, &all[i]))
                break;
    c->late = c->late || (WIFSIGNALED(c->status) && WTERMSIG(c->status) == SIGXCPU);
}

static void shut(int fd[2])
{
    for (int i = 0; i < 2; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    fd[0] = fd[1] = -1;
}

int child_run(struct child *c, char *const argv[], const struct child_limits *l)
{
    int in[2] = { -1, -1 }, out[2] = { -1, -1 }, records[2] = { -1, -1 };
    pid_t pid = -1;
    memset(c, 0, sizeof *c);
    signal(SIGPIPE, SIG_IGN);
    if (!pipe(in) && !pipe(out) && !pipe(records) &&
        write(in[1], l->input, l->ninput) == (ssize_t)l->ninput)
        pid = fork();
    if (pid == 0)
        become(argv, in, out, records, l);
    if (pid > 0) {
        shut(in);
        close(out[1]), close(records[1]);
        out[1] = records[1] = -1;
        watch(c, pid, (int[]){ out[0], records[0] }, l);
    }
    shut(in), shut(out), shut(records);
    const bool started = !WIFEXITED(c->status) || WEXITSTATUS(c->status) != 127 || c->recorded;
    return pid > 0 && started && !c->lost ? 0 : -1;
}
