/* derivative: an op of single elements: what is wrong with its derivative? */
#include "explaining.h"
#include <stdlib.h>

typedef struct points {                 /* the derivative at each x: the backward's, and the right one */
    size_t  n;
    double *x, *a, *d, *p, *t;          /* p: y / x; t: a ratio to be named */
} points;

bool gra_elementwise(const gra_wrong *w)
{
    if (w->rows != w->cols || !gra_whole(w))
        return false;
    for (size_t e = 0; e < w->size; e++)
        if (e / w->cols != e % w->cols && !(gra_none(w, w->a[e]) && gra_none(w, w->n[e])))
            return false;
    return true;
}

/* Least squares of b by two columns. */
static bool solve(const points *g, const double *u, const double *v, const double *b, double *p, double *q)
{
    double uu = 0, uv = 0, vv = 0, ub = 0, vb = 0;
    for (size_t i = 0; i < g->n; i++) {
        uu += u[i] * u[i];
        uv += u[i] * v[i];
        vv += v[i] * v[i];
        ub += u[i] * b[i];
        vb += v[i] * b[i];
    }
    const double det = uu * vv - uv * uv;
    if (!(det > 1e-9 * uu * vv))
        return false;
    *p = (ub * vv - vb * uv) / det;
    *q = (vb * uu - ub * uv) / det;
    return true;
}

/* Is t = k f for all points? */
static bool multiple(const points *g, const double *f, double *k)
{
    double ft = 0, ff = 0;
    for (size_t i = 0; i < g->n; i++) {
        ft += f[i] * g->t[i];
        ff += f[i] * f[i];
    }
    *k = ff > 0 ? ft / ff : 0;
    for (size_t i = 0; i < g->n; i++)
        if (!isfinite(g->t[i]) || fabs(g->t[i] - *k * f[i]) > 1e-5 * fabs(*k * f[i]))
            return false;
    return *k != 0 && isfinite(*k);
}

/* Names t, what a term is too large by, as a function of x. */
static bool put_ratio(gra_check_line *s, const gra_wrong *w, const points *g, double *f)
{
    double k, p, q;
    for (int power = -3; power <= 3; power++) {
        for (size_t i = 0; i < g->n; i++)
            f[i] = pow(g->x[i], power);
        if (!multiple(g, f, &k))
            continue;
        if (power == 0)
            gra_check_put(s, "has a factor of ");
        else
            gra_check_put(s, "has a factor %s %s%.0d too %s", fabs(k - 1) < 1e-4 ? "of" : "times", w->x->name,
                          abs(power) > 1 ? abs(power) : 0, power < 0 ? "few" : "many");
        if (power == 0 || fabs(k - 1) >= 1e-4) {
            gra_check_put(s, power ? ", and one of " : "");
            gra_put_constant(s, w, k);
            gra_check_put(s, power ? " too many" : "");
        }
        return true;
    }
    for (int form = 0; form < 8; form++) {              /* P = y/x is (1 + tanh)/2, or a sigmoid */
        for (size_t i = 0; i < g->n; i++) {
            const double of = g->p[i], tanh = 2 * of - 1;
            const double ratio[] = { of * (1 - of), of, 1 - of, (1 - tanh * tanh) / (1 + tanh * tanh) };
            f[i] = form % 2 ? 1 / ratio[form / 2] : ratio[form / 2];
        }
        if (!multiple(g, f, &k))
            continue;
        gra_check_put(s, "%s the derivative of the tanh or sigmoid in it%s, 1 - tanh^2 or s (1 - s)",
                      form == 1 ? "lacks" : "has", form == 0 ? " once too often" : form == 1 ? "" : " wrong");
        return true;
    }
    for (int inverse = 0; inverse < 2; inverse++) {
        double *const one = f + g->n, *const square = one + g->n;
        for (size_t i = 0; i < g->n; i++) {
            one[i] = 1;
            square[i] = g->x[i] * g->x[i];
            f[i] = inverse ? 1 / g->t[i] : g->t[i];
        }
        if (!solve(g, one, square, f, &p, &q))
            continue;
        bool fit = true;
        for (size_t i = 0; i < g->n; i++)
            fit &= fabs(f[i] - p - q * square[i]) <= 1e-5 * fabs(f[i]);
        if (fit) {
            gra_check_put(s, "%s a factor of %.6g %c %.6g %s^2%s", inverse ? "lacks" : "has", p, q < 0 ? '-' : '+',
                          fabs(q), w->x->name,
                          inverse ? ": the derivative of what stands within (chain rule)?" : " too many");
            return true;
        }
        for (size_t i = 0; i < g->n; i++)               /* c e^(k x^2) */
            f[i] = log(fabs(g->t[i]));
        if (inverse || !solve(g, one, square, f, &p, &q))
            continue;
        fit = fabs(q) > 1e-6;
        for (size_t i = 0; i < g->n; i++)
            fit &= fabs(f[i] - p - q * square[i]) <= 1e-5;
        if (fit) {
            gra_check_put(s, "has a factor of %.6g e^(%.6g %s^2) too many: look at its exponent", exp(p), q,
                          w->x->name);
            return true;
        }
    }
    return false;
}

/* t (1 + q x^2) = r + p x^2, where r is 1 or another constant. */
static bool put_inner(gra_check_line *s, const gra_wrong *w, const points *g, double *f)
{
    double *const left = f, *const right = f + g->n, *const b = right + g->n;
    double p, q;
    for (size_t i = 0; i < g->n; i++) {
        left[i] = g->x[i] * g->x[i];
        right[i] = -left[i] * g->t[i];
        b[i] = g->t[i] - 1;
    }
    if (!solve(g, left, right, b, &p, &q))
        return false;
    for (size_t i = 0; i < g->n; i++)
        if (fabs(g->t[i] * (1 + q * left[i]) - 1 - p * left[i]) > 1e-5)
            return false;
    gra_check_put(s, "has a factor of 1 + %.6g %s^2 where 1 + %.6g %s^2 is wanted", p, w->x->name, q, w->x->name);
    const double by = q / p;
    if (fabs(by - 2) < 1e-3 || fabs(by - 3) < 1e-3)
        gra_check_put(s, ": the derivative of x^%.0f is %.0f x^%.0f", by, by, by - 1);
    return true;
}

/* y = x g(x): the derivative has two terms, g + x g'. Is one of them right and the other not? */
static bool product_rule(gra_wrong *w, points *g, double *f)
{
    double p, q;
    for (size_t i = 0; i < g->n; i++)
        f[i] = g->d[i] - g->p[i];                       /* the second */
    if (solve(g, g->p, f, g->a, &p, &q)) {
        bool fit = true;
        for (size_t i = 0; i < g->n; i++)
            fit &= fabs(g->a[i] - p * g->p[i] - q * f[i]) <= w->near;
        gra_check_line s = { .at = 0 };
        if (fit) {
            if (fabs(p) < 1e-4 || fabs(q) < 1e-4)
                gra_check_put(&s, "the %s is missing", fabs(p) < 1e-4 ? "first" : "second");
            else if (fabs(p - 1) > 1e-4)
                gra_check_put(&s, "the first has a factor of %.6g", p);
            if (fabs(q) >= 1e-4 && fabs(q - 1) > 1e-4) {
                gra_check_put(&s, "%sthe second has a factor of ", s.at ? ", and " : "");
                gra_put_constant(&s, w, q);
            }
            gra_fits(w, "y is %s g(%s), and the product rule has two terms, g + %s g': %s", w->x->name, w->x->name,
                     w->x->name, s.s);
            return true;
        }
    }
    for (int way = 3; way >= 0; way--) {                /* one of the two, without the other or with it */
        const int second = way % 2;
        gra_check_line s = { .at = 0 };
        for (size_t i = 0; i < g->n; i++) {
            const double term[2] = { g->p[i], g->d[i] - g->p[i] };
            g->t[i] = (g->a[i] - (way < 2 ? 0 : term[!second])) / term[second];
        }
        if (!put_ratio(&s, w, g, f) && !put_inner(&s, w, g, f))
            continue;
        gra_fits(w, "y is %s g(%s), and the product rule has two terms, g + %s g': %sthe %s %s", w->x->name,
                 w->x->name, w->x->name,
                 way >= 2 ? "" : second ? "the first is missing, and " : "the second is missing, and ",
                 second ? "second" : "first", s.s);
        return true;
    }
    return false;
}

/* The derivative at y: did y stand where x should? */
static bool taken_at_y(gra_wrong *w)
{
    gra_checking *k = w->check;
    real *was = calloc(w->cols, sizeof *was);
    bool fit = was != NULL;
    if (!fit)
        return false;
    memcpy(was, w->x->data, w->cols * sizeof *was);
    memcpy(w->x->data, k->y, w->cols * sizeof *was);
    for (size_t i = 0; fit && i < w->cols; i++)
        fit = gra_check_parts(k, w->x, i, GRA_CHECK_STEP) &&
              fabs((double)(k->parts[i] / k->c[i]) - w->a[i * w->cols + i]) <= w->near;
    memcpy(w->x->data, was, w->cols * sizeof *was);
    free(was);
    if (fit)
        gra_fits(w, "the derivative is right, but taken at y: in its formula stands y where %s is wanted", w->x->name);
    return fit;
}

bool gra_local_derivative(gra_wrong *w)
{
    if (!gra_elementwise(w) || w->cols < 6)
        return false;
    points g = { .n = 0 };
    double *memory = calloc(8 * w->cols, sizeof *memory);
    if (!memory)
        return false;
    g.x = memory;
    g.a = g.x + w->cols;
    g.d = g.a + w->cols;
    g.p = g.d + w->cols;
    g.t = g.p + w->cols;
    for (size_t i = 0; i < w->cols; i++) {
        const double x = (double)w->x->data[i];
        if (x == 0)
            continue;
        g.x[g.n] = x;
        g.a[g.n] = w->a[i * w->cols + i];
        g.d[g.n] = w->n[i * w->cols + i];
        g.p[g.n++] = (double)w->check->y[i] / x;
    }
    double *f = g.t + w->cols;
    bool fit = g.n >= 6 && (taken_at_y(w) || product_rule(w, &g, f));
    for (size_t i = 0; !fit && i < g.n; i++)
        g.t[i] = g.a[i] / g.d[i];
    gra_check_line s = { .at = 0 };
    if (!fit && g.n >= 6 && put_ratio(&s, w, &g, f)) {
        gra_fits(w, "the derivative of y by %s %s", w->x->name, s.s);
        fit = true;
    }
    free(memory);
    return fit;
}
