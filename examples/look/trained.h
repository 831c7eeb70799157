/* trained: the page of a trained model. */
#ifndef EXAMPLES_LOOK_TRAINED_H
#define EXAMPLES_LOOK_TRAINED_H

typedef struct trained_flags {          /* as in generate */
    const char *model, *prompt, *ids;
    int         special;
    long        heads, threads;
} trained_flags;
int trained_page(const trained_flags *f, const char *path);     /* 0, or -1 after a warning */

#endif
