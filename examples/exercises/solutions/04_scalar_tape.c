/* 04 scalar_tape, solved.
 *
 * One function appends; the operations differ only in a value and two slopes. A leaf is a node whose in[] are
 * NULL, and they must be set: on a tape that is used again they may hold old pointers.
 *
 * The sweep runs from the newest node to the oldest. Whatever is computed from a node comes after it, so when
 * the sweep reaches a node, all its uses have added to its gradient. No sorting, no recursion, and each node
 * is visited once: a value that is doubled fifty times has 2^50 paths from y to it, but 51 nodes. Nodes after
 * y have the gradient 0, so they pass nothing on. gra_backward of this library is the same loop, with tensors
 * instead of scalars.
 */
#include "exercises.h"
#include <math.h>

static struct scalar *append(struct scalar_tape *t, double value, struct scalar *a, double slope_a,
                             struct scalar *b, double slope_b)
{
    struct scalar *y = &t->node[t->n++];
    *y = (struct scalar){ value, 0, { a, b }, { slope_a, slope_b } };
    return y;
}

struct scalar *tape_leaf(struct scalar_tape *t, double value)
{
    return append(t, value, NULL, 0, NULL, 0);
}

struct scalar *tape_add(struct scalar_tape *t, struct scalar *a, struct scalar *b)
{
    return append(t, a->value + b->value, a, 1, b, 1);
}

struct scalar *tape_mul(struct scalar_tape *t, struct scalar *a, struct scalar *b)
{
    return append(t, a->value * b->value, a, b->value, b, a->value);
}

struct scalar *tape_tanh(struct scalar_tape *t, struct scalar *a)
{
    const double y = tanh(a->value);
    return append(t, y, a, 1 - y * y, NULL, 0);
}

void tape_backward(struct scalar_tape *t, struct scalar *y)
{
    for (int i = 0; i < t->n; i++)
        t->node[i].grad = 0;
    y->grad = 1;
    for (int i = t->n - 1; i >= 0; i--)
        for (int k = 0; k < 2; k++)
            if (t->node[i].in[k])
                t->node[i].in[k]->grad += t->node[i].grad * t->node[i].slope[k];
}
