/* outfile.h: a file that appears whole or not at all.
 *
 * It is written under another name beside the old one, brought to the disk, and then renamed. Where the path
 * is a device or a pipe there is nothing to replace, and it is written to. */
#ifndef GRADUS_OUTFILE_H
#define GRADUS_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gra_outfile {
    int   fd;
    char *target, *temporary;           /* temporary NULL: a device */
    char  why[200];                     /* the first error, or "" */
} gra_outfile;

bool gra_outfile_open(gra_outfile *out, const char *path);      /* false: out->why, and there is nothing to close */
void gra_outfile_write(gra_outfile *out, const void *data, size_t n);  /* after an error nothing is done */
bool gra_outfile_close(gra_outfile *out);       /* the file takes its name; false: out->why, and nothing was changed
                                                   (unless its directory alone could not be brought to the disk) */

#endif
