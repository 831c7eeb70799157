/* files: whole files in and out. A function that fails has complained, in a sentence. */
#ifndef EXAMPLES_FILES_H
#define EXAMPLES_FILES_H

#include <stdbool.h>
#include <stddef.h>

enum { FILE_PATH = 4096 };
char *file_path(char path[FILE_PATH], const char *folder, const char *name);
                                                        /* "folder/name"; returns path. A longer name than
                                                           that becomes "", which no file has */
bool  file_ends_in(const char *path, const char *ending);       /* such as ".png" */
char *file_read(const char *path, size_t *size);    /* the whole file, and a 0 behind it; to free; or NULL */
int   file_write(const char *path, const char *bytes, size_t size);     /* the file is whole or as it was; 0
                                                           or -1 */
int   folder_make(const char *path);                    /* as mkdir -p; 0 or -1 */

#endif
