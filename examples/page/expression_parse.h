/* expression_parse: reads a text such as "d = a*b + b^3; g = relu(c - d)" as a list of steps.
 *
 *     statement   [name =] sum | name = ?                 separated by ; or line breaks
 *     sum         product {(+ | -) product}
 *     product     sign {(* | / | @ | nothing) sign}       nothing, as in x W or 2 a: expression_beside
 *     sign        - sign | power
 *     power       value [(^ | **) ([-] number | name | (sum))]
 *     value       number | name | function(sum [, sum]) | randn(rows [, columns]) | (sum)
 *
 * A name that is used before it is assigned is free: an input of one value. But pi and e are numbers, and a
 * word is an error that asks, unless the statement word = ? comes before. A number with a name, as in a = 2,
 * and randn(...) are inputs too; a number without a name is a constant. */
#ifndef EXAMPLES_PAGE_EXPRESSION_PARSE_H
#define EXAMPLES_PAGE_EXPRESSION_PARSE_H

#include "../../core/op.h"

enum {
    EXPRESSION_TEXT = 4096,             /* the longest text, in bytes */
    EXPRESSION_NAME = 24,               /* a name is shorter than this */
    EXPRESSION_INPUTS = 64,
    EXPRESSION_STEPS = 1000,
    EXPRESSION_DEPTH = 100,             /* of parentheses and signs */
    EXPRESSION_VALUES = 4096            /* of a tensor, and of all inputs */
};

typedef struct expression_error {
    int  at, length;        /* where, in UTF-16 units; `at` also counts bytes, as the text before is ASCII */
    char why[300];                      /* a sentence; "": no error */
} expression_error;

typedef struct expression_step {        /* computes x[i] from the x of earlier steps */
    enum { EXPRESSION_INPUT, EXPRESSION_NUMBER, EXPRESSION_ONE, EXPRESSION_TWO, EXPRESSION_POWER } kind;
    gra_tensor *(*one)(gra_tape *t, gra_tensor *x);
    gra_tensor *(*two)(gra_tape *t, gra_tensor *a, gra_tensor *b);
    int         a, b;                   /* the operands' steps; INPUT: a is its number */
    double      number;                 /* NUMBER's value, POWER's exponent */
    int         at, length;             /* what an error points at */
    char        name[EXPRESSION_NAME];  /* "": none */
} expression_step;

typedef struct expression_input {
    int       step;
    gra_shape shape;
    bool      free, random;             /* random: randn(...); neither: a number of the text, `value` */
    double    value;
} expression_input;

typedef struct expression {
    const char      *text;
    int              at, depth, steps, inputs;
    int              result;            /* the last statement's step */
    size_t           values;            /* of all inputs */
    expression_step  step[EXPRESSION_STEPS];
    expression_input input[EXPRESSION_INPUTS];
    expression_error error;
} expression;

/* Returns 0, or -1 and e->error. The text is borrowed. */
int expression_parse(expression *e, const char *text);

/* The product of matrices; or element by element, if a or b is a single number. */
gra_tensor *expression_beside(gra_tape *t, gra_tensor *a, gra_tensor *b);

#endif
