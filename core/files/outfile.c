/* outfile: see outfile.h. */
#define _XOPEN_SOURCE 700               /* realpath */
#define _DARWIN_C_SOURCE                /* F_FULLFSYNC */
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool failed(gra_outfile *out, const char *what)
{
    snprintf(out->why, sizeof out->why, "%s: %s", what, strerror(errno));
    return false;
}

/* ---- opening ---- */

/* A new file beside the target, for those who might read and write that; its name is left in temporary. */
static int open_beside(const char *target, char *temporary, size_t room)
{
    int fd = -1;
    struct stat was;
    const bool replaces = stat(target, &was) == 0;
    errno = EEXIST;
    for (int i = 0; i < 1000 && fd < 0 && (errno == EEXIST || errno == EINTR); i++) {
        snprintf(temporary, room, "%s.%ld-%d.tmp", target, (long)getpid(), i);
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (fd >= 0 && replaces)
        fchmod(fd, was.st_mode & 0777);         /* a file system may have no permissions */
    return fd;
}

static int open_device(const char *path)
{
    int fd;
    do
        fd = open(path, O_WRONLY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static int open_replacement(gra_outfile *out, const char *path)
{
    out->target = realpath(path, NULL);     /* where a link leads: that file is replaced, the link stays */
    if (!out->target && errno == ENOENT)
        out->target = strdup(path);             /* there is no such file yet, or a link that leads nowhere */
    const size_t room = out->target ? strlen(out->target) + 40 : 0;
    out->temporary = out->target ? malloc(room) : NULL;
    return out->temporary ? open_beside(out->target, out->temporary, room) : -1;
}

static void forget_names(gra_outfile *out)
{
    free(out->target);
    free(out->temporary);
}

bool gra_outfile_open(gra_outfile *out, const char *path)
{
    struct stat s;
    *out = (gra_outfile){ .fd = -1 };
    if (!*path) {
        snprintf(out->why, sizeof out->why, "this is no name of a file");
        return false;
    }
    const bool device = stat(path, &s) == 0 && !S_ISREG(s.st_mode);
    out->fd = device ? open_device(path) : open_replacement(out, path);
    if (out->fd >= 0)
        return true;
    failed(out, "opening failed");
    forget_names(out);
    return false;
}

/* ---- writing ---- */

void gra_outfile_write(gra_outfile *out, const void *data, size_t n)
{
    for (const char *at = data; n && !*out->why;) {
        ssize_t wrote = write(out->fd, at, n < (1 << 30) ? n : (1 << 30));
        if (wrote == 0)
            snprintf(out->why, sizeof out->why, "writing failed: nothing more is taken");
        else if (wrote < 0 && errno != EINTR)
            failed(out, "writing failed");
        at += wrote > 0 ? wrote : 0;
        n  -= wrote > 0 ? (size_t)wrote : 0;
    }
}

/* ---- closing ---- */

static bool to_disk(int fd, gra_outfile *out)
{
#ifdef F_FULLFSYNC
    if (fcntl(fd, F_FULLFSYNC) == 0)    /* on macOS fsync alone stops at the disk's cache */
        return true;
#endif
    int status;
    do
        status = fsync(fd);
    while (status != 0 && errno == EINTR);
    if (status == 0 || errno == EINVAL || errno == ENOTSUP)     /* a file system without such a thing */
        return true;
    return failed(out, "writing to the disk failed");
}

/* The new name is on the disk when its directory is. A directory that may be written to but not be read
 * cannot be opened: then that is left to the system. */
static bool directory_to_disk(gra_outfile *out)
{
    char *slash = strrchr(out->target, '/');
    if (slash)
        slash[slash == out->target] = '\0';     /* "a/b" to "a", "/b" to "/" */
    int fd;
    do
        fd = open(slash ? out->target : ".", O_RDONLY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return errno == EACCES || failed(out, "its directory cannot be opened");
    bool ok = to_disk(fd, out);
    close(fd);
    return ok;
}

static bool take_name(gra_outfile *out)
{
    if (rename(out->temporary, out->target) == 0)
        return directory_to_disk(out);
    failed(out, "the finished file cannot be renamed");
    unlink(out->temporary);
    return false;
}

bool gra_outfile_close(gra_outfile *out)
{
    bool ok = !*out->why && (!out->temporary || to_disk(out->fd, out));
    if (close(out->fd) != 0 && ok && errno != EINTR)
        ok = failed(out, "writing failed");
    if (out->temporary && ok)
        ok = take_name(out);
    else if (out->temporary)
        unlink(out->temporary);
    forget_names(out);
    return ok;
}
