/* expression_numeric: the numeric gradient of a loss of many values, one at a time. */
#ifndef EXAMPLES_PAGE_EXPRESSION_NUMERIC_H
#define EXAMPLES_PAGE_EXPRESSION_NUMERIC_H

#include "../../core/gradus.h"

typedef double expression_loss(void *arg);              /* of the values that x is one of */

typedef struct expression_numeric {
    double value, unsure;               /* the gradient, and how far it may be off; NaN: there is none */
    double left, right;                 /* the slopes on either side */
    bool   kink;                        /* these differ, however close to x */
} expression_numeric;

expression_numeric expression_differentiate(expression_loss *loss, void *arg, gra_real *x);

#endif
