/* message: prints results on stdout, and a sentence for each error on stderr. */
#ifndef EXAMPLES_SAY_H
#define EXAMPLES_SAY_H

#include "../../core/gradus.h"

enum { SAY_COLUMNS = 80 };
extern const char *program_name;                /* each program defines it: "train", or as it was called */
const char *say_last(const char *path);         /* the last part of a path: "train" of "build/train" */

/* Prints "train: the sentence" and a newline on stderr; on a terminal, in lines of 80 columns. Returns -1. */
int  warn(const char *format, ...) GRA_PRINTF(1, 2);
void say(const char *format, ...) GRA_PRINTF(1, 2);     /* on stdout, flushed */
void say_bytes(const char *bytes, size_t n);    /* the same; on a terminal, control characters become dots */

/* How many of the n bytes fit in a line of so many columns: up to a blank, or all. */
size_t say_fitting(const char *text, size_t n, size_t columns);

/* Has a write to stdout failed (full disk, closed pipe)? Warns once; later output is dropped. */
bool say_failed(void);

#endif
