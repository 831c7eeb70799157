/* import: loads a GPT from another program's safetensors file.
 *
 *     family                        its names                                                     GELU
 *     Raschka's GPTModel, gradus'   trf_blocks.0.att.W_query.weight (w, w), W_key, W_value        tanh
 *     Hugging Face's GPT-2          h.0.attn.c_attn.weight (w, 3 w): query, key, value            tanh
 *     nanoGPT                       the same, but (3 w, w)                                        erf
 *
 * Here w is the embedding width. The prefixes that a wrapper puts before the names ("module.", "_orig_mod.",
 * "model." ...) are taken off, and so is "transformer.".
 * Buffers (*.mask, *.attn.bias, *.attn.masked_bias) are skipped. A file without any bias makes a GPT without
 * biases; a file without a head, or with a head equal to the token embedding, makes a tied GPT.
 *
 * The tensors do not show two things, which are taken from the first source that has them. For the number of
 * heads the sources are "n_heads" in the file's metadata, n_head in a config.json beside the file, the
 * caller, and w / 64, as in every GPT-2. For the form of GELU they are "gelu" in the metadata ("erf" or
 * "tanh"), activation_function in the config.json, and the family's usual form. A config.json is refused if
 * it requires something that gradus does not compute, or describes a different model. */
#ifndef EXAMPLES_IMPORT_H
#define EXAMPLES_IMPORT_H

#include "../../layers/gpt.h"

enum { IMPORT_WHY = 512 };

/* The configuration of the file's GPT, as import_gpt would make it. Returns 0; or -1, and a reason in why. */
int import_config(gra_gpt_config *c, const char *path, int n_heads, char why[IMPORT_WHY]);

/* Makes g in the scope of a new model, with the file's configuration and values, and this dropout. n_heads 0:
 * the file's. Returns 0; or -1, and in why a sentence that names the wrong tensor or setting: then close the
 * model. */
int import_gpt(struct gra_gpt *g, gra_scope scope, const char *path, int n_heads, double drop_rate,
               char why[IMPORT_WHY]);

#endif
