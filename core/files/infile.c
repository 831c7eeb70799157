/* infile: see infile.h. Files are read, not mapped: one that is cut short meanwhile is an error, not a
 * signal. */
#define _POSIX_C_SOURCE 200809L         /* O_CLOEXEC, pread */
#include "infile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool failed(gra_infile *in, const char *what, const char *why)
{
    snprintf(in->why, sizeof in->why, "%s%s", what, why);
    return false;
}

static bool measure(gra_infile *in)
{
    struct stat s;
    if (fstat(in->fd, &s) != 0)
        return failed(in, "", strerror(errno));
    if (!S_ISREG(s.st_mode))
        return failed(in, "", S_ISDIR(s.st_mode) ? "it is a directory" : "it is not a regular file");
    in->length = (uint64_t)s.st_size;
    return true;
}

bool gra_infile_open(gra_infile *in, const char *path)
{
    *in = (gra_infile){ .fd = -1 };
    do
        in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);     /* a pipe must not hold us up */
    while (in->fd < 0 && errno == EINTR);
    if (in->fd < 0)
        return failed(in, "", strerror(errno));
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
            return failed(in, "", "it ended while it was read");
        if (got < 0 && errno != EINTR)
            return failed(in, "reading failed: ", strerror(errno));
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
