/* shards: the tensors of a model, in one safetensors file or in several.
 *
 * Hugging Face cuts a large model into shards. Beside them is model.safetensors.index.json, whose
 * "weight_map" is an object with the file of each tensor. Tensors without an entry there are not read. */
#ifndef EXAMPLES_SHARDS_H
#define EXAMPLES_SHARDS_H

#include "../../core/gradus.h"

#define SHARDS_INDEX ".index.json"      /* the end of an index's name */

typedef struct shards {
    gra_file     **file;                /* the open files */
    int            files, count;        /* the numbers of files and of tensors */
    struct shards_tensor { const gra_file_tensor *x; gra_file *file; } *tensor;
    char           error[512];          /* "": none */
} shards;

/* path: a .safetensors file, or an index. Returns 0; or -1, and s->error. Close s in either case. */
int         shards_open(shards *s, const char *path);
const char *shards_meta(const shards *s, const char *key);      /* from the first file with key, or NULL */
int         shards_read(shards *s, const gra_file_tensor *x, gra_real *to);     /* 0; or -1, and s->error */
void        shards_close(shards *s);

#endif
