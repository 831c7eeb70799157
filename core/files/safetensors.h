/* safetensors.h: beneath gra_save and gra_load. Reading files is public (gradus.h: gra_file_open). */
#ifndef GRADUS_SAFETENSORS_H
#define GRADUS_SAFETENSORS_H

#include "../base/base.h"

int gra_file_fail(gra_file *f, const char *format, ...) GRA_PRINTF(2, 3);       /* an error of the file; -1 */

typedef struct gra_named {              /* a tensor, and the name that it has in the file */
    const char       *name;
    const gra_tensor *x;                /* of which data, size and shape are read */
} gra_named;

bool gra_file_write(const char *path, int n, gra_named *x, const gra_meta *meta, int nmeta,
                    gra_failure *error);
                                        /* n tensors, which it sorts by name; a name may not come twice */

#endif
