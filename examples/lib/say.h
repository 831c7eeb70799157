/* say: how a program speaks to its user. */
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

void complain(const char *format, ...) SAY_PRINTF; /* "train: the sentence" and a newline, to stderr; on a terminal
                                                   in lines of its width */
int  say(const char *format, ...) SAY_PRINTF;   /* to stdout, at once; 0, or -1 after a complaint */
bool say_to_terminal(void);                     /* stdout is a terminal that can redraw a line */
int  say_columns(void);                         /* how wide a line may be: the terminal's, at most 80 */
bool say_utf8(void);                            /* and the locale's characters are UTF-8 */
int  say_bytes(const char *bytes, size_t n);    /* to stdout; on a terminal control characters become dots */

#define COMMAS 32
char  *commas(size_t n, char text[COMMAS]);     /* "1,115,394" */
double seconds_now(void);                       /* of a clock that never goes back */

#endif
