/* flags: a program's flags as a table: for parsing the command line, --help, and saving to a file.
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
    FLAG_CHOICE,                        /* int: the index of the word in what = "adamw|muon|sgd" */
    FLAG_TEXT                           /* const char *; NULL: not given */
} flag_kind;

typedef struct flag {
    const char *name;                   /* "steps" for --steps */
    flag_kind   kind;
    void       *value;                  /* the variable that it sets, which holds the default */
    double      low, high;              /* the range of a number; low 1: a text may not be empty */
    const char *what;                   /* the name of the value in --help: N, FILE, a|b|c */
    const char *help;                   /* its description in --help, one line */
    const char *unset;                  /* the default in words, if a number would not explain it */
    bool        again;                  /* may be given again with --resume (options.h) */
    bool        fixed;                  /* cannot be given with --from (options.h) */
} flag;

#define FLAGS_GO_ON (-1)

/* Returns FLAGS_GO_ON, or the status to exit with: 0 after --help, 2 after a warning. given[n], unless NULL:
 * which flags were given. */
int   flags_parse(const flag *table, int n, const char *about, int argc, char **argv, bool *given);

/* "name\tvalue\n" for each flag that has a value; free it. NULL after a warning. */
char *flags_write(const flag *table, int n);

/* Reads what flags_write wrote; warnings name path. Modifies text; FLAG_TEXT values then point into it. 0,
 * or -1 after a warning. */
int   flags_read(const flag *table, int n, const char *path, char *text);

#endif
