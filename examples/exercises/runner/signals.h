/* signals: handlers note that a signal came, and loops ask whether one has. */
#ifndef RUNNER_SIGNALS_H
#define RUNNER_SIGNALS_H

#include <stdbool.h>

void signals_begin(void);
void signals_of_terminal(void);         /* from now on also notes the signals for stop and redraw */
bool signals_end(void);                 /* whether SIGINT, SIGTERM, SIGHUP or SIGQUIT came */
bool signals_stop(void);                /* true once after each SIGTSTP (Ctrl-Z) */
bool signals_redraw(void);              /* true once after the window was resized or the runner continued */
void signals_die(void);                 /* ends the process by the signal of signals_end, if one came */

#endif
