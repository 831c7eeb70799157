/* bytes: a token is a byte that occurs in the text.
 *
 *     "hello"  ->  vocabulary e h l o  ->  1 0 2 2 3
 */
#include "../files.h"
#include "../message.h"
#include "internal.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tokenizer_of_bytes(tokenizer *k, const char *text, size_t n)
{
    bool occurs[256] = { false };
    for (size_t i = 0; i < n; i++)
        occurs[(unsigned char)text[i]] = true;
    *k = (tokenizer){ 0 };
    for (int b = 0; b < 256; b++)
        if (occurs[b] && tokenizer_add(k, &(char){ (char)b }, 1) < 0) {
            tokenizer_free(k);
            return warn("out of memory");
        }
    return tokenizer_ready(k);
}

char *byte_name(unsigned char byte, char name[8])
{
    if (byte == '\n' || byte == '\t')
        strcpy(name, byte == '\n' ? "\\n" : "\\t");
    else
        snprintf(name, 8, byte < 0x20 || byte >= 0x7F ? "\\x%02X" : "%c", byte);
    return name;
}

/* ---- vocab.tsv ------------------------------------------------------------------------------------- */

size_t tokenizer_vocab(const tokenizer *k, char out[TOKENIZER_VOCAB])
{
    size_t n = 0;
    char name[8];
    for (int i = 0; i < k->size; i++) {
        const unsigned char byte = (unsigned char)k->bytes[i];
        n += (size_t)snprintf(out + n, TOKENIZER_VOCAB - n, "%d\t%s\n", byte, byte_name(byte, name));
    }
    return n;
}

int bytes_write(const tokenizer *k, const char *path)
{
    char out[TOKENIZER_VOCAB];
    return file_write(path, out, tokenizer_vocab(k, out));
}

/* The file must be exactly what bytes_write would write for its bytes. */
int bytes_read(tokenizer *k, const char *path)
{
    size_t size, n = 0;
    char bytes[256] = { 0 }, again[TOKENIZER_VOCAB], *text = file_read(path, &size);
    for (char *line = text; line && *line && n < sizeof bytes; n++) {
        bytes[n] = (char)strtol(line, NULL, 10);
        line = strchr(line, '\n');
        if (line)
            line++;
    }
    int failed = !text || tokenizer_of_bytes(k, bytes, n);
    if (!failed && (n == 0 || tokenizer_vocab(k, again) != size || memcmp(again, text, size) != 0))
        failed = warn("%s is damaged: it must list bytes in ascending order, each with its printed form",
                      path);
    if (failed)
        tokenizer_free(k);
    free(text);
    return failed ? -1 : 0;
}
