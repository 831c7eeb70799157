/* say: how a program speaks to its user: results on stdout, a sentence for each fault on stderr. */
#ifndef EXAMPLES_SAY_H
#define EXAMPLES_SAY_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__GNUC__)
#define SAY_PRINTF __attribute__((format(printf, 1, 2)))
#else
#define SAY_PRINTF
#endif

enum { SAY_COLUMNS = 80 };
extern const char program_name[];               /* each program defines its own: "train" */

void complain(const char *format, ...) SAY_PRINTF; /* "train: the sentence" and a newline, on stderr; on a terminal
                                                   broken into lines of 80 columns */
void say(const char *format, ...) SAY_PRINTF;   /* on stdout, at once */
void say_bytes(const char *bytes, size_t n);    /* the same; on a terminal, control characters become dots */
bool say_failed(void);                          /* stdout could not be written to (full disk, closed pipe). The first
                                                   failure was complained about; later output is dropped */

double seconds_now(void);                       /* of a clock that never goes back */

#endif
