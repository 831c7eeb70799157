/* outfile: see outfile.h. */
#define _XOPEN_SOURCE 700               /* realpath */
#define _DARWIN_C_SOURCE                /* F_FULLFSYNC */
#include "../base/system.h"
#include "outfile.h"
#include "../gradus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void failed(gra_outfile *out)
{
    out->error = out->error ? out->error : errno;
}

/* ---- opening ---- */

/* If a symbolic link belongs to this user or to root, it is kept, and the file that it points to is replaced.
 * A link made by another user might point to a file that must not be overwritten, so the link itself is
 * replaced. */
static bool is_followed(const char *path)
{
    struct stat link;
    return lstat(path, &link) == 0 && S_ISLNK(link.st_mode) &&
           (link.st_uid == geteuid() || link.st_uid == 0);
}

/* A new file in the target's folder, with the target's permissions; its name goes to `temporary`. */
static int open_beside(const char *target, char *temporary, size_t room)
{
    int fd = -1;
    struct stat was;
    const bool replaces = lstat(target, &was) == 0 && S_ISREG(was.st_mode);
    errno = EEXIST;
    for (int i = 0; i < 1000 && fd < 0 && (errno == EEXIST || errno == EINTR); i++) {
        snprintf(temporary, room, "%s.%ld-%d.tmp", target, (long)getpid(), i);
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (fd >= 0 && replaces)
        fchmod(fd, was.st_mode & 0777);         /* some file systems have no permissions: no error */
    return fd;
}

static int open_existing(const char *path, int how)
{
    int fd;
    do
        fd = open(path, how | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static int open_replacement(gra_outfile *out, const char *path, bool follow)
{
    out->target = follow ? realpath(path, NULL) : strdup(path);
    if (!out->target && follow && errno == ENOENT)      /* the linked file does not exist */
        out->target = strdup(path);
    const size_t room = out->target ? strlen(out->target) + 40 : 0;
    out->temporary = out->target ? malloc(room) : NULL;
    return out->temporary ? open_beside(out->target, out->temporary, room) : -1;
}

static void free_names(gra_outfile *out)
{
    free(out->target);
    free(out->temporary);
}

bool gra_outfile_open(gra_outfile *out, const char *path)
{
    struct stat s;
    *out = (gra_outfile){ .fd = -1 };
    path = path ? path : "";
    const bool follow = is_followed(path), there = (follow ? stat(path, &s) : lstat(path, &s)) == 0;
    const bool device = there && !S_ISREG(s.st_mode) && !S_ISLNK(s.st_mode);
    if (!*path)
        errno = ENOENT;
    else
        out->fd = device ? open_existing(path, O_WRONLY | (follow ? 0 : O_NOFOLLOW))
                         : open_replacement(out, path, follow);
    if (out->fd >= 0)
        return true;
    failed(out);
    free_names(out);
    errno = out->error;
    return false;
}

/* ---- writing ---- */

void gra_outfile_write(gra_outfile *out, const void *data, size_t n)
{
    for (const char *at = data; n && !out->error;) {
        ssize_t wrote = write(out->fd, at, n < (1 << 30) ? n : (1 << 30));
        if (wrote == 0)
            errno = EIO;                        /* the device accepts nothing more and gives no reason */
        if (wrote == 0 || (wrote < 0 && errno != EINTR))
            failed(out);
        at += wrote > 0 ? wrote : 0;
        n  -= wrote > 0 ? (size_t)wrote : 0;
    }
}

/* ---- closing ---- */

static bool sync_to_disk(int fd)
{
#ifdef F_FULLFSYNC
    if (fcntl(fd, F_FULLFSYNC) == 0)    /* on macOS fsync alone stops at the disk's cache */
        return true;
#endif
    int status;
    do
        status = fsync(fd);
    while (status != 0 && errno == EINTR);
    /* these two errors: the file system cannot sync */
    return status == 0 || errno == EINVAL || errno == ENOTSUP;
}

/* A rename is on the disk once the directory is. If the directory cannot be synced, the file is complete, but
 * a power cut brings back the old file until the system has written the directory. */
static void sync_directory(gra_outfile *out)
{
    char *slash = strrchr(out->target, '/');
    if (slash)
        slash[slash == out->target] = '\0';     /* "a/b" to "a", "/b" to "/" */
    const int fd = open_existing(slash ? out->target : ".", O_RDONLY);
    if (fd >= 0) {
        sync_to_disk(fd);
        close(fd);
    }
}

bool gra_outfile_close(gra_outfile *out)
{
    if (out->temporary && !out->error && !sync_to_disk(out->fd))
        failed(out);
    if (close(out->fd) != 0 && errno != EINTR)
        failed(out);
    if (out->temporary && !out->error && rename(out->temporary, out->target) == 0)
        sync_directory(out);
    else if (out->temporary) {
        failed(out);
        unlink(out->temporary);
    }
    free_names(out);
    errno = out->error;
    return !out->error;
}

int gra_write_file(const char *path, const void *bytes, size_t n)
{
    gra_outfile out;
    if (!gra_outfile_open(&out, path))
        return -1;
    gra_outfile_write(&out, bytes, n);
    return gra_outfile_close(&out) ? 0 : -1;
}
