/* batch: rows of tokens, and after each token the next one, which the model learns to predict.
 *
 *     hello  ->  1 0 2 2 3  ->  a row: ids 1 0 2 2, next 0 2 2 3
 */
#ifndef EXAMPLES_BATCH_H
#define EXAMPLES_BATCH_H

#include "text.h"

typedef struct batch {
    int     rows, time;
    int    *ids, *next;                 /* (rows, time) */
    size_t  tokens;                     /* how many targets count */
    int     most, context;              /* there is room for (most, context) */
    size_t *row;                        /* the rows: where their windows begin */
} batch;

int  batch_open(batch *b, int most, int context);       /* 0, or -1 after a warning; close it in any case */
void batch_close(batch *b);

/* text_batch: `most` random windows. text_next: the windows that follow each other from the i-th on, at most
 * `most`, false if there is none. */
void text_batch(batch *b, text_part part, gra_rng *rng);
bool text_next(batch *b, text_part part, size_t i);

#endif
