/* folder.h: a test's folder of files, and whole files. A failure here fails the test. */
#ifndef TESTS_FOLDER_H
#define TESTS_FOLDER_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>

void   folder_clear(const char *folder);        /* makes the folder if it is missing, and empties it */
int    folder_entries(const char *folder);      /* how many there are */

/* for (listed_file l = { 0 }; next_file(&l, "core/ops", ".c");): each file of the folder with that ending,
 * except hidden ones. */
typedef struct listed_file {
    char path[512], name[256];          /* the name without its ending */
    DIR *dir;
} listed_file;
bool   next_file(listed_file *l, const char *folder, const char *end);

void   write_bytes(const char *path, const void *bytes, size_t n);
void   read_text(const char *path, char *text, size_t room);    /* a repository file, with a 0 after it */
/* returns how many, fewer than room */
size_t read_bytes(const char *path, unsigned char *bytes, size_t room);

#endif
