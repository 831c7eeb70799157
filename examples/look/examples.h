/* examples: the pages of two lessons. */
#ifndef EXAMPLES_LOOK_EXAMPLES_H
#define EXAMPLES_LOOK_EXAMPLES_H

/* Each runs a step, prints some of its numbers and writes the page. 0, or -1 after a warning. */
int example_scalar(const char *path);                   /* examples/01_scalar.c */
int example_next_token(const char *path);               /* examples/05_next_token.c */

#endif
