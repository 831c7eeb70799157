/* What the files of the tokenizer share. */
#ifndef EXAMPLES_TOKENIZER_INTERNAL_H
#define EXAMPLES_TOKENIZER_INTERNAL_H

#include "tokenizer.h"

#define END_OF_TEXT "<|endoftext|>"

/* tokenizer.c: building one, from all zeros. tokenizer_add returns the token with these bytes, a new one if
 * there is none; tokenizer_merge adds a merge with the next rank, and returns the token that it makes. Both
 * return -1 if there is no memory. */
int  tokenizer_add(tokenizer *k, const char *bytes, size_t n);
int  tokenizer_merge(tokenizer *k, int left, int right);
int  tokenizer_find(const tokenizer *k, const char *bytes, size_t n);   /* -1: none has these bytes */
int  tokenizer_ready(tokenizer *k);     /* after the last token: sets id, end, special; -1: out of memory */
void tokenizer_make_special(tokenizer *k, int id);      /* an added token, after that */

char *byte_name(unsigned char byte, char name[8]);      /* bytes.c: "a", "\n", "\xE2" */

static inline uint64_t merge_key(int left, int right)
{
    return (uint64_t)left << 16 | (uint64_t)right;
}

/* split.c: how many bytes the first piece of the text has. No merge goes across the end of a piece. */
size_t split(const char *text, size_t n);

/* bytes.c: vocab.tsv. hf_files.c: the other files. 0 or -1 */
int bytes_read(tokenizer *k, const char *path);
int bytes_write(const tokenizer *k, const char *path);
int merges_read(tokenizer *k, const char *vocab, const char *merges);  /* vocab NULL: only the merges */
int merges_write(const tokenizer *k, const char *vocab, const char *merges);
int tokenizer_json_read(tokenizer *k, const char *path);
bool tokenizer_needs_json(const tokenizer *k);         /* the other files cannot store all of it */
int tokenizer_json_write(const tokenizer *k, const char *path, const char *config);

int gpt2_bytes(tokenizer *k);           /* hf_files.c: adds a token for each byte in GPT-2's order; 0 or -1 */

#endif
