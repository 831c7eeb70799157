/* row: a row of loss.tsv. */
#ifndef EXAMPLES_ROW_H
#define EXAMPLES_ROW_H

#include "tokens.h"

typedef struct run_row {
    long   step;
    double train_loss, val_loss;        /* val_loss NaN: none at this step */
    double lr, grad_norm, tokens_per_s; /* tokens_per_s NaN: not measured */
} run_row;

#define ROW_COLUMNS "step\ttrain_loss\tval_loss\tlr\tgrad_norm\ttokens_per_s\tval_bits_per_byte\n"
enum { ROW_TEXT = 256 };
int row_text(const run_row *row, const corpus *x, char text[ROW_TEXT]);    /* the line; returns its length */

#endif
