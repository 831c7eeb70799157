/* say: how a program speaks to its user: results on stdout, a sentence for each fault on stderr. */
#ifndef EXAMPLES_SAY_H
#define EXAMPLES_SAY_H

#include <stdbool.h>
#include <stddef.h>

enum { SAY_COLUMNS = 80 };
extern const char *program_name;                /* each program defines its own, and main sets it to the name
                                                   by which it was called: "train", or "gradus-train" */
const char *say_last(const char *path);         /* the last part of a path: "train" of "build/train" */

__attribute__((format(printf, 1, 2)))
int  warn(const char *format, ...);             /* "train: the sentence" and a newline, on stderr; on a
                                                   terminal broken into lines of 80 columns. Returns -1 */
__attribute__((format(printf, 1, 2)))
void say(const char *format, ...);              /* on stdout, at once */
void say_bytes(const char *bytes, size_t n);    /* the same; on a terminal, control characters become dots */
size_t say_fitting(const char *text, size_t n, size_t columns);      /* how many of the n bytes make a line of
                                                   so many columns: up to a blank, or all */
bool say_failed(void);                          /* stdout could not be written to (full disk, closed pipe).
                                                   The first failure was warned of; later output is
                                                   dropped */

#endif
