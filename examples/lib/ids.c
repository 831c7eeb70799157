/* ids: see ids.h. */
#include "ids.h"
#include "say.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char between[] = " ,\t\n";

static int wrong(const char *word, int vocab_size)
{
    size_t n = strcspn(word, between);
    complain("--ids: '%.*s' is no token of this model: it has 0 to %d", n < 40 ? (int)n : 40, word,
             vocab_size - 1);
    return -1;
}

long ids_read(const char *text, int vocab_size, int *ids)
{
    long n = 0;
    for (const char *word = text + strspn(text, between); *word; word += strspn(word, between)) {
        char *end;
        errno = 0;
        long id = strtol(word, &end, 10);
        if (end == word || (*end && !strchr(between, *end)) || errno || id < 0 || id >= vocab_size)
            return wrong(word, vocab_size);
        ids[n++] = (int)id;
        word = end;
    }
    if (n == 0)
        complain("--ids wants at least one token: this model has 0 to %d", vocab_size - 1);
    return n ? n : -1;
}
