/* text: what a model reads and writes. Tokens are the bytes that occur in the training text. */
#ifndef EXAMPLES_TEXT_H
#define EXAMPLES_TEXT_H

#include "../../core/gradus.h"

typedef struct vocabulary {
    int           size;                         /* ids are 0 ... size - 1, in the order of the bytes */
    unsigned char byte[256];                    /* of an id */
    int           id[256];                      /* of a byte; -1: it does not occur */
} vocabulary;

typedef struct text_part {
    const unsigned char *ids;                   /* its tokens */
    size_t               size;
} text_part;

typedef struct corpus {
    unsigned char *ids;                         /* the whole text as tokens */
    size_t         size;
    text_part      train, held;             /* the first nine tenths, and the last, held out for validation */
    char           hash[17];                    /* of the bytes, in 16 digits: another text has another */
    vocabulary     vocab;
} corpus;

int  text_read(corpus *x, const char *path, int context);       /* NULL: the project's own sources. 0, or -1
                                                   after a warning, also where it is too short for that
                                                   context */
void text_free(corpus *x);
void text_window(text_part part, size_t at, int context, int *ids, int *next);  /* the tokens from there on,
                                                   and for each the one that follows it */
void text_batch(text_part part, gra_rng *rng, int batch, int context, int *ids, int *next);     /* random
                                                           windows */

int   vocabulary_encode(const vocabulary *v, const char *bytes, size_t n, int *ids);    /* 0, or -1: a
                                                   warning names the first byte that it lacks */
int   vocabulary_newline(const vocabulary *v);  /* the token to begin with where there is no prompt */
int   vocabulary_write(const vocabulary *v, const char *path);          /* vocab.tsv: a line for each token:
                                                   its byte, and how that prints. 0 or -1 */
int   vocabulary_read(vocabulary *v, const char *path);

#endif
