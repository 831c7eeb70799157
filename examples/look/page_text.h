/* page_text: the page and the formulas of the ops, which embed.sh writes as C. */
#ifndef EXAMPLES_LOOK_PAGE_H
#define EXAMPLES_LOOK_PAGE_H

typedef struct look_op {
    const char *op, *file, *text;       /* "tanh", "core/ops/tanh.c", its first comment */
} look_op;
extern const look_op look_formula[];    /* the last one's op is NULL */
extern const char *const look_page[];   /* lines; the last is NULL */

#endif
