/* flags: a program's flags as a table, which parses a command line, explains it, and goes to a file and back.
 *
 *     long steps = 2000;
 *     const flag table[] = { { .name = "steps", .kind = FLAG_INT, .value = &steps, .low = 1, .high = 1e9,
 *                              .what = "N", .help = "training steps" } };
 *     flags_parse(table, 1, "what the program does", argc, argv, NULL);
 */
#ifndef EXAMPLES_FLAGS_H
#define EXAMPLES_FLAGS_H

#include <stdbool.h>

typedef enum flag_kind {
    FLAG_HEADING,                       /* no flag, but a heading in --help */
    FLAG_SWITCH,                        /* int, 0 or 1: --name and --no-name */
    FLAG_INT,                           /* long */
    FLAG_REAL,                          /* double */
    FLAG_CHOICE,                        /* int: the place of the word in what = "adamw|muon|sgd" */
    FLAG_TEXT                           /* const char *; NULL: not given */
} flag_kind;

typedef struct flag {
    const char *name;                   /* "steps" for --steps */
    flag_kind   kind;
    void       *value;                  /* the variable that it sets; its value before is the default */
    double      low, high;              /* the smallest and largest number allowed; low 1: no empty text */
    const char *what;                   /* the name of the value in --help: N, FILE, a|b|c */
    const char *help;                   /* its description in --help, one line */
    const char *unset;                  /* the default in words, where a number would not say it */
    bool        again;                  /* it may be given again when a run goes on (options.h) */
} flag;

#define FLAGS_GO_ON (-1)
int   flags_parse(const flag *table, int n, const char *about, int argc, char **argv, bool *given);
                                        /* FLAGS_GO_ON, or the status to exit with: 0 after --help, 2 after a
                                           warning. given[n], unless NULL: which flags were given */
char *flags_write(const flag *table, int n);    /* "name\tvalue\n" of each that has one; free it; NULL after a
                                                   warning */
int   flags_read(const flag *table, int n, const char *path, char *text);       /* reads what flags_write
                                           wrote; path is named in warnings. The text is modified, and
                                           FLAG_TEXT values point into it. 0, or -1 after a warning */

#endif
