/* tokenizer: text to tokens and back. A tokenizer travels with its model, in the model's folder.
 *
 * A token is a string of bytes. At first each byte of a text is a token; then merges join two neighbours, the
 * lowest rank first, as GPT-2 does (byte-pair encoding). Without merges, tokens are bytes.
 *
 * A function that fails has printed why (see warn). */
#ifndef EXAMPLES_TOKENIZER_H
#define EXAMPLES_TOKENIZER_H

#include "map.h"
#include <stdbool.h>

#define VOCAB_TSV  "vocab.tsv"          /* bytes: a line for each token */
#define VOCAB_JSON "vocab.json"         /* merges: as Hugging Face writes them for GPT-2 */
#define MERGES_TXT "merges.txt"
#define TOKENIZER_CONFIG "tokenizer_config.json"
#define TOKENIZER_JSON "tokenizer.json" /* both, with all that a folder adds */

enum { TOKENIZER_MOST = 65536 };        /* tokens: an id has two bytes */

typedef struct tokenizer {              /* all zeros: none */
    int     size;                       /* ids are 0 ... size - 1 */
    int     end;                        /* begins a text without a prompt: <|endoftext|>, newline, or 0 */
    bool    begins;                     /* `end` begins every prompt: tokenizer.json's TemplateProcessing */
    bool    reads_special;              /* <|endoftext|> in a text is one token, else ordinary characters */
    bool    strips;                     /* a special token also takes blanks beside it */
    /* Of each token. SPECIAL: it has several bytes, and no merge makes it. ALSO_SPECIAL: an added token that
     * a merge makes, or that is a single byte. */
    enum special { ORDINARY, SPECIAL, ALSO_SPECIAL } *special;
    size_t  longest;                    /* bytes of the longest special token; 0: there is none */
    bool    begins_special[256];        /* the bytes that special tokens begin with */
    int     id[256];                    /* the token of a byte; -1: none */
    char   *bytes;                      /* of all tokens, one after another */
    size_t *ends, room;                 /* where in `bytes` each token ends; the room in tokens */
    map     known;                      /* the tokens, by a hash of their bytes */

    struct merge { uint16_t left, right, id; } *merges;         /* in the order of their ranks */
    size_t  n_merges;
    map     ranks;                      /* of merge_key(left, right) */
} tokenizer;

/* A token for each byte that occurs in the text, in the order of the bytes. 0 or -1 */
int  tokenizer_of_bytes(tokenizer *k, const char *text, size_t n);

/* GPT-2's 256 bytes, and merges of the pairs that are most frequent in the text, until there are `size`
 * tokens or no pair occurs twice. If reads_special is set, <|endoftext|> is the token after the bytes, and no
 * merge is learnt from it. 0 or -1 */
int  tokenizer_train(tokenizer *k, const char *text, size_t n, int size);

/* From vocab.tsv; tokenizer.json; vocab.json and merges.txt; or merges.txt or vocab.bpe. Added tokens are
 * those of tokenizer.json and of added_tokens.json. 0 or -1; 1: the folder has none. Writes the first, or
 * vocab.json and merges.txt. */
int  tokenizer_read(tokenizer *k, const char *folder);
int  tokenizer_write(const tokenizer *k, const char *folder);   /* 0 or -1 */
int  tokenizer_export(const tokenizer *k, const char *folder);  /* tokenizer.json and tokenizer_config.json */
enum { TOKENIZER_VOCAB = 256 * 16 };
size_t tokenizer_vocab(const tokenizer *k, char text[TOKENIZER_VOCAB]); /* vocab.tsv; returns its length */
void tokenizer_free(tokenizer *k);

/* Can a model with so many rows use this tokenizer? With merges there may be additional, padded rows. */
static inline bool tokenizer_fits(const tokenizer *k, int rows)
{
    return k->size == rows || (k->n_merges && k->size < rows);
}

/* Sets reads_special. -1: there is no special token, or it strips. If a special token is in the text and is
 * not read as one, says so. */
int         tokenizer_read_special(tokenizer *k, bool special, const char *text, size_t n);
/* The number of bytes before the first special token that is read; *length: the token's length; 0: there is
 * none. Of several tokens that begin there the longest counts, as in Hugging Face's JavaScript libraries.
 * (Their Rust library looks for tokens with normalized: false first.) */
size_t      tokenizer_special(const tokenizer *k, const char *text, size_t n, size_t *length);
/* Writes at most n tokens to ids. Returns how many; -1: a byte has no token, or there is no memory. */
ptrdiff_t   tokenizer_encode(const tokenizer *k, const char *text, size_t n, uint16_t *ids);
/* The same as int, after the end token if `end`: there must be room for n + 1. */
ptrdiff_t   tokenizer_prompt(const tokenizer *k, const char *text, size_t n, bool end, int *ids);
bool        tokenizer_is_end_of_text(const tokenizer *k, int id);        /* is it <|endoftext|>? */
const char *tokenizer_bytes(const tokenizer *k, int id, size_t *n);     /* the n bytes of a token */
char       *tokenizer_decode(const tokenizer *k, const int *ids, size_t n, size_t *size);      /* free it */
void        tokenizer_hash(const tokenizer *k, char text[17]);          /* in 16 hexadecimal digits */

/* A name to show: · is a blank, ↵ a newline, → a tab, \xE4 a byte that is not part of a character. */
enum { TOKENIZER_NAME = 80 };
char       *tokenizer_name(const tokenizer *k, int id, char name[TOKENIZER_NAME]);

#endif
