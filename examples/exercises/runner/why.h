/* why: the messages of compilers, linkers, sanitizers and signals, in the words of this course; or the tool's
 * own lines where they are plain. */
#ifndef RUNNER_WHY_H
#define RUNNER_WHY_H

#include "child.h"

/* What ran. `file`: the end of the answer's path, with the folder in which it was compiled:
 * "answer.123/08_softmax.c". gradients: it uses gradients of tensors, which may be NULL. */
struct ran {
    const char *file;
    int         seconds;                /* the time in which it should have ended */
    bool        gradients;
};

/* Each function writes a sentence or some lines to text. */
void why_not_compiled(char *text, size_t room, const struct child *c, const char *file);
void why_crashed(char *text, size_t room, const struct child *c, const struct ran *r);
void what_compiler_warns(char *text, size_t room, const struct child *c, const char *file);

/* What the system could not do for the compiler (then nothing is known about the answer); or NULL. */
const char *what_failed(const struct child *c);

/* The number of bytes that the answer printed before a sanitizer's report. */
size_t what_it_printed(const struct child *c);

#endif
