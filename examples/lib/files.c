/* files: reads and writes whole files. */
#include "files.h"
#include "../../core/base/system.h"
#include "../../core/gradus.h"
#include "message.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *file_path(char path[FILE_PATH], const char *folder, const char *name)
{
    const size_t n = strlen(folder);
    if (snprintf(path, FILE_PATH, "%s%s%s", folder, n > 0 && folder[n - 1] == '/' ? "" : "/",
                 name) >= FILE_PATH)
        path[0] = 0;
    return path;
}

bool file_is_there(char path[FILE_PATH], const char *folder, const char *name)
{
    return access(file_path(path, folder, name), F_OK) == 0;
}

bool file_ends_in(const char *path, const char *ending)
{
    const size_t n = strlen(path), m = strlen(ending);
    return n >= m && strcmp(path + n - m, ending) == 0;
}

/* Reads to the end; the size of a pipe is not known in advance. NULL: errno is set. */
static char *read_all(int fd, size_t *size)
{
    size_t room = 1 << 16, n = 0;
    char *bytes = malloc(room);
    while (bytes) {
        const ssize_t got = read(fd, bytes + n, room - n - 1);
        if (got == 0) {
            bytes[n] = 0;
            *size = n;
            return bytes;
        }
        if (got < 0 && errno != EINTR)
            break;
        n += got > 0 ? (size_t)got : 0;
        char *more = room - n > room / 4 ? bytes : realloc(bytes, room *= 2);
        if (!more)
            break;
        bytes = more;
    }
    const int why = errno;
    free(bytes);
    errno = why;
    return NULL;
}

char *file_read(const char *path, size_t *size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *bytes = fd < 0 ? NULL : read_all(fd, size);
    if (!bytes)
        warn("cannot read %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return bytes;
}

/* Closes the file, and sets errno. */
static int shut(int fd, int why)
{
    close(fd);
    errno = why;
    return -1;
}

/* Opens a regular file that is not too large. */
static int open_plain(const char *path)
{
    struct stat about;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);       /* do not wait for a pipe */
    if (fd < 0 || fstat(fd, &about) < 0)
        return fd < 0 ? -1 : shut(fd, errno);
    if (!S_ISREG(about.st_mode))
        return shut(fd, S_ISDIR(about.st_mode) ? EISDIR : EINVAL);
    return about.st_size > FILE_PLAIN ? shut(fd, EFBIG) : fd;
}

char *file_read_plain(const char *path, size_t *size)
{
    const int fd = open_plain(path);
    char *bytes = fd < 0 ? NULL : read_all(fd, size);
    if (fd >= 0)
        shut(fd, errno);
    return bytes;
}

bool file_is_link(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
}

const char *file_oddity(const char *path)
{
    struct stat about;
    return file_is_link(path) ? "symbolic link"
           : stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)
           ? "device or pipe" : NULL;
}

/* A link to a device stays: nothing could be lost. */
int file_replace(const char *path, const char *bytes, size_t size)
{
    struct stat about;
    const bool device = stat(path, &about) == 0 && !S_ISREG(about.st_mode);
    if (file_is_link(path) && !device && unlink(path))
        return -1;
    return gra_write_file(path, bytes, size);
}

int file_write(const char *path, const char *bytes, size_t size)
{
    if (file_replace(path, bytes, size) == 0)
        return 0;
    return warn("cannot write %s: %s", path, strerror(errno));
}

/* Makes one folder if it is missing. 0 or -1. */
static int make_one(const char *path)
{
    struct stat about;
    const int why = mkdir(path, 0777) ? errno : 0;
    if (why == 0 || (stat(path, &about) == 0 && S_ISDIR(about.st_mode)))
        return 0;
    return warn("cannot make the folder %s: %s", path,
                file_is_link(path) ? "it is a symbolic link that does not point to a folder: remove it, or "
                "give another name" : strerror(why));
}

int folder_make(const char *path)
{
    char part[FILE_PATH];
    for (size_t n = 0; path[n] && n < sizeof part - 1; n++) {           /* a, then a/b, then a/b/c */
        part[n] = path[n];
        part[n + 1] = 0;
        if (path[n + 1] == '/' && make_one(part))
            return -1;
    }
    return make_one(path);
}
