/* crash.h: prints what a test was doing when a signal ended it: its row of a table, its last good
 * assertion. */
#ifndef TESTS_CRASH_H
#define TESTS_CRASH_H

#include "core/gradus.h"

#include <check.h>

void crash_watch(void);                 /* from now on a crash writes the note to stderr; main calls it */
void crash_note(const char *format, ...) GRA_PRINTF(1, 2);      /* replaces the note */

/* Check writes the place of each assertion that holds to a file. In a loop over the cells of a product this
 * takes longer than the product. Here the place is only remembered, and written when the test crashes. */
extern const char *volatile crash_place;
#define CRASH_TEXT_(line)        #line
#define CRASH_TEXT(line)         CRASH_TEXT_(line)
#define _mark_point(file, line)  ((void)(crash_place = file ":" CRASH_TEXT(line)))

#endif
