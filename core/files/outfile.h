/* outfile.h: a file that appears whole or not at all.
 *
 * It is written under a temporary name in the same folder, brought to the disk, and then renamed. Where the
 * path is a device or a pipe there is nothing to replace, and the bytes go straight to it. A symbolic link is
 * followed unless it is itself another user's. */
#ifndef GRADUS_OUTFILE_H
#define GRADUS_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gra_outfile {
    int   fd;
    char *target, *temporary;           /* temporary NULL: a device */
    int   error;                        /* errno of the first call that failed, or 0 */
} gra_outfile;

bool gra_outfile_open(gra_outfile *out, const char *path);      /* false: errno says why; there is nothing to
                                                           close */
void gra_outfile_write(gra_outfile *out, const void *data, size_t n);  /* after an error nothing is done */
bool gra_outfile_close(gra_outfile *out);       /* gives the file its name; false: errno says why, and an old
                                                   file is as it was */

#endif
