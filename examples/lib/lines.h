/* lines: the lines of a text as documents, in random order. */
#ifndef EXAMPLES_LINES_H
#define EXAMPLES_LINES_H

#include <stddef.h>
#include <stdint.h>

/* Replaces the text by its lines, shuffled by the seed, each ended by a newline: without empty lines, and
 * without the blanks at the ends of lines (the indentation stays). *train: the size in bytes of all
 * but the last tenth of the lines. 0, or -1 after a warning. */
int lines_shuffle(char **bytes, size_t *n, uint64_t seed, size_t *train);

#endif
