/* heatmap: a picture of a model's attention weights, a panel for each layer and head. */
#ifndef EXAMPLES_HEATMAP_H
#define EXAMPLES_HEATMAP_H

#include "../../layers/gpt.h"
#include "tokens.h"

/* Draws the attention of the n tokens in ids, which begins a step of the tape. Writes an SVG if path ends in
 * .svg, else a PNG, all or nothing. 0, or -1 after a warning. */
int heatmap_write(const char *path, gra_tape *t, const struct gra_gpt *gpt, const tokenizer *k,
                  const int *ids, int n);

#endif
