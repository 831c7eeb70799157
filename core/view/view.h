/* view.h: the nodes and leaves of a tape in order, and their texts. */
#ifndef GRADUS_VIEW_H
#define GRADUS_VIEW_H

#include "../tape/tape.h"

const gra_tensor *gra_node_param(const gra_tensor *y);  /* the first parameter among y's inputs, or NULL */

/* The path of a node between one with the parameter p and one with q, which may be the same node. p or q
 * NULL: "". */
char  *gra_path_between(const gra_tensor *p, const gra_tensor *q, char path[GRA_PATH]);

/* The length of the longest common prefix of two paths of these lengths, in whole parts. */
size_t gra_common_path(const char *a, size_t na, const char *b, size_t nb);

/* ---- listing.c: the listing itself is in gradus.h ------------------------------------------------------ */

/* Texts of a row. A title: "softmax", "scores = softmax", "weight", "input". A label, of an input of a node
 * with this path: "12", "weight", "fc.weight", "input". The size of values or gradients of x: a single number
 * itself, else the root mean square; "" if there are none. */
#define GRA_SIZE_TEXT 24
void gra_title_text(const gra_tensor *x, char *text);
void gra_label_text(const gra_tensor *x, const char *path, char *text);
void gra_size_text(const gra_tensor *x, const real *values, char text[GRA_SIZE_TEXT]);

const real *gra_kept_grad(const gra_tensor *x);         /* NULL: there is none, or it is uninitialised */

#endif
