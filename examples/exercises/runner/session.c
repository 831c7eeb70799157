#include "session.h"
int session(const struct ladder *l, struct progress *p, const char *build, int seconds)
{
    (void)l, (void)p, (void)build, (void)seconds;
    return 2;
}
