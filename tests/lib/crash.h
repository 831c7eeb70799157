/* crash.h: what a test that ends by a signal was doing: its row of a table, the last assertion that held. */
#ifndef TESTS_CRASH_H
#define TESTS_CRASH_H

#include "core/gradus.h"

#include <check.h>

void crash_watch(void);                 /* from now on a crash writes the note to stderr; main calls it */
void crash_note(const char *format, ...) GRA_PRINTF(1, 2);      /* replaces the note */

/* For each assertion that holds, Check writes its place to a file: in a loop over the cells of a product that
 * takes longer than the product. Here the place is only remembered, and written when the test crashes. */
extern const char *volatile crash_place;
#define CRASH_TEXT_(line)        #line
#define CRASH_TEXT(line)         CRASH_TEXT_(line)
#define _mark_point(file, line)  ((void)(crash_place = file ":" CRASH_TEXT(line)))

#endif
