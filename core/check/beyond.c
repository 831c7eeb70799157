/* beyond: does an op read memory before the start or past the end of a tensor? Then its result depends on the
 * numbers in that memory.
 *
 * The guard puts numbers around all memory. If the first few of these numbers are changed, the result changes
 * only if the op reads one of them. The smallest count that changes the result ends with the first number
 * that the op reads. */
#include "checking.h"
#include <stdlib.h>

typedef struct beyond {
    gra_checking *check;
    int           tensor;               /* the tensor whose gradient is compared; -1: y is compared */
    size_t        size;
    real         *usual;                /* the values to compare with, when no number was changed */
    bool          failed;
} beyond;

/* Do the values differ from the usual ones if `changed` numbers are changed? `first`: keep these values. */
static bool differs(beyond *b, size_t changed, bool first)
{
    gra_checking *k = b->check;
    const real *v = NULL;
    gra_guard_change(&k->guard, true, changed);
    if (b->tensor >= 0) {
        b->failed |= !gra_check_backward(k, k->c, false);
        v = b->failed ? NULL : gra_check_grad(k, b->tensor);
    } else {
        const gra_tensor *y = gra_check_evaluate(k);
        b->failed |= !y || (y->size != b->size && !gra_check_fails(k, GRA_OTHER_SHAPE));
        v = b->failed ? NULL : y->data;
    }
    gra_guard_change(&k->guard, false, 0);
    if (v && first)
        memcpy(b->usual, v, b->size * sizeof(real));
    return v && memcmp(b->usual, v, b->size * sizeof(real)) != 0;
}

static void tell(const gra_guard *g, size_t number, gra_line *s)
{
    enum { HALF = GRA_ROOM_OF_PIECE / 2 };
    const char *what = g->sentence[0] ? g->sentence : "an array";
    const size_t size = g->piece[number / GRA_ROOM_OF_PIECE].bytes / sizeof(real);
    const size_t at = number % GRA_ROOM_OF_PIECE;
    if (at < HALF)
        gra_line_put(s, "memory before the start of %s is read: number -%zu, but the first is number 0",
                     what, HALF - at);
    else
        gra_line_put(s, "memory past the end of %s is read: number %zu, but the last is number %zu", what,
                     size + at - HALF, size - 1);
}

int gra_check_beyond(gra_checking *k, int tensor, gra_line *s)
{
    gra_guard *g = &k->guard;
    beyond b = { .check = k, .tensor = tensor, .size = tensor < 0 ? k->size : k->tensor[tensor].size };
    size_t same = 0, other = 0;         /* this many changed numbers keep the result, or change it */
    b.usual = calloc(b.size + 1, sizeof(real));
    b.failed = !b.usual && !gra_check_fails(k, "out of memory");
    const bool repeats = b.usual && !differs(&b, 0, true) && !differs(&b, 0, false);
    const size_t all = g->count * GRA_ROOM_OF_PIECE;
    if (repeats && differs(&b, all, false))
        other = all;
    while (other - same > 1) {
        const size_t middle = same + (other - same) / 2;
        *(differs(&b, middle, false) ? &other : &same) = middle;
    }
    g->sentence[0] = '\0';
    if (other && differs(&b, other, false))             /* leaves the sentence */
        tell(g, other - 1, s);
    free(b.usual);
    return b.failed ? -1 : other > 0;
}
