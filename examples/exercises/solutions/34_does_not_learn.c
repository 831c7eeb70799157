/* 34 does_not_learn, solved.
 *
 * 1: gra_backward adds to the gradients, and they were never zeroed: each step followed the sum of all
 * gradients so far. That is momentum that never fades, and what it moves is a pendulum without friction.
 *
 * 2: gra_cross_entropy takes logits and does softmax itself. It was given probabilities, so softmax was done
 * twice. Probabilities are between 0 and 1: at best the right one is 1 and five are 0, from which the second
 * softmax makes e / (e + 5) = 0.35, and -log of it is 1.04.
 *
 * 3: gra_init_normal(0.5, 0) has mean 0.5 and standard deviation 0, so all weights were 0.5. Hidden units
 * that start alike compute the same and get the same gradient: they stay alike for ever, and eight of them do
 * the work of one. Drawn at random, with mean 0, they differ.
 */
#include "exercises.h"

double line_step(gra_tape *t, gra_model *m, gra_sgd *opt, const struct gra_linear *line, const double *x,
                 const double *y, int n)
{
    gra_begin(t, GRA_TRAIN, NULL);
    gra_tensor *guess = gra_linear_forward(t, line, gra_constant(t, x, GRA_SHAPE(n, 1)));
    gra_tensor *loss = gra_mse_loss(t, guess, gra_constant(t, y, GRA_SHAPE(n, 1)));
    gra_zero_grad(m);
    gra_backward(t, loss);
    gra_sgd_step(opt);
    return gra_item(loss);
}

gra_tensor *next_loss(gra_tape *t, const struct next_token *net, const int *ids, int n)
{
    gra_tensor *x = gra_embedding_forward(t, &net->tokens, ids, GRA_SHAPE(n));
    gra_tensor *logits = gra_linear_forward(t, &net->head, x);
    return gra_cross_entropy(t, logits, ids + 1);
}

void xor_init(struct xor_net *net, gra_scope scope)
{
    const gra_init weight = gra_init_normal(0, 0.5);
    gra_linear_init_with(&net->hidden, gra_enter(scope, "hidden"), 2, XOR_HIDDEN, true, weight);
    gra_linear_init_with(&net->out, gra_enter(scope, "out"), XOR_HIDDEN, 1, true, weight);
}
