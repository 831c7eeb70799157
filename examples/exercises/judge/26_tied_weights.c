/* 26 tied_weights: the judge. The road by the logits is looked at alone first, which a choice of e and
 * dlogits allows. */
#include "judge.h"

enum { MOST = 60 };

/* In the names L is the road by the logits, H the one through h. */
enum slip {
    NO_H = 1, NO_L, OVERWRITTEN, H_LAST, NO_TANH, TANH_TWICE, LINEAR, PLUS, SIGMOID, E_SQUARED, SQUARE,
    BY_Y, H_ROW_I, HALVED, L_OWN_ROW, L_ROW_I, H_MINUS, L_MINUS, H_STORED, H_STORED_AFTER, L_STORED,
    L_STORED_FIRST, L_RAW, L_SLOPE, L_NO_FACTOR, L_WITH_E, L_TURNED_H, H_WITH_H, H_WITH_OWN, H_TURNED_E,
    H_E_STRIDE, H_NO_FACTOR, H_OVER_I, DH_RUNS, DH_LAST, H_WITHIN, L_TURNED, H_TURNED, L_STRIDE, H_STRIDE,
    L_TANH, I_FROM_1, I_SHORT, D_FROM_1, D_SHORT, J_FROM_1, J_SHORT,
    L_BOTH, H_FIRST
};

static const char *const says[] = { "",
    [NO_H] = "de holds only what comes by the logits: the road through h is missing",
    [NO_L] = "de holds only what comes through h: in the logits e stands a second time",
    [OVERWRITTEN] = "de is overwritten: accumulate with +=, for e may have other uses",
    [H_LAST] = "a token that comes twice gets the gradient of its last place alone: add both",
    [NO_TANH] = "the derivative of tanh is missing on the road through h: 1 - h^2",
    [TANH_TWICE] = "the derivative of tanh is 1 - h^2: h is the tanh already, not its argument",
    [LINEAR] = "the derivative of tanh is 1 - h^2, not 1 - h",
    [PLUS] = "the derivative of tanh is 1 - h^2, not 1 + h^2",
    [SIGMOID] = "the derivative of tanh is 1 - h^2: h (1 - h) is that of a sigmoid",
    [E_SQUARED] = "the derivative of tanh is 1 - h^2, and h = tanh(e[id]): here e[id] was squared",
    [SQUARE] = "the derivative of tanh is 1 - h^2, not (1 - h)^2",
    [BY_Y] = "the derivative of tanh is 1 - h^2, not h",
    [H_ROW_I] = "the road through h ends in row i of e: it ends in row ids[i]",
    [HALVED] = "both roads are there, but halved: e is used twice, its gradients are added, not averaged",
    [L_OWN_ROW] = "what comes by the logits goes to row ids[i] alone: every row j of e is in the logits",
    [L_ROW_I] = "what comes by the logits goes to row i: logits[i][j] is made with row j of e",
    [H_MINUS] = "the sign of what comes through h is wrong",
    [L_MINUS] = "the sign of what comes by the logits is wrong",
    [H_STORED] = "what comes through h is stored with =, over what was there: add it with +=",
    [H_STORED_AFTER] = "what came through h overwrote what the logits had left in these rows: add it",
    [L_STORED] = "what comes by the logits is stored with =, over what was there: add it with +=",
    [L_STORED_FIRST] = "what comes by the logits is stored, not added: each i has a share in row j",
    [L_RAW] = "in the logits' road e[ids[i]] was taken for h_i: what is multiplied is the tanh",
    [L_SLOPE] = "in the logits' road the factor is h, not 1 - h^2",
    [L_NO_FACTOR] = "in the logits' road the factor h is missing: each logit has h_i[d] e[j][d] in its sum",
    [L_WITH_E] = "in the logits' road e[j] was taken for h_i: the derivative by e[j][d] is h_i[d]",
    [L_TURNED_H] = "in the logits' road h was read as its transpose: it has n rows of dim numbers",
    [H_WITH_H] = "in the road through h, h was taken for e: dh is the sum of dlogits e",
    [H_WITH_OWN] = "in the road through h, e[ids[i]] was taken for e[j]: each logit has a row of its own",
    [H_TURNED_E] = "in the road through h, e was read as its transpose: it has vocab rows of dim numbers",
    [H_E_STRIDE] = "in the road through h, row j of e was taken to begin at j vocab: it begins at j dim",
    [H_NO_FACTOR] = "in the road through h, the factor e[j][d] is missing: dh is the sum over j of dlogits e",
    [H_OVER_I] = "dh was summed over d, too: each d has a dh of its own, the sum over j alone",
    [DH_RUNS] = "dh is not begun with 0 for each i and d",
    [DH_LAST] = "dh holds the last logit's share alone: it is the sum over all of them",
    [H_WITHIN] = "what comes through h is added within the loop over j, where dh is not complete",
    [L_TURNED] = "in the logits' road dlogits was read as its transpose: it has n rows of vocab numbers",
    [H_TURNED] = "in the road through h, dlogits was read as its transpose: it has n rows of vocab numbers",
    [L_STRIDE] = "in the logits' road, row i of dlogits was taken to begin at i dim: it begins at i vocab",
    [H_STRIDE] = "in the road through h, row i of dlogits was taken to begin at i dim: it begins at i vocab",
    [L_TANH] = "in the logits' road tanh was applied to h: h is a tanh already",
    [I_FROM_1] = "the first token, i = 0, is left out: a loop does not begin at 0",
    [I_SHORT] = "the last token is left out: a loop over i ends too early",
    [D_FROM_1] = "the first column, d = 0, is left out: a loop does not begin at 0",
    [D_SHORT] = "the last column, d = dim - 1, is left out: a loop ends too early",
    [J_FROM_1] = "the first row of e, j = 0, is left out: the loop over j does not begin at 0",
    [J_SHORT] = "the last row of e, j = vocab - 1, is left out: the loop over j ends too early",
    [L_BOTH] = "in the logits' road the factor is h alone: 1 - h^2 belongs to the road through h",
    [H_FIRST] = "the road through h ends in row ids[0] for every token: it ends in row ids[i]", NULL };

struct tied {
    const double *e, *dlogits;
    const int    *ids;
    int           n, vocab, dim;
};

#define HAS(s) ((slips >> (s) & 1) != 0)

static double was(int i)
{
    return 0.5 * i - 3;
}

static double slope_of(uint64_t slips, double x, double y)
{
    return HAS(NO_TANH) ? 1 : HAS(TANH_TWICE) ? 1 - tanh(y) * tanh(y) : HAS(LINEAR) ? 1 - y
         : HAS(PLUS) ? 1 + y * y : HAS(SIGMOID) ? y * (1 - y) : HAS(E_SQUARED) ? 1 - x * x : HAS(SQUARE) ? (1 - y) * (1 - y)
         : HAS(BY_Y) ? y : 1 - y * y;
}

static void put(double *to, double x, bool stored)
{
    *to = stored ? x : *to + x;
}

/* Both roads, or in two passes one after the other. */
static void pass(uint64_t slips, const struct tied *k, bool by_logits, bool by_h, double *de)
{
    const int n = k->n, vocab = k->vocab, dim = k->dim;
    double given[MOST] = { 0 }, dh = 0;
    for (int i = HAS(I_FROM_1); i < n - HAS(I_SHORT); i++)
        for (int d = HAS(D_FROM_1); d < dim - HAS(D_SHORT); d++) {
            const int own = k->ids[i] * dim + d, at = d * n + i;
            const int to = HAS(H_ROW_I) ? i % vocab * dim + d : HAS(H_FIRST) ? k->ids[0] * dim + d : own;
            const double x = k->e[own], y = tanh(x), half = HAS(HALVED) ? 0.5 : 1;
            const double slope = half * (HAS(H_MINUS) ? -1 : 1) * slope_of(slips, x, y);
            dh = HAS(DH_RUNS) || (HAS(H_OVER_I) && d > 0) ? dh : 0;
            for (int j = HAS(J_FROM_1); j < vocab - HAS(J_SHORT); j++) {
                const double g = k->dlogits[i * vocab + j], turned = k->dlogits[j * n + i];
                const double stride = k->dlogits[i * dim + j], e = k->e[j * dim + d];
                const double gl = HAS(L_TURNED) ? turned : HAS(L_STRIDE) ? stride : g;
                const double gh = HAS(H_TURNED) ? turned : HAS(H_STRIDE) ? stride : g;
                const double l = HAS(L_RAW) ? x : HAS(L_SLOPE) ? 1 - y * y : HAS(L_NO_FACTOR) ? 1
                               : HAS(L_WITH_E) ? e : HAS(L_TANH) ? tanh(y) : HAS(L_BOTH) ? y * (1 - y * y)
                               : HAS(L_TURNED_H) ? tanh(k->e[k->ids[at / dim] * dim + at % dim]) : y;
                const int row = HAS(L_OWN_ROW) ? k->ids[i] : HAS(L_ROW_I) ? i % vocab : j;
                if (by_logits)
                    put(&de[row * dim + d], half * (HAS(L_MINUS) ? -1 : 1) * gl * l,
                        HAS(L_STORED) || HAS(L_STORED_FIRST));
                dh = (HAS(DH_LAST) ? 0 : dh) + gh * (HAS(H_WITH_H) ? y : HAS(H_WITH_OWN) ? x
                   : HAS(H_TURNED_E) ? k->e[d * vocab + j] : HAS(H_E_STRIDE) ? k->e[j * vocab + d]
                   : HAS(H_NO_FACTOR) ? 1 : e);
                if (by_h && HAS(H_WITHIN))
                    de[to] += dh * slope;
            }
            if (by_h && !HAS(H_WITHIN))
                put(&de[to], dh * slope - given[to], HAS(H_STORED) || HAS(H_STORED_AFTER));
            given[to] = HAS(H_LAST) ? dh * slope : 0;
        }
}

static void tied(uint64_t slips, double *de, void *arg)
{
    const struct tied *k = arg;
    const bool two = HAS(H_STORED_AFTER) || HAS(L_STORED_FIRST);
    for (int i = 0; i < k->vocab * k->dim; i++)
        de[i] = HAS(OVERWRITTEN) ? 0 : was(i);
    pass(slips, k, !HAS(NO_L), !HAS(NO_H) && !two, de);
    if (two)
        pass(slips, k, false, !HAS(NO_H), de);
}

static void backward(const char *part, const double *e, const double *dlogits, const int *ids, int n, int vocab,
                     int dim)
{
    struct tied k = { e, dlogits, ids, n, vocab, dim };
    const size_t size = (size_t)(vocab * dim);
    double *h = judge_room(MOST), *de = judge_room(size), *by_logits = judge_room(size), *by_h = judge_room(size);
    double added[MOST], a, b;
    char factors[160];
    judge_part("%s", part);
    tied((uint64_t)1 << NO_H, by_logits, &k);
    tied((uint64_t)1 << NO_L, by_h, &k);
    for (int i = 0; i < n * dim; i++)
        h[i] = tanh(e[ids[i / dim] * dim + i % dim]);
    for (int i = 0; i < vocab * dim; i++)
        de[i] = was(i), by_logits[i] -= was(i), by_h[i] -= was(i);
    tied_backward(e, ids, h, dlogits, de, n, vocab, dim);
    judge_guarded("de", de, size);
    for (int i = 0; i < vocab * dim; i++)
        added[i] = de[i] - was(i);
    const bool mixed = judge_combination(added, by_logits, by_h, size, &a, &b);
    if (mixed)
        snprintf(factors, sizeof factors, "%.4g times what comes by the logits was added, and %.4g times what comes "
                 "through h: wanted each once", a, b);
    judge_slips("de", GRA_SHAPE(vocab, dim), de, 1e-12, says, tied, &k, mixed ? factors : NULL);
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
