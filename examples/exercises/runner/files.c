/* files: see files.h. */
#include "files.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(int fd, int why)
{
    close(fd);
    errno = why;
    return -1;
}

/* The file, opened, if it is a plain one that is not too large. */
static int open_plain(const char *path)
{
    struct stat s;
    const int fd = open(path, O_RDONLY | O_NONBLOCK);           /* a pipe is not waited for */
    if (fd < 0 || fstat(fd, &s) < 0)
        return fd < 0 ? -1 : refuse(fd, errno);
    if (S_ISDIR(s.st_mode))
        return refuse(fd, EISDIR);
    if (!S_ISREG(s.st_mode))
        return refuse(fd, EINVAL);
    return s.st_size > FILE_MOST ? refuse(fd, EFBIG) : fd;
}

char *file_read(const char *path, size_t *n)
{
    const int fd = open_plain(path);
    char *text = fd < 0 ? NULL : malloc(FILE_MOST + 1);
    ssize_t got = 0;
    *n = 0;
    while (text && *n < FILE_MOST && (got = read(fd, text + *n, FILE_MOST - *n)) > 0)
        *n += (size_t)got;
    if (fd >= 0)
        close(fd);
    if (!text || got < 0) {
        free(text);
        return NULL;
    }
    text[*n] = 0;
    char *fits = realloc(text, *n + 1);
    return fits ? fits : text;
}

int file_write(const char *path, const char *text, size_t n)
{
    char other[1000];
    const int length = snprintf(other, sizeof other, "%s.new", path);
    FILE *f = length < (int)sizeof other ? fopen(other, "wb") : NULL;
    if (!f)
        return -1;
    const int wrote = fwrite(text, 1, n, f) == n, closed = fclose(f) == 0;
    if (wrote && closed && rename(other, path) == 0)
        return 0;
    const int why = errno;
    unlink(other);
    errno = why;
    return -1;
}
