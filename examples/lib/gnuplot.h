/* gnuplot: draws a picture from a script. */
#ifndef EXAMPLES_GNUPLOT_H
#define EXAMPLES_GNUPLOT_H

#include <stdio.h>

/* script: a tmpfile() with gnuplot's commands, which is closed here; NULL: it could not be made. gnuplot runs
 * in that folder (NULL: the current one), and its standard output becomes the file at path, as by
 * file_replace. Returns NULL, or what went wrong. */
const char *gnuplot_draw(FILE *script, const char *folder, const char *path);

#endif
