/* look: a step as a page that a browser opens from the disk: every node, its values and its gradient.
 *
 *     gra_keep_grads(t, true);                 before the backward: gradients of all nodes
 *     ...
 *     gra_backward(t, loss);
 *     if (look_write(t, "step.html"))
 *         perror("step.html");
 *
 * The page is one file: it needs no network and nothing beside it. */
#ifndef EXAMPLES_LOOK_H
#define EXAMPLES_LOOK_H

#include "out.h"

int look_write(const gra_tape *t, const char *path);    /* whole or not at all: 0, or -1 and errno says why */

typedef struct look_more {              /* what the page shows besides; a field left out is not shown */
    const char *title, *about;          /* its heading, and a line beneath it */
    void      (*model)(out *o, void *arg);      /* writes the JSON of tokens, attention, training: model.c */
    void       *arg;
} look_more;
int look_write_with(const gra_tape *t, const char *path, const look_more *more);

#endif
