/* shards: the tensors of a model, in one safetensors file or in several.
 *
 * Hugging Face cuts a large model into shards. model.safetensors.index.json then has "weight_map", an object
 * of the tensors' names and the file of each, beside it. Tensors that it does not name are not read. */
#ifndef EXAMPLES_SHARDS_H
#define EXAMPLES_SHARDS_H

#include "../../core/gradus.h"

#define SHARDS_INDEX ".index.json"      /* the end of an index's name */

typedef struct shards {
    gra_file     **file;                /* those that are open */
    int            files, count;        /* how many; how many tensors */
    struct shards_tensor { const gra_file_tensor *x; gra_file *file; } *tensor;
    char           error[512];          /* "": none */
} shards;

/* path: a .safetensors file, or an index. 0; or -1, and s->error. Close it in either case. */
int         shards_open(shards *s, const char *path);
const char *shards_meta(const shards *s, const char *key);      /* of the first file that has it, or NULL */
int         shards_read(shards *s, const gra_file_tensor *x, gra_real *to);     /* 0; or -1, and s->error */
void        shards_close(shards *s);

#endif
