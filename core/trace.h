/* trace.h: for the tape, when gra_trace_nan is on: looks at what was just computed. True: a number went
 * wrong there, and text says so. Each counts on having been asked about every op before. */
#ifndef GRADUS_TRACE_H
#define GRADUS_TRACE_H

#include "op.h"

#define GRA_TRACE_TEXT 512

typedef bool gra_trace(gra_tensor *y, char *text);
gra_trace gra_trace_forward;                            /* y was computed and recorded */
gra_trace gra_trace_loss;                               /* a sweep begins at y */
gra_trace gra_trace_backward;                           /* y's backward has added to its inputs' gradients */

#endif
