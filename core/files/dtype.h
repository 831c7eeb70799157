/* dtype.h: converts between numbers in files (little-endian) and gra_reals in memory. */
#ifndef GRADUS_DTYPE_H
#define GRADUS_DTYPE_H

#include "infile.h"
#include "outfile.h"

typedef struct gra_dtype {
    const char *name;                   /* as in safetensors: "F32" */
    unsigned    bits;                   /* of each number */
    void      (*to_reals)(const unsigned char *from, size_t n, gra_real *to);   /* NULL: not floating */
} gra_dtype;

#ifdef GRADUS_DOUBLE
#define GRA_OWN_DTYPE "F64"             /* the type of files that are written */
#else
#define GRA_OWN_DTYPE "F32"
#endif

const gra_dtype *gra_dtype_named(const char *name);     /* NULL: safetensors has no such type */

/* Reads n numbers that begin at byte `at` of a file; false: see in->error. Allocates nothing. */
bool gra_read_values(gra_infile *in, uint64_t at, const gra_dtype *type, size_t n, gra_real *to);
void gra_write_values(gra_outfile *out, const gra_real *from, size_t n);        /* as GRA_OWN_DTYPE */

uint64_t gra_little_endian(const unsigned char *from, size_t bytes);        /* an integer of up to 8 bytes */
void     gra_put_little_endian(unsigned char *to, uint64_t bits, size_t bytes);

#endif
