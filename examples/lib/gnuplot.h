/* gnuplot: pictures, drawn by gnuplot in the background.
 *
 *     gnuplot g = { 0 };
 *     gnuplot_open(&g);                   then the script is written to g.script
 *     gnuplot_start(&g, folder);          gnuplot draws, in that folder
 *     gnuplot_draws(&g, 10);              waits for it, at most ten seconds
 *     gnuplot_keep(&g, path);             its picture becomes a file
 *     gnuplot_close(&g);
 */
#ifndef EXAMPLES_GNUPLOT_H
#define EXAMPLES_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct gnuplot {
    FILE *script, *picture;             /* unnamed files: what gnuplot reads, and what it writes */
    pid_t pid;                          /* of the one that draws, or 0 */
    bool  failed;                       /* how the last one ended */
} gnuplot;

extern const char gnuplot_missing[];    /* "there is no gnuplot: install it (make deps)" */

const char *gnuplot_open(gnuplot *g);   /* NULL, or what went wrong */
const char *gnuplot_start(gnuplot *g, const char *folder);      /* the same; folder NULL: where the program runs */
bool        gnuplot_draws(gnuplot *g, double seconds);          /* it still draws, after so long at most */
const char *gnuplot_keep(gnuplot *g, const char *path, bool png);       /* NULL, "" where file_write has complained, or
                                                   what went wrong. png: the picture must have the end of one */
void        gnuplot_close(gnuplot *g);  /* ends what still draws */

#endif
