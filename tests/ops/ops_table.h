/* The table of all ops, for tests of every op: its gradient and values, float32 against float64, large
 * tensors cut into chunks, inputs without a gradient or missing, memory that runs out (all in test_ops.c),
 * and the detection of wrong gradients (test_mutants.c). */
#ifndef GRADUS_TESTS_OPS_TABLE_H
#define GRADUS_TESTS_OPS_TABLE_H

#include "core/op.h"

struct op_case {
    const char   *name;
    const char   *op;                   /* the op under test, by the name it has on the tape */
    gra_mode      mode;                 /* GRA_TRAIN for dropout, with a seeded generator */
    int           nin;
    gra_check_in  in[4];
    gra_check_fn *f;                    /* y of the inputs; arg is not used */
    double        tol;                  /* of the gradient check */
    bool          flat; /* a tensor's gradient is 0 everywhere: the check reports that this tests nothing */
    /* y's elements as a function of the elements of in[0], and of in[1] if there are two inputs, in C's
     * double; NULL: not compared */
    double      (*formula)(double a, double b);
};

extern struct op_case op_cases[];
extern const int op_cases_count;

/* An answer or a refusal of a single op, in a step in which x is (2, 3) with the values 1 to 6. */
struct op_fact {
    int            line;                /* in ops_table.c */
    const char    *sentence;            /* the expected error; NULL: f itself compares */
    gra_tensor  *(*f)(gra_tape *t, gra_tensor *x);
    const struct op_fact *next;
};

extern const struct op_fact *op_facts;  /* the first of a list */
extern int op_facts_count;

#endif
