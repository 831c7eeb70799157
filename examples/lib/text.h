/* text: the training text as tokens. A token is a byte that occurs in the text. */
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
    text_part      train, held;             /* the first nine tenths; the last, held out for validation */
    char           hash[17];                    /* of the bytes, in 16 hexadecimal digits */
    vocabulary     vocab;
} corpus;


/* path NULL: the project's own sources. 0, or -1 after a warning, also if the text is too short for the
 * context. */
int  text_read(corpus *x, const char *path, int context);
void text_free(corpus *x);

/* ids: the tokens from `at` on; next: the token after each. text_batch takes random windows. */
void text_window(text_part part, size_t at, int context, int *ids, int *next);
void text_batch(text_part part, gra_rng *rng, int batch, int context, int *ids, int *next);

/* 0, or -1 after a warning that names the first byte without a token. */
int   vocabulary_encode(const vocabulary *v, const char *bytes, size_t n, int *ids);
int   vocabulary_newline(const vocabulary *v);  /* the token to begin with if there is no prompt */

/* vocab.tsv has a line for each token: its byte, and its printed form. 0, or -1 after a warning. */
int   vocabulary_write(const vocabulary *v, const char *path);
int   vocabulary_read(vocabulary *v, const char *path);

#endif
