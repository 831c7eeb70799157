/* watch: see watch.h. */
#include "watch.h"
#include "../../lib/files.h"
#include "../../lib/hash.h"
#include <stdlib.h>
#include <sys/stat.h>

struct watch watch_look(const char *path)
{
    struct watch w = { .exists = false };
    struct stat s;
    size_t n;
    if (stat(path, &s) < 0)
        return w;
    w = (struct watch){ true, (long long)s.st_mtime, (long long)s.st_size, (long long)s.st_ino, 0 };
    char *text = file_read_plain(path, &n);     /* two saves in one second have the same time */
    if (text)
        w.hash = hash(HASH_START, text, n);
    free(text);
    return w;
}

bool watch_same(const struct watch *a, const struct watch *b)
{
    return a->exists == b->exists && a->time == b->time && a->size == b->size && a->inode == b->inode &&
           a->hash == b->hash;
}
