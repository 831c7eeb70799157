/* derivative: explanations for an op of single elements, y_i = f(x_i), whose Jacobian is diagonal. At each
 * point the backward has some number A where the derivative D is wanted. A formula with one mistake has, at
 * all points,
 *
 *     A g(x, y) = k D h(x, y),    h stands where g is wanted,
 *
 * for two of the functions below. If y is x p(x), as GELU and SiLU are, the product rule gives two terms, p
 * and x p': one may be right and the other not. */
#include "explaining.h"

typedef struct points {                 /* at each element of x that is not 0 */
    size_t  n;
    double *x, *y, *d;                  /* d: the derivative y' */
    double *a, *right;                  /* A and D: of all of it, or of one term */
    double *u, *v, *b;                  /* columns for a fit by least squares */
    double  near;                       /* nearer than this: equal */
} points;

/* What a derivative may be made of. `of` says where a function may be forgotten, or stand without being
 * wanted: as a FACTOR of all of y', or of one TERM of it; 0: it is only tried as all of y'. Functions of one
 * family (not 0) are taken for each other: 1 - y^2 for 1 + y^2. */
enum { FACTOR = 1, TERM = 2 };
enum { ONE = 0, INVERSE = 35, SLOPE = 36, FUNCTIONS = 42, TANH = 4 };   /* the numbers of 1, 1/y' and y'; how
                                           many there are; t's family */
static const struct {
    const char *name;                   /* p is y/x; t is tanh, if y is x (1 + t) / 2 */
    int         of, family;
} functions[FUNCTIONS] = {
    { "1", FACTOR | TERM, 0 }, { "x", FACTOR | TERM, 0 }, { "x^2", FACTOR | TERM, 0 }, { "x^3", 0, 0 },
    { "1/x", 0, 0 }, { "1/x^2", 0, 0 }, { "y", FACTOR, 0 }, { "y^2", 0, 0 }, { "y^3", 0, 0 }, { "1/y", 0, 0 },
    { "1/y^2", 0, 0 }, { "y (1 - y)", 0, 0 }, { "x (1 - x)", 0, 0 }, { "p (1 - p)", 0, 0 }, { "e^x", 0, 0 },
    { "1/(1 + x)", 0, 0 }, { "1/(1 - x)", 0, 0 }, { "1/(1 + x^2)", 0, 0 }, { "1/(1 - x^2)", 0, 0 },
    { "1/sqrt(1 + x^2)", 0, 0 }, { "1/sqrt(1 - x^2)", 0, 0 }, { "sin x", 0, 0 }, { "cos x", 0, 0 },
    { "log x", 0, 0 }, { "the sign of x", 0, 0 },
    { "1 - y", FACTOR, 1 }, { "1 + y", FACTOR, 1 }, { "1 - x", FACTOR, 1 },
    { "1 - y^2", FACTOR, 2 }, { "1 + y^2", FACTOR, 2 }, { "1 - x^2", FACTOR, 2 },
    { "p", FACTOR | TERM, 3 }, { "1 - p", TERM, 3 }, { "1 - t", TERM, TANH }, { "1 - t^2", TERM, TANH },
    { "1/y'", 0, 0 }, { "y'", FACTOR, 5 }, { "1 - y'", FACTOR, 5 },
    { "1 + |x|", FACTOR, 0 }, { "sigmoid(x)", FACTOR | TERM, 0 }, { "the tanh of x", FACTOR, 0 },
    { "1 + e^x", FACTOR, 0 },
};

static double function(const points *g, int f, size_t i)
{
    const double x = g->x[i], y = g->y[i], d = g->d[i], p = y / x, t = 2 * p - 1, xx = x * x;
    const double value[FUNCTIONS] = {
        1, x, xx, xx * x, 1 / x, 1 / xx, y, y * y, y * y * y, 1 / y, 1 / (y * y), y * (1 - y), x * (1 - x),
        p * (1 - p), exp(x), 1 / (1 + x), 1 / (1 - x), 1 / (1 + xx), 1 / (1 - xx), 1 / sqrt(1 + xx),
        1 / sqrt(1 - xx), sin(x), cos(x), log(x), x > 0 ? 1 : -1, 1 - y, 1 + y, 1 - x, 1 - y * y,
        1 + y * y, 1 - xx, p, 1 - p, 1 - t, 1 - t * t, 1 / d, d, 1 - d,
        1 + fabs(x), 1 / (1 + exp(-x)), tanh(x), 1 + exp(x),
    };
    return value[f];
}

/* May t = 2 y/x - 1 be the tanh of something that grows with x, and is 0 with it? */
static bool has_tanh(const points *g)
{
    for (size_t i = 0; i < g->n; i++) {
        const double t = 2 * g->y[i] / g->x[i] - 1, first = 2 * g->y[0] / g->x[0] - 1;
        if (fabs(t) > 1 || t * g->x[i] < 0 || (t - first) * (g->x[i] - g->x[0]) < 0)
            return false;
    }
    return true;
}

static bool of_p(int f)
{
    return strchr(functions[f].name, 'p') != NULL;
}

static void put_function(gra_check_line *s, const gra_wrong *w, int f)
{
    for (const char *c = functions[f].name; *c; c++)
        if (*c == 'x')
            gra_check_put(s, "%s", w->x->name);
        else
            gra_check_put(s, "%c", *c);
}

/* Is of = k h / g, or k D h / g, at all points? k is that of the largest. */
static bool fits(const points *p, const double *of, const double *right, int h, int g, double *k)
{
    size_t most = 0;
    for (size_t i = 0; i < p->n; i++)
        if (fabs(of[i]) > fabs(of[most]))
            most = i;
    *k = of[most] / (right ? right[most] : 1) * function(p, g, most) / function(p, h, most);
    for (size_t i = 0; i < p->n; i++)
        if (!(fabs(of[i] - *k * (right ? right[i] : 1) * function(p, h, i) / function(p, g, i)) <= p->near))
            return false;
    return fabs(*k) > 1e-6;
}

static bool is_zero(const points *p, const double *of)
{
    for (size_t i = 0; i < p->n; i++)
        if (fabs(of[i]) > p->near)
            return false;
    return true;
}

/* b = p u + q v at all points, by least squares? */
static bool two_columns(const points *g, double *p, double *q)
{
    double uu = 0, uv = 0, vv = 0, ub = 0, vb = 0;
    for (size_t i = 0; i < g->n; i++) {
        uu += g->u[i] * g->u[i];
        uv += g->u[i] * g->v[i];
        vv += g->v[i] * g->v[i];
        ub += g->u[i] * g->b[i];
        vb += g->v[i] * g->b[i];
    }
    const double det = uu * vv - uv * uv;               /* 0 where there are none: then p and q are NaN */
    *p = (ub * vv - vb * uv) / det;
    *q = (vb * uu - ub * uv) / det;
    for (size_t i = 0; i < g->n; i++)
        if (!(fabs(g->b[i] - *p * g->u[i] - *q * g->v[i]) <= g->near))
            return false;
    return true;
}

/* "p + q x^2" */
static void put_polynomial(gra_check_line *s, const gra_wrong *w, double p, double q)
{
    const char *const x = w->x->name;
    if (fabs(p) > 1e-6)
        gra_check_put(s, "%.6g %c ", p, q < 0 ? '-' : '+');
    if (gra_equal(fabs(q), 1))
        gra_check_put(s, "%s^2", x);
    else
        gra_check_put(s, "%.6g %s^2", fabs(p) > 1e-6 ? fabs(q) : q, x);
}

/* A and D differ by a factor of p + q x^2, as u' is of u = x + c x^3; or by one of e^(q x^2). */
static bool put_square(gra_check_line *s, const gra_wrong *w, points *g)
{
    enum { LACKS, BOTH, EXPONENT, FORMS };
    for (int form = 0; form < FORMS; form++) {
        double p, q;
        for (size_t i = 0; i < g->n; i++) {
            const double a = g->a[i], d = g->right[i], square = g->x[i] * g->x[i];
            g->u[i] = form == LACKS ? a : form == BOTH ? d * square : d;
            g->v[i] = form == BOTH ? -a * square : g->u[i] * square;
            g->b[i] = form == LACKS ? d : form == BOTH ? a - d : d * log(a / d);
        }
        if (!two_columns(g, &p, &q) || (form == EXPONENT && !gra_equal(exp(p), 1)))
            continue;
        if (form == LACKS) {
            gra_check_put(s, "lacks a factor of ");
            put_polynomial(s, w, p, q);
            gra_check_put(s, ": the derivative of what stands within (the chain rule)?");
        } else if (form == BOTH) {
            const bool cube = gra_equal(q, 3 * p);
            gra_check_put(s, cube ? "has a factor of " : "is off by a factor of (");
            put_polynomial(s, w, 1, p);
            gra_check_put(s, cube ? " where " : ")/(");
            put_polynomial(s, w, 1, q);
            gra_check_put(s, cube ? " is wanted: the derivative of x^3 is 3 x^2" : ")");
        } else {
            gra_check_put(s, "has a factor of e^(%.6g %s^2) too many: look at its exponent", q, w->x->name);
        }
        return true;
    }
    return false;
}

static void put_pair(gra_check_line *s, const gra_wrong *w, int has, int wanted, double k, bool term)
{
    const bool both = has != ONE && wanted != ONE;
    if (!both)
        gra_check_put(s, has == wanted ? "is off" : has == ONE ? "lacks the factor "
                                                               : "has a factor too many, ");
    if (has != ONE)
        put_function(s, w, has);
    if (both)
        gra_check_put(s, " stands where ");
    if (wanted != ONE)
        put_function(s, w, wanted);
    if (both)
        gra_check_put(s, " is wanted");
    if (!both && has != wanted)
        gra_check_put(s, " (or a division by it is %s)", has == ONE ? "superfluous" : "missing");
    if (!term && (of_p(has) || of_p(wanted)))
        gra_check_put(s, ", with p = y/%s", w->x->name);
    if (functions[has].family == TANH)
        gra_check_put(s, ", with t for the tanh in y = %s (1 + t) / 2", w->x->name);
    if (gra_equal(k, 1))
        return;
    gra_check_put(s, has == wanted ? ": " : ", and ");
    gra_put_factor(s, w, k);
}

/* Mistakes, the plainest first, so that none is told where a plainer one fits. */
enum {
    FORMULA,                            /* all of A is k times a function, all of D another one */
    MISSING,                            /* one of two terms is not there at all */
    EXACT,                              /* a factor is missing, too many, or another one */
    SCALED,                             /* the same, and a constant factor is wrong too */
    SQUARE,                             /* a factor p + q x^2, or e^(q x^2), is wrong */
    PASSES
};

/* Is it likely, for this kind of mistake, that the one function stands where the other is wanted? */
static bool possible(const points *g, int has, int wanted, bool term, int pass)
{
    const int use = term ? TERM : FACTOR;
    if ((functions[has].family == TANH || functions[wanted].family == TANH) && !(term && has_tanh(g)))
        return false;
    if (pass == FORMULA)
        return !term && has != wanted && has < INVERSE && wanted < INVERSE && !of_p(has) && !of_p(wanted) &&
               (has != ONE || functions[wanted].of);
    if (has == wanted)
        return term && has == ONE;
    if (wanted == SLOPE)
        return !term && has != ONE && has <= SLOPE + 1 && (has != INVERSE || pass == EXACT);
    return (functions[has].of & use) && (functions[wanted].of & use) &&
           (has == ONE || wanted == ONE ||
            (functions[has].family && functions[has].family == functions[wanted].family));
}

/* Says of y', or of one of its terms, what is wrong with it, if it is that. */
static bool put_wrong(gra_check_line *s, const gra_wrong *w, points *g, bool term, int pass)
{
    if (pass == MISSING) {
        const bool missing = term && is_zero(g, g->a);
        gra_check_put(s, missing ? "is missing" : "");
        return missing;
    }
    if (pass == SQUARE)
        return put_square(s, w, g);
    for (int at = 0; at < FUNCTIONS * FUNCTIONS; at++) {
        const int has = at % FUNCTIONS, wanted = at / FUNCTIONS;
        double k, of = 1;
        if (!possible(g, has, wanted, term, pass))
            continue;
        if (pass == FORMULA ? !fits(g, g->a, NULL, has, ONE, &k) || !fits(g, g->right, NULL, wanted, ONE, &of)
                            : !fits(g, g->a, g->right, has, wanted, &k))
            continue;
        if (pass != SCALED && !gra_equal(fabs(k), fabs(of)))
            continue;
        put_pair(s, w, has, wanted, k / of, term);
        return true;
    }
    return false;
}

/* What is wrong, of y', or if y' has two terms that differ, of one of them. */
static bool tell(gra_wrong *w, points *g, const double *all, const double *first, bool two)
{
    static const char *const subject[] = { "", "the second", "the first" };
    const char *const x = w->x->name;
    double k;
    /* which by chance fits much, and is told elsewhere */
    const bool constant = fits(g, all, NULL, ONE, ONE, &k);
    for (int pass = FORMULA; pass < (constant ? FORMULA + 1 : PASSES); pass++)
        for (int term = w->check->count > 1; term < (two ? 3 : 1); term++) {
            gra_check_line s = { .at = 0 };
            for (size_t i = 0; i < g->n; i++) {         /* the term that is right is taken away */
                const double right = term == 1 ? first[i] : term == 2 ? g->d[i] - first[i] : 0;
                g->a[i] = all[i] - right;
                g->right[i] = g->d[i] - right;
            }
            if (!put_wrong(&s, w, g, term > 0, pass))
                continue;
            const bool stands = strstr(s.s, "stands where") != NULL;
            if (term)
                gra_fits(w, "y is %s p(%s), so y' has two terms, p + %s p' (the product rule): %s%s %s", x, x,
                         x, stands ? "in " : "", subject[term], s.s);
            else
                gra_fits(w, stands ? "in what dy is multiplied by, %s" : "what dy is multiplied by %s", s.s);
            if (pass == MISSING && term)                /* which fits as well where y is x/(1 + |x|) */
                tell(w, g, all, first, false);
            return true;
        }
    return false;
}

bool gra_derivative(gra_wrong *w)
{
    enum { ARRAYS = 10 };
    double *array[ARRAYS], k;                           /* ARRAYS <= 2 GRA_SCRATCH */
    bool fit = true;
    if (!w->single)
        return false;
    /* another tensor is plainer than the product rule */
    if (w->check->count > 1 && !w->part && gra_quotient(w))
        return true;
    for (size_t e = 0; e < w->size && fit; e++)         /* is the Jacobian of the backward diagonal, too? */
        fit = e / w->cols == e % w->cols || gra_none(w, w->a[e]);
    for (size_t i = 0; i < ARRAYS; i++)
        array[i] = w->scratch + i * w->cols;
    points g = { 0, array[0], array[1], array[2], array[3], array[4], array[5], array[6], array[7],
                 .near = fmin(w->near, 1e-6 * w->largest) };
    double *const all = array[8], *const first = array[9];
    for (size_t i = 0; i < w->cols && fit; i++) {
        if (w->x->data[i] == 0 || (w->part && w->n[i * w->cols + i] == 0))
            continue;
        g.x[g.n] = (double)w->x->data[i];
        g.y[g.n] = (double)w->check->y[i];
        g.d[g.n] = w->n[i * w->cols + i];
        all[g.n] = w->a[i * w->cols + i];
        first[g.n] = g.y[g.n] / g.x[g.n];
        g.a[g.n] = g.d[g.n] - first[g.n];
        g.n++;
    }
    const bool two = !is_zero(&g, g.a) && !fits(&g, g.a, first, ONE, ONE, &k);
    return fit && g.n >= 6 && tell(w, &g, all, first, two);
}
