/* batch: see batch.h. */
#include "batch.h"
#include "say.h"
#include <stdlib.h>

int batch_open(batch *b, int most, int context)
{
    const size_t tokens = (size_t)most * (size_t)context;
    *b = (batch){ .most = most, .context = context, .ids = malloc(tokens * sizeof *b->ids),
                  .next = malloc(tokens * sizeof *b->next), .row = malloc((size_t)most * sizeof *b->row) };
    return b->ids && b->next && b->row ? 0 : warn("out of memory");
}

void batch_close(batch *b)
{
    free(b->ids);
    free(b->next);
    free(b->row);
}

/* Writes the windows that begin at row[0], row[1] ... */
static void fill(batch *b, text_part part)
{
    int *ids = b->ids, *next = b->next;
    b->time = b->context;
    b->tokens = (size_t)b->rows * (size_t)b->time;
    for (int r = 0; r < b->rows; r++)
        for (size_t i = b->row[r]; i < b->row[r] + (size_t)b->time; i++) {
            *ids++ = part.ids[i];
            *next++ = part.ids[i + 1];
        }
}

void text_batch(batch *b, text_part part, gra_rng *rng)
{
    for (b->rows = 0; b->rows < b->most; b->rows++)
        b->row[b->rows] = (size_t)gra_randint(rng, part.size - (size_t)b->context);
    fill(b, part);
}

bool text_next(batch *b, text_part part, size_t i)
{
    const size_t windows = (part.size - 1) / (size_t)b->context;
    for (b->rows = 0; b->rows < b->most && i < windows; b->rows++, i++)
        b->row[b->rows] = i * (size_t)b->context;
    fill(b, part);
    return b->rows > 0;
}
