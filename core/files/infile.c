/* infile: see infile.h. Files are read, not mapped into memory: when another program has truncated a mapped
 * file, reading it raises a signal (SIGBUS) instead of an error. */
#define _POSIX_C_SOURCE 200809L         /* O_CLOEXEC, pread */
#include "../base/system.h"
#include "infile.h"

#include <errno.h>
#include <string.h>

static bool measure(gra_infile *in)
{
    struct stat s;
    if (fstat(in->fd, &s) != 0)
        return gra_failure_set(in->error, "%s", strerror(errno));
    if (!S_ISREG(s.st_mode))
        return gra_failure_set(in->error, "got a %s, expected a regular file",
                               S_ISDIR(s.st_mode) ? "directory" : "device or pipe");
    in->length = (uint64_t)s.st_size;
    return true;
}

bool gra_infile_open(gra_infile *in, const char *path, gra_failure *error)
{
    *in = (gra_infile){ .fd = -1, .error = error };
    do                                  /* O_NONBLOCK: do not wait for a pipe's writer */
        in->fd = open(path ? path : "", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (in->fd < 0 && errno == EINTR);
    if (in->fd < 0)
        return gra_failure_set(in->error, "%s", strerror(errno));
    bool ok = measure(in);
    if (!ok)
        gra_infile_close(in);
    return ok;
}

bool gra_infile_read(gra_infile *in, uint64_t at, void *to, size_t n)
{
    for (char *next = to; n;) {
        ssize_t got = pread(in->fd, next, n < (1 << 30) ? n : (1 << 30), (off_t)at);
        if (got == 0)
            return gra_failure_set(in->error, "the file ended while it was being read");
        if (got < 0 && errno != EINTR)
            return gra_failure_set(in->error, "reading failed: %s", strerror(errno));
        const size_t step = got > 0 ? (size_t)got : 0;
        next += step;
        at   += step;
        n    -= step;
    }
    return true;
}

void gra_infile_close(gra_infile *in)
{
    if (in->fd >= 0)
        close(in->fd);
    in->fd = -1;
}
