/* files: reads and writes whole files. A function that fails has printed why (see warn), unless it says
 * otherwise. */
#ifndef EXAMPLES_FILES_H
#define EXAMPLES_FILES_H

#include <stdbool.h>
#include <stddef.h>

enum { FILE_PATH = 4096, FILE_PLAIN = 1 << 20 };

/* Writes "folder/name" to path and returns it; if it is too long, "", which opens no file. */
char *file_path(char path[FILE_PATH], const char *folder, const char *name);
bool  file_is_there(char path[FILE_PATH], const char *folder, const char *name);    /* path: as file_path */
bool  file_ends_in(const char *path, const char *ending);       /* such as ".png" */
bool  file_is_link(const char *path);                           /* a symbolic link, wherever it leads */
const char *file_oddity(const char *path);      /* "symbolic link", "device or pipe"; NULL: neither */
char *file_read(const char *path, size_t *size);        /* the whole file and a 0 byte; free it */

/* The same, but it sets errno instead of warning. Refuses pipes and files of more than FILE_PLAIN bytes. */
char *file_read_plain(const char *path, size_t *size);

/* Writes all or nothing; 0 or -1. A symbolic link is replaced, and the file it points to stays. file_replace
 * sets errno instead of warning. */
int   file_write(const char *path, const char *bytes, size_t size);
int   file_replace(const char *path, const char *bytes, size_t size);
int   folder_make(const char *path);                    /* as mkdir -p; 0 or -1 */

#endif
