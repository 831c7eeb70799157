/* gnuplot: draws a picture from a script. */
#ifndef EXAMPLES_GNUPLOT_H
#define EXAMPLES_GNUPLOT_H

#include <stdio.h>

/* script: an unnamed file (tmpfile) that gnuplot's commands were written to; gnuplot runs in that folder (NULL: here),
 * and what it writes to its standard output becomes the file at path, whole or not at all. NULL; or what went wrong,
 * "" where the user was told it. */
const char *gnuplot_draw(FILE *script, const char *folder, const char *path);
extern const char gnuplot_missing[];    /* one of these: there is none */

#endif
