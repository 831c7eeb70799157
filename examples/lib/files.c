/* files: whole files in and out, and folders. */
#include "files.h"
#include "../../core/gradus.h"
#include "say.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *file_path(const char *folder, const char *name)
{
    size_t n = strlen(folder);
    char *path = malloc(n + strlen(name) + 2);
    if (!path) {
        complain("out of memory");
        return NULL;
    }
    sprintf(path, "%s%s%s", folder, n > 0 && folder[n - 1] == '/' ? "" : "/", name);
    return path;
}

bool file_is_in(const char *folder, const char *name)
{
    char *path = file_path(folder, name);
    bool is = path && access(path, F_OK) == 0;
    free(path);
    return is;
}

bool file_ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n >= m && strcmp(path + n - m, ending) == 0;
}

int file_open(const char *path, int flags)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    return fd;
}

FILE *file_stream(const char *path, const char *mode)
{
    FILE *f;
    do
        f = path ? fopen(path, mode) : tmpfile();
    while (!f && errno == EINTR);
    return f;
}

DIR *folder_open(const char *path)
{
    DIR *dir;
    do
        dir = opendir(path);
    while (!dir && errno == EINTR);
    return dir;
}

/* What open() said, or what stands under that name instead of a file. */
static int open_to_read(const char *path)
{
    struct stat about;
    int fd = file_open(path, O_RDONLY);
    if (fd < 0) {
        complain("cannot read %s: %s", path, strerror(errno));
        return -1;
    }
    if (fstat(fd, &about) == 0 && S_ISDIR(about.st_mode)) {
        complain("cannot read %s: it is a folder, and a file was wanted", path);
        close(fd);
        return -1;
    }
    return fd;
}

char *file_read(const char *path, size_t *size)
{
    int fd = open_to_read(path);
    if (fd < 0)
        return NULL;
    size_t room = 1 << 16, n = 0;
    char *bytes = malloc(room);
    while (bytes) {
        ssize_t got = read(fd, bytes + n, room - n - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            complain("cannot read %s: %s", path, strerror(errno));
            break;
        }
        if (got == 0) {
            close(fd);
            bytes[n] = 0;
            *size = n;
            return bytes;
        }
        n += (size_t)got;
        if (n > INT_MAX) {
            complain("cannot read %s: it has more than 2 GiB", path);
            break;
        }
        if (room - n < room / 4) {
            char *more = realloc(bytes, room *= 2);
            if (!more) {
                free(bytes);
                bytes = NULL;
                break;
            }
            bytes = more;
        }
    }
    if (!bytes)
        complain("cannot read %s: out of memory", path);
    free(bytes);
    close(fd);
    return NULL;
}

size_t file_some(int fd, void *bytes, size_t n)
{
    size_t done = 0;
    for (ssize_t got = 1; done < n && got != 0;) {
        got = read(fd, (char *)bytes + done, n - done);
        if (got < 0 && errno != EINTR)
            break;
        done += got > 0 ? (size_t)got : 0;
    }
    return done;
}

int file_write(const char *path, const char *bytes, size_t size)
{
    if (gra_write_file(path, bytes, size) == 0)
        return 0;
    complain("cannot write %s: %s", path, strerror(errno));
    return -1;
}

/* path[0, end) is a folder that has a new entry, which is on the disk when the folder is. What cannot be done
 * is left to the system. */
static void to_disk(char *path, size_t end)
{
    char kept = path[end];
    path[end] = 0;
    int fd = file_open(end > 0 ? path : kept == '/' ? "/" : ".", O_RDONLY);
    path[end] = kept;
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

int file_link(const char *path, const char *name)
{
    char *other = malloc(strlen(name) + 5);
    if (!other)
        return -1;
    sprintf(other, "%s.tmp", name);
    unlink(other);
    int failed = link(path, other) || rename(other, name);
    unlink(other);                      /* still there too where both were the same file before */
    strcpy(other, name);
    if (!failed)
        to_disk(other, strrchr(other, '/') ? (size_t)(strrchr(other, '/') - other) : 0);
    free(other);
    return failed ? -1 : 0;
}

/* Leaves errno as it was where there is none. */
static bool is_folder(const char *path)
{
    struct stat about;
    int before = errno;
    bool is = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    errno = before;
    return is;
}

/* As mkdir -p. 0, or what went wrong: then path ends where it did. *made: where the name of the first one that was
 * made ends; 0: none was. */
static int make(char *path, size_t *made)
{
    for (size_t at = 1, last = 0; path[0]; last = at++) {
        at += strcspn(path + at, "/");
        char kept = path[at];
        path[at] = 0;
        if (mkdir(path, 0777) == 0) {
            *made = *made ? *made : at;
            to_disk(path, last);
        } else if (!is_folder(path))
            return errno;
        path[at] = kept;
        if (!kept)
            return 0;
    }
    return ENOENT;
}

int folder_make(const char *path, size_t *made)
{
    char *copy = strdup(path);
    *made = 0;
    int why = copy ? make(copy, made) : ENOMEM;
    if (why == EEXIST)
        complain("cannot make the folder %s: %s is there, and it is not a folder", path, copy);
    else if (why)
        complain("cannot make the folder %s: %s", path, strerror(why));
    free(copy);
    if (why)
        folder_unmake(path, made);
    return why ? -1 : 0;
}

void folder_unmake(const char *path, size_t *made)
{
    char *copy = *made ? strdup(path) : NULL;
    for (size_t at = copy ? strlen(copy) : 0; copy && at >= *made; at--)
        if (at == strlen(path) || path[at] == '/') {
            copy[at] = 0;
            rmdir(copy);
        }
    free(copy);
    *made = 0;
}

/* The rest of a name by which a file is written: "tmp", after a process and a number from gra_write_file. */
static bool is_unfinished(const char *rest)
{
    return rest[0] == '.' && strcmp(rest + strspn(rest, ".-0123456789"), "tmp") == 0;
}

void file_forget_unfinished(const char *folder, const char *name)
{
    DIR *dir = folder_open(folder);
    const size_t n = strlen(name);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (strncmp(entry->d_name, name, n) == 0 && is_unfinished(entry->d_name + n))
            file_forget(folder, entry->d_name);
    if (dir)
        closedir(dir);
}

const char *file_why(const char *error, const char *path)
{
    const char *at = strstr(error, path);
    const size_t n = strlen(path);
    return at && strncmp(at + n, ": ", 2) == 0 ? at + n + 2 : error;
}

void file_forget(const char *folder, const char *name)
{
    struct stat about;
    char *path = file_path(folder, name);
    if (path && lstat(path, &about) == 0 && S_ISREG(about.st_mode))
        unlink(path);
    free(path);
}
