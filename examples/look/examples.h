/* examples: the two lessons of which build/look can make a page. */
#ifndef EXAMPLES_LOOK_EXAMPLES_H
#define EXAMPLES_LOOK_EXAMPLES_H

/* Each computes its step, prints some of its numbers, and writes the page. 0, or -1 after a warning. */
int example_scalar(const char *path);                   /* examples/01_scalar.c */
int example_next_token(const char *path);               /* examples/05_next_token.c */

#endif
