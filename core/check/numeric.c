/* numeric: y = f(x), and the numeric gradient, by central differences of the loss.
 *
 *     n(h) = sum_j c_j (y_j(x_i + h) - y_j(x_i - h)) / 2h
 *
 * has an error of h^2/6 y''' and a rounding error of about 1e-16 |y| / h. The best h depends on f: log at
 * 1e-8 needs a smaller step than log at 1; x^2 at 1e8 needs a larger step, sin at 1e8 does not. So:
 *
 * 1. h = 1e-5 |x_i|, but at least 1e-5, or 1e-4 of the largest |x|, whichever is less. If n(h) agrees with
 *    the analytic gradient a, the search ends. Two evaluations.
 * 2. Otherwise n is also taken with a smaller step, and the h^2 term is eliminated (Richardson's
 *    extrapolation). If n now agrees with a, the search ends; if not, and a third step confirms n, then a is
 *    wrong. Two or four more evaluations.
 * 3. Otherwise f is steep, kinked, noisy or undefined so far from x_i: all steps are tried, from the smallest
 *    to the size of x. The step that agrees best with its neighbours gives n, and their difference tells how
 *    exact n is. At the next element, this step is tried first.
 * 4. If a is off by less than a thousandth, steps of 1e-6, 1e-7 and 1e-8 are tried too, however small x is.
 *    Two to six more evaluations.
 * 5. If a is still wrong, f may have a kink at x_i: relu at 0, the largest of equal values. Then a may be
 *    any slope between the slopes of both sides. Four more evaluations.
 * 6. Kinks of two ops may cancel: relu(x) - relu(-x) has the slope 1 at 0, but a backward may take the slope
 *    of each relu for 0. So a is also taken with x_i moved slightly up and down. If a differs there and is
 *    right, nothing is known. Two or three more backwards, until one element is wrong there too.
 *
 * The difference is taken for each y_j before the sum, so outputs that do not depend on x_i add no error. */
#include "checking.h"

/* ---- evaluations ---- */

/* f with element i of x changed to v; NULL: f is not defined there, or gives another shape. */
static const real *evaluate_moved(gra_checking *k, gra_checked *x, size_t i, real v)
{
    const real was = x->data[i];
    x->data[i] = v;
    gra_check_try(k, true);
    const gra_tensor *y = gra_check_evaluate(k);
    gra_check_try(k, false);
    x->data[i] = was;
    if (y && y->size != k->size) {
        k->reshaped = true;
        y = NULL;
    }
    return y ? y->data : NULL;
}

/* parts[j] = c_j dy_j/dx_i, NaN where f is not defined. */
static void parts(gra_checking *k, gra_checked *x, size_t i, double step)
{
    const real was = x->data[i], up = was + (real)step, down = was - (up - was);
    const real *y = evaluate_moved(k, x, i, up);
    if (y) {
        memcpy(k->parts, y, k->size * sizeof(real));
        y = evaluate_moved(k, x, i, down);
    }
    bool changed = false;
    k->noise = 0;
    for (size_t j = 0; !y && j < k->size; j++)
        k->parts[j] = (real)NAN;
    if (!y)
        return;
    for (size_t j = 0; j < k->size; j++) {              /* 2h is up - down, after their rounding */
        const double up_j = (double)k->parts[j], down_j = (double)y[j];
        changed |= up_j != down_j;
        k->noise += 0x1p-52 * fabs((double)k->c[j]) * (fabs(up_j) + fabs(down_j));
        k->parts[j] = k->c[j] * ((k->parts[j] - y[j]) / (up - down));
    }
    /* rounding within f may hide a change: an estimate of its size */
    if (!changed)
        k->noise = 1e-6 * k->loss;
    k->noise /= (double)(up - down);
}

void gra_check_parts(gra_checking *k, gra_checked *x, size_t i)
{
    parts(k, x, i, (double)x->step[i]);
}

/* n(h), or NaN where f is not defined. */
static double slope(gra_checking *k, gra_checked *x, size_t i, double h)
{
    double n = 0;
    parts(k, x, i, h);
    for (size_t j = 0; j < k->size; j++)
        n += (double)k->parts[j];
    return n;
}

/* ---- step 3 ---- */

/* The smallest step from v: some four times the distance to the next floating-point number. */
static double smallest(double v)
{
    return fmax(0x1p-50 * v, 0x1p-1022);
}

/* The gradient of element i by the step whose neighbours agree best with it. A larger step may give a more
 * exact n than smaller steps, but its n must agree with their n within their errors. */
static void search(gra_checking *k, gra_checked *x, size_t i)
{
    /* not a simple ratio: rounding errors must differ */
    const double v = fabs((double)x->data[i]), ratio = 4.236;
    double n[3] = { (double)NAN, (double)NAN, (double)NAN }, noise[3] = { 0 }, unsure = (double)INFINITY;
    x->numeric[i] = (real)NAN;
    x->unsure[i] = 0;
    for (double h = smallest(v > 0 ? v : fmin(1, x->most)); h <= fmax(1, x->most) / 4; h *= ratio) {
        n[0] = n[1], n[1] = n[2], n[2] = slope(k, x, i, h);
        noise[0] = noise[1], noise[1] = noise[2], noise[2] = k->noise;
        const double doubt = 10 * (fabs(n[0] - n[1]) + fabs(n[1] - n[2])) + 2 * noise[0];
        if (!(doubt < unsure) || fabs(n[1] - (double)x->numeric[i]) > unsure)   /* also if an n is NaN */
            continue;
        x->numeric[i] = (real)n[1];
        x->unsure[i] = (real)(unsure = doubt);
        x->step[i] = (real)(h / ratio);
        x->good_step = h / ratio;
    }
}

/* ---- steps 1, 2 and 4 ---- */

static bool agree(const gra_checking *k, double a, double n, double r)
{
    return fabs(a - n) <= k->tolerance * r;
}

/* A gradient that is nearly right may be right: roundings within f, of numbers larger than x, spoil small
 * steps. So a few more steps are tried that do not depend on the size of x. */
static void nearly(gra_checking *k, gra_checked *x, size_t i, double r)
{
    const double a = (double)x->analytic[i], off = fabs(a - (double)x->numeric[i]);
    if (off <= fmax(k->tolerance * r, (double)x->unsure[i]) || !(off <= 1e-3 * r))
        return;
    for (double h = 1e-6; h > 5e-9; h /= 10) {
        const double n = slope(k, x, i, h);
        if (!agree(k, a, n, r) || k->noise > k->tolerance * r)
            continue;
        x->numeric[i] = (real)n;
        x->unsure[i] = 0;
        x->step[i] = (real)h;
        break;
    }
}

/* Do the slopes of both sides differ, and by the same amount with a smaller step? Then a is right if it lies
 * between the two slopes for each output. Otherwise several kinks may meet, and nothing is known. */
static void look_for_kink(gra_checking *k, gra_checked *x, size_t i, double step, double r)
{
    const real was = x->data[i];
    const double a = (double)x->analytic[i];
    double jump[2] = { 0 }, low = 0, high = 0;
    for (int again = 0; again < 2; again++, step /= 8) {
        const real up = was + (real)step, down = was - (real)step;
        const real *y = evaluate_moved(k, x, i, up);
        if (!y)
            return;
        for (size_t j = 0; j < k->size; j++)
            k->parts[j] = k->c[j] * ((y[j] - k->y[j]) / (up - was));
        y = evaluate_moved(k, x, i, down);
        if (!y)
            return;
        low = high = 0;
        for (size_t j = 0; j < k->size; j++) {
            const double right = (double)k->parts[j];
            const double left = (double)(k->c[j] * ((k->y[j] - y[j]) / (was - down)));
            jump[again] += fabs(right - left);
            low += fmin(right, left);
            high += fmax(right, left);
        }
    }
    const double slack = fmax(k->tolerance * r, 1e-15 * k->loss / step);
    if (!(jump[1] > 100 * slack && fabs(jump[1] - jump[0]) <= 0.01 * jump[1]))
        return;
    if (!(low - slack <= a && a <= high + slack) && x->kinks++ == 0)
        x->kink = i;
    x->numeric[i] = x->analytic[i];                     /* later gradients must agree with this one */
    x->unsure[i] = 0;
}

/* Step 6. */
static void look_beside(gra_checking *k, gra_checked *x, size_t i, double step, double r)
{
    const real was = x->data[i], a = x->analytic[i];
    bool right = true;
    for (int side = -1; side <= 1 && right; side += 2) {
        x->data[i] = was + (real)(side * step);
        gra_check_try(k, true);
        right = gra_check_analytic(k, true) && agree(k, (double)x->analytic[i], (double)x->numeric[i], r) &&
                fabs((double)(x->analytic[i] - a)) > 100 * k->tolerance * r;
        gra_check_try(k, false);
    }
    x->data[i] = was;
    k->wrong = !gra_check_analytic(k, true) || !right;  /* all gradients are unchanged */
    if (k->wrong)
        return;
    x->inner = true;
    if (x->kinks++ == 0)
        x->kink = i;
    x->numeric[i] = x->analytic[i];
}

static bool is_wrong(const gra_checking *k, const gra_checked *x, size_t i, double r)
{
    const double a = (double)x->analytic[i];
    return isfinite(a) && !(fabs(a - (double)x->numeric[i]) <= fmax(k->tolerance * r, (double)x->unsure[i]));
}

/* The numeric gradient of element i. */
static void differentiate(gra_checking *k, gra_checked *x, size_t i, double largest)
{
    const double a = (double)x->analytic[i], v = fabs((double)x->data[i]);
    const double usual = fmax(1e-5 * v, fmin(1e-5, 1e-4 * x->most));
    const double h = x->good_step > smallest(v) ? x->good_step : usual;
    const double ratio = 0.414, square = ratio * ratio;
    const double n = slope(k, x, i, h);
    x->step[i] = (real)h;
    x->numeric[i] = (real)n;
    x->unsure[i] = 0;
    const double r = fmax(fmax(largest, fabs(n)), x->floor);
    if (agree(k, a, n, r))
        return;

    const double second = slope(k, x, i, ratio * h), better = (second - square * n) / (1 - square);
    x->numeric[i] = (real)better;
    if (agree(k, a, better, r))
        return;
    bool known = fabs(n - second) + k->noise <= k->tolerance * r / 2;
    if (known)
        known = fabs(slope(k, x, i, h / 100) - better) + k->noise <= k->tolerance * r / 2;
    if (!known)
        search(k, x, i);
    nearly(k, x, i, r);
    if (is_wrong(k, x, i, r))
        look_for_kink(k, x, i, usual / 4, r);
    if (!k->wrong && is_wrong(k, x, i, r))
        look_beside(k, x, i, v > 0 ? 1e-9 * v : 1e-4 * usual, r);
}

bool gra_check_numeric(gra_checking *k, gra_checked *x)
{
    double largest = 0;
    x->most = 0;
    for (size_t i = 0; i < x->size; i++) {              /* fmax ignores a NaN */
        largest = fmax(largest, fabs((double)x->analytic[i]));
        if (isfinite(x->data[i]))
            x->most = fmax(x->most, fabs((double)x->data[i]));
    }
    if (x->most == 0)
        x->most = 1;
    x->floor = isfinite(k->loss) ? 1e-7 * k->loss / fmax(1, x->most) : 0;
    for (size_t i = 0; i < x->size; i++)
        differentiate(k, x, i, largest);
    if (k->reshaped)
        return gra_check_fails(k, "the shape of what f returns depends on the values of its inputs");
    return true;
}

/* ---- errors ---- */

double gra_check_measure(const gra_checked *x)
{
    return fmax(x->largest, x->floor);
}

double gra_check_error(const gra_checked *x, size_t i)
{
    const double a = (double)x->analytic[i], n = (double)x->numeric[i];
    if (!isfinite(a) || !isfinite(n))
        return (double)INFINITY;
    if (a == n || fabs(a - n) <= (double)x->unsure[i])
        return 0;
    return fabs(a - n) / gra_check_measure(x);
}
