/* 26 tied_weights: the judge. The road by the logits is looked at alone first, which a choice of e and
 * dlogits allows. */
#include "judge.h"

enum { MOST = 60 };

static const char *const slips[] = {
    "de holds only what comes by the logits: the road through h is missing",
    "de holds only what comes through h: in the logits e stands a second time",
    "de is overwritten: accumulate with +=, for e may have other uses",
    "a token that comes twice gets the gradient of its last place alone: add both",
    "the derivative of tanh is missing on the road through h: 1 - h^2",
    "the derivative of tanh is 1 - h^2: h is the tanh already, not its argument",
    "the derivative of tanh is 1 - h^2, not 1 - h",
    "the derivative of tanh is 1 - h^2, not 1 + h^2",
    "the derivative of tanh is 1 - h^2: h (1 - h) is that of a sigmoid",
    "the derivative of tanh is 1 - h^2, and h = tanh(e[id]): here e[id] was squared",
    "the road through h ends in row i of e: it ends in row ids[i]",
    "both roads are there, but halved: e is used twice, its gradients are added, not averaged",
    "what comes by the logits goes to row ids[i] alone: every row j of e takes part in the logits",
    "the sign of what comes through h is wrong",
    "the sign of what comes by the logits is wrong",
    "what came through h overwrote what the logits had left in these rows: add it",
    "what comes by the logits is stored, place after place, not added: each i has a share in row j",
    "in the logits' road e[ids[i]] was taken for h_i: what is multiplied is the tanh",
    "in the road through h, h was taken for e: dh is the sum of dlogits e",
    "in the road through h, e[ids[i]] was taken for e[j]: each logit has a row of its own",
    "dh is not begun with 0 for each i and d",
    "in the logits' road dlogits was read as its transpose: it has n rows of vocab numbers",
    "in the road through h, dlogits was read as its transpose: it has n rows of vocab numbers",
    "in the road through h, e was read as its transpose: it has vocab rows of dim numbers",
    "in the logits' road the factor h is missing: each logit has h_i[d] e[j][d] in its sum",
    "in the logits' road h was read as its transpose: it has n rows of dim numbers",
    "the derivative of tanh is 1 - h^2, not (1 - h)^2",
    "the derivative of tanh is 1 - h^2, not h",
    "in the logits' road the factor is h, not 1 - h^2",
    "dh holds the last logit's share alone: it is the sum over all of them", NULL };

enum { SLIPS = sizeof slips / sizeof *slips - 1 };

/* The road by the logits, and that through h, as they are and with slips. */
struct roads {
    double logits[MOST], own[MOST], stored[MOST], raw[MOST], turned[MOST], no_factor[MOST];
    double turned_h[MOST], square[MOST], by_y[MOST], slopes[MOST], last_j[MOST];
    double h[MOST], last[MOST], no_tanh[MOST], twice_tanh[MOST], linear[MOST], plus[MOST], sigmoid[MOST];
    double of_e[MOST], row_i[MOST], with_h[MOST], with_own[MOST], running[MOST], turned_dlogits[MOST];
    double turned_e[MOST];
    bool   used[MOST];
};

static void travel(struct roads *r, const double *e, const double *dlogits, const int *ids, int n, int vocab,
                   int dim)
{
    double sum = 0;                                     /* never begun anew */
    for (int i = 0; i < n; i++)
        for (int d = 0; d < dim; d++) {
            const int to = ids[i] * dim + d;
            const double y = tanh(e[to]), slope = 1 - y * y;
            double dh = 0, with_h = 0, with_own = 0, turned_dlogits = 0, turned_e = 0;
            for (int j = 0; j < vocab; j++) {
                const double g = dlogits[i * vocab + j], turned = dlogits[j * n + i];
                r->logits[j * dim + d] += g * y;
                r->stored[j * dim + d] = g * y;
                r->raw[j * dim + d] += g * e[to];
                r->turned[j * dim + d] += turned * y;
                r->slopes[j * dim + d] += g * slope;
                r->no_factor[j * dim + d] += g;
                r->turned_h[j * dim + d] += g * tanh(e[ids[(d * n + i) / dim] * dim + (d * n + i) % dim]);
                r->own[to] += g * y;
                dh += g * e[j * dim + d];
                with_h += g * y;
                with_own += g * e[to];
                turned_dlogits += turned * e[j * dim + d];
                turned_e += g * e[d * vocab + j];
            }
            sum += dh;
            r->h[to] += dh * slope;
            r->last[to] = dh * slope;
            r->no_tanh[to] += dh;
            r->twice_tanh[to] += dh * (1 - tanh(y) * tanh(y));
            r->by_y[to] += dh * y;
            r->last_j[to] += dlogits[i * vocab + vocab - 1] * e[(vocab - 1) * dim + d] * slope;
            r->square[to] += dh * (1 - y) * (1 - y);
            r->linear[to] += dh * (1 - y);
            r->plus[to] += dh * (1 + y * y);
            r->sigmoid[to] += dh * y * (1 - y);
            r->of_e[to] += dh * (1 - e[to] * e[to]);
            r->row_i[i % vocab * dim + d] += dh * slope;
            r->with_h[to] += with_h * slope;
            r->with_own[to] += with_own * slope;
            r->running[to] += sum * slope;
            r->turned_dlogits[to] += turned_dlogits * slope;
            r->turned_e[to] += turned_e * slope;
            r->used[to] = true;
        }
}

static void backward(const char *part, const double *e, const double *dlogits, const int *ids, int n, int vocab,
                     int dim)
{
    double h[MOST], want[MOST], wrong[SLIPS][MOST], added[MOST], a, b;
    double *de = judge_room((size_t)(vocab * dim));
    char says[160];
    struct judge_mistake mistakes[SLIPS + 2] = { 0 };
    struct roads r = { 0 };
    judge_part("%s", part);
    travel(&r, e, dlogits, ids, n, vocab, dim);
    for (int i = 0; i < n * dim; i++)
        h[i] = tanh(e[ids[i / dim] * dim + i % dim]);
    for (int i = 0; i < vocab * dim; i++) {
        const double was = de[i] = 0.5 * i - 3;
        a = was + r.logits[i], b = was + r.h[i];
        const double in[] = {
            a, b, r.logits[i] + r.h[i], a + r.last[i], a + r.no_tanh[i], a + r.twice_tanh[i], a + r.linear[i],
            a + r.plus[i], a + r.sigmoid[i], a + r.of_e[i], a + r.row_i[i], was + (r.logits[i] + r.h[i]) / 2,
            b + r.own[i], a - r.h[i], b - r.logits[i], r.used[i] ? r.last[i] : a, r.stored[i] + r.h[i],
            b + r.raw[i], a + r.with_h[i], a + r.with_own[i], a + r.running[i], b + r.turned[i],
            a + r.turned_dlogits[i], a + r.turned_e[i], b + r.no_factor[i], b + r.turned_h[i],
            a + r.square[i], a + r.by_y[i], b + r.slopes[i], a + r.last_j[i] };
        want[i] = a + r.h[i];
        for (int s = 0; s < SLIPS; s++)
            wrong[s][i] = in[s];
    }
    for (int s = 0; s < SLIPS; s++)
        mistakes[s] = (struct judge_mistake){ slips[s], wrong[s] };
    tied_backward(e, ids, h, dlogits, de, n, vocab, dim);
    judge_guarded("de", de, (size_t)(vocab * dim));
    for (int i = 0; i < vocab * dim; i++)
        added[i] = de[i] - (0.5 * i - 3);
    if (judge_combination(added, r.logits, r.h, (size_t)(vocab * dim), &a, &b)) {
        snprintf(says, sizeof says, "%.4g times what comes by the logits was added, and %.4g times what comes "
                 "through h: wanted each once", a, b);
        mistakes[SLIPS] = (struct judge_mistake){ says, de };
    }
    judge_numbers("de", GRA_SHAPE(vocab, dim), de, want, 1e-12, mistakes);
}

void judge_exercise(void)
{
    double *e = judge_draw(1, MOST, -1.5, 1.5), *dlogits = judge_draw(2, MOST, -1, 1);
    for (int i = 0; i < 8; i++)                         /* rows 2 and 3 of e are twice 0 and 1, and */
        e[8 + i] = 2 * e[i];
    for (int i = 0; i < 3 * 4; i += 4)                  /* their dlogits minus half as large: dh is 0 */
        dlogits[i + 2] = -dlogits[i] / 2, dlogits[i + 3] = -dlogits[i + 1] / 2;
    backward("by the logits alone: here nothing comes through h", e, dlogits, (int[]){ 1, 0, 3 }, 3, 4, 4);

    e = judge_draw(5, MOST, -1.5, 1.5), dlogits = judge_draw(6, MOST, -1, 1);
    backward("three tokens, all different", e, dlogits, (int[]){ 3, 0, 4 }, 3, 6, 2);
    backward("a token that comes twice", e, dlogits, (int[]){ 1, 3, 1, 2 }, 4, 5, 3);
    backward("more tokens than the vocabulary has", e, dlogits, (int[]){ 2, 0, 2, 1, 1, 2, 0 }, 7, 3, 4);
    backward("one token, one number", e, dlogits, (int[]){ 1 }, 1, 2, 1);
}
