/* One table of all ops, for all that is proved of every op: its gradient, its values, that float32 agrees
 * with float64, that large tensors may be cut into chunks, that inputs may want no gradient, that memory may
 * end (all in test_ops.c), and that a wrong gradient would be noticed (test_mutants.c). */
#ifndef GRADUS_TESTS_OPS_TABLE_H
#define GRADUS_TESTS_OPS_TABLE_H

#include "core/op.h"

struct op_case {
    const char   *name;
    const char   *op;                   /* the op under test, by the name it has on the tape */
    gra_mode      mode;                 /* GRA_TRAIN where something is dropped, with a seeded generator */
    int           nin;
    gra_check_in  in[4];
    gra_check_fn *f;                    /* y of the inputs; arg is not used */
    double        tol;                  /* of the gradient check */
    bool          flat; /* a tensor's gradient is 0 throughout: the check says that it tested nothing there */
    /* what y's elements are of in[0]'s, in C's double; NULL: not compared */
    double      (*formula)(double x);
};

extern const struct op_case op_cases[];
extern const int op_cases_count;

#endif
