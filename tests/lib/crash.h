/* crash.h: what to blame when a test ends by a signal, so that a crash names its row of a table. */
#ifndef TESTS_CRASH_H
#define TESTS_CRASH_H

#include "core/gradus.h"

void crash_watch(void);                 /* from now on a crash writes the note to stderr; once, by main */
void crash_note(const char *format, ...) GRA_PRINTF(1, 2);      /* the note until the next one */

#endif
