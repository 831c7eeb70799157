/* safetensors.h: the functions that gra_save and gra_load call. Those that read any file are in gradus.h. */
#ifndef GRADUS_SAFETENSORS_H
#define GRADUS_SAFETENSORS_H

#include "../base/base.h"

int gra_file_fail(gra_file *f, const char *format, ...) GRA_PRINTF(2, 3);       /* an error of the file; -1 */

typedef struct gra_named {              /* a tensor, and its name in the file */
    const char       *name;
    const gra_tensor *x;                /* its data, size and shape are used */
} gra_named;

/* Sorts n tensors by name and writes them; no two may have the same name. */
bool gra_file_write(const char *path, int n, gra_named *x, const gra_meta *meta, int nmeta,
                    gra_failure *error);

#endif
