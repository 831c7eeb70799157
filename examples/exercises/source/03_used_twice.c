/* 03 used_twice: a value used twice gets both gradients.
 *
 *     u = x w
 *     v = u + x
 *     loss = u v
 *
 * Here x appears on two lines, and so does u. When x changes a little, the loss changes through u and through
 * v, and the two changes add up. So the gradient of a value is the sum over all its uses of (gradient of the
 * result) times (slope of the result with respect to the value). On the way back this becomes a habit: never
 * dx = ..., always dx += ...
 *
 * The second point is order: pass a gradient on only when it is complete. du has a part from loss = u v and a
 * part from v = u + x; what u = x w passes on to x and w must include both.
 *
 * A struct value is a number with its gradient (exercises.h). Complete used_twice:
 *   - it computes u->data, v->data and the loss, which it returns (this is given);
 *   - now walk back, and add the gradients of this loss to u->grad, v->grad, x->grad and w->grad. The loss
 *     itself has the gradient dloss, not 1, because it may be part of a larger sum.
 * u->grad and v->grad are 0 when you begin; x->grad and w->grad already hold the gradients of other uses of x
 * and w. And x and w may be the same value.
 */
/* 03 used_twice, solved.
 *
 * The three lines forward become three blocks back, in the opposite order. So every use of a value has been
 * visited before the line that computes the value. Each block adds to the gradients of the values on the
 * right of its line, and to nothing else. That is all of reverse-mode differentiation; a tape only records
 * the blocks while the forward runs.
 *
 * If x and w are the same value, x->grad and w->grad are the same memory, and the two += of the last block
 * give d(x x)/dx = 2x without further code.
 */
#include "exercises.h"

double used_twice(struct value *x, struct value *w, struct value *u, struct value *v, double dloss)
{
    u->data = x->data * w->data;
    v->data = u->data + x->data;
    const double loss = u->data * v->data;
//| (void)dloss;                                        /* TO DO: the gradients */
//| return loss;

    u->grad += dloss * v->data;                         /* loss = u v */
    v->grad += dloss * u->data;

    u->grad += v->grad;                                 /* v = u + x */
    x->grad += v->grad;

    x->grad += u->grad * w->data;                       /* u = x w */
    w->grad += u->grad * x->data;
    return loss;
}
