/* 20 positions: a learned vector for each position in the text.
 *
 * Attention does not see order. Exchange two tokens in X of exercise 16, and the same rows of Y are
 * exchanged, with the same numbers in them: "dog bites man" is "man bites dog". So each position has a
 * vector, which is learned like any other parameter and is added to the token there (Gehring et al. 2017,
 * section 3.1; GPT):
 *
 *     y[b][i] = x[b][i] + weight[first + i]              x (batch, time, dim), weight (context_length, dim)
 *
 * Row i of weight is the vector of position i, in every text of the batch. `first` is how many tokens came
 * before x: 0, unless a text comes in pieces. A text has at most context_length positions: if first + time is
 * more, there is no vector, and the tape must have an error (gra_slice's error will do, or report your own
 * with gra_fail).
 *
 * Write it as a layer, a struct that points at its parameter:
 *   positions_init     makes the parameter "weight" in the scope, drawn from N(0, 1) as in PyTorch's
 *                      nn.Embedding: gra_param(scope, "weight", gra_init_normal(mean, std), GRA_SHAPE(...)).
 *                      The model owns it, and that is all that saving, optimisers and the gradient check
 *                      need.
 *   positions_forward  computes y with ops of core/gradus.h. gra_slice(t, x, d, start, end) is x[start:end]
 *                      along dimension d. gra_add stretches (time, dim) over a batch.
 */
/* 20 positions, solved.
 *
 * The rows from first to first + time are a slice of weight. As (time, dim) it is aligned at the right with
 * (batch, time, dim), and so stretched over the batch: each text gets the same rows, and the gradient of a
 * row is the sum over all texts (exercise 05). Rows for positions that no token has get the gradient 0: they
 * are learned from longer texts.
 */
#include "exercises.h"

void positions_init(struct positions *p, gra_scope scope, int context_length, int dim)
{
//| (void)scope, (void)context_length, (void)dim;                                       /* TO DO */
//| p->weight = NULL;
    p->weight = gra_param(scope, "weight", gra_init_normal(0, 1), GRA_SHAPE(context_length, dim));
}

gra_tensor *positions_forward(gra_tape *t, const struct positions *p, gra_tensor *x, int first)
{
//| (void)t, (void)p, (void)first;                                                      /* TO DO */
//| return x;
    const int time = gra_dim(x, 1);
    return gra_add(t, x, gra_slice(t, p->weight, 0, first, first + time));
}
