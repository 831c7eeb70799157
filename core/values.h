/* values.h: numbers as files have them, little-endian or big-endian, and as reals in memory. */
#ifndef GRADUS_VALUES_H
#define GRADUS_VALUES_H

#include "gradus.h"
#include "infile.h"
#include "outfile.h"

typedef struct gra_values {             /* a kind of numbers */
    const char *name;                   /* as safetensors has it */
    unsigned    bits;                   /* of each */
    void      (*to_reals)(const unsigned char *from, size_t n, gra_real *to);   /* NULL: they are no real numbers */
} gra_values;

#ifdef GRADUS_DOUBLE
#define GRA_OWN_VALUES "F64"            /* the kind that is written */
#else
#define GRA_OWN_VALUES "F32"
#endif

const gra_values *gra_values_named(const char *name);   /* NULL: safetensors has no such kind */

/* n numbers that stand at a place of a file. Takes no memory; false: in->why. */
bool gra_values_read(const gra_values *kind, gra_infile *in, uint64_t at, bool big_endian, size_t n, gra_real *to);
void gra_values_write(gra_outfile *out, const gra_real *from, size_t n);        /* little-endian */

uint64_t gra_little_endian(const unsigned char *from, size_t bytes);    /* a count of up to 8 bytes */
void     gra_put_little_endian(unsigned char *to, uint64_t bits, size_t bytes);

#endif
