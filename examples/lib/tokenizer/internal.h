/* What the files of the tokenizer share. */
#ifndef EXAMPLES_TOKENIZER_INTERNAL_H
#define EXAMPLES_TOKENIZER_INTERNAL_H

#include "tokenizer.h"

int bytes_read(tokenizer *k, const char *path);                 /* vocab.tsv; 0 or -1 */
int bytes_write(const tokenizer *k, const char *path);

#endif
