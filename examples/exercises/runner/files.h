/* files: a whole file in, a whole file out. */
#ifndef RUNNER_FILES_H
#define RUNNER_FILES_H

#include <stddef.h>

enum { FILE_MOST = 1 << 20 };           /* no exercise has more bytes */

/* The text of a plain file, with a zero byte behind it, to be freed; NULL with errno: it is none, or cannot be read. */
char *file_read(const char *path, size_t *n);

/* Writes the file as a whole or leaves it as it was. 0; -1 with errno. */
int file_write(const char *path, const char *text, size_t n);

#endif
