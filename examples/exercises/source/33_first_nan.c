/* 33 first_nan: where did it arise?
 *
 * A network has learned well. Then a token was added to its vocabulary. The new token's row of the embedding
 * starts with equal numbers, all 0.5. Since then the loss is nan whenever this token is among the ids.
 * Nothing more is known: everything computed from a nan is nan, so the loss does not show where the first one
 * arose.
 *
 * gra_trace_nan finds it. Turn it on here, at the beginning of gated_loss:
 *
 *     gra_trace_nan(t, true);
 *
 * and the judge shows you the sentence with which the tape then stops: which op made the first nan, inf or
 * -inf, from which numbers, and whether in the forward or in the backward. Follow its inputs to the cause,
 * and fix that. (After a first fix you may meet a second sentence. Read it just as carefully.)
 *
 * Your version must meet these conditions:
 *   - what was right stays right: for other tokens the loss and all gradients are as before, to 3 digits;
 *   - the new token counts in the loss like all the others, and learns: its row gets a gradient;
 *   - a row whose numbers differ by only 1e-9 gives no gradient above 1e5 either.
 */
/* 33 first_nan, solved.
 *
 * The trace reports that gra_div made nan from finite inputs, after the embedding: a row of equal numbers has
 * variance 0 and is 0 when centred, and 0 / 0 is nan. The exponential, the softmax and the logarithm only
 * passed it on.
 *
 * An eps beside the root, centred / (sqrt(variance) + eps), makes the forward right: 0 / eps is 0. But then
 * the trace reports that gra_sqrt made nan in the backward: its derivative, 1 / (2 sqrt(variance)), is
 * infinite at 0, times a gradient of 0. So the eps belongs under the root: sqrt(variance + eps) has at 0 the
 * finite slope 1 / (2 sqrt(eps)). Layer norm has it there for that reason. 1e-5 is small compared with a
 * variance of 1, and its root is large enough: a gradient becomes at most 1 / sqrt(1e-5) = 316 times as
 * large.
 *
 * Replacing a nan by 0 only hides it: the backward still computes 0 times infinity.
 */
#include "exercises.h"

/* Each row with mean 0 and variance 1. */
static gra_tensor *standardised(gra_tape *t, gra_tensor *x)
{
    gra_tensor *centred = gra_sub(t, x, gra_mean_dim(t, x, -1, true));
    gra_tensor *variance = gra_var_dim(t, x, -1, 0, true);
//| return gra_div(t, centred, gra_sqrt(t, variance));
    return gra_div(t, centred, gra_sqrt(t, gra_add_scalar(t, variance, 1e-5)));
}

/* x times its own sigmoid, 1 / (1 + e^-x). */
static gra_tensor *gated(gra_tape *t, gra_tensor *x)
{
    gra_tensor *under = gra_add_scalar(t, gra_exp(t, gra_neg(t, x)), 1);
    return gra_div(t, x, under);
}

/* The mean of -log of the probabilities that softmax gives to what comes next, for n ids. */
gra_tensor *gated_loss(gra_tape *t, const struct gated_net *net, const int *ids, const int *next, int n)
{
    gra_tensor *x = gra_embedding(t, net->embedding, ids, GRA_SHAPE(n));    /* (n, dim) */
    gra_tensor *h = gated(t, standardised(t, x));
    gra_tensor *logits = gra_linear(t, h, net->weight, net->bias);          /* (n, vocab) */
    gra_tensor *probabilities = gra_softmax(t, logits, -1);
    return gra_cross_entropy(t, gra_log(t, probabilities), next);
}
