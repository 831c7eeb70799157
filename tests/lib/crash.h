/* crash.h: what to blame when a test ends by a signal: its row of a table, the last assertion that held. */
#ifndef TESTS_CRASH_H
#define TESTS_CRASH_H

#include "core/gradus.h"

#include <check.h>

void crash_watch(void);                 /* from now on a crash writes the note to stderr; once, by main */
void crash_note(const char *format, ...) GRA_PRINTF(1, 2);      /* the note until the next one */

/* Check writes the place of each assertion that holds to a file, by a system call. In a loop over a product's
 * cells that takes longer than the product. Here the place is only kept, and written when the test crashes. */
extern const char *volatile crash_place;
#define CRASH_TEXT_(line)        #line
#define CRASH_TEXT(line)         CRASH_TEXT_(line)
#define _mark_point(file, line)  ((void)(crash_place = file ":" CRASH_TEXT(line)))

#endif
