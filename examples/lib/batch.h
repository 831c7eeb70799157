/* batch: rows of tokens, and after each token the next one, which the model learns to predict.
 *
 *     hello  ->  1 0 2 2 3  ->  a row: ids 1 0 2 2, next 0 2 2 3
 *
 * A row is a window of the text, as long as the context; or, with --lines, a line of at most the context. A
 * batch is as wide as its longest line; the targets past the end of a shorter line are ignored. */
#ifndef EXAMPLES_BATCH_H
#define EXAMPLES_BATCH_H

#include "tokens.h"

typedef struct batch {
    int     rows, time;
    int    *ids, *next;                 /* (rows, time); next: also GRA_IGNORE_INDEX */
    size_t  tokens;                     /* how many targets count */
    int     most, context;              /* there is room for (most, context) */
    size_t *row;                        /* of each row: where its window begins, or its line */
} batch;

int  batch_open(batch *b, int most, int context);       /* 0, or -1 after a warning; close it in any case */
void batch_close(batch *b);

/* text_batch: `most` random rows. text_next: the rows from the i-th on, at most `most`; false if there are
 * none. A row is a line, or a window that begins where the previous one ends. */
void text_batch(batch *b, text_part part, gra_rng *rng);
bool text_next(batch *b, text_part part, size_t i);

#endif
