/* 28 swiglu, solved.
 *
 * Three Linears and one product: the struct is made of structs, and forward reads like the formula. The
 * gate's silu is near 0 for negative z and near z for large z, so for each x anew the gate decides how much
 * of each hidden number passes. A single Linear and a relu cannot make such a product of two functions of x.
 */
#include "exercises.h"

void swiglu_init(struct swiglu *l, gra_scope scope, int dim, int hidden)
{
    gra_linear_init(&l->gate, gra_enter(scope, "gate_proj"), dim, hidden, false);
    gra_linear_init(&l->up, gra_enter(scope, "up_proj"), dim, hidden, false);
    gra_linear_init(&l->down, gra_enter(scope, "down_proj"), hidden, dim, false);
}

gra_tensor *swiglu_forward(gra_tape *t, const struct swiglu *l, gra_tensor *x)
{
    gra_tensor *gate = gra_silu(t, gra_linear_forward(t, &l->gate, x));             /* (..., hidden) */
    gra_tensor *up = gra_linear_forward(t, &l->up, x);                              /* (..., hidden) */
    return gra_linear_forward(t, &l->down, gra_mul(t, gate, up));
}
