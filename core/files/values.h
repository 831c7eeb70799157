/* values.h: numbers and shapes as files have them, and as reals and ints in memory. */
#ifndef GRADUS_VALUES_H
#define GRADUS_VALUES_H

#include "../gradus.h"
#include "infile.h"
#include "outfile.h"

typedef struct gra_values {             /* a kind of numbers */
    const char *name;                   /* as safetensors has it */
    unsigned    bits;                   /* of each */
    void      (*to_reals)(const unsigned char *from, size_t n, gra_real *to);   /* NULL: they are no real numbers */
} gra_values;

#define GRA_MAX_HEADER 100000000        /* bytes of a safetensors header: the reference reader's limit */

#ifdef GRADUS_DOUBLE
#define GRA_OWN_VALUES "F64"            /* the kind that is written */
#else
#define GRA_OWN_VALUES "F32"
#endif

const gra_values *gra_values_named(const char *name);   /* NULL: safetensors has no such kind */

/* A shape as a file says it: numbers of 64 bits, which may be anything. */
typedef struct gra_extent {
    int      ndim;
    uint64_t sizes[GRA_MAX_DIMS];
} gra_extent;
bool        gra_extent_add(gra_extent *e, uint64_t size);       /* one dimension more; false: there is no room for it */
const char *gra_extent_wrong(const gra_extent *e, const gra_values *kind);  /* why such a tensor cannot be, or NULL */
uint64_t    gra_extent_bytes(const gra_extent *e, const gra_values *kind);  /* it takes; if nothing is wrong, */
size_t      gra_extent_shape(const gra_extent *e, gra_shape *shape);            /* how many values it has, and its shape */
#define GRA_EXTENT_TEXT (22 * GRA_MAX_DIMS + 3)
char       *gra_extent_text(const gra_extent *e, char *text);               /* "(2, 3)" */

/* n numbers that stand at a place of a file. Takes no memory; false: in->why. */
bool gra_values_read(const gra_values *kind, gra_infile *in, uint64_t at, bool big_endian, size_t n,
                     gra_real *to);
void gra_values_write(gra_outfile *out, const gra_real *from, size_t n);        /* little-endian */

uint64_t gra_little_endian(const unsigned char *from, size_t bytes);    /* a count of up to 8 bytes */
void     gra_put_little_endian(unsigned char *to, uint64_t bits, size_t bytes);

#endif
