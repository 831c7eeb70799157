/* evaluate: y = f(x), what a change of one element of x does to it, and how far off a gradient is. The
 * formulas stand at the top of check.c. */
#include "checking.h"

bool gra_check_fails(gra_checking *k, const char *sentence)
{
    gra_check_say(k->report, "gradient check: %s", sentence);
    return false;
}

/* y = f(inputs), each time with the generator as it was at the call: the same dropout. */
gra_tensor *gra_check_evaluate(gra_checking *k)
{
    if (k->rng)
        *k->rng = k->start;
    gra_begin(k->tape, k->mode, k->rng);
    for (int i = 0; i < k->nin; i++)
        k->input[i] = k->handed[i] =
            gra_input(k->tape, k->tensor[i].data, k->tensor[i].ndim, k->tensor[i].shape);
    gra_tensor *y = k->f(k->tape, k->handed, k->arg);
    if (gra_error(k->tape))
        gra_check_fails(k, gra_error(k->tape));
    else if (!y)
        gra_check_fails(k, "f returned NULL instead of a tensor");
    else
        return y;
    return NULL;
}

bool gra_check_parts(gra_checking *k, gra_checked *x, size_t i, double step)
{
    const real was = x->data[i], h = (real)(step * fmax(1, fabs((double)was)));
    const real up = was + h, down = was - h;            /* 2h is what lies between them as rounded */
    x->data[i] = up;
    gra_tensor *y = gra_check_evaluate(k);
    bool ok = y && y->size == k->size;
    if (ok) {
        memcpy(k->parts, y->data, k->size * sizeof(real));
        x->data[i] = down;
        y = gra_check_evaluate(k);
        ok = y && y->size == k->size;
    }
    x->data[i] = was;
    if (!ok)
        return y && gra_check_fails(k, "the shape of what f returns depends on the values of its inputs");
    for (size_t j = 0; j < k->size; j++)
        k->parts[j] = k->c[j] * ((k->parts[j] - y->data[j]) / (up - down));
    return true;
}

double gra_check_error(const gra_checking *k, const gra_checked *x, size_t i)
{
    double a = (double)x->analytic[i], n = (double)x->numeric[i];
    if (!isfinite(a) || !isfinite(n))
        return (double)INFINITY;
    double r = fmax(x->largest, 1e-3 * fabs(k->loss));  /* largest is one of |a|, |n|, or above both */
    return a == n ? 0 : fabs(a - n) / r;
}
