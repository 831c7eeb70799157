/* look: writes a step as a page for the browser: every node, its values and its gradient.
 *
 *     gra_keep_grads(t, true);                 before the backward: keeps the gradients of all nodes
 *     ...
 *     gra_backward(t, loss);
 *     if (look_write(t, "step.html"))
 *         perror("step.html");
 *
 * The page is one file: it needs no network and no other file. */
#ifndef EXAMPLES_LOOK_H
#define EXAMPLES_LOOK_H

#include "../lib/json_out.h"

int look_write(const gra_tape *t, const char *path);    /* all or nothing: 0, or -1 and errno */

typedef struct look_more {              /* what else the page shows; all fields are optional */
    const char *title, *about;          /* its heading, and a line beneath it */
    void      (*model)(out *o, void *arg);      /* writes tokens, attention, training as JSON: look_model.c */
    void       *arg;
} look_more;
int look_write_with(const gra_tape *t, const char *path, const look_more *more);

void look_json(out *o, const gra_tape *t, const look_more *more);       /* only the page's data */

#endif
