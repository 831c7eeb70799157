/* 36 sampling: the judge. */
#include "judge.h"

enum { MOST = 9, U = 64 };

struct given {
    const double   *x;                          /* logits, or probabilities */
    int             n;
    struct sampling how;
};

static void at_temperature(const double *x, double *p, int n, double t)
{
    const bool none = slip("the temperature makes no difference: divide the logits by it, before e^x");
    const bool times = slip("the logits are multiplied by the temperature: divide");
    const bool squared = slip("the temperature is squared: divide by it once");
    const bool root = slip("the temperature is subtracted from the logits: divide them by it");
    const bool raw = slip("e^x was not divided by the sum");
    const bool last = slip("at temperature 0, of equal logits the last was taken: take the first");
    const bool shared = slip("at temperature 0, equal logits share the probability: take the first");
    const bool even =
        slip("at temperature 0 all tokens are equally likely now: all belongs to the largest logit");
    const bool zeroth = slip("at temperature 0 this is always token 0: take that with the largest logit");
    const bool warm =
        slip("at temperature 0 this is the softmax: all probability belongs to the largest logit");
    int best = 0;
    for (int i = 1; i < n; i++)
        best = x[i] > x[best] || (last && x[i] == x[best]) ? i : best;
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i] = t == 0 && !warm ? even ? 1 : (shared ? x[i] == x[best] : i == (zeroth ? 0 : best))
            : exp((x[i] - x[best]) * (none || root || t == 0 ? 1 : times ? t : squared ? 1 / t / t : 1 / t));
    for (int i = 0; i < n && !raw; i++)
        p[i] /= sum;
}

/* Keeps `most` of the most likely, or until their sum is enough. */
static void keep(double *p, int n, int most, double enough, const char *what)
{
    const bool by_id =
        slip_of("%s takes the tokens in the order of their ids: begin with the most likely", what);
    const bool least = slip_of("%s takes the least likely tokens: begin with the most likely", what);
    const bool larger =
        slip("of equally likely tokens the one with the largest id was kept: keep the smallest");
    const bool raw = slip_of("what %s keeps was not divided by its sum", what);
    const bool whole =
        slip_of("%s has divided by the sum of all tokens: divide by that of the kept ones", what);
    const bool even = slip_of("all that %s keeps are equally likely now: divide each by their sum", what);
    const bool sorted = slip("the probabilities are sorted now: p_i must remain that of token i");
    bool lost = false;
    int order[MOST], count = 0;
    double sum = 0, was[MOST];
    for (int i = 0; i < n; i++) {                       /* sorted by insertion */
        int at = i;
        for (; at > 0 && !by_id && (least ? p[i] < p[order[at - 1]] : p[i] > p[order[at - 1]]
                                    || (larger && p[i] == p[order[at - 1]])); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    memcpy(was, p, sizeof was);
    while (count < n && count < most && sum < enough)
        sum += p[order[count++]];
    if (enough <= 1) {
        const bool above = slip("top-p stops when the sum is above top_p: it is enough that it is reached");
        const bool below = slip("the token with which the sum reaches top_p is missing: it is kept too");
        lost = slip("the token with which the sum reaches top_p was dropped, but is in the sum that the "
                    "others were divided by: keep it");
        const bool each = slip("each p is compared with top_p: compare the sum of those that are kept");
        const bool rest = slip("each p below 1 - top_p was dropped: sum up the most likely ones");
        const bool tail = slip("this keeps a sum of 1 - top_p: keep top_p");
        count += above && sum == enough && count < n, count -= below && count > 1;
        if (tail)
            for (count = 0, sum = 0; count < n && sum < 1 - enough;)
                sum += p[order[count++]];
        for (int i = count; (each || rest) && i-- > 0;)
            count -= count > 1 && p[order[i]] < (each ? enough : 1 - enough);
        while (rest && count < n && p[order[count]] >= 1 - enough)
            count++;
    } else {
        const bool more = slip("top-k keeps one token too many");
        const bool fewer = slip("top-k keeps one token too few");
        const bool equals = slip("top-k keeps all that are as likely as the k-th: keep exactly k");
        count += more && count < n, count -= fewer && count > 1;
        while (equals && count < n && p[order[count]] == p[order[count - 1]])
            count++;
    }
    double kept = 0, all = 0;
    for (int i = 0; i < n; i++) {
        kept += i < count ? was[order[i]] : 0, all += was[i];
        p[order[i]] = i < count - (lost && count > 1) ? was[order[i]] : 0;
    }
    for (int i = 0; i < n; i++)
        p[i] = even && p[i] > 0 ? 1.0 / count : p[i] / (raw ? 1 : whole ? all : kept);
    for (int i = 0; i < n && sorted; i++)
        p[i] = i < count ? was[order[i]] / (raw ? 1 : kept) : 0;
}

static int drawn(const double *p, int n, double u)
{
    const bool own = slip("u is compared with p_i: compare it with the sum up to p_i");
    const bool equal = slip("a token whose sum is equal to u is drawn: the condition is u < sum");
    const bool back = slip("the sums begin at the last token: begin at the first");
    const bool next = slip("this is the token after the one that was hit");
    const bool before = slip("the sum must contain p_i itself: this is the token after the one that was hit, "
                             "or the first") && n > 1;
    const bool likeliest = slip("u is not used: this is always the most likely token");
    const bool late = slip("p_0 is missing in the sum: it begins with token 0");
    const bool never = slip("this is always the last token: draw the first for which u < p_0 + ... + p_i");
    const bool zero =
        slip("if the sum stays below u, the answer is not token 0, but the last whose p is not 0");
    const bool past = slip("if the sum stays below u, the answer is the last token whose p is not 0");
    double sum = 0;
    int last = 0, best = 0;
    for (int at = 0; at < n; at++) {
        const int i = back ? n - 1 - at : at;
        best = p[i] > p[best] ? i : best;
        last = p[i] > 0 ? i : last;
        sum = own ? p[i] : sum + (late && at == 0 ? 0 : p[i]);
        if (!likeliest && !never && (u < sum || (equal && u == sum)))
            return next || before ? (i + 1) % n : i;
    }
    return likeliest ? best : zero ? 0 : past ? n - 1 : last;
}

static void softmax_of(double *out, void *arg)
{
    const struct given *g = arg;
    at_temperature(g->x, out, g->n, g->how.temperature);
}

static void kept_k(double *out, void *arg)
{
    const struct given *g = arg;
    memcpy(out, g->x, (size_t)g->n * sizeof *out);
    keep(out, g->n, g->how.top_k, 2, "top-k");
}

static void kept_p(double *out, void *arg)
{
    const struct given *g = arg;
    memcpy(out, g->x, (size_t)g->n * sizeof *out);
    keep(out, g->n, g->n, g->how.top_p, "top-p");
}

static void drawn_of(double *out, void *arg)
{
    const struct given *g = arg;
    for (int i = 0; i < U; i++)
        out[i] = drawn(g->x, g->n, (double)i / U);
}

static void sampled(double *out, void *arg)
{
    const struct given *g = arg;
    const bool p_first = slip("top-p comes before top-k: it needs what top-k has left");
    const bool no_k = slip("top-k is missing");
    const bool no_p = slip("top-p is missing");
    const bool cold = slip("the temperature is missing");
    const bool late = slip("the temperature comes last: top-p needs the probabilities that it gives");
    const double t = g->how.temperature;
    double p[MOST];
    at_temperature(g->x, p, g->n, cold || late ? 1 : t);
    if (p_first && !no_p)
        keep(p, g->n, g->n, g->how.top_p, "top-p");
    if (!no_k)
        keep(p, g->n, g->how.top_k, 2, "top-k");
    if (!p_first && !no_p)
        keep(p, g->n, g->n, g->how.top_p, "top-p");
    double sum = 0;
    for (int i = 0; i < g->n && late; i++)
        sum += p[i] = p[i] > 0 ? pow(p[i], 1 / t) : 0;
    for (int i = 0; i < g->n && late; i++)
        p[i] /= sum;
    for (int i = 0; i < U; i++)
        out[i] = drawn(p, g->n, (i + 0.5) / U);
}

enum what { SOFTMAX, TOP_K, TOP_P, DRAW, SAMPLE };

static void judge(enum what what, const double *x, int n, struct sampling how)
{
    static judge_reference *const of[] = { softmax_of, kept_k, kept_p, drawn_of, sampled };
    static const char *const name[] = { "p", "p", "p", "the tokens for u = 0/64, 1/64, ...: token ",
                                        "the tokens for u = 0.5/64, 1.5/64, ...: token " };
    struct given g = { x, n, how };
    double *p = judge_room((size_t)n), *given = judge_room((size_t)n), got[U];
    memcpy(given, x, (size_t)n * sizeof *x);
    given[n] = what == DRAW ? 1 : given[n];             /* if it were read, this token would be drawn */
    if (what == TOP_K || what == TOP_P)
        memcpy(p, x, (size_t)n * sizeof *x);
    if (what == SOFTMAX)
        softmax_at(given, p, n, how.temperature);
    else if (what == TOP_K)
        keep_top_k(p, n, how.top_k);
    else if (what == TOP_P)
        keep_top_p(p, n, how.top_p);
    for (int i = 0; i < U && what >= DRAW; i++) {
        got[i] = what == DRAW ? draw_from(given, n, (double)i / U)
               : sample_token(given, n, &how, (i + 0.5) / U);
        if (!(got[i] >= 0 && got[i] < n))
            judge_wrong("%s: for u = %g, got token %g, but the tokens are 0 to %d", what == DRAW ? "draw_from"
                        : "sample_token", (i + (what == DRAW ? 0 : 0.5)) / U, got[i], n - 1);
    }
    judge_guarded("p", p, (size_t)n);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i];
    if ((what == TOP_K || what == TOP_P) && !(sum > 0))
        judge_wrong("all p are now %g: no token was kept, but the most likely one is in any case", p[0]);
    judge_unchanged(what == DRAW ? "p" : "logits", given, x, (size_t)n);
    for (int i = 0; i < n && what == SOFTMAX; i++)
        if (!isfinite(p[i]))
            judge_wrong("p[%d]: got %g of the logits %g, %g, ... at temperature %g: %s", i, fabs(p[i]), x[0],
                        x[1], how.temperature, !how.temperature
                        ? "nothing can be divided by 0: this temperature is a case of its own" : x[0] > 0
                        ? "e^x is infinite, or all are 0: from logit / temperature subtract the largest "
                          "logit / temperature"
                        : "all e^x are 0: subtract the largest logit from all first; its search begins at "
                          "-INFINITY, or with the first logit");
    judge_against(name[what], GRA_SHAPE(what < DRAW ? n : U), what < DRAW ? p : got, 1e-12, of[what], &g);
}

void judge_exercise(void)
{
    const double x[6] = { 1, 2.5, -0.5, 2, 0.25, 2.25 }, large[3] = { 1e4, 1e4 - 2, 0 };
    const double small[3] = { -1e4 - 2, -1e4, -2e4 };
    const double equal[5] = { 1, 3, 2, 3, -1 }, p[6] = { 0.0625, 0.25, 0.125, 0.375, 0, 0.1875 };
    const double ties[6] = { 0.125, 0.25, 0.125, 0.25, 0.125, 0.125 };
    const double draws[6] = { 0, 0.25, 0.125, 0, 0.5, 0.125 }, short_of_1[4] = { 0.25, 0.25, 0.375, 0 };
    judge_part("softmax at temperature 1, 0.5 and 3");
    for (int i = 0; i < 3; i++)
        judge(SOFTMAX, x, 6, (struct sampling){ .temperature = (const double[]){ 1, 0.5, 3 }[i] });
    judge_part("logits of 1e4");
    judge(SOFTMAX, large, 3, (struct sampling){ .temperature = 2 });
    judge_part("logits of -1e4");
    judge(SOFTMAX, small, 3, (struct sampling){ .temperature = 2 });
    judge_part("temperature 0");
    judge(SOFTMAX, x, 6, (struct sampling){ .temperature = 0 });
    judge(SOFTMAX, equal, 5, (struct sampling){ .temperature = 0 });
    for (int k = 3; k > 0; k--) {
        judge_part("top-k, k = %d", k);
        judge(TOP_K, p, 6, (struct sampling){ .top_k = k });
    }
    judge_part("top-k: equally likely tokens");
    judge(TOP_K, ties, 6, (struct sampling){ .top_k = 4 });
    judge_part("top-k, k = n and more");
    judge(TOP_K, p, 6, (struct sampling){ .top_k = 6 });
    judge(TOP_K, p, 6, (struct sampling){ .top_k = 60 });
    judge_part("top-p");
    judge(TOP_P, p, 6, (struct sampling){ .top_p = 0.7 });
    judge_part("top-p that is reached exactly");
    judge(TOP_P, p, 6, (struct sampling){ .top_p = 0.625 });
    judge_part("top-p: equally likely tokens");
    judge(TOP_P, ties, 6, (struct sampling){ .top_p = 0.7 });
    judge_part("a top_p that one token exceeds, and top_p = 1");
    judge(TOP_P, p, 6, (struct sampling){ .top_p = 0.1 });
    judge(TOP_P, p, 6, (struct sampling){ .top_p = 1 });
    judge_part("draws");
    judge(DRAW, draws, 6, (struct sampling){ 0 });
    judge_part("a draw for which rounding has left the sum too small");
    judge(DRAW, short_of_1, 4, (struct sampling){ 0 });
    judge(DRAW, short_of_1 + 1, 1, (struct sampling){ 0 });
    judge_part("sample_token");
    judge(SAMPLE, x, 6, (struct sampling){ .temperature = 1, .top_k = 60, .top_p = 1 });
    judge(SAMPLE, x, 6, (struct sampling){ .temperature = 2, .top_k = 60, .top_p = 1 });
    judge(SAMPLE, x, 6, (struct sampling){ .temperature = 1, .top_k = 3, .top_p = 1 });
    judge_part("sample_token: the order of its steps");
    judge(SAMPLE, judge_draw(37, MOST, -2, 2), MOST,
          (struct sampling){ .temperature = 4, .top_k = 4, .top_p = 0.7 });
    judge(SAMPLE, x, 6, (struct sampling){ .temperature = 2, .top_k = 4, .top_p = 0.58 });
    judge(SAMPLE, judge_draw(36, MOST, -2, 2), MOST,
          (struct sampling){ .temperature = 0.5, .top_k = 5, .top_p = 0.8 });
    judge_part("sample_token at temperature 0");
    judge(SAMPLE, x, 6, (struct sampling){ .temperature = 0, .top_k = 3, .top_p = 0.5 });
}
