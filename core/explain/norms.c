/* norms: explanations for an op that divides by a standard deviation, a root mean square or a length, along
 * one dimension d of x: layer norm, RMS norm, batch norm, x / |x|. With z_i = x_i - mean, or x_i where no
 * mean is subtracted, the Jacobian has three terms:
 *
 *     dy_j/dx_i = c_j ([i = j] - 1/n - k z_i z_j)     direct, of the mean (where there is one), projection
 *     1/k = m (v + eps)           v = sum z^2 / m;  m is n, or n - 1 (unbiased), or 1 (a length)
 *
 * where c_j = w_j / sqrt(v + eps). A backward with one mistake has the same terms, each with a factor. */
#include "explaining.h"

typedef struct norm {
    const gra_wrong *w;
    bool    mean;                       /* is it subtracted? */
    int     d;
    size_t  n, groups, inner;           /* groups of n elements; two neighbours of one are `inner` apart */
    double *z;                          /* n of them, and for each group: */
    double *k, *squares;                /* k, sum z^2 */
    double *factor[3];                  /* of the three terms in the analytic Jacobian; */
    double  off;                        /* the largest |factor - 1| */
} norm;

static size_t element(const norm *m, size_t group, size_t i)
{
    return (group / m->inner * m->n + i) * m->inner + group % m->inner;
}

static void centre(norm *m, size_t g)
{
    const real *x = m->w->x->data;
    double mean = 0;
    m->squares[g] = 0;
    for (size_t i = 0; i < m->n; i++)
        mean += m->mean ? (double)x[element(m, g, i)] / (double)m->n : 0;
    for (size_t i = 0; i < m->n; i++) {
        m->z[i] = (double)x[element(m, g, i)] - mean;
        m->squares[g] += m->z[i] * m->z[i];
    }
}

/* Row j of a Jacobian beside the diagonal is p + q z_i, by least squares (p = 0 without a mean); of the
 * diagonal c is left. */
static void terms_of(const norm *m, const double *jacobian, size_t g, size_t j, double term[3])
{
    const double *const row = jacobian + element(m, g, j) * m->w->cols;
    double one = 0, z = 0, zz = 0, r = 0, rz = 0;
    for (size_t i = 0; i < m->n; i++) {
        if (i == j)
            continue;
        one++;
        z += m->z[i];
        zz += m->z[i] * m->z[i];
        r += row[element(m, g, i)];
        rz += row[element(m, g, i)] * m->z[i];
    }
    term[2] = m->mean ? (one * rz - z * r) / (one * zz - z * z) : rz / zz;
    term[1] = m->mean ? (r - term[2] * z) / one : 0;
    term[0] = row[element(m, g, j)] - term[1] - term[2] * m->z[j];
}

/* Is row j of the Jacobian made of the three terms, with these factors, for all j of the group? */
static bool made_of(const norm *m, const double *jacobian, size_t g, const double f[3])
{
    for (size_t j = 0; j < m->n; j++) {
        double right[3];
        terms_of(m, m->w->n, g, j, right);
        for (size_t i = 0; i < m->n; i++) {
            const double mean = m->mean ? f[1] / (double)m->n : 0, direct = i == j ? f[0] : 0;
            const double v = right[0] * (direct - mean - f[2] * m->k[g] * m->z[i] * m->z[j]);
            if (!gra_fit(m->w, jacobian[element(m, g, j) * m->w->cols + element(m, g, i)], v))
                return false;
        }
    }
    return true;
}

/* Finds k, and the factors of the analytic Jacobian; false: it is no such norm, or no such mistake. */
static bool fits_group(norm *m, size_t g)
{
    double above = 0, below = 0, dot[3] = { 0 }, square[3] = { 0 };
    centre(m, g);
    for (size_t j = 0; j < m->n; j++) {
        double right[3], has[3];
        terms_of(m, m->w->n, g, j, right);
        terms_of(m, m->w->a, g, j, has);
        above -= right[2] * right[0] * m->z[j];
        below += right[0] * m->z[j] * right[0] * m->z[j];
        for (int t = 0; t < 3; t++) {
            dot[t] += has[t] * right[t];
            square[t] += right[t] * right[t];
        }
    }
    m->k[g] = above / below;
    const double share = m->k[g] * m->squares[g];       /* v / (v + eps) */
    double f[3];
    for (int t = 0; t < 3; t++)
        f[t] = m->factor[t][g] = square[t] > 0 ? dot[t] / square[t] : 1;
    if (!m->mean)
        f[1] = m->factor[1][g] = f[0];
    return share > 0.1 && share < 1 + 1e-4 && made_of(m, m->w->n, g, (double[]){ 1, 1, 1 }) &&
           made_of(m, m->w->a, g, f);
}

static bool fits(norm *m)
{
    const gra_wrong *w = m->w;
    for (size_t e = 0; e < w->size; e++) {              /* no group enters another one */
        const size_t i = e % w->cols, j = e / w->cols, span = m->n * m->inner;
        if ((i / span != j / span || i % m->inner != j % m->inner) &&
            !gra_zero(w, e))
            return false;
    }
    m->off = 0;
    for (size_t g = 0; g < m->groups; g++) {
        if (!fits_group(m, g))
            return false;
        for (int t = 0; t < 3; t++)
            m->off = fmax(m->off, fabs(m->factor[t][g] - 1));
    }
    return true;
}

static bool is(const norm *m, int term, double factor)
{
    for (size_t g = 0; g < m->groups; g++)
        if (!(fabs(m->factor[term][g] - factor) <= 1e-3 * m->off))
            return false;
    return true;
}

static void put_term(gra_check_line *s, const gra_wrong *w, const char *name, double f)
{
    gra_check_put(s, "%s%s is %s", s->at ? "; and " : "", name, fabs(f) < 1e-6 ? "left out" : "wrong: ");
    if (!(fabs(f) < 1e-6))
        gra_put_factor(s, w, f);
}

/* Terms with a sum are left out, or have a constant factor. gra_row_term reports that of the mean by
 * itself. */
static bool tell_term(gra_wrong *w, const norm *m)
{
    const double mean = m->factor[1][0], last = m->factor[2][0];
    gra_check_line s = { .at = 0 };
    char both[200], projection[100];
    snprintf(projection, sizeof projection, "the projection on %.60s", w->x->name);
    snprintf(both, sizeof both, "each of the two terms with a sum (that of the mean, and %s)", projection);
    if (!is(m, 0, 1) || !is(m, 1, mean) || !is(m, 2, last) || (is(m, 2, 1) && m->inner == 1))
        return false;
    if (m->mean && is(m, 1, last))
        put_term(&s, w, both, last);
    else if (!is(m, 1, 1))
        put_term(&s, w, "the term of the mean", mean);
    if (!is(m, 1, last) && !is(m, 2, 1))
        put_term(&s, w, projection, last);
    gra_fits(w, "in the derivative of the norm along dimension %d %s; the rest is right", m->d, s.s);
    return true;
}

/* Causes that all terms share, with what they have too much, r; the projection may have r^3. With s for
 * the sum of squares, the forward divides by sqrt(s/n + eps); `other` is another number than n. */
enum { NO_EPS, EPS_OUTSIDE, OTHER_N, NO_N, NO_ROOT, NO_DIVISION, TIMES, CAUSES };
static const char *const causes[CAUSES] = {
    "eps is missing: the backward has 1/sqrt(v) where 1/sqrt(v + eps) is expected",
    "eps is outside of the root: the backward has sqrt(v) + eps where sqrt(v + eps) is expected",
    "the backward divides the sum of squares by another number than the forward: n or n - 1?",
    "the sum of squares is not divided by n",
    "the root is missing: the backward has 1/(v + eps) where 1/sqrt(v + eps) is expected",
    "the division by sqrt(v + eps) is missing",
    "the backward multiplies by sqrt(v + eps) instead of dividing",
};

static bool has_cause(const norm *m, int cause, double n, double other)
{
    const double eps = (1 / m->k[0] - m->squares[0]) / n, near = 1e-3 * m->off;
    for (size_t g = 0; g < m->groups; g++) {
        const double s = m->squares[g], v = s / n, root = sqrt(v + eps), last = m->factor[2][g];
        const double excess[CAUSES] = { root / sqrt(v), root / (sqrt(v) + eps), root / sqrt(s / other + eps),
                                        root / sqrt(s + eps), 1 / root, root, v + eps };
        const double r = excess[cause];
        if (!(fabs(m->factor[0][g] - r) <= near && fabs(m->factor[1][g] - r) <= near &&
              (fabs(last - r) <= near || fabs(last - r * r * r) <= near)))
            return false;
    }
    return cause > EPS_OUTSIDE || eps > 0;
}

static bool tell_cause(gra_wrong *w, const norm *m)
{
    const double n = (double)m->n, forward[] = { n, n - 1, 1 };
    for (int i = 0; i < 3 * CAUSES; i++) {
        const int f = i / CAUSES, cause = i % CAUSES;
        if (!has_cause(m, cause, forward[f], f == 0 ? n - 1 : n))
            continue;
        gra_fits(w, "in the norm along dimension %d %s, with v for the %s", m->d, causes[cause],
                 f < 2 ? "variance, or mean of squares" : "sum of squares");
        return true;
    }
    return false;
}

bool gra_norm(gra_wrong *w)
{
    const gra_shape *x = &w->x->shape;
    norm m = { .w = w, .inner = 1 };
    if (!w->whole || !gra_same_shape(*x, w->check->shape))
        return false;
    for (m.d = x->ndim - 1; m.d >= 0; m.d--) {
        m.n = (size_t)x->dim[m.d];
        m.groups = w->cols / m.n;
        m.z = w->scratch;                               /* all six are within GRA_SCRATCH * cols */
        m.k = m.z + m.n;
        m.squares = m.k + m.groups;
        for (int t = 0; t < 3; t++)
            m.factor[t] = m.squares + (size_t)(t + 1) * m.groups;
        for (int mean = 0; mean < 2 && m.n >= 3; mean++) {
            m.mean = mean;
            if (fits(&m))
                return tell_term(w, &m) || tell_cause(w, &m);
        }
        m.inner *= m.n;
    }
    return false;
}
