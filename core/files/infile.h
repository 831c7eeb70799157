/* infile.h: the bytes of a regular file, read from any place in it. */
#ifndef GRADUS_INFILE_H
#define GRADUS_INFILE_H

#include "../base/base.h"

typedef struct gra_infile {
    int          fd;
    uint64_t     length;                /* bytes there were when it was opened */
    gra_failure *error;                 /* why what returned false did: "it is a directory" */
} gra_infile;

bool gra_infile_open(gra_infile *in, const char *path, gra_failure *error);     /* false: there is nothing to
                                                           close */
bool gra_infile_read(gra_infile *in, uint64_t at, void *to, size_t n);  /* n bytes that begin at byte `at` */
void gra_infile_close(gra_infile *in);

#endif
