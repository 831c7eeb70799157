/* trace: which op made the first NaN or infinity of a step, and where in the model.
 *
 * After each forward the values are looked at, after each backward the gradients it added to. The first
 * fault ends the step, so all values before it were sound but for those that came in so:
 *
 *     an infinity that a mask or a constant put in on purpose counts as finite: an op may pass it on,
 *     but not make NaN of it, nor an infinity of its own beside it;
 *     a NaN that came in is no op's fault, and neither is a spoilt parameter: the sentence names them.
 *
 * Passed on or made? An op whose inputs hold infinities is run once more with a 1 in place of each: what
 * is infinite even then, it made. */
#include "trace.h"

#include <stdarg.h>
#include <stdlib.h>

/* ---- sentences ---- */

enum { TEXT = 512 };

struct sentence {
    char  *text;                        /* TEXT of it */
    size_t at;
};

GRA_PRINTF(2, 3) static void put(struct sentence *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(s->text + s->at, TEXT - s->at, format, args);
    va_end(args);
    s->at += n < 0 ? 0 : (size_t)n;
    if (s->at >= TEXT)
        s->at = TEXT - 1;
}

/* "inf at (0, 3)": element i of values shaped like x; of a scalar "inf". */
static void put_value(struct sentence *s, const gra_tensor *x, const real *values, size_t i)
{
    int at[GRA_MAX_DIMS];
    const real v = values[i];
    put(s, "%s", isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
    for (int d = x->ndim - 1; d >= 0; d--) {
        at[d] = (int)(i % (size_t)x->shape[d]);
        i /= (size_t)x->shape[d];
    }
    if (x->ndim)
        put(s, " at %s", gra_shape_text(x->ndim, at, (char[GRA_SHAPE_TEXT]){ 0 }));
}

/* "input 1 (fc.weight)", "input 0 (from softmax)" */
static void put_input(struct sentence *s, const gra_tensor *y, int k)
{
    const gra_tensor *x = y->in[k];
    put(s, "input %d", k);
    if (x->name)
        put(s, " (%s)", x->name);
    else if (x->op)
        put(s, " (from %s)", x->op->name);
}

static const gra_tensor *named_input(const gra_tensor *y)
{
    for (int k = 0; k < y->nin; k++)
        if (y->in[k] && y->in[k]->name)
            return y->in[k];
    return NULL;
}

/* Where in the model: a parameter's name less its last part is its layer's. An op without parameters comes
 * after the last one that had some. */
static void put_place(struct sentence *s, const gra_tensor *y, const char *direction)
{
    const gra_tensor *p = NULL, *x = y;
    for (; x && !p; x = x->prev)
        p = named_input(x);
    if (p) {
        const char *dot = strrchr(p->name, '.');
        const size_t length = dot ? (size_t)(dot - p->name) : strlen(p->name);
        put(s, ", %s %.*s", p == named_input(y) ? "in" : "after", (int)length, p->name);
    }
    put(s, " (%s)", direction);
}

/* ---- values ---- */

static size_t first_wrong(const real *x, size_t n)      /* n: none */
{
    size_t i = 0;
    while (i < n && isfinite(x[i]))
        i++;
    return i;
}

static size_t first_nan(const real *x, size_t n)
{
    size_t i = 0;
    while (i < n && !isnan(x[i]))
        i++;
    return i;
}

/* The first input that `first` finds something in, or -1. */
static int input_with(size_t (*first)(const real *x, size_t n), const gra_tensor *y)
{
    for (int k = 0; k < y->nin; k++)
        if (y->in[k] && first(y->in[k]->data, y->in[k]->size) < y->in[k]->size)
            return k;
    return -1;
}

/* A copy of x that holds a 1 wherever x is not finite, or x itself. NULL: out of memory. */
static gra_tensor *mended(gra_tensor *x)
{
    if (!x || first_wrong(x->data, x->size) == x->size)
        return x;
    gra_tensor *copy = malloc(sizeof *copy + x->size * sizeof(real));
    if (!copy)
        return NULL;
    *copy = *x;
    copy->data = (real *)(void *)(copy + 1);
    for (size_t i = 0; i < x->size; i++)
        copy->data[i] = isfinite(x->data[i]) ? x->data[i] : 1;
    return copy;
}

/* The first element of y that is not finite even when all inputs are; y->size: none. */
static size_t first_made(gra_tensor *y)
{
    const size_t saved = y->op->saved ? y->op->saved(y) : 0;
    real *values = malloc((y->size + saved + 1) * sizeof *values);
    gra_tensor **in = calloc((size_t)y->nin + 1, sizeof(gra_tensor *)), again = *y;
    bool ready = values && in;
    for (int k = 0; ready && k < y->nin; k++) {
        in[k] = mended(y->in[k]);
        ready = in[k] || !y->in[k];
    }
    size_t i = y->size;
    if (ready) {
        again.data = values;
        again.saved = values + y->size;
        again.in = in;
        y->op->forward(&again);
        for (i = 0; i < y->size && (isfinite(y->data[i]) || isfinite(values[i]));)
            i++;
        y->op->forward(y);              /* what its args point at shall be of y again */
    }
    for (int k = 0; in && k < y->nin; k++)
        if (in[k] != y->in[k])
            free(in[k]);
    free(in);
    free(values);
    return i;
}

/* ---- the three questions ---- */

static bool spoilt_parameter(const gra_tensor *y, char *text)
{
    struct sentence s = { .text = text };
    for (int k = 0; k < y->nin; k++) {
        const gra_tensor *p = y->in[k];
        if (!p || !p->name || !p->requires_grad)        /* frozen, it may be a mask */
            continue;
        const size_t i = first_wrong(p->data, p->size);
        if (i == p->size)
            continue;
        put(&s, "%s: the parameter %s holds ", y->op->name, p->name);
        put_value(&s, p, p->data, i);
        put(&s, ": no op made it, its last update did, or the file it came from");
        return true;
    }
    return false;
}

/* What it was made of: where all inputs are shaped like y, what stands at the same place in each; else the
 * largest of each. */
static void put_inputs(struct sentence *s, const gra_tensor *y, size_t i)
{
    bool alike = true;
    for (int k = 0; k < y->nin; k++)
        alike &= y->in[k] && gra_same_shape(y->in[k], y);
    const char *between = alike ? ", there " : ", up to ";
    for (int k = 0; k < y->nin; k++) {
        double v = alike ? (double)y->in[k]->data[i] : 0;
        for (size_t j = 0; !alike && y->in[k] && j < y->in[k]->size; j++)
            if (isfinite(y->in[k]->data[j]))
                v = fmax(v, fabs((double)y->in[k]->data[j]));
        if (y->in[k]) {
            put(s, "%s%g", between, v);
            between = " and ";
        }
    }
}

static bool blame(const gra_tensor *y, size_t i, char *text)
{
    struct sentence s = { .text = text };
    put(&s, "%s: made ", y->op->name);
    put_value(&s, y, y->data, i);
    put(&s, " from finite inputs");
    put_inputs(&s, y, i);
    const int k = input_with(first_wrong, y);
    if (k >= 0) {
        put(&s, ", counting as finite the ");
        put_value(&s, y->in[k], y->in[k]->data, first_wrong(y->in[k]->data, y->in[k]->size));
        put(&s, " of ");
        put_input(&s, y, k);
    }
    put_place(&s, y, "forward");
    return true;
}

static bool came_in(const gra_tensor *y, int k, char *text)
{
    struct sentence s = { .text = text };
    put(&s, "%s: ", y->op->name);
    put_input(&s, y, k);
    put(&s, " holds ");
    put_value(&s, y->in[k], y->in[k]->data, first_nan(y->in[k]->data, y->in[k]->size));
    put(&s, ": no op made it, it came in so");
    put_place(&s, y, "forward");
    return true;
}

static bool wrong_forward(gra_tensor *y, char *text)
{
    if (spoilt_parameter(y, text))
        return true;
    const size_t wrong = first_wrong(y->data, y->size);
    if (wrong == y->size || y->op->masks || !y->op->forward)
        return false;
    if (input_with(first_wrong, y) < 0)
        return blame(y, wrong, text);
    const size_t made = first_made(y), nan = first_nan(y->data, y->size);
    if (made < y->size)
        return blame(y, made, text);
    if (nan == y->size)
        return false;                   /* infinities alone, passed on */
    const int k = input_with(first_nan, y);
    return k < 0 ? blame(y, nan, text) : came_in(y, k, text);
}

static bool wrong_loss(gra_tensor *loss, char *text)
{
    struct sentence s = { .text = text };
    for (const gra_tensor *y = loss; y; y = y->prev)
        for (int k = 0; k < y->nin; k++) {
            const gra_tensor *p = y->in[k];
            const size_t i = p && p->name && p->grad ? first_wrong(p->grad, p->size) : 0;
            if (!p || !p->name || !p->grad || i == p->size)
                continue;
            put(&s, "gra_backward: the gradient of %s holds ", p->name);
            put_value(&s, p, p->grad, i);
            put(&s, " from before: gra_zero_grad(model) clears it");
            return true;
        }
    if (isfinite(loss->data[0]))
        return false;
    put(&s, "gra_backward: the loss is ");
    put_value(&s, loss, loss->data, 0);
    put(&s, ", which no op made: it came in, as a mask's infinity or in an input");
    put_place(&s, loss, "forward");
    return true;
}

static bool wrong_backward(gra_tensor *y, char *text)
{
    struct sentence s = { .text = text };
    for (int k = 0; k < y->nin; k++) {
        const gra_tensor *x = y->in[k];
        const size_t i = x && x->grad ? first_wrong(x->grad, x->size) : 0;
        if (!x || !x->grad || i == x->size)
            continue;
        put(&s, "%s: made ", y->op->name);
        put_value(&s, x, x->grad, i);
        put(&s, " in the gradient of ");
        put_input(&s, y, k);
        put(&s, " from finite ones");
        put_place(&s, y, "backward");
        return true;
    }
    return false;
}

static void tell(gra_tape *t, bool (*wrong)(gra_tensor *y, char *text), gra_tensor *y)
{
    char text[TEXT];
    if (!gra_error(t) && wrong(y, text))
        gra_fail(t, "%s", text);
}

void gra_trace_forward(gra_tape *t, gra_tensor *y)     { tell(t, wrong_forward, y); }
void gra_trace_loss(gra_tape *t, gra_tensor *loss)     { tell(t, wrong_loss, loss); }
void gra_trace_backward(gra_tape *t, gra_tensor *y)    { tell(t, wrong_backward, y); }
