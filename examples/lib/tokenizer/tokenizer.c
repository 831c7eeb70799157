/* tokenizer: see tokenizer.h. */
#include "../files.h"
#include "../say.h"
#include "internal.h"
#include <stdlib.h>
#include <unistd.h>

int tokenizer_read(tokenizer *k, const char *folder)
{
    char path[FILE_PATH];
    *k = (tokenizer){ 0 };
    return access(file_path(path, folder, VOCAB_FILE), F_OK) ? 1 : bytes_read(k, path);
}

int tokenizer_write(const tokenizer *k, const char *folder)
{
    char path[FILE_PATH];
    return bytes_write(k, file_path(path, folder, VOCAB_FILE));
}

void tokenizer_free(tokenizer *k)
{
    free(k->bytes);
    free(k->at);
    *k = (tokenizer){ 0 };
}

const char *tokenizer_bytes(const tokenizer *k, int id, size_t *n)
{
    *n = k->at[id + 1] - k->at[id];
    return k->bytes + k->at[id];
}
