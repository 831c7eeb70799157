/* grade: judges a folder of students' folders, and prints a table. */
#ifndef RUNNER_GRADE_H
#define RUNNER_GRADE_H

#include "ladder.h"

struct grade_options {
    const char *only;                   /* exercises, "08 09 18"; NULL: all that are handed in */
    const char *out;                    /* the folder for the students' texts; NULL: none */
    bool        json;                   /* instead of a table */
    int         seconds;                /* for each answer */
};

/* Prints a row for each student and exercise (student, exercise, passed, parts, finding) to stdout: on a
 * terminal in columns, otherwise separated by tabs. Returns the exit status: 0, or 2 if there was nothing to
 * judge or something could not be written. */
int grade(const struct ladder *l, const char *folder, const char *build, const struct grade_options *options);

#endif
