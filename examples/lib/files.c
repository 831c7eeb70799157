/* files: whole files in and out. */
#include "files.h"
#include "../../core/gradus.h"
#include "say.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *file_path(const char *folder, const char *name)
{
    const size_t n = strlen(folder);
    char *path = malloc(n + strlen(name) + 2);
    if (path)
        sprintf(path, "%s%s%s", folder, n > 0 && folder[n - 1] == '/' ? "" : "/", name);
    else
        complain("out of memory");
    return path;
}

bool file_ends_in(const char *path, const char *ending)
{
    const size_t n = strlen(path), m = strlen(ending);
    return n >= m && strcmp(path + n - m, ending) == 0;
}

/* Reads to the end, also of a pipe, whose size nobody knows before. NULL: errno says why. */
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
        complain("cannot read %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return bytes;
}

int file_write(const char *path, const char *bytes, size_t size)
{
    if (gra_write_file(path, bytes, size) == 0)
        return 0;
    complain("cannot write %s: %s", path, strerror(errno));
    return -1;
}

int folder_make(const char *path)
{
    struct stat about;
    int why = ENOMEM;
    char *part = strdup(path);
    for (char *end = part; end;) {      /* a, then a/b, then a/b/c; most of them may be there already */
        end = *end ? strchr(end + 1, '/') : NULL;
        if (end)
            *end = 0;
        why = mkdir(part, 0777) ? errno : 0;
        if (end)
            *end = '/';
    }
    const bool made = part && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    free(part);
    if (!made)
        complain("cannot make the folder %s: %s", path, strerror(why));
    return made ? 0 : -1;
}

const char *file_why(const char *error, const char *path)
{
    const char *at = strstr(error, path);
    const size_t n = strlen(path);
    return at && strncmp(at + n, ": ", 2) == 0 ? at + n + 2 : error;
}
