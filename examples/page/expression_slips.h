/* expression_slips: mistakes of beginners, each a wrong backward of one op. */
#ifndef EXAMPLES_PAGE_EXPRESSION_SLIPS_H
#define EXAMPLES_PAGE_EXPRESSION_SLIPS_H

#include "../../core/op.h"

typedef struct expression_slip {
    const char *op, *text;              /* the op's name, and what its backward gets wrong */
    double    (*da)(double a, double b, double y, double p);    /* dy/da as this backward has it; NULL: 0 */
    double    (*db)(double a, double b, double y, double p);
    bool        stores;                 /* this backward has = in place of += */
} expression_slip;

extern const expression_slip expression_slip_table[];        /* the last has no op */

/* If y is the result of the slip's op, it has this wrong backward from now on, and true is returned. p: the
 * exponent, if it is pow. */
bool expression_break(gra_tape *t, gra_tensor *y, const expression_slip *slip, double p);

#endif
