/* stop: the first Ctrl-C asks the program to end in good order, the second ends it. */
#ifndef EXAMPLES_STOP_H
#define EXAMPLES_STOP_H

#include <stdbool.h>

void stop_on_interrupt(void);
bool stop_asked(void);

#endif
