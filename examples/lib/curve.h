/* curve: loss.png, the loss curve of a run, from its loss.tsv. */
#ifndef EXAMPLES_CURVE_H
#define EXAMPLES_CURVE_H

/* bits: bits per byte for one nat per token (tokens.h) */
int         curve_begin(const char *folder, double bits);   /* writes loss.gp, which draws it; 0 or -1 */
const char *curve_draw(const char *folder, double bits);    /* as gnuplot_draw */

#endif
