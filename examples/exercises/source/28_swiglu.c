/* 28 swiglu: a feed-forward part with a gate.
 *
 * In GPT a block's feed-forward part is two Linears with a GELU between them. LLaMA's has three Linears
 * (Shazeer 2020): one computes values (up), one computes gates (gate), each value is multiplied by its gate,
 * and the third (down) maps them back to dim:
 *
 *     y = W_down (silu(W_gate x) * W_up x)            silu(z) = z / (1 + e^-z); * is element by element
 *
 *     x (..., dim)    W_gate, W_up (hidden, dim)    W_down (dim, hidden)    y (..., dim)
 *
 * There are no biases. Make the three Linears with the library's layer, in this order (so that a seed gives
 * the same numbers as in PyTorch) and with LLaMA's names:
 *
 *     gate_proj, up_proj, down_proj
 *
 * In the scope "ffn" the parameters are then ffn.gate_proj.weight and so on: gra_enter makes a scope within a
 * scope. layers.h describes gra_linear_init and gra_linear_forward.
 */
/* 28 swiglu, solved.
 *
 * Three Linears and one product: the struct is made of structs, and forward reads like the formula. The
 * gate's silu is near 0 for negative z and near z for large z, so for each x the gate decides how much of
 * each hidden number passes. A single Linear and a relu cannot make a product of two functions of x.
 */
#include "exercises.h"

void swiglu_init(struct swiglu *l, gra_scope scope, int dim, int hidden)
{
//| (void)l, (void)scope, (void)dim, (void)hidden;      /* TO DO */
    gra_linear_init(&l->gate, gra_enter(scope, "gate_proj"), dim, hidden, false);
    gra_linear_init(&l->up, gra_enter(scope, "up_proj"), dim, hidden, false);
    gra_linear_init(&l->down, gra_enter(scope, "down_proj"), hidden, dim, false);
}

gra_tensor *swiglu_forward(gra_tape *t, const struct swiglu *l, gra_tensor *x)
{
//| (void)t, (void)l;
//| return x;                                           /* TO DO */
    gra_tensor *gate = gra_silu(t, gra_linear_forward(t, &l->gate, x));             /* (..., hidden) */
    gra_tensor *up = gra_linear_forward(t, &l->up, x);                              /* (..., hidden) */
    return gra_linear_forward(t, &l->down, gra_mul(t, gate, up));
}
