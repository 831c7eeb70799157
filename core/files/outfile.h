/* outfile.h: a file that is written completely or not at all.
 *
 * The file is written under a temporary name in the same folder, synced to the disk, and then renamed. If the
 * path is a device or a pipe, there is nothing to replace, and the bytes are written to it directly. A
 * symbolic link is followed unless it belongs to another user. */
#ifndef GRADUS_OUTFILE_H
#define GRADUS_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gra_outfile {
    int   fd;
    char *target, *temporary;           /* temporary NULL: a device */
    int   error;                        /* errno of the first call that failed, or 0 */
} gra_outfile;

/* Open and close return false after an error, and errno tells which. After an error open has opened nothing,
 * and close, which otherwise gives the file its name, leaves an old file unchanged. After an error write does
 * nothing. */
bool gra_outfile_open(gra_outfile *out, const char *path);
void gra_outfile_write(gra_outfile *out, const void *data, size_t n);
bool gra_outfile_close(gra_outfile *out);

#endif
