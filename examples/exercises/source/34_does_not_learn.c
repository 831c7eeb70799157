/* 34 does_not_learn: three runs, three causes.
 *
 * Most mistakes in training do not crash anything. The loss simply does not fall as it should, and its curve
 * is the first clue to the reason. Here are three small runs that do not learn, each for a different reason,
 * and each can be fixed in one or two lines of its function.
 *
 *   1  A straight line through points. The loss falls, rises, falls again, and never settles: it oscillates.
 *      A smaller learning rate only makes it oscillate more slowly (so leave opt as it is).
 *   2  A model that predicts which of 6 tokens comes next, in a text that repeats itself. The loss falls from
 *      1.8 to 1.04 and no further, however sure the model becomes. It should come near 0.
 *   3  A net of 8 hidden units, out(tanh(hidden(x))), which should learn XOR: 0 for (0, 0) and (1, 1), 1 for
 *      (0, 1) and (1, 0). Two hidden units can do it, but the loss stays above 0.1. The forward, the loss and
 *      the optimiser are right: the cause is in how the parameters are initialised.
 *
 * Fix all three. The judge trains them in this order and looks at losses and gradients; you may print what
 * you like. The functions called here are described in core/gradus.h and layers/layers.h.
 */
/* 34 does_not_learn, solved.
 *
 * 1: gra_backward adds to the gradients, and they were never zeroed: each step followed the sum of all
 * gradients so far. That is momentum that never fades, and what it moves is a pendulum without friction.
 *
 * 2: gra_cross_entropy takes logits and does softmax itself. It was given probabilities, so softmax was done
 * twice. Probabilities are between 0 and 1: at best the right one is 1 and five are 0. The second softmax
 * turns the 1 into e / (e + 5) = 0.35, and -log of that is 1.04.
 *
 * 3: gra_init_normal(0.5, 0) has mean 0.5 and standard deviation 0, so all weights were 0.5. Hidden units
 * that start alike compute the same and get the same gradient: they stay alike for ever, and eight of them do
 * the work of one. Drawn at random, with mean 0, they differ.
 */
#include "exercises.h"

/* 1: one step of training of the line y = weight x + bias, by n points. Returns the loss. */
double line_step(gra_tape *t, gra_model *m, gra_sgd *opt, const struct gra_linear *line, const double *x,
                 const double *y, int n)
{
    gra_begin(t, GRA_TRAIN, NULL);
    gra_tensor *guess = gra_linear_forward(t, line, gra_constant(t, x, GRA_SHAPE(n, 1)));
    gra_tensor *loss = gra_mse_loss(t, guess, gra_constant(t, y, GRA_SHAPE(n, 1)));
//| gra_backward(t, loss);
//| gra_sgd_step(opt);
//| (void)m;
//| return gra_item(loss);
    gra_zero_grad(m);
    gra_backward(t, loss);
    gra_sgd_step(opt);
    return gra_item(loss);
}

/* 2: the loss of a model that predicts, after each of ids[0 .. n-1], the id that follows: ids[n] after the
 * last one. */
gra_tensor *next_loss(gra_tape *t, const struct next_token *net, const int *ids, int n)
{
    gra_tensor *x = gra_embedding_forward(t, &net->tokens, ids, GRA_SHAPE(n));
    gra_tensor *logits = gra_linear_forward(t, &net->head, x);
//| gra_tensor *probabilities = gra_softmax(t, logits, -1);
//| return gra_cross_entropy(t, probabilities, ids + 1);
    return gra_cross_entropy(t, logits, ids + 1);
}

/* 3: the parameters of the net for XOR. */
void xor_init(struct xor_net *net, gra_scope scope)
{
//| const gra_init weight = gra_init_normal(0.5, 0);
    const gra_init weight = gra_init_normal(0, 0.5);
//}
    gra_linear_init_with(&net->hidden, gra_enter(scope, "hidden"), 2, XOR_HIDDEN, true, weight);
    gra_linear_init_with(&net->out, gra_enter(scope, "out"), XOR_HIDDEN, 1, true, weight);
}
