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

extern const char program_name[];               /* each program defines its own: "train" */

void complain(const char *format, ...) SAY_PRINTF; /* "train: the sentence" and a newline, on stderr; on a terminal
                                                   broken into lines of its width */
void say(const char *format, ...) SAY_PRINTF;   /* on stdout, at once */
void say_bytes(const char *bytes, size_t n);    /* the same; on a terminal, control characters become dots */
bool say_failed(void);                          /* stdout could not be written to (full disk, closed pipe). The first
                                                   failure was complained about; later output is dropped */
bool say_to_terminal(void);                     /* stdout is a terminal that can redraw a line */
int  say_columns(void);                         /* how wide a line may be: the terminal's width, at most 80 */

double seconds_now(void);                       /* of a clock that never goes back */

#endif
