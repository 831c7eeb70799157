/* reference.h: numbers that the double suite writes to a file, and with which the float suite compares its
 * results. Both suites make the same calls, which write, or read and compare. */
#ifndef TESTS_REFERENCE_H
#define TESTS_REFERENCE_H

#include "core/op.h"

#include <stdio.h>

typedef struct reference {
    FILE *file;
    bool  writes;
    bool  same;                         /* there is a file, and so far its table is the same */
    char  place[120];                   /* of the value with the largest error in the last reference_off */
} reference;

reference reference_open(const char *name, bool writes);        /* build/f64/NAME */

/* Returns `same`. If that is false, prints that `what` was left out, unless `what` is NULL. */
bool      reference_close(reference *r, const char *what);

void   reference_title(reference *r, const char *title);        /* of the numbers that follow */
double reference_number(reference *r, double x);        /* the number that was written, which may be x */

/* How far n values, `step` apart, are from the written values, relative to the largest of these, or to
 * `floor` if that is larger. NULL means zeros. 0: it writes, or the file has another table. */
double reference_off(reference *r, const real *x, size_t n, size_t step, double floor);

#endif
