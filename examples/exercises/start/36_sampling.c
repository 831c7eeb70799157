/* 36 sampling: which token comes next?
 *
 * A model gives a logit for each of n tokens. To write a text, one token must be chosen: the most likely one
 * each time soon repeats itself, and drawing from the softmax now and then takes an absurd one. In between:
 *
 *   temperature   p = softmax(logits / temperature). Below 1 likely tokens become more likely, above 1 the
 *                 choice becomes more even. At 0 the limit is meant: probability 1 for the largest logit (of
 *                 equal ones the first), 0 for the others. (Logits of 1e4 occur: see exercise 08.)
 *   top-k         keeps the k most likely tokens; the others get the probability 0. (Fan et al. 2018)
 *   top-p         keeps as few of the most likely tokens as have a sum of at least top_p, so that many
 *                 remain where the model is unsure. (Holtzman et al. 2020: nucleus sampling)
 *
 * Of equally likely tokens, those with a smaller id are kept first. After each of the two, what is kept is
 * divided by its sum, so that it sums to 1 again. With p = 0.5 0.125 0.25 0.125,
 *
 *     top-k, k = 2:          0.667  0      0.333  0
 *     top-p, top_p = 0.75:   0.667  0      0.333  0       0.5 + 0.25 is enough
 *     top-p, top_p = 0.8:    0.571  0.143  0.286  0       0.5 + 0.25 + 0.125 is the least that is enough
 *
 * To draw, take u, uniform in [0, 1), and the first token i for which u < p_0 + p_1 + ... + p_i: it is hit
 * with probability p_i. Rounding may leave the whole sum a little below u: then take the last token whose p
 * is not 0.
 *
 * Write the four parts, and sample_token: temperature, then top-k, then top-p, then the draw. u is given, so
 * that the result can be judged. n is at most 64.
 */
#include "exercises.h"

void softmax_at(const double *logits, double *p, int n, double temperature)
{
    (void)logits, (void)p, (void)n, (void)temperature;          /* TO DO */
}

void keep_top_k(double *p, int n, int k)
{
    (void)p, (void)n, (void)k;                                  /* TO DO: changes p in place */
}

void keep_top_p(double *p, int n, double top_p)
{
    (void)p, (void)n, (void)top_p;                              /* TO DO: changes p in place */
}

int draw_from(const double *p, int n, double u)
{
    (void)p, (void)n, (void)u;                                  /* TO DO */
    return 0;
}

int sample_token(const double *logits, int n, const struct sampling *how, double u)
{
    (void)logits, (void)n, (void)how, (void)u;                  /* TO DO */
    return 0;
}
