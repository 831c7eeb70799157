/* check: is the backward the derivative of the forward?
 *
 *     loss  = sum_j c_j y_j,   y = f(x)
 *     n_i   = sum_j c_j (y_j(x_i + h) - y_j(x_i - h)) / 2h       numeric: what the loss says
 *     a_i   = what gra_backward leaves in x's gradient           analytic: what the backward says
 *     error = |a_i - n_i| / max(|a_i|, |n_i|, r),   r = max(largest |gradient| in x, 1e-3 |loss|)
 *
 * The largest gradient of the tensor is in r because rounding spoils its small elements as much as
 * its large ones: beside a gradient of 1 one of 1e-9 is known to few digits. |loss| is in r for
 * tensors whose true gradient is zero (the bias of attention's keys): there both are rounding alone.
 * The sign counts: the error of a flipped one is 2, the largest there is.
 *
 * h = 1e-5 makes the errors of the difference, h^2/6 y''' and 1e-16 |y| / h, about 1e-11 each. The
 * difference is taken for each y_j before summing, so outputs that do not depend on x_i add no
 * rounding. An element over the tolerance gets a second look, with the h^2 term removed
 * (Richardson): (4 n(h/2) - n(h)) / 3. The weights c have sizes in [0.5, 1.5], so that places that
 * are mixed up show, and either sign, so that a backward that loses the sign of dy shows. Every tensor
 * x is used once more, after f, by a term sum_i d_i x_i: its gradient already holds d when the
 * backward of f comes, which shows one that overwrites instead of adding; a is without d. All values
 * are drawn from a generator of our own. */
#include "checking.h"
#include <stdlib.h>

static const double kink = 1e-3;                        /* how far inputs stay away from 0 */

/* ---- inputs --------------------------------------------------------------------------------- */

/* Values at even steps over [low, high], less the part of it that is too near 0, shuffled. Each
 * input starts at another fraction of its step, so that two alike do not meet (a - b, max). */
static void spread(gra_rng *g, int number, double low, double high, real *x, size_t n)
{
    if (low >= high) {
        low = -2;
        high = 2;
    }
    double from = fmax(low, -kink), gap = fmin(high, kink) - from;
    if (gap < 0 || gap >= high - low)
        gap = 0;
    double start = fmod(0.5 + 0.618033988749895 * number, 1);
    for (size_t i = 0; i < n; i++) {
        double v = low + ((double)i + start) / (double)n * (high - low - gap);
        x[i] = (real)(gap > 0 && v >= from ? v + gap : v);
    }
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)gra_randint(g, i);
        real last = x[i - 1];
        x[i - 1] = x[j];
        x[j] = last;
    }
}

static bool wants_check(const gra_tensor *p)
{
    return p->grad != NULL;                             /* frozen: NULL */
}

/* Lists the tensors to compare, and makes the inputs' values. */
static bool collect(gra_checking *k, gra_model *m)
{
    int params = m ? gra_param_count(m) : 0;
    size_t values = 0, all = (size_t)k->nin + (size_t)params;
    k->tensor = calloc(all + 1, sizeof *k->tensor);
    k->input = calloc(2 * (size_t)k->nin + 1, sizeof(gra_tensor *));
    if (!k->tensor || !k->input)
        return gra_check_fails(k, "out of memory");
    k->handed = k->input + k->nin;

    for (int i = 0; i < k->nin; i++) {
        gra_checked *x = &k->tensor[k->count++];
        *x = (gra_checked){ .name = k->in[i].name ? k->in[i].name : "an input", .ndim = k->in[i].ndim,
                            .shape = k->in[i].shape };
        if (!k->in[i].data && k->in[i].low >= k->in[i].high && (k->in[i].low != 0 || k->in[i].high != 0))
            return gra_check_fails(k, "an input's low is not below its high");
        if (!gra_shape_size(x->ndim, x->shape, &x->size))
            return gra_check_fails(k, "an input has a shape that no tensor can have");
        values += 4 * x->size;
    }
    for (int i = 0; i < params; i++) {
        gra_tensor *p = gra_param_at(m, i);
        if (!wants_check(p))
            continue;
        k->tensor[k->count++] = (gra_checked){ .name = p->name, .ndim = p->ndim, .shape = p->shape,
                                               .size = p->size, .data = p->data, .param = p };
        values += 3 * p->size;
    }
    real *v = k->values = calloc(values + 1, sizeof(real));
    if (!v)
        return gra_check_fails(k, "out of memory");

    gra_rng own;
    gra_manual_seed(&own, 1);
    for (int i = 0; i < k->count; i++) {
        gra_checked *x = &k->tensor[i];
        if (!x->data) {
            x->data = v;
            v += x->size;
            if (k->in[i].data)
                memcpy(x->data, k->in[i].data, x->size * sizeof(real));
            else
                spread(&own, i, k->in[i].low, k->in[i].high, x->data, x->size);
        }
        x->analytic = v;
        x->numeric = v + x->size;
        x->before = v + 2 * x->size;
        v += 3 * x->size;
    }
    return true;
}

/* ---- evaluations ---------------------------------------------------------------------------- */

static gra_tensor *tensor_of(const gra_checking *k, int i)     /* of the latest evaluation */
{
    return i < k->nin ? k->input[i] : k->tensor[i].param;
}

/* The first evaluation: y, its weights, the loss, and all analytic gradients. */
static bool analytic(gra_checking *k, gra_model *m)
{
    gra_tensor *y = gra_check_evaluate(k);
    if (!y)
        return false;
    k->size = y->size;
    k->ndim = y->ndim;
    memcpy(k->shape, y->shape, sizeof k->shape);
    k->y = calloc(3 * k->size + 1, sizeof(real));
    if (!k->y)
        return gra_check_fails(k, "out of memory");
    k->c = k->y + k->size;
    k->parts = k->c + k->size;

    gra_rng own;
    gra_manual_seed(&own, 2);
    gra_uniform(&own, k->c, k->size, 0.5, 1.5);
    for (size_t j = 0; j < k->size; j++) {
        k->y[j] = y->data[j];
        if (!isfinite(k->y[j])) {
            gra_check_say(k->report,
                          "gradient check: element %zu of what f returned is %g: no derivative can be taken",
                          j, (double)k->y[j]);
            return false;
        }
        if (gra_random(&own) % 2)
            k->c[j] = -k->c[j];
        k->loss += (double)k->c[j] * (double)k->y[j];
    }

    if (m)
        gra_zero_grad(m);
    gra_tensor *loss = gra_sum(k->tape, gra_mul(k->tape, y, gra_constant(k->tape, k->c, k->ndim, k->shape)));
    for (int i = 0; i < k->count; i++) {                /* + sum_i d_i x_i, for each x */
        gra_checked *x = &k->tensor[i];
        gra_uniform(&own, x->before, x->size, 0.5, 1.5);
        gra_tensor *d = gra_constant(k->tape, x->before, x->ndim, x->shape);
        loss = gra_add(k->tape, loss, gra_sum(k->tape, gra_mul(k->tape, tensor_of(k, i), d)));
    }
    if (loss->requires_grad)                            /* else there is nothing to compare */
        gra_backward(k->tape, loss);
    if (gra_error(k->tape))
        return gra_check_fails(k, gra_error(k->tape));
    for (int i = 0; i < k->count; i++) {
        gra_checked *x = &k->tensor[i];
        const real *grad = tensor_of(k, i)->grad;
        for (size_t j = 0; grad && j < x->size; j++)
            x->analytic[j] = grad[j] - x->before[j];
    }
    return true;
}

/* Numeric gradients of an f that gives something else each time would mean nothing. */
static bool repeats(gra_checking *k)
{
    gra_tensor *y = gra_check_evaluate(k);
    if (!y)
        return false;
    if (y->size != k->size)
        return gra_check_fails(k, "f gave another shape for the same inputs");
    for (size_t j = 0; j < k->size; j++)
        if (y->data[j] != k->y[j]) {
            gra_check_say(k->report,
                          "gradient check: f is not a function of its inputs: element %zu was %.17g, and "
                          "%.17g when it was called again with the same ones",
                          j, (double)k->y[j], (double)y->data[j]);
            return false;
        }
    return true;
}

static bool slope(gra_checking *k, gra_checked *x, size_t i, double step, double *n)
{
    if (!gra_check_parts(k, x, i, step))
        return false;
    double sum = 0;
    for (size_t j = 0; j < k->size; j++)
        sum += (double)k->parts[j];
    *n = sum;
    return true;
}

/* ---- comparison ------------------------------------------------------------------------------- */

static void measure(const gra_checking *k, gra_checked *x)
{
    x->largest = x->error = 0;
    x->worst = 0;
    for (size_t i = 0; i < x->size; i++)                /* fmax passes over a NaN */
        x->largest = fmax(x->largest, fmax(fabs((double)x->analytic[i]), fabs((double)x->numeric[i])));
    for (size_t i = 0; i < x->size; i++) {
        double e = gra_check_error(k, x, i);
        if (e > x->error) {
            x->error = e;
            x->worst = i;
        }
    }
}

static bool compare(gra_checking *k, gra_checked *x)
{
    double n, half;
    for (size_t i = 0; i < x->size; i++) {
        if (!slope(k, x, i, GRA_CHECK_STEP, &n))
            return false;
        x->numeric[i] = (real)n;
    }
    measure(k, x);
    for (size_t i = 0; i < x->size; i++) {
        if (gra_check_error(k, x, i) <= k->tolerance)
            continue;
        if (!slope(k, x, i, GRA_CHECK_STEP / 2, &half))
            return false;
        x->numeric[i] = (real)((4 * half - (double)x->numeric[i]) / 3);
    }
    measure(k, x);
    return true;
}

static int check(gra_checking *k, gra_model *m)
{
    gra_checked *worst = NULL;
    if (!collect(k, m) || !analytic(k, m) || !repeats(k))
        return -1;
    for (int i = 0; i < k->count; i++) {
        gra_checked *x = &k->tensor[i];
        if (!compare(k, x))
            return -1;
        k->report->elements += x->size;
        if (x->size && (!worst || x->error > worst->error))
            worst = x;
    }
    k->report->error = 0;
    if (worst) {
        k->report->error = worst->error;
        k->report->index = worst->worst;
        k->report->analytic = (double)worst->analytic[worst->worst];
        k->report->numeric = (double)worst->numeric[worst->worst];
        snprintf(k->report->name, sizeof k->report->name, "%s", worst->name);
    }
    gra_check_tell(k, worst);
    return k->report->error <= k->tolerance ? 0 : 1;
}

int gra_check(gra_tape *t, gra_mode mode, gra_rng *rng, gra_model *m, int nin, const gra_check_in *in,
              gra_check_fn *f, void *arg, double tolerance, gra_check_report *report)
{
    gra_check_report unread;
    if (!report)
        report = &unread;
    *report = (gra_check_report){ .error = (double)INFINITY };     /* until known: never taken for right */
    if (sizeof(real) < sizeof(double)) {
        static const char why[] = "gra_check needs float64: build with -DGRADUS_DOUBLE and link libgradus64";
        gra_check_say(report, "%s", why);
        gra_fail(t, "%s", why);
        return -1;
    }
    gra_checking k = { .tape = t, .mode = mode, .rng = rng, .f = f, .arg = arg, .tolerance = tolerance,
                       .report = report, .nin = nin, .in = in };
    if (mode == GRA_EVAL) {
         gra_check_fails(&k, "GRA_EVAL records nothing: use GRA_GRAD, or GRA_TRAIN with a generator");
        return -1;
    }
    if (m && gra_model_error(m)) {
         gra_check_fails(&k, gra_model_error(m));
        return -1;
    }
    if (rng)
        k.start = *rng;
    int status = check(&k, m);
    if (rng)
        *rng = k.start;
    if (m)
        gra_zero_grad(m);
    free(k.tensor);
    free(k.input);
    free(k.values);
    free(k.y);
    return status;
}
