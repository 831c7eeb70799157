/* tokens: the training text as tokens. */
#ifndef EXAMPLES_TEXT_H
#define EXAMPLES_TEXT_H

#include "options.h"
#include "tokenizer/tokenizer.h"

typedef struct text_part {
    const uint16_t *ids;                        /* its tokens */
    size_t          size, bytes;                /* the number of tokens; the bytes they stand for */
    size_t         *end, lines;                 /* with --lines: where line i begins and ends, see below */
} text_part;

typedef struct corpus {
    uint16_t *ids;                              /* the whole text as tokens */
    size_t    size, bytes;
    text_part train, held;                  /* the first nine tenths; the last, held out for validation */
    char      hash[17];                         /* of the bytes, in 16 hexadecimal digits */
    bool      returns;                          /* the text has carriage returns */
    tokenizer tokens;
} corpus;

/* With --lines each line is a document, with the end token before and behind it: line i is
 *
 *     ids[end[i]] ... ids[end[i + 1]],    both of which are tokens.end
 *
 * The lines are shuffled by the seed. */

/* Reads the file o->data. folder: the tokenizer's; NULL: the tokenizer is made from the text. 0, or -1 after
 * a warning, also if the text is too short for the context. */
int  text_read(corpus *x, const options *o, const char *folder);

/* The same from n bytes (from malloc; freed here), with the tokenizer in x, or if x has none, a new one. */
int  text_take(corpus *x, const options *o, char *bytes, size_t n);
void text_free(corpus *x);

size_t text_cut(text_part part, long context);  /* how many lines are longer than the context */

/* A loss in nats per token of the held-out text, in bits per byte, which can be compared between
 * tokenizers. */
double text_bits(const corpus *x, double loss);

#endif
