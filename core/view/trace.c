/* trace: finds the op that made the first NaN or infinity of a step, and its place in the model.
 *
 * There are three kinds of values that are not finite: nan, inf and -inf. After each forward the result is
 * compared with the inputs. If the result has a kind that no input has, this op made it, which is an error.
 * So softmax, scale or a slice may pass on the -inf of a mask, and the op that turns this -inf into nan or
 * inf is named. There are two known limitations: an op that passes on a -inf and also makes a new one is not
 * noticed (the next op that makes a nan of it is named); and an op that flips the sign of a mask's -inf, such
 * as gra_neg, is named although it is correct.
 *
 * If a NaN is in an input of the step, or in a parameter since its last update, no op is to blame: the
 * message names the tensor. After each backward, the gradients to which it added must be finite. */
#include "view.h"

/* ---- kinds of values ---- */

enum { IS_NAN = 1, IS_INF = 2, IS_MINUS_INF = 4, ANY = 7 };

static inline unsigned kind(real x)
{
    return (unsigned)(x != x) | (unsigned)(x == (real)INFINITY) << 1 | (unsigned)(x == -(real)INFINITY) << 2;
}

static unsigned kinds(const real *x, size_t n)
{
    unsigned all = 0;
    int finite = 1;
    for (size_t i = 0; i < n; i++)                      /* one quick pass: usually all are finite */
        finite &= x[i] - x[i] == 0;
    for (size_t i = 0; !finite && i < n; i++)
        all |= kind(x[i]);
    return all;
}

/* The index of the first value of these kinds; x must have one. */
static size_t first_of(unsigned these, const real *x)
{
    size_t i = 0;
    while (!(kind(x[i]) & these))
        i++;
    return i;
}

/* ---- the parts of a sentence, each written to `text` ---- */

enum { TEXT = 256 };
#define NEW_TEXT ((char[TEXT]){ 0 })

/* "inf at (0, 3)": the first of these kinds among values shaped like x; for a scalar, "inf". */
static char *value_text(unsigned these, const gra_tensor *x, const real *values, char *text)
{
    const size_t i = first_of(these, values);
    const char *name = isnan(values[i]) ? "nan" : values[i] > 0 ? "inf" : "-inf";
    snprintf(text, TEXT, x->shape.ndim ? "%s at %s" : "%s", name,
             GRA_SHAPE_STRING(gra_place_of(x->shape, i)));
    return text;
}

/* "input 1 (fc.weight)", "input 0 (from softmax)" */
static char *input_text(const gra_tensor *y, int k, char *text)
{
    const gra_tensor *x = y->in[k];
    const char *from = x->name ? "" : "from ", *name = x->name ? x->name : x->op ? x->op->name : NULL;
    char whole[GRA_COLUMNS_TEXT];
    if (name)
        gra_shortened(name, 60, whole);
    snprintf(text, TEXT, name ? "input %d (%s%s)" : "input %d", k, from, whole);
    return text;
}

/* The inputs at element i of y. If all inputs are shaped like y: their elements at that index, "there 1000
 * and 2"; otherwise the largest finite |value| of each input, "up to 1000 and 2". */
static char *inputs_text(const gra_tensor *y, size_t i, char *text)
{
    bool alike = true;
    for (int k = 0; k < y->nin; k++)
        alike &= y->in[k] && gra_same_shape(y->in[k]->shape, y->shape);
    for (int k = 0, at = 0; k < y->nin && at < TEXT; k++) {
        double v = alike ? (double)y->in[k]->data[i] : 0;
        for (size_t j = 0; !alike && y->in[k] && j < y->in[k]->size; j++)
            if (isfinite(y->in[k]->data[j]))
                v = fmax(v, fabs((double)y->in[k]->data[j]));
        if (y->in[k])
            at += snprintf(text + at, (size_t)(TEXT - at), "%s%g", at ? " and " : alike ? "there " : "up to ",
                           v);
    }
    return text;
}

/* The place in the model: ", in fc" if y's parameter is in the layer fc; ", after fc" if y has no parameter,
 * and fc is the layer of the last op with a parameter. */
static char *place_text(const gra_tensor *y, char *text)
{
    const gra_tensor *p = NULL;
    for (const gra_tensor *x = y; x && !p; x = x->prev) {
        p = gra_node_param(x);
        const char *dot = p ? strrchr(p->name, '.') : NULL;
        if (p)
            snprintf(text, TEXT, ", %s %.*s", x == y ? "in" : "after", dot ? (int)(dot - p->name) : TEXT,
                     p->name);
    }
    return text;
}

/* ---- the watch ---- */

static void after_forward(gra_tape *t, const gra_tensor *y)
{
    const unsigned has = y->op->may_make_inf ? 0 : kinds(y->data, y->size);
    const gra_tensor *nan = NULL, *x;                   /* nan: the first input that has a nan */
    unsigned passed = 0;                                /* the kinds that the inputs have */
    int nan_at = 0;
    for (int k = 0; has && k < y->nin; k++) {
        const unsigned in = (x = y->in[k]) ? kinds(x->data, x->size) : 0;
        passed |= in;
        if (in && gra_is_param(x) && x->requires_grad)          /* a frozen parameter may be a mask */
            gra_fail(t, "%s: the parameter %s contains %s, which no op made: it comes from the last update, "
                     "or from a file", y->op->name, x->name, value_text(in, x, x->data, NEW_TEXT));
        if (!nan && (in & IS_NAN))
            nan = x, nan_at = k;
    }
    const unsigned made = has & ~passed;
    if (made && y->nin == 0)
        gra_fail(t, "%s: made %s from no inputs%s (forward)", y->op->name,
                 value_text(made, y, y->data, NEW_TEXT), place_text(y, NEW_TEXT));
    else if (made)
        gra_fail(t, "%s: made %s from finite inputs%s%s%s, %s%s (forward)", y->op->name,
                 value_text(made, y, y->data, NEW_TEXT), passed & IS_NAN ? " and nan" : "",
                 passed & IS_INF ? " and inf" : "", passed & IS_MINUS_INF ? " and -inf" : "",
                 inputs_text(y, first_of(made, y->data), NEW_TEXT), place_text(y, NEW_TEXT));
    else if (has & IS_NAN)
        gra_fail(t, "%s: %s contains %s, which no op made: it was already nan on input%s (forward)",
                 y->op->name, input_text(y, nan_at, NEW_TEXT), value_text(IS_NAN, nan, nan->data, NEW_TEXT),
                 place_text(y, NEW_TEXT));
}

static void before_backward(void *unused, gra_tape *t, gra_tensor *loss)
{
    (void)unused;
    for (const gra_tensor *y = loss; y; y = y->prev)
        for (int k = 0; k < y->nin; k++) {
            const gra_tensor *p = y->in[k];
            if (p && gra_is_param(p) && p->grad && kinds(p->grad, p->size))
                gra_fail(t, "gra_backward: the gradient of %s contains %s before the backward: "
                         "gra_zero_grad(model) clears it", p->name, value_text(ANY, p, p->grad, NEW_TEXT));
        }
    if (!isfinite(loss->data[0]))
        gra_fail(t, "gra_backward: the loss is %s, which no op made: it comes from an input, or from the "
                 "infinities of a mask%s (forward)", value_text(ANY, loss, loss->data, NEW_TEXT),
                 place_text(loss, NEW_TEXT));
}

static void after_backward(gra_tape *t, const gra_tensor *y)
{
    for (int k = 0; k < y->nin && !gra_error(t); k++) {
        const gra_tensor *x = y->in[k];
        if (x && x->grad && kinds(x->grad, x->size))
            gra_fail(t, "%s: made %s in the gradient of %s from finite ones%s (backward)", y->op->name,
                     value_text(ANY, x, x->grad, NEW_TEXT), input_text(y, k, NEW_TEXT),
                     place_text(y, NEW_TEXT));
    }
}

static void after_run(void *unused, gra_tensor *y, bool backward)
{
    (void)unused;
    (backward ? after_backward : after_forward)(y->tape, y);
}

void gra_trace_nan(gra_tape *t, bool on)
{
    static const gra_watch watch = { .records_all = true, .after_run = after_run,
                                     .on_backward = before_backward };
    gra_need_tape(t, __func__);
    gra_tape_watch(t, GRA_WATCH_TRACE, on ? &watch : NULL, NULL);
}
