/* lines: see lines.h. */
#include "lines.h"
#include "../../core/gradus.h"
#include "message.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct line {
    const char *at;
    size_t      n;
} line;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Finds the lines that are not empty; found NULL: only counts them. *size: their bytes and newlines. */
static size_t find(const char *bytes, size_t n, line *found, size_t *size)
{
    size_t lines = 0;
    *size = 0;
    for (const char *at = bytes, *end = bytes + n, *next; at < end; at = next + 1) {
        next = memchr(at, '\n', (size_t)(end - at));
        next = next ? next : end;
        size_t length = (size_t)(next - at);
        while (length > 0 && is_blank(at[length - 1]))
            length--;
        if (length == 0)
            continue;
        if (found)
            found[lines] = (line){ at, length };
        lines++;
        *size += length + 1;
    }
    return lines;
}

static char *write_line(char *out, line l)
{
    memcpy(out, l.at, l.n);
    out[l.n] = '\n';
    return out + l.n + 1;
}

int lines_shuffle(char **bytes, size_t *n, uint64_t seed, size_t *train)
{
    size_t size;
    const size_t lines = find(*bytes, *n, NULL, &size), kept = lines - (lines + 9) / 10;
    if (lines < 10 || lines > INT_MAX)
        return warn("--lines: the text has %zu lines that are not empty, expected 10 to %d: a tenth of them "
                    "is held out for validation", lines, INT_MAX);
    line *found = malloc(lines * sizeof *found);
    int *order = malloc(lines * sizeof *order);
    char *shuffled = malloc(size), *out = shuffled;
    const bool room = found && order && shuffled;
    if (room) {
        gra_rng rng;                    /* only for lines: other draws are as without --lines */
        gra_manual_seed(&rng, seed);
        gra_randperm(&rng, order, (int)lines);
        find(*bytes, *n, found, &size);
        for (size_t i = 0; i < lines; i++) {
            out = write_line(out, found[order[i]]);
            if (i + 1 == kept)
                *train = (size_t)(out - shuffled);
        }
        free(*bytes);
        *bytes = shuffled;
        *n = size;
    } else
        free(shuffled);
    free(found);
    free(order);
    return room ? 0 : warn("out of memory");
}
