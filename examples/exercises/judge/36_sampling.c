/* 36 sampling: the judge. */
#include "judge.h"

enum { MOST = 64, U = 64 };

struct given {
    const double   *x;                          /* logits, or probabilities */
    int             n;
    struct sampling how;
};

/* sample_token is judged after its steps: mistakes in them are not what is wrong there. */
static bool steps_are_right;

static bool mistake_of(const char *what, const char *says)
{
    return !steps_are_right && slip_of("%s%s", what, says);
}

static bool mistake(const char *says)
{
    return mistake_of("", says);
}

static void at_temperature(const double *x, double *p, int n, double t)
{
    const bool none = mistake("the temperature makes no difference: divide the logits by it, before e^x");
    const bool times = mistake("the logits are multiplied by the temperature: divide");
    const bool squared = mistake("the temperature is squared: divide by it once");
    const bool root = mistake("the temperature is subtracted from the logits: divide them by it");
    const bool root_of = mistake("the logits are divided by the root of the temperature: divide by it");
    const bool raw = mistake("e^x was not divided by the sum");
    const bool by_last = mistake("e^x is divided by the last e^x: add up all, with +=");
    const bool last = mistake("at temperature 0, of equal logits the last was taken: take the first");
    const bool shared = mistake("at temperature 0, equal logits share the probability: take the first");
    const bool warm =
        mistake("at temperature 0 this is the softmax: all probability belongs to the largest logit");
    const bool all = mistake("at temperature 0 all tokens are equally likely: only the largest logit is");
    const bool zeroth = mistake("at temperature 0 this is always token 0: take that with the largest logit");
    const bool cold = mistake("all probability belongs to the largest logit: only at temperature 0 it does");
    const int from = mistake("logit 0 is left out of the search for the largest") && n > 1;
    const int to = n - (mistake("the last logit is left out of the search for the largest") && n > 1);
    const double by = none || root || t == 0 ? 1 : times ? 1 / t : squared ? t * t : root_of ? sqrt(t) : t;
    int best = from;
    for (int i = from + 1; i < to; i++)
        best = x[i] > x[best] || (last && x[i] == x[best]) ? i : best;
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i] = (t == 0 && !warm) || cold ? (shared ? x[i] == x[best] : all || i == (zeroth ? 0 : best))
                                                : exp((x[i] - x[best]) / by);
    sum = by_last ? p[n - 1] : sum;
    for (int i = 0; i < n && !raw; i++)
        p[i] /= sum;
}

/* Keeps `most` of the most likely, or until their sum is enough. */
static void keep(double *p, int n, int most, double enough, const char *what)
{
    const bool by_id =
        mistake_of(what, " takes the tokens in the order of their ids: begin with the most likely");
    const bool least = mistake_of(what, " takes the least likely tokens: begin with the most likely");
    const bool larger =
        mistake("of equally likely tokens the one with the largest id was kept: keep the smallest");
    const int without = mistake_of(what, " never keeps token 0: the search begins with it") ? 0
                      : mistake_of(what, " never keeps the last token: the search ends with it") ? n - 1 : -1;
    const bool again = mistake_of(what, " takes the most likely token again and again: mark what is taken");
    const bool raw = mistake_of(what, " does not divide what it keeps by its sum");
    const bool whole = mistake_of(what, " divides by the sum of all tokens: divide by that of the kept ones");
    const bool even = mistake_of(what, " makes all that it keeps equally likely: divide each by their sum");
    const bool sorted = mistake("the probabilities are sorted now: p_i must remain that of token i");
    const bool stay = mistake_of(what, " leaves what it drops as it was: set it to 0");
    const bool stay_too = mistake_of(what, " leaves what it drops, divided by the sum too: set it to 0");
    bool lost = false;
    int order[MOST], count = 0;
    double sum = 0, was[MOST], key[MOST];
    for (int i = 0; i < n; i++) {                       /* sorted by insertion */
        int at = i;
        was[i] = p[i], key[i] = i == without ? -1 : p[i];
        for (; at > 0 && !by_id && (least ? key[i] < key[order[at - 1]] : key[i] > key[order[at - 1]]
                                    || (larger && key[i] == key[order[at - 1]])); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    while (count < n && count < most && sum < enough)
        sum += p[order[count++]];
    if (enough <= 1) {
        const bool above = mistake("top-p stops when the sum is above top_p: it is enough to reach it");
        const bool below = mistake("the token with which the sum reaches top_p is missing: it is kept too");
        lost = mistake("the token with which the sum reaches top_p was dropped, but is in the sum that the "
                       "others were divided by: keep it");
        const bool each = mistake("each p is compared with top_p: compare the sum of those that are kept");
        const bool rest = mistake("each p below 1 - top_p was dropped: sum up the most likely ones");
        const bool tail = mistake("this keeps a sum of 1 - top_p: keep top_p");
        const bool part = mistake("top_p * n tokens are kept: keep as few as have a sum of top_p");
        const bool part_up =
            mistake("top_p * n tokens, rounded up, are kept: keep as few as have a sum of top_p");
        const bool one = mistake("top-p keeps only the most likely token: go on until the sum reaches top_p");
        count = one ? 1 : count;
        count += above && sum == enough && count < n, count -= below && count > 1;
        if (tail)
            for (count = 0, sum = 0; count < n && sum < 1 - enough;)
                sum += p[order[count++]];
        for (int i = count = each || rest ? n : count; (each || rest) && i-- > 0;)
            count -= count > 1 && p[order[i]] < (each ? enough : 1 - enough);
        count = part ? (int)fmax(1, enough * n) : part_up ? (int)ceil(enough * n) : count;
    } else {
        const bool more = mistake("top-k keeps one token too many");
        const bool fewer = mistake("top-k keeps one token too few");
        const bool equals = mistake("top-k keeps all that are as likely as the k-th: keep exactly k");
        const bool none = mistake("top-k drops all that are as likely as the first one that is dropped: keep "
                                  "exactly k");
        while (none && count < n && count > 1 && p[order[count]] == p[order[count - 1]])
            count--;
        count += more && count < n, count -= fewer && count > 1;
        while (equals && count < n && p[order[count]] == p[order[count - 1]])
            count++;
    }
    count -= without >= 0 && count == n && n > 1;       /* that one is the last in the order */
    double kept = 0, all = 0;
    for (int i = 0; i < n; i++) {
        kept += i < count ? was[order[i]] : 0, all += was[i];
        p[order[i]] = i < count - (lost && count > 1) || stay_too ? was[order[i]] : 0;
    }
    for (int i = 0; i < n; i++)
        p[i] = even && p[i] > 0 ? 1.0 / count : stay && p[i] == 0 ? was[i]
             : again ? (i == order[0] ? 1.0 / count : 0) : p[i] / (raw ? 1 : whole ? all : kept);
    for (int i = 0; i < n && sorted; i++)
        p[i] = i < count ? was[order[i]] / (raw ? 1 : kept) : 0;
}

static int drawn(const double *p, int n, double u)
{
    const bool turned = slip("the condition is turned round: take the first token for which u < sum");
    const bool other = slip("1 - u was used: u itself is compared with the sums");
    const bool apart = slip("p is not used: this is the token at u * n");
    const bool own = slip("u is compared with p_i: compare it with the sum up to p_i");
    const bool equal = slip("a token whose sum is equal to u is drawn: the condition is u < sum");
    const bool back = slip("the sums begin at the last token: begin at the first");
    const bool next = slip("this is the token after the one that was hit");
    const bool before = slip("the sum must contain p_i itself: this is the token after the one that was hit, "
                             "or the first") && n > 1;
    const bool before_last = slip("the sum must contain p_i itself: this is the token after the one that was "
                                  "hit, or the last");
    const bool late = slip("p_0 is missing in the sum: it begins with token 0");
    const bool zero =
        slip("if the sum stays below u, the answer is not token 0, but the last whose p is not 0");
    const bool past = slip("if the sum stays below u, the answer is the last token whose p is not 0");
    const bool best_last =
        slip("if the sum stays below u, the answer is not the most likely, but the last whose p is not 0");
    double sum = 0;
    int last = 0, best = 0;
    u = other ? 1 - u : u;
    for (int at = 0; at < n; at++) {
        const int i = back ? n - 1 - at : at;
        best = p[i] > p[best] ? i : best;
        last = p[i] > 0 ? i : last;
        sum = own ? p[i] : sum + (late && at == 0 ? 0 : p[i]);
        if (turned ? u > sum : u < sum || (equal && u == sum))
            return apart ? (int)(u * n) : before_last && i == n - 1 ? i
                 : next || before || before_last ? (i + 1) % n : i;
    }
    return best_last ? best : zero ? 0 : past ? n - 1 : last;
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

/* A mistake: the sum goes from the most likely token to the least likely. */
static int drawn_by_size(const double *p, int n, double u)
{
    bool used[MOST] = { false };
    double sum = 0;
    int most = 0;
    for (int k = 0; k < n && sum <= u; k++) {
        for (most = 0; used[most];)
            most++;
        for (int i = 0; i < n; i++)
            most = !used[i] && p[i] > p[most] ? i : most;
        sum += p[most], used[most] = true;
    }
    return most;
}

static void sampled(double *out, void *arg)
{
    const struct given *g = arg;
    const bool p_first = slip("top-p was applied before top-k: it needs what top-k has left");
    const bool no_k = slip("top-k is missing");
    const bool no_p = slip("top-p is missing");
    const bool cold = slip("the temperature is missing");
    const bool twice = slip("the temperature is used twice");
    const bool late = slip("the temperature comes last: top-p needs the probabilities that it gives");
    const bool by_size = slip("the token was drawn from the most likely down: draw_from goes through the "
                              "tokens by their ids");
    const double t = g->how.temperature;
    double p[MOST];
    steps_are_right = true;
    at_temperature(g->x, p, g->n, cold || late ? 1 : twice ? t * t : t);
    if (p_first && !no_p)
        keep(p, g->n, g->n, g->how.top_p, "top-p");
    if (!no_k)
        keep(p, g->n, g->how.top_k, 2, "top-k");
    if (!p_first && !no_p)
        keep(p, g->n, g->n, g->how.top_p, "top-p");
    steps_are_right = false;
    double sum = 0;
    for (int i = 0; i < g->n && late; i++)
        sum += p[i] = p[i] > 0 ? pow(p[i], 1 / t) : 0;
    for (int i = 0; i < g->n && late; i++)
        p[i] /= sum;
    for (int i = 0; i < U; i++)
        out[i] = by_size ? drawn_by_size(p, g->n, (i + 0.5) / U) : drawn(p, g->n, (i + 0.5) / U);
}

enum what { SOFTMAX, TOP_K, TOP_P, DRAW, SAMPLE };

/* What top-k, or top-p, was asked for so far, and what it kept: a mistake must fit all of it. */
static struct {
    struct given in[8];
    double       got[8 * MOST];
    int          n, size;
} part;

static void all_kept(double *out, void *arg)
{
    for (int i = 0; i < part.n; out += part.in[i++].n)
        (*(enum what *)arg == TOP_K ? kept_k : kept_p)(out, &part.in[i]);
}

static void compare_kept(enum what what, const struct given *g, const double *p, const double *want)
{
    int kept = 0, expected = 0, others = 0, wrong = 0;
    if (what == TOP_P && part.in[0].how.top_k)
        part.n = part.size = 0;
    memcpy(part.got + part.size, p, (size_t)g->n * sizeof *p);
    part.in[part.n++] = *g, part.size += g->n;
    while (wrong < g->n && fabs(p[wrong] - want[wrong]) <= 1e-12)
        wrong++;
    const char *why = NULL;
    if (wrong < g->n && (why = judge_slip(GRA_SHAPE(part.size), part.got, 1e-12, all_kept, &what)))
        judge_wrong("p[%d]: got %.*g, expected %.*g\nlikely: %s", wrong, judge_digits(p[wrong], want[wrong]),
                    p[wrong], judge_digits(p[wrong], want[wrong]), want[wrong], why);
    for (int i = 0; i < g->n; i++)
        kept += p[i] != 0, expected += want[i] != 0, others += (p[i] != 0) != (want[i] != 0);
    if (others)
        judge_clue("%d of %d tokens are kept: expected %d%s", kept, g->n, expected,
                   kept == expected ? ", but others" : "");
    else
        judge_clue("the right tokens are kept: divide each of them by their sum");
    judge_numbers("p", GRA_SHAPE(g->n), p, want, 1e-12);
}

/* u just below and above each sum. */
static void draws_exactly(const double *p, int n)
{
    double sum = 0;
    for (int i = 0; i < n - 1; i++) {
        sum += p[i];
        for (int above = 0; above < 2; above++) {
            const int got = draw_from(p, n, sum + (above ? 1e-11 : -1e-11));
            if (got != i + above)
                judge_wrong("for u = p_0 + ... + p_%d %s 1e-11, got token %d, expected %d: add up and "
                            "compare doubles, no floats, without an eps", i, above ? "+" : "-", got,
                            i + above);
        }
    }
}

static void judge(enum what what, const double *x, int n, struct sampling how)
{
    static judge_reference *const of[] = { softmax_of, kept_k, kept_p, drawn_of, sampled };
    static const char *const name[] = { "p", NULL, NULL, "the tokens for u = 0/64, 1/64, ...: token ",
                                        "the tokens for u = 0.5/64, 1.5/64, ...: token " };
    struct given g = { x, n, how };
    double *p = judge_room((size_t)n), *given = judge_room((size_t)n), got[U], want[U];
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
    of[what](want, &g);
    bool same = what >= DRAW;
    for (int i = 0; i < U && what >= DRAW; i++)
        same &= got[i] == got[0];
    for (int i = 0; i < U && same; i++)
        if (want[i] != got[0])
            judge_wrong("got token %g for every u, expected token %g for u = %g: is u used%s?", got[0],
                        want[i], (i + (what == DRAW ? 0 : 0.5)) / U,
                        what == DRAW ? "" : ", and is more than one token kept");
    judge_guarded("p", p, (size_t)n);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i];
    if ((what == TOP_K || what == TOP_P) && !(sum > 0))
        judge_wrong("all p are now %g: no token was kept, but the most likely one is in any case", p[0]);
    if (what == SAMPLE && how.temperature == 0)
        judge_clue("at temperature 0 every u draws the most likely token");
    judge_unchanged(what == DRAW ? "p" : "logits", given, x, (size_t)n);
    for (int i = 0; i < n && what == SOFTMAX; i++)
        if (!isfinite(p[i]))
            judge_wrong("p[%d]: got %g of the logits %g, %g, ... at temperature %g: %s", i, fabs(p[i]), x[0],
                        x[1], how.temperature, fabs(x[0]) < 100 && how.temperature != 0
                        ? "e^x of these is finite, so what is it divided by?" : how.temperature == 0
                        ? "nothing can be divided by 0: this temperature is a case of its own" : x[0] > 0
                        ? "e^x is infinite, or all are 0: from logit / temperature subtract the largest "
                          "logit / temperature"
                        : "all e^x are 0: subtract the largest logit from all first (begin the search for it "
                          "at -INFINITY, or with the first logit)");
    if (what == TOP_K || what == TOP_P)
        compare_kept(what, &g, p, want);
    else
        judge_against(name[what], GRA_SHAPE(what < DRAW ? n : U), what < DRAW ? p : got, 1e-12, of[what], &g);
}

void judge_exercise(void)
{
    const double x[6] = { 1, 2.5, -0.5, 2, 0.25, 2.25 }, large[3] = { 1e4, 1e4 - 2, 0 };
    const double small[3] = { -1e4 - 2, -1e4, -2e4 }, first[3] = { 2, 0.5, 1 }, last[4] = { 1, -1, 0, 3 };
    const double equal[5] = { 1, 3, 2, 3, -1 }, p[7] = { 0.375, 0.0625, 0.25, 0, 0.125, 0, 0.1875 };
    const double q[7] = { 0.125, 0.375, 0.25, 0, 0.0625, 0, 0.1875 };
    const double ties[6] = { 0.125, 0.25, 0.125, 0.25, 0.125, 0.125 }, full[4] = { 0.25, 0.125, 0.5, 0.125 };
    const double draws[6] = { 0, 0.25, 0.125, 0, 0.5, 0.125 }, short_of_1[4] = { 0.25, 0.375, 0.25, 0 };
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
    judge(SOFTMAX, first, 3, (struct sampling){ .temperature = 0 });
    judge(SOFTMAX, last, 4, (struct sampling){ .temperature = 0 });
    judge_part("softmax of a single logit");
    judge(SOFTMAX, x, 1, (struct sampling){ .temperature = 2 });
    judge(SOFTMAX, x, 1, (struct sampling){ .temperature = 0 });
    for (int k = 3; k > 0; k--) {
        judge_part("top-k, k = %d", k);
        judge(TOP_K, p, 7, (struct sampling){ .top_k = k });
    }
    judge_part("top-k: equally likely tokens");
    judge(TOP_K, ties, 6, (struct sampling){ .top_k = 4 });
    judge_part("top-k, k = n and more");
    judge(TOP_K, full, 4, (struct sampling){ .top_k = 4 });
    judge(TOP_K, p, 7, (struct sampling){ .top_k = 60 });
    judge_part("top-p");                    /* each of these numbers tells other mistakes apart */
    judge(TOP_P, q, 7, (struct sampling){ .top_p = 0.15 });
    judge(TOP_P, q, 7, (struct sampling){ .top_p = 0.95 });
    judge(TOP_P, q, 7, (struct sampling){ .top_p = 0.74 });
    judge_part("top-p that is reached exactly");
    judge(TOP_P, q, 7, (struct sampling){ .top_p = 0.625 });
    judge_part("top-p: equally likely tokens");
    judge(TOP_P, ties, 6, (struct sampling){ .top_p = 0.7 });
    judge_part("top_p = 1");
    judge(TOP_P, full, 4, (struct sampling){ .top_p = 1 });
    judge(TOP_P, q, 7, (struct sampling){ .top_p = 1 });
    judge_part("draws");
    judge(DRAW, draws, 6, (struct sampling){ 0 });
    judge_part("a draw for which rounding has left the sum too small");
    judge(DRAW, short_of_1, 4, (struct sampling){ 0 });
    judge_part("draws very near to a sum");
    draws_exactly((const double[]){ 0.1, 0.3, 0.05, 0.35, 0.2 }, 5);
    judge_part("sample_token at temperature 1 and 2, with all tokens");
    judge(SAMPLE, x, 6, (struct sampling){ .temperature = 1, .top_k = 60, .top_p = 1 });
    judge(SAMPLE, x, 6, (struct sampling){ .temperature = 2, .top_k = 60, .top_p = 1 });
    judge_part("sample_token with top-k");
    judge(SAMPLE, x, 6, (struct sampling){ .temperature = 1, .top_k = 3, .top_p = 1 });
    judge_part("sample_token: the order of its steps");
    judge(SAMPLE, x, 6, (struct sampling){ .temperature = 2, .top_k = 4, .top_p = 0.58 });
    judge_part("sample_token for %d tokens", MOST);
    judge(SAMPLE, judge_draw(36, MOST, -2, 2), MOST,
          (struct sampling){ .temperature = 0.5, .top_k = 9, .top_p = 0.9 });
    judge_part("sample_token at temperature 0, and of a single token");
    judge(SAMPLE, x, 6, (struct sampling){ .temperature = 0, .top_k = 60, .top_p = 1 });
    judge(SAMPLE, x, 1, (struct sampling){ .temperature = 1, .top_k = 3, .top_p = 0.5 });
}
