/* infile.h: the bytes of a regular file, read from any place in it. */
#ifndef GRADUS_INFILE_H
#define GRADUS_INFILE_H

#include "../base/base.h"

typedef struct gra_infile {
    int          fd;
    uint64_t     length;                /* bytes in the file when it was opened */
    gra_failure *error;                 /* why a function has returned false */
} gra_infile;

bool gra_infile_open(gra_infile *in, const char *path, gra_failure *error);     /* false: it is not open */
bool gra_infile_read(gra_infile *in, uint64_t at, void *to, size_t n);         /* n bytes from byte `at` on */
void gra_infile_close(gra_infile *in);

#endif
