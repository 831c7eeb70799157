/* infile: see infile.h. Files are read, not mapped into memory: where another program cuts a mapped file
 * short, reading it is a signal (SIGBUS) and not an error. */
#define _POSIX_C_SOURCE 200809L         /* O_CLOEXEC, pread */
#include "infile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool measure(gra_infile *in)
{
    struct stat s;
    if (fstat(in->fd, &s) != 0)
        return gra_failure_set(in->error, "%s", strerror(errno));
    if (!S_ISREG(s.st_mode))
        return gra_failure_set(in->error, S_ISDIR(s.st_mode) ? "it is a directory"
                               : "it is not a regular file");
    in->length = (uint64_t)s.st_size;
    return true;
}

bool gra_infile_open(gra_infile *in, const char *path, gra_failure *error)
{
    *in = (gra_infile){ .fd = -1, .error = error };
    do
        in->fd = open(path ? path : "", O_RDONLY | O_CLOEXEC | O_NONBLOCK);     /* do not wait for a pipe's
                                                           writer */
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
            return gra_failure_set(in->error, "it ended while it was read");
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
