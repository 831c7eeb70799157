/* asked: comma-separated lists of names, as in flags. */
#include "bench.h"

static const char *next(const char *p)
{
    p += strcspn(p, ",");
    return *p == ',' ? p + 1 : p;
}

static bool is(const char *p, const char *name)         /* the list goes on with this name */
{
    const size_t n = strlen(name);
    return strcspn(p, ",") == n && strncmp(p, name, n) == 0;
}

bool asked_for(const char *list, const char *name)
{
    if (!list)
        return true;
    for (const char *p = list; *p; p = next(p))
        if (is(p, name))
            return true;
    return false;
}

bool all_known(const char *list, size_t n, const char *const *names)
{
    for (const char *p = list; p && *p; p = next(p)) {
        bool found = false;
        for (size_t i = 0; i < n; i++)
            found |= is(p, names[i]);
        if (!found) {
            fprintf(stderr, "bench: there is no '%.*s'\n", (int)strcspn(p, ","), p);
            return false;
        }
    }
    return true;
}
