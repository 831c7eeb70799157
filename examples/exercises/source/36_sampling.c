/* 36 sampling: which token comes next?
 *
 * A model gives a logit for each of n tokens, and one token must be chosen. If the most likely token is
 * always chosen, the text soon repeats itself. If a token is drawn from the softmax, now and then it is
 * absurd. Between the two are:
 *
 *   temperature   p = softmax(logits / temperature). Below 1 likely tokens become still more likely, above 1
 *                 all become more alike. 0 means the limit: probability 1 for the largest logit (the first of
 *                 equals), 0 for the others. Logits of 1e4 occur (see exercise 08).
 *   top-k         keeps the k most likely tokens; the others get the probability 0 (Fan et al. 2018).
 *   top-p         keeps the most likely tokens, as few as have a sum of at least top_p (Holtzman et al. 2020,
 *                 nucleus sampling): many where the model is unsure, few where it is sure.
 *
 * Of equally likely tokens, those with the smallest ids are kept. After top-k, and again after top-p, the
 * kept p are divided by their sum, and so sum to 1 again. With p = 0.5 0.125 0.25 0.125:
 *
 *     top-k, k = 2          0.667  0      0.333  0
 *     top-p, top_p = 0.75   0.667  0      0.333  0        0.5 + 0.25 is enough
 *     top-p, top_p = 0.8    0.571  0.143  0.286  0        0.5 + 0.25 is not, 0.5 + 0.25 + 0.125 is
 *
 * To draw, take u, uniform in [0, 1), and then the first token i for which u < p_0 + p_1 + ... + p_i.
 * Rounding may leave the sum of all p a little below u: then take the last token whose p is not 0.
 *
 * Write these four functions (keep_top_k and keep_top_p change p in place), and sample_token, which applies
 * temperature, top-k and top-p, and then draws. u is given, so that the result can be judged. n is at most
 * 64.
 */
/* 36 sampling, solved.
 *
 * top-k and top-p take tokens in the order of their probability, and differ only in when they stop. In top-p
 * the sum is tested before a token is taken, so the token that reaches top_p is taken too, and there is
 * always at least one. The order of the steps matters: top-p is about the probabilities after temperature and
 * top-k, which sum to 1 again.
 *
 * In the draw each token has an interval of [0, 1) of length p, and u is in exactly one. With u < sum a token
 * of probability 0, whose interval is empty, is never drawn, not even if u is 0.
 */
#include "exercises.h"

//{
enum { MOST = 64 };

//}
void softmax_at(const double *logits, double *p, int n, double temperature)
{
//| (void)logits, (void)p, (void)n, (void)temperature;          /* TO DO */
    int best = 0;
    double sum = 0;
    for (int i = 1; i < n; i++)
        best = logits[i] > logits[best] ? i : best;
    for (int i = 0; i < n; i++)
        sum += p[i] = temperature == 0 ? i == best : exp((logits[i] - logits[best]) / temperature);
    for (int i = 0; i < n; i++)
        p[i] /= sum;
}

//{
/* Keeps the most likely tokens: at most `most` of them, and none once their sum is enough. */
static void keep(double *p, int n, int most, double enough)
{
    bool kept[MOST] = { false };
    double sum = 0;
    for (int count = 0; count < n && count < most && sum < enough; count++) {
        int best = -1;
        for (int i = 0; i < n; i++)
            if (!kept[i] && (best < 0 || p[i] > p[best]))
                best = i;
        kept[best] = true;
        sum += p[best];
    }
    for (int i = 0; i < n; i++)
        p[i] = kept[i] ? p[i] / sum : 0;
}

//}
void keep_top_k(double *p, int n, int k)
{
//| (void)p, (void)n, (void)k;                                  /* TO DO: changes p in place */
    keep(p, n, k, INFINITY);
}

void keep_top_p(double *p, int n, double top_p)
{
//| (void)p, (void)n, (void)top_p;                              /* TO DO: changes p in place */
    keep(p, n, n, top_p);
}

int draw_from(const double *p, int n, double u)
{
//| (void)p, (void)n, (void)u;                                  /* TO DO */
//| return 0;
    int last = 0;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += p[i];
        if (p[i] > 0)
            last = i;
        if (u < sum)
            return i;
    }
    return last;
}

int sample_token(const double *logits, int n, const struct sampling *how, double u)
{
//| (void)logits, (void)n, (void)how, (void)u;                  /* TO DO */
//| return 0;
    double p[MOST];
    softmax_at(logits, p, n, how->temperature);
    keep_top_k(p, n, how->top_k);
    keep_top_p(p, n, how->top_p);
    return draw_from(p, n, u);
}
