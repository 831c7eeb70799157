/* view.h: the nodes and leaves of a tape in order, and the text that describes each. */
#ifndef GRADUS_VIEW_H
#define GRADUS_VIEW_H

#include "../tape/tape.h"

const gra_tensor *gra_node_param(const gra_tensor *y);  /* the first parameter among y's inputs, or NULL */

/* The path of a node between two nodes, perhaps the same, with the parameters p and q; "" if p or q is
 * NULL. */
char  *gra_path_between(const gra_tensor *p, const gra_tensor *q, char path[GRA_PATH]);

/* The length of the longest common prefix of two paths of these lengths, in whole parts. */
size_t gra_common_path(const char *a, size_t na, const char *b, size_t nb);

/* ---- listing.c: the listing itself is in gradus.h ------------------------------------------------------ */

/* The texts of a row, for the table and the picture of a tape. A title is "softmax", "scores = softmax",
 * "weight" or "input"; inputs are "12, weight, fc.weight, input", seen from the row's layer. The texts of
 * value and gradient are the number itself if there is only one, otherwise the root mean square, or "" if
 * there are none. */
enum { GRA_ROW_NUMBER, GRA_ROW_LAYER, GRA_ROW_TITLE, GRA_ROW_SHAPE, GRA_ROW_INPUTS, GRA_ROW_VALUE,
       GRA_ROW_GRAD, GRA_ROW, GRA_ROW_COLUMNS = 80 /* the maximum number of characters of a text */ };
typedef char gra_row[GRA_ROW][GRA_COLUMNS_TEXT];
void gra_row_text(const gra_listing *l, int row, gra_row cell);

#endif
