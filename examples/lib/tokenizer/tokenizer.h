/* tokenizer: text to tokens and back. It travels with the model, in the model's folder.
 *
 * A function that fails has printed why (see warn). */
#ifndef EXAMPLES_TOKENIZER_H
#define EXAMPLES_TOKENIZER_H

#include <stddef.h>
#include <stdint.h>

#define VOCAB_FILE "vocab.tsv"          /* a line for each token: its byte, and its printed form */

typedef struct tokenizer {              /* all zeros: none */
    int     size;                       /* ids are 0 ... size - 1 */
    int     end;                        /* begins a text without a prompt: the newline if it is a token */
    int     id[256];                    /* the token of a byte; -1: none */
    char   *bytes;                      /* of all tokens, one after another */
    size_t *at;                         /* token i begins at bytes[at[i]] and ends before bytes[at[i + 1]] */
} tokenizer;

/* A token for each byte that occurs in the text, in the order of the bytes. 0 or -1 */
int  tokenizer_of_bytes(tokenizer *k, const char *text, size_t n);

int  tokenizer_read(tokenizer *k, const char *folder);          /* 0 or -1; 1: the folder has none */
int  tokenizer_write(const tokenizer *k, const char *folder);   /* 0 or -1 */
void tokenizer_free(tokenizer *k);

/* Writes at most n tokens to ids. Returns how many; -1: a byte has no token. */
ptrdiff_t tokenizer_encode(const tokenizer *k, const char *text, size_t n, uint16_t *ids);
const char *tokenizer_bytes(const tokenizer *k, int id, size_t *n);    /* the n bytes of a token */

#endif
