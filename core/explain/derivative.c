/* derivative: explanations for an op of single elements, y_i = f(x_i), whose Jacobian is diagonal. If y is
 * x p(x), as GELU and SiLU are, the product rule gives two terms, p and x p': one may be right and the other
 * not. And the derivative of what is within a function, as of x + c x^3, may be forgotten. */
#include "explaining.h"

/* ---- a factor with x^2 -------------------------------------------------------------------------- */

typedef struct columns {                /* b = p u + q v, at n points */
    size_t  n;
    double *u, *v, *b;
} columns;

static bool least_squares(const gra_wrong *w, const columns *c, double *p, double *q)
{
    double uu = 0, uv = 0, vv = 0, ub = 0, vb = 0;
    for (size_t i = 0; i < c->n; i++) {
        uu += c->u[i] * c->u[i];
        uv += c->u[i] * c->v[i];
        vv += c->v[i] * c->v[i];
        ub += c->u[i] * c->b[i];
        vb += c->v[i] * c->b[i];
    }
    const double det = uu * vv - uv * uv;               /* 0 where there are none: then p and q are NaN */
    *p = (ub * vv - vb * uv) / det;
    *q = (vb * uu - ub * uv) / det;
    for (size_t i = 0; i < c->n; i++)
        if (!(fabs(c->b[i] - *p * c->u[i] - *q * c->v[i]) <= fmin(w->near, 1e-6 * w->largest)))
            return false;
    return c->n >= 6;
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

/* The two differ by a factor of p + q x^2, as u' is of u = x + c x^3; or by one of e^(q x^2). */
static bool with_square(gra_wrong *w)
{
    enum { LACKS, BOTH, EXPONENT, FORMS };
    columns c = { 0, w->scratch, w->scratch + w->cols, w->scratch + 2 * w->cols };
    gra_check_line s = { .at = 0 }, second = { .at = 0 };
    double p, q;
    for (int form = 0; form < FORMS; form++) {
        c.n = 0;
        for (size_t i = 0; i < w->cols; i++) {
            const double a = w->a[i * w->cols + i], d = w->n[i * w->cols + i], x = (double)w->x->data[i];
            if (gra_zero(w, i * w->cols + i))
                continue;
            c.u[c.n] = form == LACKS ? a : form == BOTH ? d * x * x : d;
            c.v[c.n] = form == BOTH ? -a * x * x : c.u[c.n] * x * x;
            c.b[c.n++] = form == LACKS ? d : form == BOTH ? a - d : d * log(a / d);
        }
        if (!least_squares(w, &c, &p, &q) || (form == EXPONENT && !gra_equal(exp(p), 1)))
            continue;
        put_polynomial(&s, w, form == LACKS ? p : 1, form == LACKS ? q : p);
        put_polynomial(&second, w, 1, q);
        if (form == LACKS)
            gra_fits(w, "a factor is missing: %s: the derivative of what is within a function (the chain "
                     "rule)?", s.s);
        else if (form == EXPONENT)
            gra_fits(w, "a factor too many: e^(%.6g %s^2): look at the exponent", q, w->x->name);
        else
            gra_fits(w, "the wrong factor: the backward has %s where %s is expected%s", s.s, second.s,
                     gra_equal(q, 3 * p) ? ": the derivative of x^3 is 3 x^2" : "");
        return true;
    }
    return false;
}

/* ---- the product rule --------------------------------------------------------------------------- */

/* Fills the part with the second term, or the first: what is left without the other one, which is right.
 * False: the two are one, or the backward has one number everywhere, which fits much by chance. */
static bool fill(gra_wrong *w, bool first, bool *missing)
{
    bool constant = true, one = true;
    double all = 0, ratio = (double)NAN;
    *missing = true;
    for (size_t e = 0; e < w->size; e++) {
        const size_t i = e % w->cols;
        const bool here = !gra_zero(w, e) && w->x->data[i] != 0;
        const double p = here ? (double)w->check->y[i] / (double)w->x->data[i] : 0;
        const double less = first ? w->n[e] - p : p;
        w->part_a[e] = here ? w->a[e] - less : 0;
        w->part_n[e] = here ? w->n[e] - less : 0;
        *missing &= gra_fit(w, w->part_a[e], 0);
        all = all == 0 && here ? w->a[e] : all;
        constant &= !here || gra_fit(w, w->a[e], all);
        ratio = here && isnan(ratio) ? w->n[e] / p : ratio;
        one &= !here || gra_fit(w, w->n[e], ratio * p);
    }
    return !constant && !one;
}

static bool by_product_rule(gra_wrong *w)
{
    static gra_explanation *const tries[] = { gra_constant_factor, gra_quotient, with_square,
                                             gra_wrong_factor };
    const char *const x = w->x->name;
    for (int at = 0; at < 4; at++) {                    /* is the second term missing, the first; or wrong? */
        bool missing;
        char part[256];
        if (!fill(w, at % 2, &missing))
            return false;
        snprintf(part, sizeof part,
                 "y is %.60s p(%.60s), so y' has two terms, p + %.60s p' (the product rule): %s%s",
                 x, x, x, at < 2 ? "" : "in ", at % 2 ? "the first" : "the second");
        if (at < 2 && missing) {
            gra_fits(w, "%s is missing", part);
            gra_quotient(w);                            /* fits as well where y is x/(1 + |x|) */
            return true;
        }
        if (at == 1 && gra_quotient(w))                 /* of all of y', which is plainer than of one term */
            return true;
        if (at >= 2 && gra_explain_part(w, strcat(part, ": "), tries, sizeof tries / sizeof *tries))
            return true;
    }
    return false;
}

bool gra_derivative(gra_wrong *w)
{
    size_t entries = 0;
    for (size_t e = 0; e < w->size && w->single; e++) {
        entries += !gra_none(w, w->n[e]);
        if (e / w->cols != e % w->cols && !gra_none(w, w->a[e]))
            return false;
    }
    if (!w->single || entries < 6)
        return false;
    if (!w->part && (w->check->count > 1 ? gra_quotient(w) : gra_formula(w)))
        return true;
    return by_product_rule(w) || with_square(w);
}
