/* folder: see folder.h. */
#include "folder.h"
#include "crash.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void folder_clear(const char *folder)
{
    mkdir(folder, 0777);
    for (listed_file l = { 0 }; next_file(&l, folder, "");)
        if (unlink(l.path) != 0)
            rmdir(l.path);
}

int folder_entries(const char *folder)
{
    int n = 0;
    for (listed_file l = { 0 }; next_file(&l, folder, "");)
        n++;
    return n;
}

bool next_file(listed_file *l, const char *folder, const char *end)
{
    if (!l->dir)
        l->dir = opendir(folder);
    ck_assert_msg(l->dir, "%s cannot be read: the tests run in the root of the repository", folder);
    for (const struct dirent *e; (e = readdir(l->dir));) {
        const size_t n = strlen(e->d_name), m = strlen(end);
        if (e->d_name[0] == '.' || n < m || strcmp(e->d_name + n - m, end) != 0)
            continue;
        snprintf(l->path, sizeof l->path, "%s/%s", folder, e->d_name);
        snprintf(l->name, sizeof l->name, "%.*s", (int)(n - m), e->d_name);
        return true;
    }
    closedir(l->dir);
    return false;
}

void write_bytes(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
    ck_assert_int_eq(fclose(f), 0);
}

size_t read_bytes(const char *path, unsigned char *bytes, size_t room)
{
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(bytes, 1, room, f);
    ck_assert_msg(n < room, "%s has %zu bytes or more", path, room);
    fclose(f);
    return n;
}

void read_text(const char *path, char *text, size_t room)
{
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s cannot be read: the tests run in the root of the repository", path);
    fclose(f);
    text[read_bytes(path, (unsigned char *)text, room)] = '\0';
}
