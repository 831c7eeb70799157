/* watch: has a file been saved since it was last looked at? */
#ifndef RUNNER_WATCH_H
#define RUNNER_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct watch {                          /* a file's state: editors rename it, or save twice in a second */
    bool      exists;
    long long time, size, inode;
    uint64_t  hash;
};

struct watch watch_look(const char *path);
bool         watch_same(const struct watch *a, const struct watch *b);

#endif
