/* folder.h: a folder of files for a test, files whole, and where the two suites meet. What fails here
 * fails the test. */
#ifndef TESTS_FOLDER_H
#define TESTS_FOLDER_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>

void   folder_clear(const char *folder);        /* makes it, and takes out what is in it */
int    folder_entries(const char *folder);      /* how many there are */

/* for (listed_file l = { 0 }; next_file(&l, "core/ops", ".c");): each file of the folder whose name ends so,
 * but hidden ones. */
typedef struct listed_file {
    char path[512], name[256];          /* the name without its end */
    DIR *dir;
} listed_file;
bool   next_file(listed_file *l, const char *folder, const char *end);

void   write_bytes(const char *path, const void *bytes, size_t n);
void   read_text(const char *path, char *text, size_t room);    /* of the repository, and a 0 behind it */
/* how many they are: less than room */
size_t read_bytes(const char *path, unsigned char *bytes, size_t room);

/* The file in which the double suite leaves what it computed, for the float suite to compare:
 * build/f64/NAME. */
const char *reference_path(const char *name);

#endif
