/* curve: loss.png, the loss curve of a run, from its loss.tsv. */
#ifndef EXAMPLES_CURVE_H
#define EXAMPLES_CURVE_H

int         curve_begin(const char *folder);    /* writes loss.gp, the script that draws it; 0 or -1 */
const char *curve_draw(const char *folder);     /* as gnuplot_draw */

#endif
