/* gnuplot: draws a picture from a script. */
#ifndef EXAMPLES_GNUPLOT_H
#define EXAMPLES_GNUPLOT_H

#include <stdio.h>

/* script: a tmpfile() that gnuplot's commands were written to, which is closed here; NULL: it could not be
 * made. gnuplot runs in that folder (NULL: here), and what it writes to its standard output becomes the file
 * at path, as by file_replace. NULL, or what went wrong. */
const char *gnuplot_draw(FILE *script, const char *folder, const char *path);

#endif
