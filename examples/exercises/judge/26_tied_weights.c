/* 26 tied_weights: the judge. The path through the logits is judged alone first, which a choice of e and
 * dlogits allows. */
#include "judge.h"

enum { MOST = 60 };

struct tied {
    const double *e, *dlogits;
    const int    *ids;
    int           n, vocab, dim;
    bool          logits, h;            /* the paths that count */
};

static double was(int i)
{
    return 0.5 * i - 3;
}

/* h[i][d], as the answer reads it */
static double h_of(const struct tied *k, int i, int d)
{
    const int row = slip("row ids[i] of h was read: h has a row for each i") ? k->ids[i] : i;
    if (slip("h of the first token is used for all: that of token i begins at h[i * dim]"))
        return tanh(k->e[k->ids[0] * k->dim + d]);
    return row < k->n ? tanh(k->e[k->ids[row] * k->dim + d]) : JUDGE_UNWRITTEN;
}

static double slope_of(double x, double y)
{
    const double t = tanh(y);
    return slip("the sign of what comes through h is wrong") ? y * y - 1
         : slip("the derivative of tanh is missing on the path through h: 1 - h^2") ? 1
         : slip("tanh was applied to h, already a tanh: the derivative of tanh is 1 - h^2") ? 1 - t * t
         : slip("1 - h is used: the derivative of tanh is 1 - h^2") ? 1 - y
         : slip("1 + h^2 is used: the derivative of tanh is 1 - h^2") ? 1 + y * y
         : slip("h (1 - h) is the derivative of a sigmoid: that of tanh is 1 - h^2") ? y * (1 - y)
         : slip("e[id] was squared: the derivative of tanh is 1 - h^2, with h = tanh(e[id])") ? 1 - x * x
         : slip("(1 - h)^2 is used: the derivative of tanh is 1 - h^2") ? (1 - y) * (1 - y)
         : slip("h is used: the derivative of tanh is 1 - h^2") ? y
         : slip("h^2 is used: the derivative of tanh is 1 - h^2") ? y * y
         : slip("dh is divided by 1 - h^2: multiply by it") ? 1 / (1 - y * y)
         : slip("dh is multiplied by 1 - h^2 twice: once") ? (1 - y * y) * (1 - y * y) : 1 - y * y;
}

/* dlogits[i][j], as one of the paths reads it */
static double dlogit(const struct tied *k, int i, int j, const char *path)
{
    return slip_of("%s, dlogits was read as its transpose: it has n rows of vocab numbers", path)
         ? k->dlogits[j * k->n + i]
         : slip_of("%s, dlogits[j] was read: row i begins at i vocab", path) ? k->dlogits[j]
         : slip_of("%s, row i of dlogits was read from i dim: it begins at i vocab", path)
         ? k->dlogits[i * k->dim + j] : k->dlogits[i * k->vocab + j];
}

/* The factor of dlogits[i][j] in de[j][d]. */
static double of_logit(const struct tied *k, int i, int j, int d)
{
    const int dim = k->dim, at = d * k->n + i;
    const double x = k->e[k->ids[i] * dim + d], y = h_of(k, i, d), e = k->e[j * dim + d];
    return slip("the sign of what comes through the logits is wrong") ? -y
         : slip("through the logits, e[ids[i]] is used instead of h_i, its tanh") ? x
         : slip("through the logits, the factor is 1 - h^2: it should be h itself") ? 1 - y * y
         : slip("through the logits, the factor h is missing: each logit sums h_i[d] e[j][d]") ? 1
         : slip("through the logits, e[j] is used instead of h_i: e[j][d] is multiplied by h_i[d]") ? e
         : slip("through the logits, tanh was applied to h: h is already a tanh") ? tanh(y)
         : slip("through the logits, the factor is h: 1 - h^2 belongs to the path through h")
         ? y * (1 - y * y)
         : slip("through the logits, h was read as its transpose: it has n rows of dim numbers")
         ? tanh(k->e[k->ids[at / dim] * dim + at % dim]) : y;
}

/* The factor of dlogits[i][j] in dh_i[d]. */
static double of_dh(const struct tied *k, int i, int j, int d)
{
    const double *e = k->e, x = e[k->ids[i] * k->dim + d];
    const int vocab = k->vocab;
    return slip("through h, h is used instead of e: dh is the sum of dlogits e") ? tanh(x)
         : slip("through h, e[ids[i]] is used instead of e[j]: each logit has a row of its own") ? x
         : slip("through h, e was read as its transpose: it has vocab rows of dim numbers") ? e[d * vocab + j]
         : slip("through h, row j of e was read from j vocab: it begins at j dim") ? e[j * vocab + d]
         : slip("through h, the factor e[j][d] is missing: dh is the sum over j of dlogits e") ? 1
         : e[j * k->dim + d];
}

/* Is token i also among tokens from, ..., to - 1? */
static bool is_among(const struct tied *k, int i, int from, int to)
{
    for (int at = from; at < to; at++)
        if (k->ids[at] == k->ids[i])
            return true;
    return false;
}

/* One pass over the tokens, on one path or both; over: what comes through the logits is stored, not added. */
static void pass(const struct tied *k, bool logits, bool h, bool over, double *de)
{
    const int n = k->n, dim = k->dim, vocab = k->vocab;
    const bool whole = slip("dh of a token contains that of the tokens before it: set it to 0 for each i");
    double dh = 0, of_before[MOST] = { 0 };
    for (int i = slip("the loop over i begins at 1"); i < n - slip("the loop over i ends too early"); i++)
        for (int d = slip("the loop over d begins at 1"); d < dim - slip("the loop over d ends early"); d++) {
            const int id = k->ids[i];
            const int row = slip("the path through h ends in row i of e: it ends in row ids[i]") ? i % vocab
                : slip("the path through h ends in row ids[0]: it ends in row ids[i]") ? k->ids[0] : id;
            const double x = k->e[id * dim + d], slope = slope_of(x, h_of(k, i, d));
            const bool first = slip("the first row of e, j = 0, is left out: the loop over j begins at 1");
            const bool last = slip("the last row of e is left out: the loop over j ends too early");
            const int end = slip("the loop over j goes to n: e has vocab rows") && n < vocab ? n
                          : slip("the loop over j goes to dim: e has vocab rows") && dim < vocab ? dim
                          : vocab - last;
            const bool early = slip("what comes through h is added within the loop over j: dh is incomplete");
            if (!slip("dh is not reset to 0 for each i and d")
                && (!slip("dh was summed over d too: each d has its own dh, the sum over j") || d == 0))
                dh = 0;
            for (int j = first; j < end; j++) {
                const int to = slip("the logits' gradient goes only to row ids[i]: it belongs in every row j")
                    ? id
                    : slip("the logits' gradient goes to row i: logits[i][j] is made from row j")
                    ? i % vocab : j;
                const double by = of_logit(k, i, j, d), e = of_dh(k, i, j, d);
                double *de_j = &de[to * dim + d];
                if (logits)
                    *de_j = (over ? 0 : *de_j) + by * dlogit(k, i, j, "through the logits");
                dh = slip("dh holds only the last logit's term: it is the sum over all") ? 0 : dh;
                dh += e * dlogit(k, i, j, "through h");
                de[row * dim + d] += h && early ? dh * slope : 0;
            }
            dh += whole ? of_before[d] : 0, of_before[d] = dh;
            const bool replaced = slip("what comes through h is stored with =, which loses what was there: "
                                       "use +=")
                || slip("what comes through h overwrites what the logits had added to these rows: add it");
            const bool once =
                (slip("a repeated token gets only the gradient of its last position: add all")
                 && is_among(k, i, i + 1, n))
                || (slip("a repeated token gets only the gradient of its first position: add all")
                    && is_among(k, i, 0, i));
            if (h && !early && !once)
                de[row * dim + d] = (replaced ? 0 : de[row * dim + d]) + dh * slope;
        }
}

static void tied(double *de, void *arg)
{
    const struct tied *k = arg;
    const bool h = k->h && !slip("de holds only what comes through the logits: the path through h is "
                                 "missing");
    const bool logits = !slip("what comes through the logits is missing: logits[i][j] uses e[j] directly");
    const bool anew = slip("de is overwritten: accumulate with +=, as e may have other uses");
    const double by = slip("both paths are there, but halved: add the two gradients") ? 0.5
                    : slip("both paths are divided by n: add them as they are") ? 1. / k->n : 1;
    const bool over =
        slip("what comes through the logits is stored with =, which loses what was there: use +=");
    const bool first = slip("what comes through the logits is stored: add it, as each i adds to row j");
    const bool two =
        slip("what comes through h overwrites what the logits had added to these rows: add it") || first;
    for (int i = 0; i < k->vocab * k->dim; i++)
        de[i] = anew ? 0 : was(i);
    pass(k, k->logits && logits, h && !two, over || first, de);
    if (two)
        pass(k, false, h, false, de);
    for (int i = 0; i < k->vocab * k->dim && by != 1; i++)
        de[i] = was(i) + (de[i] - was(i)) * by;
}

static void backward(const char *part, const double *e, const double *dlogits, const int *tokens,
                     int n, int vocab, int dim)
{
    const int *ids = judge_ids(tokens, (size_t)n);
    const int size = vocab * dim;
    double *h = judge_room(MOST), *de = judge_room((size_t)size), added[MOST], path[2][MOST], a, b;
    judge_part("%s", part);
    for (int k = 0; k < 2; k++)
        tied(path[k], &(struct tied){ e, dlogits, ids, n, vocab, dim, k == 0, k == 1 });
    for (int i = 0; i < n * dim; i++)
        h[i] = tanh(e[ids[i / dim] * dim + i % dim]);
    for (int i = 0; i < size; i++)
        de[i] = was(i), path[0][i] -= was(i), path[1][i] -= was(i);
    tied_backward(e, ids, h, dlogits, de, n, vocab, dim);
    judge_guarded("de", de, (size_t)size);
    for (int i = 0; i < size; i++)
        added[i] = de[i] - was(i);
    if (judge_combination(added, path[0], path[1], (size_t)size, &a, &b))
        judge_clue("%.9g times what comes through the logits was added, and %.9g times what comes through h: "
                   "expected each once", a, b);
    judge_against("de", GRA_SHAPE(vocab, dim), de, 1e-12, tied,
                  &(struct tied){ e, dlogits, ids, n, vocab, dim, true, true });
}

void judge_exercise(void)
{
    double *e = judge_draw(1, MOST, -1.5, 1.5), *dlogits = judge_draw(2, MOST, -1, 1);
    for (int i = 0; i < 12; i++)                        /* rows 3 to 5 of e are twice 0 to 2, and */
        e[12 + i] = 2 * e[i];
    for (int i = 0; i < 18; i++)                        /* their dlogits minus half as large: dh is 0 */
        dlogits[i] = i % 6 < 3 ? dlogits[i] : -dlogits[i - 3] / 2;
    backward("the logits alone: nothing should come through h", e, dlogits, (int[]){ 4, 0, 2 }, 3, 6, 4);

    e = judge_draw(5, MOST, -1.5, 1.5), dlogits = judge_draw(6, MOST, -1, 1);
    backward("three tokens, all different", e, dlogits, (int[]){ 3, 0, 4 }, 3, 6, 2);
    backward("a token that comes twice", e, dlogits, (int[]){ 1, 3, 1, 2 }, 4, 5, 3);
    backward("more tokens than the vocabulary has", e, dlogits, (int[]){ 2, 0, 2, 1, 1, 2, 0 }, 7, 3, 4);
    backward("one token, one number", e, dlogits, (int[]){ 1 }, 1, 2, 1);
}
