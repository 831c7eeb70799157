/* memory_file: core/files' outfile.h and infile.h for a page, which has no files: all paths lead to one that
 * is in memory. */
#ifndef EXAMPLES_PAGE_MEMORY_FILE_H
#define EXAMPLES_PAGE_MEMORY_FILE_H

#include "../lib/json_out.h"

void       memory_file_put(const unsigned char *bytes, size_t n);   /* what is read; the caller keeps it */
const out *memory_file_get(void);               /* the bytes last written, until the next write; n 0: none */

#endif
