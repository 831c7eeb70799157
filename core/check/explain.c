/* explain: a wrong gradient in sentences, with each explanation that fits the numbers.
 *
 * An explanation is a guess b(n) at what the backward computed, made from the right gradient n:
 * -n, 2n, n transposed, n but for a row of zeros ... It fits when the backward's gradient a is that
 * guess in every element of the tensor, to 1e-4 of its largest, and to a hundredth of what is to be
 * explained: so it never fits by being nearly right already. All that fit are told: which one is
 * meant may hang on the shape, and another shape tells them apart. */
#include "checking.h"
#include <stdlib.h>

typedef struct wrong {                  /* the tensor to explain */
    gra_checking *check;
    gra_checked  *x;
    const real   *a, *n;                /* its analytic and numeric gradients */
    double        near;                 /* how near is a fit */
    bool          zero;                 /* explained by zeros, wholly or in part */
} wrong;

static bool fits(const wrong *w, double a, double guess)
{
    return fabs(a - guess) <= w->near;
}

static gra_around around(const gra_checked *x, int d)
{
    gra_around v = { 1, (size_t)x->shape[d], 1 };
    for (int i = 0; i < d; i++)
        v.outer *= (size_t)x->shape[i];
    for (int i = d + 1; i < x->ndim; i++)
        v.inner *= (size_t)x->shape[i];
    return v;
}

static bool same(double k, double of)
{
    return fabs(k - of) <= 1e-4 * of;
}

/* The batch sizes there are: first dimensions of the output and of the inputs. */
static int batch_size(const gra_checking *k, double factor)
{
    for (int i = -1; i < k->nin; i++) {
        int ndim = i < 0 ? k->ndim : k->in[i].ndim;
        int size = ndim == 0 ? 0 : i < 0 ? k->shape[0] : k->in[i].shape[0];
        if (size > 1 && (same(factor, size) || same(factor, 1.0 / size)))
            return size;
    }
    return 0;
}

/* a = k n, k by least squares. One number is k times another for some k, so in a tensor of one
 * element only the factors with a name count. */
static bool constant_factor(wrong *w)
{
    double an = 0, nn = 0;
    size_t count = 0;
    for (size_t i = 0; i < w->x->size; i++) {
        double a = (double)w->a[i], n = (double)w->n[i];
        an += a * n;
        nn += n * n;
        count += fabs(n) > w->near;
    }
    double k = nn > 0 ? an / nn : 0, size = fabs(k);
    if (size == 0)
        return false;
    for (size_t i = 0; i < w->x->size; i++)
        if (!fits(w, (double)w->a[i], k * (double)w->n[i]))
            return false;

    int batch = batch_size(w->check, size);
    bool named = batch || same(size, 1) || same(size, 2) || same(size, 0.5);
    if (count < 2 && !named)
        return false;
    const char *sign = k < 0 ? "the sign is flipped, and " : "";
    if (same(size, 1))
        gra_check_say(w->check->report, "it fits: the sign is flipped");
    else if (same(size, 2))
        gra_check_say(w->check->report, "it fits: %sa factor of 2: counted twice, or a forgotten 1/2", sign);
    else if (same(size, 0.5))
        gra_check_say(w->check->report, "it fits: %sa factor of 1/2: a forgotten 2", sign);
    else if (!batch)
        gra_check_say(w->check->report, "it fits: %sa constant factor of %.6g", sign, size);
    if (batch)
        gra_check_say(w->check->report, "it fits: %s%s the batch size %d: mean or sum?", sign,
                      size > 1 ? "times" : "divided by", batch);
    return true;
}

static void put_index(gra_check_line *s, int ndim, int d, int i)
{
    if (ndim == 2)
        gra_check_put(s, "%s %d", d ? "column" : "row", i);
    else
        gra_check_put(s, "index %d of dimension %d", i, d);
}

static bool slice_is_zero(const wrong *w, int d, size_t i, bool *missing)
{
    gra_around v = around(w->x, d);
    *missing = false;
    for (size_t o = 0; o < v.outer; o++)
        for (size_t j = 0; j < v.inner; j++) {
            size_t at = (o * v.n + i) * v.inner + j;
            if (w->a[at] != 0)
                return false;
            *missing |= fabs((double)w->n[at]) > w->near;
        }
    return true;
}

/* Are the elements that are missing all those of some indices of dimension d? Names them. */
static bool zero_along(wrong *w, int d, size_t missing)
{
    gra_around v = around(w->x, d);
    gra_check_line s = { .at = 0 };
    size_t slices = 0;
    for (size_t i = 0; i < v.n; i++) {
        bool some;
        if (!slice_is_zero(w, d, i, &some) || !some)
            continue;
        for (size_t at = 0; at < w->x->size; at++)
            missing -= at / v.inner % v.n == i && fabs((double)w->n[at]) > w->near;
        if (slices++)
            gra_check_put(&s, ", ");
        put_index(&s, w->x->ndim, d, (int)i);
    }
    if (missing || slices == v.n)
        return false;
    gra_check_say(w->check->report, "it fits: zero in %s, right elsewhere", s.s);
    return true;
}

/* a = 0 where n is not, a = n elsewhere. */
static bool zeros(wrong *w)
{
    size_t missing = 0, first = 0, zero = 0;
    for (size_t i = 0; i < w->x->size; i++) {
        double a = (double)w->a[i], n = (double)w->n[i];
        zero += a == 0;
        if (fits(w, a, n))
            continue;
        if (a != 0)
            return false;
        if (missing++ == 0)
            first = i;
    }
    w->zero = true;
    if (zero == w->x->size) {
        gra_check_say(w->check->report, "it fits: all zero: the backward adds nothing here");
        return true;
    }
    bool along = false;
    for (int d = 0; d < w->x->ndim; d++)
        along |= zero_along(w, d, missing);
    if (!along)
        gra_check_say(w->check->report,
                      "it fits: zero in %zu of %zu elements, the first of them %zu, right elsewhere",
                      missing, w->x->size, first);
    return true;
}

/* n = 0: the loss does not depend on x. */
static bool should_be_zero(wrong *w)
{
    for (size_t i = 0; i < w->x->size; i++)
        if (fabs((double)w->n[i]) > w->near)
            return false;
    gra_check_say(w->check->report, "it fits: it should be zero: the loss does not depend on %s", w->x->name);
    return true;
}

/* The last two dimensions m x k were filled as if they were k x m. */
static bool transposed(wrong *w)
{
    if (w->x->ndim < 2)
        return false;
    size_t m = (size_t)w->x->shape[w->x->ndim - 2], k = (size_t)w->x->shape[w->x->ndim - 1];
    for (size_t i = 0; i < w->x->size; i++) {
        size_t matrix = i / (m * k) * (m * k), row = i % (m * k) / k, column = i % k;
        if (!fits(w, (double)w->a[matrix + column * m + row], (double)w->n[i]))
            return false;
    }
    gra_check_say(w->check->report, "it fits: transposed: %s",
                  m == k ? "element (i, j) holds the gradient of (j, i)"
                         : "the values are those of the other order of the last two dimensions");
    return true;
}

/* Does a come from a part of the output alone, one index of each dimension in the set `of`? Each
 * index (or tuple of them) is a candidate until an element of a contradicts it. `lost`: it was stored
 * over what the gradient held before. */
static bool part_of(wrong *w, unsigned of, bool lost, double *sum, bool *out)
{
    gra_checking *k = w->check;
    size_t n = 1, left, found = 0;
    for (int d = 0; d < k->ndim; d++)
        n *= of >> d & 1 ? (size_t)k->shape[d] : 1;
    memset(out, 0, n * sizeof *out);
    left = n;
    for (size_t i = 0; i < w->x->size && left; i++) {
        if (!gra_check_parts(k, w->x, i, GRA_CHECK_STEP))
            return false;
        memset(sum, 0, n * sizeof *sum);
        for (size_t j = 0; j < k->size; j++) {
            size_t rest = j, candidate = 0, step = 1;
            for (int d = k->ndim - 1; d >= 0; d--) {
                size_t size = (size_t)k->shape[d];
                if (of >> d & 1) {
                    candidate += rest % size * step;
                    step *= size;
                }
                rest /= size;
            }
            sum[candidate] += (double)k->parts[j];
        }
        double a = (double)w->a[i] + (lost ? (double)w->x->before[i] : 0);
        for (size_t c = 0; c < n; c++)
            if (!out[c] && !fits(w, a, sum[c])) {
                out[c] = true;
                left--;
            }
    }
    if (!left)
        return false;
    while (out[found])
        found++;
    gra_check_line s = { .at = 0 };
    for (int d = 0; d < k->ndim; d++) {
        if (!(of >> d & 1))
            continue;
        n /= (size_t)k->shape[d];
        gra_check_put(&s, "%sindex %zu of dimension %d", s.at ? " and " : "", found / n, d);
        found %= n;
    }
    if (lost)
        gra_check_say(k->report, "it fits: only %s of the output is left: the backward says dx[i] = ... "
                      "where dx[i] += ... is wanted", s.s);
    else
        gra_check_say(k->report, "it fits: only %s of the output was added: sum over the dimension that was "
                      "stretched", s.s);
    return true;
}

/* Broadcasting without the sum: one index of one dimension, or of all that stretched x. */
static bool one_part(wrong *w)
{
    const gra_checking *k = w->check;
    unsigned stretched = 0;
    int count = 0;
    bool fit = false;
    if (w->zero || k->ndim == 0)
        return false;
    double *sum = calloc(k->size + 1, sizeof *sum);
    bool *out = calloc(k->size + 1, sizeof *out);
    for (int d = 0; sum && out && d < k->ndim; d++) {
        int own = d - k->ndim + w->x->ndim;             /* aligned at the right */
        if (k->shape[d] < 2)
            continue;
        if (own < 0 || w->x->shape[own] == 1) {
            stretched |= 1u << d;
            count++;
        }
        fit |= part_of(w, 1u << d, false, sum, out) || part_of(w, 1u << d, true, sum, out);
    }
    if (sum && out && count > 1)
        fit |= part_of(w, stretched, false, sum, out) || part_of(w, stretched, true, sum, out);
    free(sum);
    free(out);
    return fit;
}

/* The sums over a dimension agree, the places do not. Sums that are all zero prove nothing. */
static bool right_sums(wrong *w)
{
    bool fit = false;
    for (int d = 0; d < w->x->ndim; d++) {
        gra_around v = around(w->x, d);
        double largest = 0;
        bool agree = v.n > 1;
        for (size_t oj = 0; agree && oj < v.outer * v.inner; oj++) {
            double a = 0, n = 0;
            for (size_t i = 0; i < v.n; i++) {
                size_t at = (oj / v.inner * v.n + i) * v.inner + oj % v.inner;
                a += (double)w->a[at];
                n += (double)w->n[at];
            }
            agree = fits(w, a, n);
            largest = fmax(largest, fabs(n));
        }
        if (!agree || largest < 1e-2 * w->x->largest)
            continue;
        gra_check_say(w->check->report,
                      "it fits: right only after summing over dimension %d: the sums agree, "
                      "the places do not",
                      d);
        fit = true;
    }
    return fit;
}

/* a - n is the same everywhere, or the same along a dimension. */
static bool offset(wrong *w)
{
    bool fit = false;
    double first = (double)w->a[0] - (double)w->n[0];
    bool everywhere = w->x->size > 1;
    for (size_t i = 0; everywhere && i < w->x->size; i++)
        everywhere = fits(w, (double)w->a[i], (double)w->n[i] + first);
    if (everywhere) {
        gra_check_say(w->check->report,
                      "it fits: a constant offset of %.6g: "
                      "a term that is the same for all elements is missing or too much", first);
        return true;
    }
    for (int d = 0; d < w->x->ndim; d++) {
        gra_around v = around(w->x, d);
        bool along = v.n > 1;
        for (size_t at = 0; along && at < w->x->size; at++) {
            size_t start = at - at / v.inner % v.n * v.inner;
            along = fits(w, (double)w->a[at], (double)w->n[at] + ((double)w->a[start] - (double)w->n[start]));
        }
        if (along)
            gra_check_say(w->check->report,
                          "it fits: an offset that is constant along dimension %d: "
                          "a term with the sum or the mean over it is missing or too much", d);
        fit |= along;
    }
    return fit;
}

/* a + before = n: what the gradient held before is gone. */
static bool overwritten(wrong *w)
{
    for (size_t i = 0; i < w->x->size; i++)
        if (!fits(w, (double)w->a[i] + (double)w->x->before[i], (double)w->n[i]))
            return false;
    gra_check_say(w->check->report,
                  "it fits: what was in the gradient before is lost: the backward says dx[i] = ... where "
                  "dx[i] += ... is wanted");
    return true;
}

typedef bool explanation(wrong *w);
static explanation *const explanations[] = {
    zeros, should_be_zero, overwritten, constant_factor, transposed, one_part, right_sums, offset
};

static bool all_finite(const gra_checked *x)
{
    for (size_t i = 0; i < x->size; i++)
        if (!isfinite(x->analytic[i]) || !isfinite(x->numeric[i]))
            return false;
    return true;
}

void gra_check_explain(gra_checking *k, gra_checked *x)
{
    wrong w = { .check = k, .x = x, .a = x->analytic, .n = x->numeric };
    bool fit = false;
    if (isfinite(x->analytic[x->worst]) && !isfinite(x->numeric[x->worst])) {
        gra_check_say(k->report, "f is not finite on both sides of that element, however near: it may lie outside "
                      "of where f is defined. .low and .high say where inputs lie");
        return;
    }
    if (!all_finite(x)) {
        gra_check_say(k->report,
                      "it fits: a division by zero, the logarithm of zero, or memory that nobody filled");
        return;
    }
    for (size_t i = 0; i < x->size; i++) {              /* not fmax: gcc 12 for aarch64 breaks down over it */
        double off = fabs((double)x->analytic[i] - (double)x->numeric[i]);
        w.near = off > w.near ? off : w.near;
    }
    w.near = fmin(w.near / 100, 1e-4 * x->largest);
    for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++)
        fit |= explanations[i](&w);
    if (!fit)
        gra_check_say(k->report,
                      "none of the usual slips explains it: compare the backward's formula, term by term");
}
