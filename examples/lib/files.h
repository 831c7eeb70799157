/* files: whole files in and out, and folders. Each function that fails has said why, in a sentence. */
#ifndef EXAMPLES_FILES_H
#define EXAMPLES_FILES_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

char *file_path(const char *folder, const char *name);  /* "folder/name", to free; NULL: out of memory */
int   file_open(const char *path, int flags);   /* as open, fopen and opendir, but tried again when a signal comes */
FILE *file_stream(const char *path, const char *mode);  /* in between; nothing is said. path NULL: an unnamed file */
DIR  *folder_open(const char *path);
bool  file_is_in(const char *folder, const char *name); /* it has a file of that name */
bool  file_ends_in(const char *path, const char *ending);       /* ".png" */
char *file_read(const char *path, size_t *size);        /* all of it and a 0 behind, to free; or NULL */
size_t file_some(int fd, void *bytes, size_t n);        /* reads n bytes, or all up to the end or an error */
int   file_write(const char *path, const char *bytes, size_t size); /* whole or not at all: gra_write_file */
int   file_link(const char *path, const char *name);    /* the file has this name too; -1, and nothing is said:
                                                           files have but one name there */
int   folder_make(const char *path, size_t *made);      /* with those it lies in; 0 too when it is there */
void  folder_unmake(const char *path, size_t *made);    /* removes those that were made, if they are empty */
const char *file_why(const char *error, const char *path);  /* of gradus' sentence "function: path: why", why */
void  file_forget(const char *folder, const char *name); /* removes a plain file, if there is one */
void  file_forget_unfinished(const char *folder, const char *name); /* and those that were to become it when a
                                                           program was killed */

#endif
