/* tensor_names: a GPT's parameters, with our names and GPT-2's. In a block, GPT-2's c_attn contains query,
 * key and value, and Hugging Face's matrices are transposed. */
#ifndef EXAMPLES_TENSOR_NAMES_H
#define EXAMPLES_TENSOR_NAMES_H

#include "../../layers/gpt.h"

enum names_group { NEEDED, HEAD, BIAS, QKV_BIAS, GROUPS };  /* optional: the head; all biases of a group */
enum { VOCAB = -1, CONTEXT = -2 };      /* sizes that are not multiples of the width */

typedef struct names_row {
    const char *name[2];                /* ours, and GPT-2's */
    int         rows, columns;          /* in widths; columns 0: a vector */
    enum names_group group;
    int         part;           /* which third of the rows of GPT-2's tensor: 1, 2 or 3; 0: all of them */
} names_row;

enum { OUTSIDE = 5, BLOCK = 16 };       /* parameters outside the blocks, and in each */
enum { TOK_EMB = 0, POS_EMB = 1, OUT_HEAD = 4 };        /* of those outside */
extern const names_row names_outside[OUTSIDE], names_block[BLOCK];
extern const char *const names_blocks[2];               /* the prefix of names in the blocks: ours, GPT-2's */

/* For parameter i: the parameters outside the blocks come first, then those of each block. */
typedef char names_text[64];
const names_row *names_at(int i);
const char *names_of(int i, int gpt2, names_text to);

/* names_shape: the shape of the tensor that contains parameter i, with our names or GPT-2's; turned: matrices
 * in the blocks are transposed. names_copy copies the values from ours to theirs, or, if `back`, from theirs
 * to ours. */
gra_shape   names_shape(int i, const gra_gpt_config *c, bool gpt2, bool turned);
void        names_copy(int i, bool gpt2, bool turned, const gra_tensor *ours, gra_real *theirs, bool back);

#endif
