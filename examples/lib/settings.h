/* settings: the values of a table of flags as text, "name\tvalue\n" each, and reading it back as strictly as
 * what a user types: each name once, each value in its range, nothing else. */
#ifndef EXAMPLES_SETTINGS_H
#define EXAMPLES_SETTINGS_H

#include "flags.h"
#include <stddef.h>

#define SETTINGS_MOST 64                /* flags in a table */

char *settings_write(const flag *table, int n, size_t *size);   /* to free; NULL: out of memory, it was said */
int   settings_read(const char *path, char *text, size_t size, const flag *table, int n);
                                        /* 0, or -1 after a sentence about path. text[size] is 0; the text is cut
                                           up, and a FLAG_TEXT then points into it */

#endif
