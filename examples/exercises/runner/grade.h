/* grade: a folder of students' folders, judged into a table. */
#ifndef RUNNER_GRADE_H
#define RUNNER_GRADE_H

#include "ladder.h"

/* The table goes to stdout: tab-separated (student, exercise, passed, finding), and on a terminal in columns.
 * The exit status: 0, unless there was nothing to judge. */
int grade(const struct ladder *l, const char *folder, const char *build, int seconds);

#endif
