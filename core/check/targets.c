/* targets: a loss of which the right gradient is softmax(x), less 1 at one index of each row: the target. What stands
 * in place of the softmax, or of the 1? */
#include "explaining.h"
#include <stdlib.h>

typedef struct targets {
    const gra_checked *x;
    size_t  n, rows;
    double *p, *k;                      /* n = k (p - 1 at the target), with a k for each row; 0: n is 0 */
    double *b, *h;                      /* a guess: a = alpha b - beta h */
    size_t *target;
} targets;

enum { SOFTMAX, EXP, LOG_SOFTMAX, X, ONE_MINUS, OTHER_DIM, LAST_ROW, ROW_0, EVERYWHERE, ELSEWHERE, OF_P, GUESSES };
static const char *const guess_name[GUESSES] = {
    "", "e^x stands where softmax(x) is wanted", "log softmax(x) stands where softmax(x) is wanted",
    "x stands where softmax(x) is wanted", "p (1 - p) stands where p = softmax(x) is wanted",
    "the softmax is over another dimension", "the softmax is that of the row before",
    "the 1 of each row is subtracted in row 0: the row's offset r * n is forgotten", "1 is subtracted at every index",
    "what is added or subtracted at one index (the target's) stands at another",
};

/* False: it is another gradient. */
static bool find_targets(const targets *t)
{
    const gra_checked *x = t->x;
    const size_t n = t->n;
    for (size_t r = 0; r < t->rows; r++) {
        const real *d = x->numeric + r * n;
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += exp((double)x->data[r * n + i]);
        for (size_t i = 0; i < n; i++)
            t->p[r * n + i] = exp((double)x->data[r * n + i]) / sum;
        bool found = false;
        for (size_t at = 0; at < n && !found; at++) {
            t->k[r] = -(double)d[at] / (1 - t->p[r * n + at]);
            t->target[r] = at;
            found = true;
            for (size_t i = 0; i < n && found; i++)
                found = fabs((double)d[i] - t->k[r] * (t->p[r * n + i] - (i == at))) <= 1e-6 * x->largest;
        }
        if (!found)
            return false;
        if (fabs(t->k[r]) <= 1e-6 * x->largest)
            t->k[r] = 0;
    }
    return true;
}

/* Where a row of the backward lacks most beside the softmax. */
static size_t lowest(const targets *t, size_t r)
{
    size_t at = 0;
    double most = -1;
    for (size_t i = 0; i < t->n; i++) {
        const double lacks = t->k[r] * (t->k[r] * t->p[r * t->n + i] - (double)t->x->analytic[r * t->n + i]);
        if (lacks > most) {
            most = lacks;
            at = i;
        }
    }
    return at;
}

static void guess(const targets *t, int kind)
{
    const size_t n = t->n;
    memset(t->h, 0, t->x->size * sizeof *t->h);
    for (size_t e = 0; e < t->x->size; e++) {
        const size_t r = e / n, one = kind == ELSEWHERE ? lowest(t, r) : t->target[r];
        const double v = (double)t->x->data[e], p = t->p[e], k = t->k[r];
        double b = p, sum = 0;
        switch (kind) {
        case EXP:         b = exp(v); break;
        case LOG_SOFTMAX: b = log(p); break;
        case X:           b = v; break;
        case ONE_MINUS:   b = p * (1 - p); break;
        case LAST_ROW:    b = t->p[(e + t->x->size - n) % t->x->size]; break;
        case OF_P:        b = e % n == one ? 1 / p : 0; break;
        case OTHER_DIM:
            for (size_t i = e % n; i < t->x->size; i += n)
                sum += exp((double)t->x->data[i]);
            b = exp(v) / sum;
            break;
        default:          break;
        }
        t->b[e] = k * b;
        t->h[kind == ROW_0 ? e % n : e] += e % n == one || kind == EVERYWHERE ? k : 0;
    }
}

/* Least squares for alpha and beta; do they fit everywhere? */
static bool solve(const targets *t, double *alpha, double *beta)
{
    double bb = 0, bh = 0, hh = 0, ab = 0, ah = 0;
    for (size_t e = 0; e < t->x->size; e++) {
        const double a = (double)t->x->analytic[e];
        bb += t->b[e] * t->b[e];
        bh += t->b[e] * t->h[e];
        hh += t->h[e] * t->h[e];
        ab += a * t->b[e];
        ah += a * t->h[e];
    }
    const double det = bb * hh - bh * bh;
    if (!(det > 1e-9 * bb * hh))
        return false;
    *alpha = (ab * hh - ah * bh) / det;
    *beta = (ab * bh - ah * bb) / det;
    for (size_t e = 0; e < t->x->size; e++)
        if (fabs((double)t->x->analytic[e] - *alpha * t->b[e] + *beta * t->h[e]) > 1e-6 * t->x->largest)
            return false;
    return true;
}

static void put_guess(gra_check_line *s, const gra_wrong *w, int kind, double alpha, double beta)
{
    const bool softmax = fabs(alpha) > 1e-5, one = fabs(beta - 1) <= 1e-5;
    gra_check_put(s, "%s", softmax ? guess_name[kind] : "the softmax is missing");
    if (softmax && fabs(alpha - 1) > 1e-5) {
        gra_check_put(s, "%sthe softmax has a factor of ", s->at ? "; " : "");
        gra_put_constant(s, w, alpha);
    }
    if (!one)
        gra_check_put(s, "%s%s", s->at ? "; " : "", fabs(beta) < 1e-5 ? "the -1 at the target is missing"
                      : fabs(beta + 1) < 1e-5 ? "1 is added at the target, not subtracted"
                                              : "the -1 at the target has a factor of ");
    if (!one && fabs(beta) >= 1e-5 && fabs(beta + 1) >= 1e-5)
        gra_put_constant(s, w, beta);
}

bool gra_softmax_less_target(gra_wrong *w)
{
    const gra_checked *x = w->x;
    const size_t n = x->shape.ndim ? (size_t)x->shape.dim[x->shape.ndim - 1] : 1, rows = n ? x->size / n : 0;
    if (n < 3 || w->overwrites)
        return false;
    targets t = { .x = x, .n = n, .rows = rows };
    t.p = calloc(3 * x->size + rows, sizeof *t.p);
    t.target = calloc(rows, sizeof *t.target);
    bool fit = false;
    if (t.p && t.target) {
        t.b = t.p + x->size;
        t.h = t.b + x->size;
        t.k = t.h + x->size;
        const bool found = find_targets(&t);
        for (int kind = 0; found && kind < GUESSES && !fit; kind++) {
            gra_check_line s = { .at = 0 };
            double alpha, beta;
            guess(&t, kind);
            fit = solve(&t, &alpha, &beta) && (kind != OF_P || (fabs(alpha + 1) <= 1e-5 && fabs(beta) <= 1e-5));
            if (fit && kind == OF_P)
                gra_fits(w, "only the element at the target gets a gradient, dy times -1/p and a constant: that is the "
                         "gradient of p = softmax(%s); the others depend on it too, through the softmax's sum", x->name);
            else if (fit) {
                put_guess(&s, w, kind, alpha, beta);
                gra_fits(w, "the gradient is softmax(%s), less 1 at one index of each row (the target), times dy and a "
                         "constant: %s", x->name, s.s);
            }
        }
    }
    free(t.p);
    free(t.target);
    return fit;
}
