/* formula.h: the reference of an exercise as a text, in the notation of the exercise (../README.md, "The
 * notation"): read into trees, computed for the numbers of a case, and changed by mistakes.
 *
 * A formula is a list of lines, `y[k,i] = x[k,i] * w[i]  # the product`. The right side of each is a tree of
 * nodes. An element of a line is computed and kept when something reads it. So a line may read itself at an
 * earlier place, as a recurrence does. A mistake is a tree in place of a node: `instead` names the tree. So
 * mistakes have the formula's notation, and are computed by the same code. */
#ifndef EXERCISES_FORMULA_H
#define EXERCISES_FORMULA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NODES = 60000, NAMES = 40, LINES = 48, LETTERS = 10, DIMS = 5, CHILDREN = 6, FUNCTIONS = 24 };

/* NUMBER; SIZE, LETTER: of an index; READ: an element; HERE: a line computed where it is read, with one
 * mistake; PLUS: terms; TIMES: factors and divisors; POWER; CALL: a function; TEST: [a < b], 1 or 0;
 * CHOICE: [a < b] ? x : y; OVER: sum, mean or max over an index. */
enum kind { NUMBER, SIZE, LETTER, READ, HERE, PLUS, TIMES, POWER, CALL, TEST, CHOICE, OVER };

struct node {
    enum kind kind;
    double    number;                   /* NUMBER */
    int       of;                       /* READ, HERE: a name; SIZE, LETTER, OVER: a letter; CALL: a function;
                                           TEST: a comparison */
    int       n, child[CHILDREN];       /* READ: the indices; OVER: what is added up */
    bool      minus[CHILDREN];          /* PLUS: is subtracted; TIMES: divides */
    int       by[DIMS];                 /* READ: see at_place() */
    bool      largest;                  /* OVER: max */
    int       divisor, from, to;        /* OVER: nodes, or NONE: 1, 0, the size. A target: see fill() */
    int       kept;                     /* OVER: a function that each partial sum passes through, or NONE */
    int       was, with;                /* HERE: the node that is replaced, and its replacement */
    int       line;                     /* the line of the node */
    unsigned  scope;                    /* the letters that have a value here, as bits */
};
enum { NONE = -1 };

struct name {
    char text[16], gloss[48];           /* gloss: what a sentence calls it; "": its text */
    int  dims, dim[DIMS];               /* a letter each */
    int  line;                          /* the line that computes it; NONE: it is given */
    bool whole;                         /* declared int */
    int  low, high;                     /* nodes: its range when it is drawn; NONE */
    bool adds;                          /* an output that is added to its old numbers */
    int  held;                          /* the name of the old numbers; NONE: they are 0 */
    bool right;                         /* an output that was compared, and is right */
    /* computed by its line, and given to the answer: no mistake is in this line */
    bool input;
};

struct line {
    int target, tree;                   /* target: a READ of the name at the place where it is stored */
    /* blank lines end paragraphs; a line of special 0, 1, ... has -1, -2, ... */
    int paragraph;
    uint64_t uses;                      /* the lines that it needs, itself too, as bits */
};

/* A function of up to three numbers, in addition to sqrt, exp, log, ... */
struct judge_function {
    const char *name;
    int         n;                      /* how many numbers */
    double    (*f)(const double *x);
};

/* The numbers of a case: sizes of the letters, arrays of the given names, and elements computed so far. */
struct numbers {
    int           size[LETTERS];
    const double *data[NAMES];
    double       *made[NAMES];
    char         *state[NAMES];         /* of each element: 0; 1 while it is being computed; 2 when it is */
    size_t        count[NAMES];
};

struct formula {
    struct node                  node[NODES];
    struct name                  name[NAMES];
    struct line                  line[LINES];
    struct { char c, size[16]; } letter[LETTERS];
    struct judge_function        function[FUNCTIONS];
    /* the nodes of the text; the nodes after them belong to mistakes */
    int                          own;
    /* usual: without specials */
    int                          nodes, names, lines, usual, letters, functions;
    int                          instead[NODES], at[LETTERS];
    struct numbers              *now;
    const char                  *text, *p;      /* the text that is being read, and the place in it */
    int                          reading;       /* the line that is being read */
    bool                         past_end;      /* a number past the end of an array was read */
    bool                         tensors, ops;  /* the answer's arrays are tensors; and it is made of ops */
    double                       unwritten;     /* what outputs hold before they are written */
    unsigned long long           work;          /* nodes computed so far */
};

/* Reads declarations and lines. `functions` is NULL, or ends with a name of NULL. Errors of the
 * text are findings of the judge (judge_wrong). */
void formula_start(struct formula *f, const struct judge_function *functions);
void formula_size(struct formula *f, const char *is);           /* "k rows" */
/* "int ids[i] in 0..v-1  # gloss": its name */
int  formula_given(struct formula *f, const char *is);
void formula_lines(struct formula *f, const char *lines, int special);  /* special: NONE, or which */

/* Prepares a case with sizes in the order of the letters; the caller sets `data` of each given name. */
void   formula_case(struct formula *f, struct numbers *of, const int *size);
double formula_value(struct formula *f, int node);              /* of a node without letters; case `now` */
double formula_element(struct formula *f, int name, size_t i);

/* Forgets the elements of all lines that need one of these lines (bits), in the case `now`. */
void formula_forget(struct formula *f, uint64_t lines);

/* sentences.c: writes nodes and names for a sentence, and the place of a READ as in C, "k * n + i".
 * The texts are static, twelve in turn. */
const char *formula_text(const struct formula *f, int node);
const char *formula_name_text(const struct formula *f, int name);
const char *formula_place(const struct formula *f, int node);

int formula_name(const struct formula *f, const char *text);    /* NONE: unknown */
int formula_clone(struct formula *f, int node);                 /* of a node; its children are shared */
/* a new one, in the line and scope of `like` */
int formula_node(struct formula *f, enum kind kind, int like);

#endif
