/* curve: the loss curve as characters, for a terminal of 80 columns. */
#ifndef EXAMPLES_CURVE_H
#define EXAMPLES_CURVE_H

#include <stdbool.h>

enum { CURVE_BINS = 2048 };

typedef struct curve {                          /* zeroed but for steps */
    long   steps;                               /* how many are planned, */
    long   last;                                /* and how far it came */
    double first;                               /* the training loss of step 1 */
    double sum[CURVE_BINS], val[CURVE_BINS];    /* bin b holds the steps (b, b + 1] * steps / CURVE_BINS */
    long   count[CURVE_BINS];
    bool   has_val[CURVE_BINS];
} curve;

void curve_add(curve *c, long step, double train, double val);  /* val NaN: none */
int  curve_print(const curve *c, bool utf8);    /* to stdout, 18 lines; 0, or -1 after a complaint */

#endif
