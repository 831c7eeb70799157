/* check: is the backward the derivative of the forward?
 *
 *     loss  = sum_j c_j y_j,   y = f(x)
 *     n_i   = sum_j c_j (y_j(x_i + h) - y_j(x_i - h)) / 2h       numeric: what the loss says
 *     a_i   = what gra_backward leaves in x's gradient           analytic: computed by the backward
 *     error = |a_i - n_i| / r,    r = max(largest |gradient| in x, 1e-7 sum_j |c_j y_j| / max(1, largest
 *                                 |x|))
 *
 * The largest gradient of the tensor is in r because rounding spoils small elements as much as large
 * ones: beside a gradient of 1, only a few digits of a gradient of 1e-9 are known. The loss is in r for
 * tensors whose true gradient is zero (the bias of attention's keys): there a and n are only rounding errors.
 * The sign counts: a flipped sign is an error of 2, the largest possible.
 *
 * The weights c have magnitudes in [0.5, 1.5], which reveals exchanged places, and both signs, which reveals
 * a backward that loses the sign of dy. The check draws all values from a private generator. numeric.c
 * explains how n is computed.
 *
 * A gradient may be right only in some cases. So a is taken
 * - when x's gradient is uninitialised before the backward: the op overwrites it, or it is zeroed first;
 * - when x's gradient holds numbers already: a term sum_i d_i x_i uses x once more, after f. The gradient of
 *   x holds d when the backward of f begins, which reveals a backward that overwrites instead of adding; d is
 *   subtracted from a;
 * - with each tensor in turn as a constant, whose gradient is NULL: the other gradients must not change;
 * - when f is used once more, with other values, before the backward begins: each use must keep its own
 *   values for backward;
 * - when one tensor is passed as two inputs: its gradient is the sum of both gradients.
 * In all these cases guard.c watches what the ops write, and names an op that writes where it must not. */
#include "checking.h"
#include "../model/model.h"
#include <stdlib.h>

/* ---- the function itself --------------------------------------------------------------------- */

/* The first evaluation, under the guard. */
static gra_tensor *begin(gra_checking *k)
{
    gra_guard_watch(&k->guard, true);
    gra_tensor *y = gra_check_evaluate(k);
    gra_guard_watch(&k->guard, false);
    gra_guard_look(&k->guard);
    return y;
}

/* y, its weights, the loss. */
static bool weigh(gra_checking *k, const gra_tensor *y)
{
    if (y->op && !y->ran) {
        gra_check_say(k->report, "gradient check: f returned a result of %s that was never computed: an op's "
                      "public function must end with return gra_run(y)", y->op->name);
        return false;
    }
    k->size = y->size;
    k->shape = y->shape;
    k->y = calloc(3 * k->size + 1, sizeof(real));
    if (!k->y)
        return gra_check_fails(k, "out of memory");
    k->tensor[k->count] = (gra_checked){ .name = "y", .shape = k->shape, .size = k->size, .data = k->y };
    k->c = k->y + k->size;
    k->parts = k->c + k->size;

    gra_rng own;
    gra_manual_seed(&own, 2);
    gra_uniform(&own, k->c, k->size, 0.5, 1.5);
    for (size_t j = 0; j < k->size; j++) {
        k->y[j] = y->data[j];
        if (!isfinite(k->y[j])) {
            gra_check_say(k->report,
                          "gradient check: element %zu of f's result is %g: no derivative can be taken. "
                          "If f is not defined everywhere, set .low and .high of its inputs; if it is, its "
                          "forward reads memory that it did not fill", j, fabs((double)k->y[j]));
            return false;
        }
        if (gra_random(&own) % 2)
            k->c[j] = -k->c[j];
        k->loss += fabs((double)k->c[j] * (double)k->y[j]);
    }
    return true;
}

/* If f gave different results each time, numeric gradients would mean nothing. */
static bool repeats(gra_checking *k)
{
    gra_guard_change(&k->guard, true, 0);               /* with the same memory as the first time */
    const gra_tensor *y = gra_check_evaluate(k);
    gra_guard_change(&k->guard, false, 0);
    if (!y)
        return false;
    if (y->size != k->size)
        return gra_check_fails(k, GRA_OTHER_SHAPE);
    for (size_t j = 0; j < k->size; j++)
        if (y->data[j] != k->y[j]) {
            gra_check_say(k->report,
                          "gradient check: f is not a function of its inputs: element %zu was %.17g, and "
                          "%.17g when f was called again with the same inputs. Does f keep something from "
                          "call to call, or draw numbers of its own?",
                          j, (double)k->y[j], (double)y->data[j]);
            return false;
        }
    return true;
}

static bool stays_within(gra_checking *k)
{
    gra_line s = { .at = 0 };
    const int beyond = gra_check_beyond(k, -1, &s);
    if (beyond > 0)
        gra_check_say(k->report, "gradient check: f does not stay within its tensors: %s: check each index",
                      s.s);
    return beyond == 0;
}

/* ---- comparison ------------------------------------------------------------------------------- */

static void measure(gra_checked *x)
{
    x->largest = x->error = 0;
    x->worst = 0;
    x->untested = x->size > 0;
    for (size_t i = 0; i < x->size; i++) {              /* fmax ignores a NaN */
        const double a = fabs((double)x->analytic[i]), n = fabs((double)x->numeric[i]);
        x->largest = fmax(x->largest, n > (double)x->unsure[i] ? fmax(a, n) : a);
        x->untested &= a == 0 && n == 0;
    }
    for (size_t i = 0; i < x->size; i++) {
        const double e = gra_check_error(x, i);
        /* the first among errors that differ only by rounding */
        if (e > x->error * (1 + 1e-6)) {
            x->error = e;
            x->worst = i;
        }
    }
}

/* The tensor with the largest error, except the constant tensor, or NULL if all tensors are empty. */
static gra_checked *worst_of(gra_checking *k)
{
    gra_checked *worst = NULL;
    for (int i = 0; i < k->count; i++) {
        gra_checked *x = &k->tensor[i];
        if (i == k->constant)
            memcpy(x->analytic, x->numeric, x->size * sizeof(real));
        measure(x);
        if (x->size && (!worst || x->error > worst->error))
            worst = x;
    }
    return worst;
}

/* Status 1, or 0 if all is right so far. */
static int judge(gra_checking *k)
{
    gra_check_report *r = k->report;
    if (k->guard.violated) {
        r->error = (double)INFINITY;
        snprintf(r->name, sizeof r->name, "%s", k->guard.tensor);
        gra_check_say(r, "gradient check FAILED: %s", k->guard.sentence);
        return 1;
    }
    gra_checked *worst = worst_of(k);
    r->error = 0;
    if (worst) {
        r->error = worst->error;
        r->index = worst->worst;
        r->analytic = (double)worst->analytic[worst->worst];
        r->numeric = (double)worst->numeric[worst->worst];
        snprintf(r->name, sizeof r->name, "%s", worst->name);
    }
    if (r->error <= k->tolerance)
        return 0;
    gra_check_tell(k, worst, false);
    return 1;
}

/* All tensors need gradients: with uninitialised memory, and with memory that holds numbers. */
static int all_wanted(gra_checking *k)
{
    if (!gra_check_analytic(k, false))
        return -1;
    for (int i = 0; i < k->count; i++)
        memcpy(k->tensor[i].fresh, k->tensor[i].analytic, k->tensor[i].size * sizeof(real));
    if (!gra_check_analytic(k, true))
        return -1;
    for (int i = 0; i < k->count && !k->guard.violated; i++) {
        if (!gra_check_numeric(k, &k->tensor[i]))
            return -1;
        k->report->elements += k->tensor[i].size;
    }
    if (judge(k))
        return 1;

    snprintf(k->when, sizeof k->when, "this happens only while the gradient is uninitialised (in[i]->fresh): "
             "to a gradient that already holds numbers the backward adds correctly");
    for (int i = 0; i < k->count; i++) {
        gra_checked *x = &k->tensor[i];
        memcpy(x->analytic, x->fresh, x->size * sizeof(real));
        memset(x->before, 0, x->size * sizeof(real));
    }
    return judge(k);
}

/* Each tensor as a constant in turn: the other tensors' gradients must not change. */
static int constants(gra_checking *k)
{
    int status = 0;
    for (int i = 0; i < 2 * k->count && !status; i++) {
        k->constant = i / 2;
        snprintf(k->when, sizeof k->when, "this happens only if %s is a constant, whose gradient is NULL",
                 k->tensor[i / 2].name);
        if (!gra_check_analytic(k, i % 2))
            status = -1;
        else if (k->known)
            status = judge(k);
    }
    k->constant = -1;
    return status;
}

/* ---- f used twice ------------------------------------------------------------------------------- */

/* A sweep with values that f may refuse; false: f refused them. */
static bool try_sweep(gra_checking *k)
{
    gra_check_try(k, true);
    const bool ok = gra_check_analytic(k, false);
    gra_check_try(k, false);
    return ok;
}

static int used_again(gra_checking *k)
{
    int status = 0;
    k->again = true;
    snprintf(k->when, sizeof k->when, "this happens only if f is used again before the backward. Does the op "
             "keep something in a variable, which the next use overwrites? Keep it in y->saved");
    if (try_sweep(k))
        status = judge(k);
    k->again = false;
    return status;
}

/* ---- one tensor as two inputs ------------------------------------------------------------------- */

/* Are y and all gradients finite? If not, f is not defined for these values, and they prove nothing. */
static bool all_finite(const gra_checking *k)
{
    bool ok = k->finite;
    for (int i = 0; i < k->count; i++)
        for (size_t j = 0; j < k->tensor[i].size; j++)
            ok &= isfinite(k->tensor[i].analytic[j]);
    return ok;
}

/* Is the gradient of the shared tensor only a's part, or only b's part? a->fresh is the sum of both parts,
 * and b->fresh is b's part. */
static void tell_alone(const gra_checking *k, const gra_checked *a, const gra_checked *b, double tolerance)
{
    bool of_a = true, of_b = true;
    for (size_t j = 0; j < a->size; j++) {
        of_a &= fabs((double)a->analytic[j] - ((double)a->fresh[j] - (double)b->fresh[j])) <= tolerance;
        of_b &= fabs((double)a->analytic[j] - (double)b->fresh[j]) <= tolerance;
    }
    if (of_a && of_b)
        gra_check_hint(k->report, "likely: only one of the two gradients is there: the other is overwritten, "
                       "or missing");
    else if (of_a || of_b)
        gra_check_hint(k->report, "likely: only its gradient as %s is there: its gradient as %s "
                       "is overwritten, or missing", (of_a ? a : b)->name, (of_a ? b : a)->name);
}

/* Two tensors with the same values have two gradients; one tensor passed in both places must get their sum.
 * This comparison needs no finite differences. *proof: f is defined for these values. */
static int twins_at(gra_checking *k, gra_checked *a, gra_checked *b, bool *proof)
{
    double most = fmax(a->floor, b->floor), off = 0;
    size_t worst = 0;
    *proof = try_sweep(k);
    *proof &= all_finite(k);
    if (!*proof)
        return 0;
    for (size_t j = 0; j < a->size; j++) {
        most = gra_larger(gra_larger(most, (double)a->analytic[j]), (double)b->analytic[j]);
        a->fresh[j] = a->analytic[j] + b->analytic[j];
        b->fresh[j] = b->analytic[j];
    }
    k->twin[0] = (int)(a - k->tensor);
    k->twin[1] = (int)(b - k->tensor);
    const bool ok = try_sweep(k);
    k->twin[1] = -1;
    for (size_t j = 0; ok && j < a->size; j++) {       /* not ok: f refuses one tensor in both places */
        const double e = fabs((double)a->analytic[j] - (double)a->fresh[j]);
        if (e > off) {
            off = e;
            worst = j;
        }
    }
    if (off <= k->tolerance * most)
        return 0;
    gra_check_report *r = k->report;
    r->error = off / most;
    r->index = worst;
    r->analytic = (double)a->analytic[worst];
    r->numeric = (double)a->fresh[worst];
    snprintf(r->name, sizeof r->name, "%s", a->name);
    gra_check_say(r, "gradient check FAILED: one tensor passed as both %s and %s: element %zu of its "
                  "gradient is %.6g, but should be %.6g, the sum of the gradients of two equal tensors "
                  "(error %.2g)", a->name, b->name, worst, r->analytic, r->numeric, r->error);
    tell_alone(k, a, b, k->tolerance * most);
    return 1;
}

/* Every pair of inputs of equal shape, with the values of the first input, or of the second if f is not
 * defined for the first. */
static int twins(gra_checking *k)
{
    for (int i = 0; i < k->nin; i++)
        for (int j = i + 1; j < k->nin; j++) {
            gra_checked *a = &k->tensor[i], *b = &k->tensor[j];
            real *const of_a = a->data, *const of_b = b->data;
            bool proof = false;
            if (!gra_same_shape(a->shape, b->shape))
                continue;
            b->data = of_a;
            int status = twins_at(k, a, b, &proof);
            a->data = b->data = of_b;
            if (!proof)
                status = twins_at(k, a, b, &proof);
            a->data = of_a;
            if (status)
                return status;
        }
    return 0;
}

/* ---- all of it ---------------------------------------------------------------------------------- */

static int check(gra_checking *k, gra_model *m)
{
    const gra_tensor *y = gra_check_collect(k, m) ? begin(k) : NULL;
    if (!y)
        return -1;
    if (k->guard.violated)
        return judge(k);
    if (!weigh(k, y) || !repeats(k) || !stays_within(k))
        return -1;
    int status = all_wanted(k);
    if (status)
        return status;

    bool untested = k->report->elements == 0 || k->size == 0;
    for (int i = 0; i < k->count; i++)
        untested |= k->tensor[i].untested || k->tensor[i].kinks;
    gra_check_tell(k, k->report->elements ? worst_of(k) : NULL, untested);
    const gra_check_report passed = *k->report;         /* unless the checks below find something */
    k->report->finding[0] = k->report->text[0] = '\0';
    status = constants(k);
    if (!status)
        status = used_again(k);
    if (!status)
        status = twins(k);
    if (status)
        return status;
    *k->report = passed;
    return untested ? 2 : 0;
}

/* The options make no sense, or the model is unusable. */
static bool refused(gra_checking *k, const gra_check_options *o)
{
    if (!o->f)
        gra_check_fails(k, "got NULL for f, expected the function whose gradients are to be checked");
    else if (o->nin > 0 && !o->in)
        gra_check_fails(k, "got NULL for the inputs, expected as many as nin");
    else if (o->model && gra_model_error(o->model))
        gra_check_fails(k, gra_model_error(o->model));
    else
        return false;
    return true;
}

int gra_check_with(gra_tape *t, const gra_check_options *o, gra_check_report *report,
                   gra_check_explain_fn *explain)
{
    static const gra_check_options none = { 0 };
    gra_check_report unread;
    gra_need_tape(t, "gra_check");
    o = o ? o : &none;
    report = report ? report : &unread;
    *report = (gra_check_report){ .error = (double)INFINITY };     /* infinite until it is known */
    gra_checking k = { .tape = t, .mode = o->rng ? GRA_TRAIN : GRA_GRAD, .rng = o->rng, .f = o->f,
                       .arg = o->arg, .tolerance = o->tolerance > 0 ? o->tolerance : 1e-6,
                       .report = report, .explain = explain, .nin = o->nin, .in = o->in, .constant = -1,
                       .twin = { -1, -1 }, .keep_going = gra_machine_keeps_going(t->machine),
                       .trace = t->watch[GRA_WATCH_TRACE] };
    if (o->model)
        gra_need_model(o->model, "gra_check");
    if (refused(&k, o))
        return -1;
    if (o->rng)
        k.start = *o->rng;
    gra_guard_begin(&k.guard, &k);
    const int status = check(&k, o->model);
    if (status < 0)
        report->error = (double)INFINITY;
    gra_check_restore(&k);
    gra_guard_end(&k.guard);
    if (o->rng)
        *o->rng = k.start;
    if (o->model)
        gra_zero_grad(o->model);
    free(k.tensor);
    free(k.input);
    free(k.values);
    free(k.y);
    return status;
}
