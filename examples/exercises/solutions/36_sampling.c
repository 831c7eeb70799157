/* 36 sampling, solved.
 *
 * top-k and top-p take tokens in the order of their probability, and differ only in when they stop. In top-p
 * the sum is tested before a token is taken, so the token that reaches top_p is taken too, and there is
 * always at least one. The order of the steps matters: top-p is about the probabilities after temperature and
 * top-k, which sum to 1 again.
 *
 * In the draw each token has an interval of [0, 1) of length p, and u is in exactly one. With u < sum a token
 * of probability 0, whose interval is empty, is never drawn, not even by u = 0.
 */
#include "exercises.h"

enum { MOST = 64 };

void softmax_at(const double *logits, double *p, int n, double temperature)
{
    int best = 0;
    double sum = 0;
    for (int i = 1; i < n; i++)
        best = logits[i] > logits[best] ? i : best;
    for (int i = 0; i < n; i++)
        sum += p[i] = temperature == 0 ? i == best : exp((logits[i] - logits[best]) / temperature);
    for (int i = 0; i < n; i++)
        p[i] /= sum;
}

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

void keep_top_k(double *p, int n, int k)
{
    keep(p, n, k, INFINITY);
}

void keep_top_p(double *p, int n, double top_p)
{
    keep(p, n, n, top_p);
}

int draw_from(const double *p, int n, double u)
{
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
    double p[MOST];
    softmax_at(logits, p, n, how->temperature);
    keep_top_k(p, n, how->top_k);
    keep_top_p(p, n, how->top_p);
    return draw_from(p, n, u);
}
