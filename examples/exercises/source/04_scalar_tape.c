/* 04 scalar_tape: let the computer walk back.
 *
 * In exercise 03 you walked back through three lines by hand. A tape does this for any formula, as Andrej
 * Karpathy's micrograd does in Python: each operation appends a node that records its value, the nodes it was
 * computed from (in[0], in[1]), and how fast its value grows with theirs (slope[0], slope[1]). For y = a b:
 *
 *     value = a b,    in[0] = a, slope[0] = b,    in[1] = b, slope[1] = a
 *
 * The backward sweep then needs no formulas. It sets the gradient of y to 1 and all other gradients to 0, and
 * goes through the nodes. Each node adds to the gradients of the nodes it was computed from:
 *
 *     in[k]->grad += grad * slope[k]
 *
 * In which order? A node may pass its gradient on only when all its uses have added to it, and whatever is
 * computed from a node comes after it on the tape.
 *
 * The structs are in exercises.h. Write:
 *   tape_leaf      appends a node with this value and no inputs, and returns its address: it is
 *                  t->node[t->n], and then t->n grows by one. There is always room.
 *   tape_add, tape_mul, tape_tanh      append a + b, a b, tanh(a). The slope of tanh(a) is 1 - tanh(a)^2.
 *   tape_backward  leaves dy/d(node) in the gradient of every node on the tape, 0 where y does not depend on
 *                  it.
 * A tape is reset by setting n to 0: its nodes still hold the previous formula, so set every field that you
 * need. tape_backward may be called again, also for a different y.
 */
/* 04 scalar_tape, solved.
 *
 * One function appends; the operations differ only in a value and two slopes. In a leaf both in[] are NULL,
 * and must be set: on a tape that is used again they may hold old pointers.
 *
 * The sweep runs from the newest node to the oldest. Whatever is computed from a node comes after it, so when
 * the sweep reaches a node, all its uses have added to its gradient. There is no sorting and no recursion,
 * and each node is visited once: a value that is doubled fifty times has 2^50 paths from y to it, but 51
 * nodes. Nodes after y have the gradient 0, so they pass nothing on. gra_backward of this library is the same
 * loop, with tensors instead of scalars.
 */
#include "exercises.h"
#include <math.h>

//{
static struct scalar *append(struct scalar_tape *t, double value, struct scalar *a, double slope_a,
                             struct scalar *b, double slope_b)
{
    struct scalar *y = &t->node[t->n++];
    *y = (struct scalar){ value, 0, { a, b }, { slope_a, slope_b } };
    return y;
}

//}
struct scalar *tape_leaf(struct scalar_tape *t, double value)
{
//| (void)t, (void)value;
//| return NULL;                                        /* TO DO */
    return append(t, value, NULL, 0, NULL, 0);
}

struct scalar *tape_add(struct scalar_tape *t, struct scalar *a, struct scalar *b)
{
//| (void)t, (void)a, (void)b;
//| return NULL;                                        /* TO DO */
    return append(t, a->value + b->value, a, 1, b, 1);
}

struct scalar *tape_mul(struct scalar_tape *t, struct scalar *a, struct scalar *b)
{
//| (void)t, (void)a, (void)b;
//| return NULL;                                        /* TO DO */
    return append(t, a->value * b->value, a, b->value, b, a->value);
}

struct scalar *tape_tanh(struct scalar_tape *t, struct scalar *a)
{
//| (void)t, (void)a;
//| return NULL;                                        /* TO DO */
    const double y = tanh(a->value);
    return append(t, y, a, 1 - y * y, NULL, 0);
}

void tape_backward(struct scalar_tape *t, struct scalar *y)
{
//| (void)t, (void)y;                                   /* TO DO */
    for (int i = 0; i < t->n; i++)
        t->node[i].grad = 0;
    y->grad = 1;
    for (int i = t->n - 1; i >= 0; i--)
        for (int k = 0; k < 2; k++)
            if (t->node[i].in[k])
                t->node[i].in[k]->grad += t->node[i].grad * t->node[i].slope[k];
}
