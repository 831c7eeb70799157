/* curve: a loss curve in the terminal. On a terminal it grows while the model trains; elsewhere it is drawn
 * once, when the last step is done. */
#ifndef MILESTONES_CURVE_H
#define MILESTONES_CURVE_H

#include <stdbool.h>

enum { CURVE_COLUMNS = 64, CURVE_ROWS = 8 };

struct curve {
    int    steps, done;                 /* how many there will be, and how many are done */
    double sum[CURVE_COLUMNS];          /* of the losses of the steps that share a column, */
    int    count[CURVE_COLUMNS];        /* and how many steps these are */
    bool   drawn;
};

void curve_begin(struct curve *c, int steps);
void curve_add(struct curve *c, double loss);           /* the loss of the next step */

#endif
