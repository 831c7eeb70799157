/* flags: a program's flags as a table, which parses, explains and records them.
 *
 *     long steps = 2000;
 *     const flag table[] = { { .name = "steps", .kind = FLAG_INT, .value = &steps, .low = 1, .high = 1e9,
 *                              .what = "N", .help = "training steps" } };
 *     flags_parse(table, 1, "what the program does", argc, argv);
 */
#ifndef EXAMPLES_FLAGS_H
#define EXAMPLES_FLAGS_H

#include <stdbool.h>

typedef enum flag_kind {
    FLAG_HEADING,                       /* no flag: a line of --help */
    FLAG_SWITCH,                        /* bool: --name and --no-name */
    FLAG_INT,                           /* long */
    FLAG_REAL,                          /* double; NaN means "not given" */
    FLAG_CHOICE,                        /* int: the place of the word in what = "adamw|muon|sgd" */
    FLAG_TEXT,                          /* const char * */
    FLAG_TEXTS                          /* flag_texts: may be given several times */
} flag_kind;

typedef enum flag_role {
    FLAG_FREE,                          /* of this call alone: may be given again when a run goes on */
    FLAG_FIXED,                         /* of the whole run: from its beginning to its end */
    FLAG_MODEL                          /* and of what makes its model: written beside the parameters */
} flag_role;

typedef struct flag_texts {
    const char **text;                  /* room for argc of them, the caller's */
    int          n;
} flag_texts;

typedef struct flag {
    const char *name;                   /* "steps" for --steps */
    flag_kind   kind;
    void       *value;                  /* where it goes; what stands there before is the default */
    double      low, high;              /* of a number; both are allowed */
    const char *what;                   /* what --help calls the value: N, FILE, a|b|c */
    const char *help;                   /* what it is, in a line */
    const char *unset;                  /* the default in words, where the value does not say it */
    flag_role   role;
} flag;

int   flags_parse(const flag *table, int n, const char *about, int argc, char **argv, bool *given);
                                        /* 0; 1: --help was given; 2: it could not be written; -1: wrong usage;
                                           what failed was said. given[n], unless NULL: which flags there were */
int   flags_status(int how);            /* the exit status for a result that is not 0 */
bool  flag_set(const flag *f, const char *value);      /* false: not such a value */
char *flag_wants(const flag *f, char text[160]);       /* "a whole number from 1 to 100"; of a text, its what */
char *flag_value(const flag *f, char text[64]);        /* its value; numbers read back as the same bits */

#endif
