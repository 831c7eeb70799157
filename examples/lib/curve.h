/* curve: loss.png, the loss curve of a run, from its loss.tsv. */
#ifndef EXAMPLES_CURVE_H
#define EXAMPLES_CURVE_H

int         curve_begin(const char *folder);    /* writes loss.gp, which draws it at any time; 0, or -1 after a complaint */
const char *curve_draw(const char *folder);     /* as gnuplot_draw */

#endif
