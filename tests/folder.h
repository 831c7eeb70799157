/* folder.h: a folder of files for a test, and files whole. What fails here fails the test. */
#ifndef TESTS_FOLDER_H
#define TESTS_FOLDER_H

#include <stddef.h>

void   folder_clear(const char *folder);        /* makes it, and takes out what is in it */
int    folder_entries(const char *folder);      /* how many there are */
void   write_bytes(const char *path, const void *bytes, size_t n);
size_t read_bytes(const char *path, unsigned char *bytes, size_t room);         /* how many they are: less than room */

#endif
