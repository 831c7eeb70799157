/* stop: SIGINT once sets a flag; SA_RESETHAND then gives the second its default, the end.
 * SA_RESTART, so that no write is cut short and taken for a failure. */
#include "stop.h"
#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t asked;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    asked = 1;
}

void stop_on_interrupt(void)
{
    struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND | SA_RESTART };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

bool stop_asked(void)
{
    return asked;
}
