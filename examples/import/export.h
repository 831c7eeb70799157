/* export: writes a GPT in Hugging Face's form, for transformers' GPT2LMHeadModel and for PyTorch.
 *
 * model.safetensors has GPT-2's names, with query, key and value in one tensor, the matrices of the blocks
 * transposed, and zeros for biases that the GPT does not have. If the GPT is tied, there is no head.
 * config.json beside the file has the rest. import_gpt reads both files. */
#ifndef EXAMPLES_EXPORT_H
#define EXAMPLES_EXPORT_H

#include "import.h"

enum { EXPORT_JSON = 1024 };

/* Writes the file of the parameters. g: a GPT in m's root; t: a tape for a copy of the parameters. Returns 0;
 * or -1, and a reason in why. */
int export_gpt(gra_tape *t, const gra_model *m, const struct gra_gpt *g, const char *path,
               const gra_meta *meta, int nmeta, char why[IMPORT_WHY]);

/* The text of its config.json. end: the token that begins and ends a document; -1: none. */
void export_config(const gra_gpt_config *c, int end, char json[EXPORT_JSON]);

#endif
