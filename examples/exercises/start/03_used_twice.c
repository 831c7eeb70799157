/* 03 used_twice: what is used twice gets both gradients.
 *
 *     u = x w
 *     v = u + x
 *     loss = u v
 *
 * Here x stands on two lines, and so does u. When x changes by a little, the loss changes by way of u and
 * by way of v, and both changes add up. So the gradient of a value is the sum over all its uses of
 * (gradient of the result) times (slope of the result by the value). On the way back that is one habit:
 * never dx = ..., always dx += ...
 *
 * The second point is order: hand a gradient on only when it is complete. du has a part from loss = u v and
 * a part from v = u + x; what u = x w hands on to x and w must be made of both.
 *
 * A struct value is a number with its gradient (exercises.h). Write used_twice:
 *   - compute u->data and v->data, and return the loss (this is there);
 *   - then walk back and add to u->grad, v->grad, x->grad and w->grad what this loss gives to them. Its own
 *     gradient is not 1 but dloss, for the loss may be part of a larger sum.
 * u->grad and v->grad are 0 when you begin; x->grad and w->grad hold what other uses of x and w have left
 * there. And x and w may be one and the same value.
 */
#include "exercises.h"

double used_twice(struct value *x, struct value *w, struct value *u, struct value *v, double dloss)
{
    u->data = x->data * w->data;
    v->data = u->data + x->data;
    const double loss = u->data * v->data;
    (void)dloss;                                        /* TO DO: the gradients */
    return loss;
}
