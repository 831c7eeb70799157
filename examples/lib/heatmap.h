/* heatmap: where each token looks: a model's attention weights as a picture, a panel a layer and head. */
#ifndef EXAMPLES_HEATMAP_H
#define EXAMPLES_HEATMAP_H

#include "../../layers/layers.h"
#include "text.h"
#include <stdbool.h>

bool heatmap_knows(const char *path);   /* it ends in .png, .svg or .tsv; else false after a complaint */
int  heatmap_write(const char *path, gra_tape *t, const struct gra_gpt *gpt, const vocabulary *v, const int *ids,
                   int n);              /* of the n tokens in ids; begins a step of the tape. A picture whole
                                           or not at all, the numbers as .tsv; 0, or -1 after a complaint */

#endif
