/* plot: loss.png from loss.tsv, by gnuplot in the background. */
#ifndef EXAMPLES_PLOT_H
#define EXAMPLES_PLOT_H

#include "gnuplot.h"

typedef struct plot {
    const char *folder;
    gnuplot     gnuplot;
} plot;

int  plot_open(plot *p, const char *folder);    /* writes loss.gp; 0 or -1 */
void plot_draw(plot *p);                        /* draws, unless an earlier drawing still goes on */
const char *plot_finish(plot *p);               /* draws a last time and waits, at most 10 s; what the user
                                                   should know, or NULL: the picture is there */
void plot_close(plot *p);                       /* ends what still draws */

#endif
