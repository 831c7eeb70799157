/* files: whole files in and out. A function that fails has printed why (see warn). */
#ifndef EXAMPLES_FILES_H
#define EXAMPLES_FILES_H

#include <stdbool.h>
#include <stddef.h>

enum { FILE_PATH = 4096, FILE_PLAIN = 1 << 20 };
char *file_path(char path[FILE_PATH], const char *folder, const char *name);
                                                        /* writes "folder/name" to path and returns it; if it
                                                           is too long "", which opens no file */
bool  file_ends_in(const char *path, const char *ending);       /* such as ".png" */
bool  file_is_link(const char *path);                           /* a symbolic link, wherever it leads */
char *file_read(const char *path, size_t *size);    /* the whole file, with a 0 byte at the end; free it */
char *file_read_plain(const char *path, size_t *size);  /* the same without a warning: errno says why. Of a
                                                           plain file of at most FILE_PLAIN bytes: no pipe */
int   file_write(const char *path, const char *bytes, size_t size);     /* all or nothing; 0 or -1. A link is
                                                           removed first, and the file behind it stays */
int   file_replace(const char *path, const char *bytes, size_t size);   /* the same without a warning: errno
                                                           says why */
int   folder_make(const char *path);                    /* as mkdir -p; 0 or -1 */

#endif
