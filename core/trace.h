/* trace.h: for the tape, when gra_trace_nan is on: looks at what was just computed, and where a number went
 * wrong makes an error of it. Each counts on having been asked about every op before. */
#ifndef GRADUS_TRACE_H
#define GRADUS_TRACE_H

#include "op.h"

void gra_trace_forward(gra_tape *t, gra_tensor *y);     /* y was computed and recorded */
void gra_trace_loss(gra_tape *t, gra_tensor *loss);     /* a sweep is to begin there */
void gra_trace_backward(gra_tape *t, gra_tensor *y);    /* y's backward has added to its inputs' gradients */

#endif
