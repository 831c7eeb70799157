/* text: what a model reads and writes. Tokens are the bytes that occur in the training text. */
#ifndef EXAMPLES_TEXT_H
#define EXAMPLES_TEXT_H

#include "../../core/gradus.h"

#define TEXT_HASH 17                            /* 16 digits and a 0 */

typedef struct vocabulary {
    int           size;                         /* ids are 0 ... size - 1, in the order of the bytes */
    unsigned char byte[256];                    /* of an id */
    int           id[256];                      /* of a byte; -1: it does not occur */
} vocabulary;

typedef struct corpus {
    unsigned char *ids;                         /* the whole text as tokens */
    size_t         size;
    size_t         train;                       /* the first 9/10 train, ids[train] and on is held out */
    int            files;                       /* how many it was read from */
    char           hash[TEXT_HASH];             /* of its bytes: another text has another */
    vocabulary     vocab;
} corpus;

int    text_read(corpus *x, const char *const *file, int n);      /* n == 0: the project's own sources;
                                                                   0, or -1 and a sentence */
int    text_suits(const corpus *x, int context);  /* 0; -1 and a sentence: too short for it */
void   text_free(corpus *x);
void   text_batch(const corpus *x, gra_rng *rng, int batch, int context, int *ids, int *next);
                                                /* random windows of the training part, next tokens */
void   text_held_batch(const corpus *x, gra_rng *rng, int batch, int context, int *ids, int *next);
                                                /* the same of the held-out part */
size_t text_windows(const corpus *x, int context);/* how many complete windows the held-out part holds */
void   text_window(const corpus *x, size_t i, int context, int *ids, int *next); /* the i-th of them */

void     vocabulary_of(vocabulary *v, const char *bytes, size_t n);
char    *vocabulary_hash(const vocabulary *v, char text[TEXT_HASH]);   /* tells two vocabularies of one size apart */
int      vocabulary_encode(const vocabulary *v, const char *bytes, size_t n, int *ids);
                                                /* 0, or -1: the sentence names each character it lacks */
void     byte_text(unsigned char byte, char name[8]);   /* how a byte prints: "a", "\n", "\xE2" */

#endif
