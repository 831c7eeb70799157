/* batch: see batch.h. */
#include "batch.h"
#include "message.h"
#include <stdlib.h>

int batch_open(batch *b, int most, int context)
{
    const size_t tokens = (size_t)most * (size_t)context;
    *b = (batch){ .most = most, .context = context, .ids = calloc(tokens, sizeof *b->ids),
                  .next = calloc(tokens, sizeof *b->next), .row = calloc((size_t)most, sizeof *b->row) };
    return b->ids && b->next && b->row ? 0 : warn("out of memory");
}

void batch_close(batch *b)
{
    free(b->ids);
    free(b->next);
    free(b->row);
}

/* The first token of a row, and how many there are to predict. */
static size_t begin_of(const batch *b, text_part part, int r)
{
    return part.end ? part.end[b->row[r]] : b->row[r];
}

static int length_of(const batch *b, text_part part, int r)
{
    const size_t n = part.end ? part.end[b->row[r] + 1] - part.end[b->row[r]] : (size_t)b->context;
    return n < (size_t)b->context ? (int)n : b->context;
}

static void fill(batch *b, text_part part)
{
    int *ids = b->ids, *next = b->next;
    b->time = 0;
    b->tokens = 0;
    for (int r = 0; r < b->rows; r++) {
        const int n = length_of(b, part, r);
        b->time = n > b->time ? n : b->time;
        b->tokens += (size_t)n;
    }
    for (int r = 0; r < b->rows; r++) {
        const uint16_t *at = part.ids + begin_of(b, part, r);
        const int n = length_of(b, part, r);
        for (int i = 0; i < b->time; i++) {
            *ids++ = i < n ? at[i] : at[0];             /* past the end, any token: no earlier one sees it */
            *next++ = i < n ? at[i + 1] : GRA_IGNORE_INDEX;
        }
    }
}

void text_batch(batch *b, text_part part, gra_rng *rng)
{
    const size_t rows = part.end ? part.lines : part.size - (size_t)b->context;
    for (b->rows = 0; b->rows < b->most; b->rows++)
        b->row[b->rows] = (size_t)gra_randint(rng, rows);
    fill(b, part);
}

bool text_next(batch *b, text_part part, size_t i)
{
    const size_t context = (size_t)b->context, rows = part.end ? part.lines : (part.size - 1) / context;
    for (b->rows = 0; b->rows < b->most && i < rows; b->rows++, i++)
        b->row[b->rows] = part.end ? i : i * context;
    fill(b, part);
    return b->rows > 0;
}
