/* grade: judges a folder of students' folders, and prints a table. */
#ifndef RUNNER_GRADE_H
#define RUNNER_GRADE_H

#include "ladder.h"

/* Prints the table (student, exercise, passed, finding) to stdout: on a terminal in columns, otherwise
 * separated by tabs. Returns the exit status: 0, or 2 if there was nothing to judge. */
int grade(const struct ladder *l, const char *folder, const char *build, int seconds);

#endif
