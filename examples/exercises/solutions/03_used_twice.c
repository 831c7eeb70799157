/* 03 used_twice, solved.
 *
 * Three lines forward, three blocks back, in the opposite order: so every use of a value has been visited
 * before the line that computes it. Each block adds to the gradients of the values on the right of its line,
 * and to nothing else. That is all of reverse-mode differentiation; a tape only records the blocks while the
 * forward runs.
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

    u->grad += dloss * v->data;                         /* loss = u v */
    v->grad += dloss * u->data;

    u->grad += v->grad;                                 /* v = u + x */
    x->grad += v->grad;

    x->grad += u->grad * w->data;                       /* u = x w */
    w->grad += u->grad * x->data;
    return loss;
}
