/* crash: the line that is printed when a checked backward crashes the program, for example because it adds to
 * the gradient of a constant, which is NULL.
 *
 * While a checked backward runs, a handler of SIGSEGV and SIGBUS is installed. It writes the prepared line,
 * restores the previous handler, and returns: the instruction that crashed runs again, and the signal takes
 * its usual course, to a debugger, a sanitizer, or the end. Several threads may check at once, and a backward
 * may crash in a worker. A thread that checks nothing therefore writes the lines of all checking threads.
 * Nothing else in the library handles signals. */
#undef  _XOPEN_SOURCE
#define _XOPEN_SOURCE 700               /* sigaction, SA_ONSTACK */
#include "checking.h"
#ifndef __wasm__                        /* which has no signals */
#include <signal.h>
#endif

#ifdef SA_SIGINFO

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { AT_ONCE = 16 };                  /* this many backwards at once have a line */

static struct running {
    atomic_bool used;
    pthread_t   thread;
    size_t      length;
    char        line[640];
} running[AT_ONCE];

static pthread_mutex_t  lock = PTHREAD_MUTEX_INITIALIZER;
static const int        signals[] = { SIGSEGV, SIGBUS };
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction before[SIGNALS];
static int              count;          /* running backwards: while there are any, the handler is installed */

/* Writes this thread's lines, or the lines of all threads; false: there were none. */
static bool write_lines(bool all)
{
    bool any = false;
    for (int i = 0; i < AT_ONCE; i++) {
        const struct running *r = &running[i];
        if (!atomic_load(&r->used) || !(all || pthread_equal(r->thread, pthread_self())))
            continue;
        any |= write(STDERR_FILENO, r->line, r->length) > 0;
    }
    return any;
}

/* The handler: only async-signal-safe calls. */
static void crashed(int number, siginfo_t *info, void *context)
{
    const int was = errno;
    (void)context;
    if (!write_lines(false))
        write_lines(true);
    for (int i = 0; i < SIGNALS; i++)
        if (signals[i] == number)
            sigaction(number, &before[i], NULL);
    if (info->si_code <= 0)             /* sent by a program: no instruction will crash again */
        raise(number);
    errno = was;
}

static bool is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == crashed;
}

int gra_crash_begin(const char *line)
{
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_ONSTACK }, was;
    int at = 0;
    action.sa_sigaction = crashed;
    sigemptyset(&action.sa_mask);
    pthread_mutex_lock(&lock);
    while (at < AT_ONCE && atomic_load(&running[at].used))
        at++;
    if (at < AT_ONCE) {
        struct running *r = &running[at];
        r->thread = pthread_self();
        snprintf(r->line, sizeof r->line, "gradus: gra_check: %s\n", line);
        r->length = strlen(r->line);
        atomic_store(&r->used, true);
        for (int i = 0; i < SIGNALS && count == 0; i++) {
            sigaction(signals[i], &action, &was);
            if (!is_ours(&was))                         /* the program may have restored our handler */
                before[i] = was;
        }
        count++;
    }
    pthread_mutex_unlock(&lock);
    return at;
}

void gra_crash_end(int at)
{
    if (at == AT_ONCE)
        return;
    pthread_mutex_lock(&lock);
    atomic_store(&running[at].used, false);
    count--;
    for (int i = 0; i < SIGNALS && count == 0; i++) {
        struct sigaction now;
        sigaction(signals[i], NULL, &now);              /* the program may have installed a handler since */
        if (is_ours(&now))
            sigaction(signals[i], &before[i], NULL);
    }
    pthread_mutex_unlock(&lock);
}

#else                                   /* no signals: no line is printed */

int  gra_crash_begin(const char *line)  { return (void)line, 0; }
void gra_crash_end(int at)              { (void)at; }

#endif
