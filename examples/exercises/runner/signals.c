/* signals: see signals.h. */
#include "signals.h"
#include <signal.h>
#include <stddef.h>

#ifndef SIGWINCH
#define SIGWINCH 28                     /* POSIX has no name for it, but all systems use this number */
#endif

static volatile sig_atomic_t end, stop, redraw;

static void note(int number)
{
    if (number == SIGTSTP)
        stop = 1;
    else if (number == SIGWINCH || number == SIGCONT)
        redraw = 1;
    else
        end = number;
}

void signals_begin(void)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    struct sigaction a = { .sa_handler = note }, old;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)       /* nohup holds */
            sigaction(numbers[i], &a, NULL);
}

void signals_of_terminal(void)
{
    struct sigaction a = { .sa_handler = note };
    sigaction(SIGTSTP, &a, NULL);
    sigaction(SIGCONT, &a, NULL);
    sigaction(SIGWINCH, &a, NULL);
}

bool signals_end(void)
{
    return end;
}

static bool once(volatile sig_atomic_t *flag)
{
    const bool was = *flag;
    *flag = 0;
    return was;
}

bool signals_stop(void)
{
    return once(&stop);
}

bool signals_redraw(void)
{
    return once(&redraw);
}

void signals_die(void)
{
    if (end) {
        signal(end, SIG_DFL);
        raise(end);
    }
}
