/* expression: an expression on a tape, once for the page and many times for the gradient check. */
#include "expression.h"
#include "../look/look.h"
#include "export.h"
#include "expression_numeric.h"
#include "expression_parse.h"
#include "expression_slips.h"

static struct run {
    gra_tape   *tape;
    expression  e;
    gra_real    data[EXPRESSION_VALUES];                /* of all inputs, one after another, */
    double      grad[EXPRESSION_VALUES], loss;
    expression_numeric numeric[EXPRESSION_VALUES];
    gra_tensor *in[EXPRESSION_INPUTS], *x[EXPRESSION_STEPS];
    const expression_slip *slip;                        /* NULL: none */
    int         broken, failed;                     /* the first step with this slip, or an error; or -1 */
    double      work;                                   /* of an evaluation, roughly in additions */
    double      weight;                                 /* gra_check's weight of a single value */
    bool        compared;                               /* with numeric gradients, and checked: */
    const char *passed;                                 /* "true", "false" or "null" */
    expression_error warning;
} the_run;
typedef struct run run;
static out result, report;              /* the returned text, and the check's text */

static size_t size_of(const expression_input *input)
{
    size_t size = 1;
    gra_shape_size(input->shape, &size);
    return size;
}

static const char *name_of(const expression *e, int input)
{
    const char *name = e->step[e->input[input].step].name;
    return *name ? name : "randn";
}

static bool uses(const run *r, const char *op)
{
    for (int i = 0; i < r->e.steps; i++)
        if (r->x[i]->op && strcmp(r->x[i]->op->name, op) == 0)
            return true;
    return false;
}

/* ---- an evaluation ----------------------------------------------------------------------------------- */

static int larger(int a, int b) { return a > b ? a : b; }

/* Is the result of two matrices larger than a tensor may be? */
static bool too_large(const expression_step *s, const gra_tensor *a, const gra_tensor *b)
{
    const bool matmul = s->two == gra_matmul ||
                        (s->two == expression_beside && a->shape.ndim && b->shape.ndim);
    const int rows = matmul ? gra_dim(a, -2) : larger(gra_dim(a, -2), gra_dim(b, -2));
    const int columns = matmul ? gra_dim(b, -1) : larger(gra_dim(a, -1), gra_dim(b, -1));
    return (long)larger(rows, 1) * larger(columns, 1) > EXPRESSION_VALUES;
}

static gra_tensor *apply(gra_tape *t, const expression_step *s, gra_tensor *a, gra_tensor *b)
{
    if (s->kind == EXPRESSION_ONE)
        return s->one(t, a);
    if (s->kind == EXPRESSION_POWER)
        return gra_pow(t, a, s->number);
    if (too_large(s, a, b))
        return gra_fail(t, "got %s and %s, whose result has more than %d values", GRA_SHAPE_OF(a),
                        GRA_SHAPE_OF(b), EXPRESSION_VALUES);
    return s->two(t, a, b);
}

/* All steps; also for gra_check. */
static gra_tensor *compute(gra_tape *t, gra_tensor **in, void *arg)
{
    run *r = arg;
    r->failed = r->broken = -1;
    r->work = 0;
    for (int i = 0; i < r->e.steps; i++) {
        const expression_step *s = &r->e.step[i];
        gra_tensor *y = s->kind == EXPRESSION_INPUT ? in[s->a]
                      : s->kind == EXPRESSION_NUMBER ? gra_full(t, s->number, GRA_SCALAR)
                      : apply(t, s, r->x[s->a], r->x[s->b]);
        if (gra_error(t)) {
            r->failed = i;
            return gra_empty(t);
        }
        if (r->slip && expression_break(t, y, r->slip, s->number) && r->broken < 0)
            r->broken = i;
        r->x[i] = s->name[0] ? gra_name(y, "%s", s->name) : y;
        const bool matmul = y->op && strcmp(y->op->name, "matmul") == 0;
        r->work += 50 + (double)y->size * (matmul ? gra_dim(y->in[0], -1) : 1);
    }
    return r->x[r->e.result];
}

/* gra_check weighs each value of the result. To make its numbers those of the table, a single value is
 * divided by its weight, which is the gradient that gra_check finds for f(x) = x. */
static gra_tensor *identity(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return gra_scale(t, in[0], 1);
}

static gra_tensor *compute_weighed(gra_tape *t, gra_tensor **in, void *arg)
{
    gra_tensor *y = compute(t, in, arg);
    return y->size == 1 ? gra_scale(t, y, 1 / ((run *)arg)->weight) : y;
}

/* The inputs, and what is computed from them: the loss, which has one value. */
static gra_tensor *evaluate(run *r, gra_mode mode)
{
    const gra_real *data = r->data;
    gra_begin(r->tape, mode, NULL);
    for (int i = 0; i < r->e.inputs; data += size_of(&r->e.input[i++]))
        r->in[i] = gra_input(r->tape, data, r->e.input[i].shape);
    gra_tensor *y = compute(r->tape, r->in, r);
    return y->size == 1 ? y : gra_sum(r->tape, y);
}

static double loss_of(void *arg)
{
    return gra_item(evaluate(arg, GRA_EVAL));
}

/* Forward and backward; the gradients stay on the tape. A loss that is nan or infinite has no gradients.
 * false: an error, in r->e.error. */
static bool differentiate(run *r)
{
    gra_keep_grads(r->tape, true);
    gra_tensor *loss = evaluate(r, GRA_GRAD);
    const char *why = gra_error(r->tape);
    if (!why && (gra_node_count(r->tape) == 0 || !loss->requires_grad))
        why = "nothing is differentiated yet: expected an operation on a name, such as a * 3";
    r->loss = why ? 0 : gra_item(loss);
    if (!why && isfinite(r->loss) && gra_backward(r->tape, loss))
        why = gra_error(r->tape);
    gra_keep_grads(r->tape, false);
    if (why) {
        const expression_step *s = &r->e.step[r->failed < 0 ? r->e.result : r->failed];
        r->e.error = (expression_error){ .at = s->at, .length = s->length };
        snprintf(r->e.error.why, sizeof r->e.error.why, "%s", why);
        return false;
    }
    double *grad = r->grad;
    for (int i = 0; i < r->e.inputs; i++)
        for (size_t j = 0; j < r->in[i]->size; j++)
            *grad++ = r->in[i]->grad ? (double)r->in[i]->grad[j] : 0;
    return true;
}

/* ---- are the gradients right? ------------------------------------------------------------------------ */

/* The first op whose result has nan or inf. */
static void warn(run *r)
{
    r->warning.why[0] = '\0';
    for (int i = 0; i < r->e.steps; i++) {
        const gra_tensor *y = r->x[i];
        size_t j = 0;
        while (j < y->size && isfinite(y->data[j]))
            j++;
        if (j == y->size)
            continue;
        char of[40] = "";
        if (y->op && y->nin == 1 && y->in[0]->size == y->size)
            snprintf(of, sizeof of, " of %.6g", (double)y->in[0]->data[j]);
        r->warning = (expression_error){ .at = r->e.step[i].at, .length = r->e.step[i].length };
        snprintf(r->warning.why, sizeof r->warning.why, "%s%s is %s", y->op ? y->op->name : "this value", of,
                 isnan(y->data[j]) ? "nan" : "infinite");
        return;
    }
}

/* At a kink the check would compare with the mean of two slopes, so it is made beside the kink. */
static void step_aside(run *r)
{
    int kinks = 0;
    size_t at = 0;
    for (int i = 0; i < r->e.inputs; i++)
        for (size_t j = 0; j < size_of(&r->e.input[i]); j++, at++)
            if (r->numeric[at].kink) {
                r->data[at] += 1e-3 / ++kinks * fmax(1, fabs(r->data[at]));
                out_text(&report, kinks == 1 ? "The slope jumps at these values, so the check is made "
                         "beside them: " : ", ");
                out_format(&report, "%s = %.6g", name_of(&r->e, i), r->data[at]);
            }
    out_text(&report, kinks ? "\n" : "");
}

static int check(run *r, gra_check_fn *f, int nin, const gra_check_in *in)
{
    static gra_check_report found;
    const gra_check_options options = { .nin = nin, .in = in, .f = f, .arg = r };
    const int status = gra_check(r->tape, &options, &found);
    out_text(&report, found.text);
    return status;
}

static void check_all(run *r)
{
    gra_check_in in[EXPRESSION_INPUTS];
    gra_real at_inputs[EXPRESSION_VALUES], *data = r->data;
    memcpy(at_inputs, r->data, sizeof at_inputs);
    gra_check_report found;
    const gra_check_in one = { .shape = GRA_SHAPE(1) };
    gra_check(r->tape, &(gra_check_options){ .nin = 1, .in = &one, .f = identity }, &found);
    r->weight = found.analytic;
    step_aside(r);
    for (int i = 0; i < r->e.inputs; data += size_of(&r->e.input[i++]))
        in[i] = (gra_check_in){ .name = name_of(&r->e, i), .shape = r->e.input[i].shape, .data = data };
    const int status = check(r, compute_weighed, r->e.inputs, in);
    r->passed = status == 0 ? "true" : status == 1 ? "false" : "null";
    memcpy(r->data, at_inputs, sizeof at_inputs);
}

static gra_tensor *compute_broken(gra_tape *t, gra_tensor **in, void *arg)
{
    const run *r = arg;
    const expression_step *s = &r->e.step[r->broken];
    gra_tensor *y = apply(t, s, in[0], in[1]);
    expression_break(t, y, r->slip, s->number);
    return y;
}

/* One number at a time fits many explanations; several values of the broken op alone tell which is right. */
static int check_broken(run *r)
{
    const expression_step *s = &r->e.step[r->broken];
    const bool two = s->kind == EXPRESSION_TWO;
    const char *const positive[] = { "log", "sqrt", "pow" };
    gra_check_in in[] = { { .name = two ? "a" : "x", .shape = GRA_SHAPE(5, 7) },
                          { .name = "b", .shape = GRA_SHAPE(5, 7) } };
    for (int i = 0; i < 3; i++)
        if (strcmp(r->slip->op, positive[i]) == 0)
            in[0].low = 0.5, in[0].high = 2;
    if (s->two == expression_beside)
        in[1].shape = GRA_SCALAR;
    out_format(&report, "\n\n%s alone, on random values:\n", r->slip->op);
    return check(r, compute_broken, 1 + two, in);
}

static void compare(run *r)
{
    enum { MOST_WORK = 3000000 };       /* of one evaluation for each value: tenths of a second in all */
    r->passed = "null";
    r->compared = !r->warning.why[0] && r->work * (double)r->e.values <= MOST_WORK;
    if (!r->compared) {
        out_text(&report, "not checked: ");
        out_text(&report, r->warning.why[0] ? r->warning.why : "that would take too long");
        return;
    }
    for (size_t i = 0; i < r->e.values; i++)
        r->numeric[i] = expression_differentiate(loss_of, r, r->data + i);
    check_all(r);
    if (r->broken >= 0 && check_broken(r) == 1)
        r->passed = "false";
}

/* ---- JSON -------------------------------------------------------------------------------------------- */

static void write_error(out *o, const char *key, const expression_error *e)
{
    out_key(o, key);
    if (!e->why[0]) {
        out_text(o, "null");
        return;
    }
    out_format(o, "{\"at\":%d,\"length\":%d", e->at, e->length);
    out_member(o, "text", e->why);
    out_text(o, "}");
}

static void write_numbers(out *o, const char *key, const expression_input *input, const double *x)
{
    out_key(o, key);
    if (input->shape.ndim)
        out_reals(o, x, size_of(input));
    else
        out_real(o, *x);
}

/* The error of an element is computed as in gra_check: relative to the largest gradient of its tensor.
 * Differences within the doubt about the numeric gradient, or between the slopes of a kink, do not count. */
static void write_comparison(out *o, const run *r, const expression_input *input, size_t from)
{
    double largest = 1e-7 * fabs(r->loss), error = 0, numeric[EXPRESSION_VALUES];
    bool agrees = true, kink = false;
    for (size_t i = from; i < from + size_of(input); i++)
        largest = fmax(largest, fmax(fabs(r->grad[i]), fabs(r->numeric[i].value)));
    for (size_t i = from; i < from + size_of(input); i++) {
        const expression_numeric *n = &r->numeric[i];
        numeric[i - from] = n->value;
        const double g = r->grad[i], off = fabs(g - n->value), tolerance = fmax(1e-6 * largest, n->unsure);
        const bool between = n->kink && g >= fmin(n->left, n->right) - tolerance &&
                             g <= fmax(n->left, n->right) + tolerance;
        agrees &= off <= tolerance || between;
        kink |= n->kink;
        if (fabs(g) > n->unsure || fabs(n->value) > n->unsure)          /* else both are 0 */
            error = fmax(error, off / largest);
    }
    write_numbers(o, "numeric", input, numeric);
    const double digits = error > 0 ? fmin(15, fmax(0, -log10(error))) : 15;
    out_format(o, ",\"digits\":%d,\"agrees\":%s,\"kink\":%s", (int)digits, agrees ? "true" : "false",
               kink ? "true" : "false");
}

static void write_inputs(out *o, const run *r)
{
    size_t at = 0;
    for (int i = 0; i < r->e.inputs; at += size_of(&r->e.input[i++])) {
        const expression_input *input = &r->e.input[i];
        out_text(o, i ? ",\n{" : "{");
        out_member(o, "name", name_of(&r->e, i));
        out_format(o, ",\"free\":%s,\"shape\":", input->free ? "true" : "false");
        out_ints(o, input->shape.dim, input->shape.ndim);
        write_numbers(o, "value", input, r->data + at);
        if (isfinite(r->loss))
            write_numbers(o, "grad", input, r->grad + at);
        else
            out_text(o, ",\"grad\":null");
        if (r->compared)
            write_comparison(o, r, input, at);
        else
            out_text(o, ",\"numeric\":null,\"digits\":null,\"agrees\":null,\"kink\":false");
        out_text(o, "}");
    }
}

/* The wrong backwards of the ops that the expression uses. */
static void write_slips(out *o, const run *r)
{
    for (int i = 0; expression_slip_table[i].op; i++)
        if (uses(r, expression_slip_table[i].op)) {
            out_comma(o);
            out_format(o, "{\"id\":%d", i);
            out_member(o, "op", expression_slip_table[i].op);
            out_member(o, "text", expression_slip_table[i].text);
            out_text(o, "}");
        }
}

/* ---- what the page calls ----------------------------------------------------------------------------- */

/* Returns false if there is an error, in r->e.error. */
static bool begin(run *r, const char *text, const double *values, int n, int slip)
{
    gra_rng rng;
    gra_manual_seed(&rng, 0);
    r->slip = NULL;
    for (int i = 0; i <= slip && expression_slip_table[i].op; i++)
        r->slip = i == slip ? &expression_slip_table[i] : NULL;
    if (expression_parse(&r->e, text))
        return false;
    gra_real *data = r->data;
    for (int i = 0; i < r->e.inputs; data += size_of(&r->e.input[i++])) {
        const expression_input *input = &r->e.input[i];
        if (input->random)
            gra_randn(&rng, data, size_of(input));
        else
            *data = !input->free ? input->value : n-- > 0 ? *values++ : 1;
    }
    r->tape = r->tape ? r->tape : gra_open(1);
    if (!r->tape) {
        snprintf(r->e.error.why, sizeof r->e.error.why, "out of memory");
        return false;
    }
    gra_keep_going(r->tape, true);
    return differentiate(r);
}

PAGE_EXPORT(expression_run) char *expression_run(const char *text, const double *values, int n, int slip)
{
    run *r = &the_run;
    out_clear(&result);
    out_clear(&report);
    bool ok = begin(r, text, values, n, slip);
    if (ok) {
        warn(r);
        compare(r);
        ok = differentiate(r);                          /* again: look_json shows this tape */
    }
    out_text(&result, "{");
    write_error(&result, "error", &r->e.error);
    if (ok) {
        write_error(&result, "warning", &r->warning);
        out_text(&result, ",\n\"inputs\":[");
        write_inputs(&result, r);
        out_text(&result, "],\n\"slips\":[");
        write_slips(&result, r);
        out_format(&result, "],\n\"check\":{\"passed\":%s", r->passed);
        out_key(&result, "text");
        out_string(&result, report.bytes, report.n);
        out_text(&result, "},\n\"page\":");
        look_json(&result, r->tape, &(look_more){ 0 });
    }
    out_text(&result, "}");
    static char none[] = "{\"error\":{\"at\":0,\"length\":0,\"text\":\"out of memory\"}}";
    result.failed |= report.failed;
    char *json = out_end(&result);
    return json ? json : none;
}
