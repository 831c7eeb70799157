/* reference.h: numbers that the double suite writes to a file and the float suite compares its own with. Both
 * go through the same calls, which write, or read and compare. */
#ifndef TESTS_REFERENCE_H
#define TESTS_REFERENCE_H

#include "core/op.h"

#include <stdio.h>

typedef struct reference {
    FILE *file;
    bool  writes;
    bool  same;                         /* there is a file, and so far it is of the same table */
    char  place[120];                   /* of the value that was farthest off in the last reference_off */
} reference;

reference reference_open(const char *name, bool writes);        /* build/f64/NAME */

/* Returns `same`. If it is not, a sentence says that `what` was left out; NULL: none does. */
bool      reference_close(reference *r, const char *what);

void   reference_title(reference *r, const char *title);        /* of the numbers that follow */
double reference_number(reference *r, double x);        /* the one that was written, which may be x */

/* How far n values, `step` apart, are from what was written, relative to the largest of it, or to `floor` if
 * that is more. NULL stands for zeros. 0 if it writes, or the file is of another table. */
double reference_off(reference *r, const real *x, size_t n, size_t step, double floor);

#endif
