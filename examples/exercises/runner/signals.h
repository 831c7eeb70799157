/* signals: what the runner is told from outside. Handlers note it; loops ask. */
#ifndef RUNNER_SIGNALS_H
#define RUNNER_SIGNALS_H

#include <stdbool.h>

void signals_begin(void);
void signals_of_terminal(void);         /* from here on also those of the next two */
bool signals_end(void);                 /* to end: SIGINT, SIGTERM, SIGHUP or SIGQUIT came */
bool signals_stop(void);                /* to stop, as by Ctrl-Z: once each time */
bool signals_redraw(void);            /* the window has another size, or the runner goes on: once each time */
void signals_die(void);                 /* does what signals_end was about, by its default action */

#endif
