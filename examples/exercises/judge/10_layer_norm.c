/* 10 layer_norm: the judge. */
#include "judge.h"

enum { MOST = 20 };
static const double eps = 1e-5;

/* The mean and variance of n numbers that are `step` apart. */
static void stats(const double *x, int n, int step, double *mean, double *var)
{
    *mean = *var = 0;
    for (int i = 0; i < n; i++)
        *mean += x[i * step] / n;
    for (int i = 0; i < n; i++)
        *var += pow(x[i * step] - *mean, 2) / n;
}

static gra_tensor *run(gra_tape *t, gra_tensor *const in[3], const double *const data[3])
{
    static const char *const name[3] = { "x->data", "w->data", "b->data" };
    gra_tensor *y = layer_norm(t, in[0], in[1], in[2]);
    judge_tensor(t, "y", y, in[0]->shape);
    judge_made_by(y, "my_layer_norm");
    for (int i = 0; i < 3; i++)
        judge_unchanged(name[i], in[i]->data, data[i], in[i]->size);
    return y;
}

struct layer {
    const double *x, *w, *b;
    int           rows, n;
    double        its_eps;                      /* with which the answer's second number would be right */
};

/* The factor of x - mean. */
static double scale(double var, double its_eps)
{
    return slip("x - mean is not divided by sqrt(var + eps)") ? 1
         : slip("divided by the variance: its square root is missing") ? 1 / (var + eps)
         : slip("multiplied by sqrt(var + eps): divide by it") ? sqrt(var + eps)
         : slip("the root is taken twice") ? 1 / sqrt(sqrt(var + eps))
         : slip("eps is added to the root: it belongs inside, sqrt(var + eps)") ? 1 / (sqrt(var) + eps)
         : slip("eps is added twice: add it once, inside the root") ? 1 / (sqrt(var + eps) + eps)
         : slip("eps is missing: sqrt(var + eps)") ? 1 / sqrt(var)
         : fabs(its_eps) < 1e-2 && fabs(its_eps - eps) > 1e-9
             && slip_of("eps is %.3g: it should be 1e-5", its_eps) ? 1 / sqrt(var + its_eps)
         : 1 / sqrt(var + eps);
}

static double affine(double z, const struct layer *l, int r, int i)
{
    const bool by_row = slip("w and b are indexed by the number of the row: they belong to columns");
    const double w = l->w[by_row ? r % l->n : i], b = l->b[by_row ? r % l->n : i];
    return slip("w and b are not used") ? z : slip("w is not used") ? z + b : slip("b is not used") ? z * w
         : slip("b is added before w multiplies: it should be z w + b") ? (z + b) * w
         : slip("w and b are exchanged") ? z * b + w : slip("multiplied by 1 + w: it should be w")
         ? z * (1 + w) + b
         : slip("divided by w: it should be z w + b") ? z / w + b
         : slip("b is subtracted: it should be z w + b") ? z * w - b
         : slip("b is a factor: it should be z w + b") ? z * (w + b) : z * w + b;
}

/* The mean of (x - centre)^2 over n numbers that are `step` apart. */
static double around(const double *x, int n, int step, double centre)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += pow(x[i * step] - centre, 2) / n;
    return sum;
}

static void normalised(double *y, void *arg)
{
    const struct layer *l = arg;
    const int rows = l->rows, n = l->n;
    const bool columns = slip("mean and variance are those of columns: use those of each row");
    const bool all = slip("mean and variance are those of all numbers: use those of each row");
    const bool mean_runs = slip("the mean is not reset for each row");
    const bool var_runs = slip("the variance is not reset for each row");
    const bool undivided = slip("the mean is not divided by n");
    const bool first = slip("the first number of the row is used as its mean: is the sum kept?");
    const bool mean_less = slip("the mean is divided by n - 1: it should be n") && n > 1;
    const bool rms =
        slip("the mean is never subtracted: x / sqrt(mean of x^2 + eps) is another norm, RMSNorm");
    const bool plain = slip("the mean is subtracted only in the variance: subtract it from x too");
    const bool square =
        slip("divided by the root of the mean of x^2: the variance is the mean of (x - mean)^2");
    const bool var_less = slip("the variance is divided by n - 1: here it is divided by n") && n > 1;
    const bool summed = slip("the variance is not divided by n: it is a mean");
    const bool deviation = slip("this uses the mean of |x - mean|: the variance is the mean of squares");
    const bool last = slip("the variance is that of the last number only: the others are overwritten");
    const bool by_columns = slip("x is read by columns: row r begins at x[r * n]");
    double run_mean = 0, run_var = 0;
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < n; i++) {
            const double *row = l->x + r * n, *of = columns ? l->x + i : all ? l->x : row;
            const int count = columns ? rows : all ? rows * n : n, step = columns ? n : 1;
            double mean, var, absolute = 0;
            stats(of, count, step, &mean, &var);
            if (i == 0)
                run_mean += mean, run_var += var;
            mean = mean_runs ? run_mean : undivided ? n * mean : first ? row[0] : mean_less
                 ? mean * n / (n - 1) : mean;
            for (int k = 0; k < n; k++)
                absolute += fabs(row[k] - mean) / n;
            var = around(of, count, step, rms || square ? 0 : mean);
            var = var_runs ? run_var : var_less ? var * n / (n - 1) : summed ? var * n : deviation ? absolute
                : last ? pow(row[n - 1] - mean, 2) / n : var;
            const double x = by_columns ? l->x[i * rows + r] : row[i];
            y[r * n + i] = affine((rms || plain ? x : x - mean) * scale(var, l->its_eps), l, r, i);
        }
}

static void forward(const char *part, const double *x, const double *w, const double *b, int rows, int n,
                    double tolerance)
{
    struct layer l = { x, w, b, rows, n, 0 };
    double mean, var;
    judge_part("%s", part);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *const in[3] = { gra_input(t, x, GRA_SHAPE(rows, n)), gra_input(t, w, GRA_SHAPE(n)),
                                gra_input(t, b, GRA_SHAPE(n)) };
    const double *got = run(t, in, (const double *const[]){ x, w, b })->data;
    stats(x, n, 1, &mean, &var);
    const double z = n > 1 ? (got[1] - b[1]) / w[1] : 0;
    l.its_eps = z != 0 ? pow((x[1] - mean) / z, 2) - var : 0;
    stats(got, n, 1, &mean, &var);                      /* a clue if w is 1 and b is 0 */
    if (w[0] == 1 && (fabs(mean) > 1e-3 || fabs(var - 1) > 1e-3))
        judge_clue("the first row has mean %.6g and variance %.6g: expected 0 and 1, as w is 1 and b is 0",
                   mean, var);
    judge_against("y", GRA_SHAPE(rows, n), got, tolerance, normalised, &l);
    gra_close(t);
}

static void near_1e6(void)
{
    judge_part("numbers near 1e6");
    const double x[4] = { 1e6 + 0.9, 1e6 - 1.1, 1e6 + 0.3, 1e6 - 0.7 }, w[4] = { 1, 1, 1, 1 }, b[4] = { 0 };
    double less[4], mean, var;
    for (int i = 0; i < 4; i++)
        less[i] = x[i] - 1e6;                           /* exact, and of the same variance */
    stats(less, 4, 1, &mean, &var);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *const in[3] = { gra_input(t, x, GRA_SHAPE(1, 4)), gra_input(t, w, GRA_SHAPE(4)),
                                gra_input(t, b, GRA_SHAPE(4)) };
    const double *got = run(t, in, (const double *const[]){ x, w, b })->data;
    for (int i = 0; i < 4; i++)
        if (!(fabs(got[i] - (less[i] - mean) / sqrt(var + eps)) < 1e-8))
            judge_wrong("y[0, %d]: got %.9g, expected %.9g\nit is right for small x. Subtract the mean "
                        "before you square: the difference of two numbers near 1e12 has lost its digits", i,
                        got[i], (less[i] - mean) / sqrt(var + eps));
    gra_close(t);
}

enum { ROWS = 3, N = 4, SIZE = ROWS * N };

struct gradients {
    const double *x, *w, *b, *dy;
};

/* The mean of a row, its r = 1 / sqrt(var + eps), and z = (x - mean) r. */
static void look(const double *row, double *mean, double *r, double *z)
{
    double var;
    stats(row, N, 1, mean, &var);
    *r = 1 / sqrt(var + eps);
    for (int i = 0; i < N; i++)
        z[i] = (row[i] - *mean) * *r;
}

/* dw = the sum of dy z over rows. */
static void gradient_w(double *dw, void *arg)
{
    const struct gradients *g = arg;
    const bool last = slip("this is only the last row: dw is the sum over rows, added to what is there");
    const bool mean_of = slip("this is the mean over rows: it should be the sum");
    const bool by_x = slip("this is dy x: what w multiplies is z");
    const bool by_c = slip("this is dy (x - mean): what w multiplies is z, the factor r is missing");
    const bool by_1 = slip("this is only dy: what w multiplies, z, is missing");
    const bool by_y = slip("this is dy y: what w multiplies is z");
    const bool by_w = slip("multiplied by w: d(z w)/dw is z");
    const bool by_r = slip("there is an extra factor r: what w multiplies is z, which contains r");
    const bool by_row = slip("added at the number of the row: w has one number for each column");
    const bool first_dy = slip("all rows take dy from the first: row k of dy begins at dy[k * n]");
    const bool first_z = slip("all rows take z from the first: each has its own");
    memset(dw, 0, N * sizeof *dw);
    for (int k = 0; k < ROWS; k++) {
        const double *row = g->x + k * N;
        double mean, r, z[N];
        look(first_z ? g->x : row, &mean, &r, z);
        for (int i = 0; i < N; i++) {
            const double w = g->w[i], y = z[i] * w + g->b[i];
            const double of = by_x ? row[i] : by_c ? row[i] - mean : by_1 ? 1 : by_y ? y : by_w ? z[i] * w
                            : by_r ? z[i] * r : z[i];
            double *to = &dw[by_row ? k : i];
            *to = (last ? 0 : *to) + g->dy[(first_dy ? 0 : k * N) + i] * of / (mean_of ? ROWS : 1);
        }
    }
}

/* dx = r (g - the mean of g - z times the mean of g z) with g = dy w. */
static void gradient_x(double *dx, void *arg)
{
    const struct gradients *a = arg;
    const bool alone = slip("this is as if x_i moved only z_i: it moves the mean and r of the row too");
    const bool no_mean =
        slip("the term of the mean is missing: every z of the row has the mean, which depends on x_j");
    const bool no_r =
        slip("the term of r is missing, or is 0: every z of the row has r, which depends on x_j");
    const bool no_factor = slip("the factor r is missing");
    const bool no_w = slip("w is missing: the gradient of z is dy w");
    const bool late_w = slip("w multiplies after the means: they are means of dy w, each dy with its own w");
    const bool no_w_sums = slip("w is missing in the two means over the row: both use g = dy w");
    const bool no_w_r = slip("w is missing in the sum of the term of r: it is a sum of g z, with g = dy w");
    const bool no_w_mean = slip("w is missing in the sum of the term of the mean: it is a sum of g = dy w");
    const bool no_w_first = slip("w is missing in the first term: the gradient of z is dy w there too");
    const bool w_by_row =
        slip("in the two sums w is indexed by the number of the row: it belongs to columns");
    const double by = slip("the two sums over the row are not divided by n") ? 1
                    : slip("the sums over the row are divided by n - 1: the forward divides by n") ? N - 1
                    : N;
    const double by_mean = slip("the sum in the term of the mean is not divided by n") ? 1 : by;
    const double by_r = slip("the sum in the term of r is not divided by n") ? 1 : by;
    const bool no_z = slip("the term of r lacks its factor z_j: dr/dx_j = -r^2 z_j / n");
    const bool no_z_sum = slip("the factor z is missing in the sum of the term of r: it is a sum of g z");
    const bool running = slip("the two sums are not reset for each row");
    const double minus_r = slip("the term of r has the wrong sign: dr/dx_j = -r^2 z_j / n") ? -1 : 1;
    const double minus_mean = slip("the term of the mean has the wrong sign") ? -1 : 1;
    const bool c_for_z = slip("the term of r uses x_j - mean instead of z_j: a factor r is missing");
    const bool x_for_z = slip("the term of r uses x_j instead of z_j");
    const bool y_for_z = slip("the term of r uses y instead of z");
    const bool r_twice = slip("there is an extra factor r in the term of r");
    const bool w_twice = slip("all terms are multiplied by w once more: g = dy w is enough");
    const bool z_twice = slip("there is an extra factor z_j in the term of r");
    const bool exchanged = slip("the two means are exchanged: which of them is multiplied by z_j?");
    const bool all_r =
        slip("there is an extra factor r, before all terms"), over_r = slip("divided by r: multiply by r");
    const bool first_r = slip("all rows have the r of the first: each has its own");
    const bool no_first_r = slip("the first term lacks the factor r");
    const bool one_row = slip("all rows are added to the first row of dx: row k begins at dx[k * n]");
    const bool first_dy = slip("all rows take dy from the first: row k of dy begins at dy[k * n]");
    memset(dx, 0, SIZE * sizeof *dx);
    double sum = 0, sum_z = 0, r0 = 0;
    for (int k = 0; k < ROWS; k++) {
        const double *x = a->x + k * N, *v = a->dy + (first_dy ? 0 : k * N);
        double mean, r, z[N];
        look(x, &mean, &r, z);
        sum = running ? sum : 0, sum_z = running ? sum_z : 0, r0 = k ? r0 : r;
        for (int i = 0; i < N; i++) {
            const double w = no_w || late_w || no_w_sums ? 1 : a->w[w_by_row ? k : i];
            sum += v[i] * (no_w_mean ? 1 : w) / by_mean;
            sum_z += v[i] * (no_w_r ? 1 : w)
                     * (no_z_sum ? 1 : y_for_z ? z[i] * a->w[i] + a->b[i] : z[i]) / by_r;
        }
        for (int i = 0; i < N; i++) {
            const double y = z[i] * a->w[i] + a->b[i],
                g = v[i] * (no_w || late_w || no_w_first ? 1 : a->w[i]);
            const double of_r = c_for_z ? x[i] - mean : x_for_z ? x[i] : y_for_z ? y : no_z ? 1
                              : z[i] * (r_twice ? r : z_twice ? z[i] : 1);
            const double terms = (alone || no_mean ? 0 : minus_mean * (exchanged ? sum_z : sum))
                + (alone || no_r ? 0 : minus_r * of_r * (exchanged ? sum : sum_z));
            const double factor = no_factor ? 1 : all_r ? r * r : over_r ? 1 / r : first_r ? r0 : r;
            dx[(one_row ? 0 : k * N) + i]
                += ((no_first_r ? g / r : g) - terms) * factor * (late_w || w_twice ? a->w[i] : 1);
        }
    }
}

/* A clue: the largest sums over a row of dx - want and of (dx - want) z are 0 where the term of the mean, or
 * of r, is right. */
static void off_by(const double *dx, struct gradients *g)
{
    double want[SIZE], sum = 0, sum_z = 0, apart = 0;
    gradient_x(want, g);
    for (int k = 0; k < ROWS; k++) {
        double mean, r, z[N], row = 0, row_z = 0;
        look(g->x + k * N, &mean, &r, z);
        for (int i = 0; i < N; i++)
            apart = fmax(apart, fabs(dx[k * N + i] * want[k * N] - dx[k * N] * want[k * N + i]));
        for (int i = 0; i < N; i++)
            row += dx[k * N + i] - want[k * N + i], row_z += (dx[k * N + i] - want[k * N + i]) * z[i];
        sum = fmax(sum, fabs(row)), sum_z = fmax(sum_z, fabs(row_z));
    }
    if (apart < 1e-9)
        judge_clue("in each row it is one factor times what is expected: is r that of the forward?");
    if (sum_z < 1e-6)
        judge_clue("the sum over a row is not 0, so look at the term of the mean: adding one number to a "
                   "whole row does not change z");
    if (sum < 1e-6)
        judge_clue("the sum of dx z over a row is not (nearly) 0, so look at the term of r: scaling a row "
                   "does not change z");
    judge_clue("neither the sum over a row nor that of dx z is right: look at both the term of the mean and "
               "that of r, or at what multiplies them");
}

static void gradients(const char *part, const double *x, const double *w, const double *dy)
{
    const double b[N] = { 0.5, -0.25, 1, 2 };
    struct gradients g = { x, w, b, dy };
    judge_part("%s", part);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *const in[3] = { gra_input(t, x, GRA_SHAPE(ROWS, N)), gra_input(t, w, GRA_SHAPE(N)),
                                gra_input(t, b, GRA_SHAPE(N)) };
    judge_backward(t, run(t, in, (const double *const[]){ x, w, b }), dy, 3, in, 0);
    judge_clue("y is right, so z is. dw sums dy z over the rows: are both read at [k * n + i], and did "
               "nothing else overwrite the saved z?");
    judge_against("dw", GRA_SHAPE(N), gra_grad(in[1]), 1e-11, gradient_w, &g);
    off_by(gra_grad(in[0]), &g);
    judge_against("dx", GRA_SHAPE(ROWS, N), gra_grad(in[0]), 1e-11, gradient_x, &g);
    gra_close(t);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return layer_norm(t, in[0], in[1], in[2]);
}

/* Without one of the three gradients, which is then NULL. */
static void constants(void)
{
    static const char *const name[3] = { "x", "w", "b" };
    for (int c = 0; c < 3; c++) {
        judge_part("%s a constant, so that its grad is NULL", name[c]);
        gra_tape *t = judge_tape(GRA_GRAD, NULL);
        const double *x = judge_draw(101, SIZE, -2, 2);
        gra_tensor *in[3];
        for (int i = 0; i < 3; i++)
            in[i] = (i == c ? gra_constant : gra_input)(t, x, i ? GRA_SHAPE(N) : GRA_SHAPE(ROWS, N));
        judge_backward(t, layer_norm(t, in[0], in[1], in[2]), x, 3, in, 0);
        gra_close(t);
    }
}

void judge_exercise(void)
{
    const double one[6] = { 1, 1, 1, 1, 1, 1 }, zero[6] = { 0 };
    const double w[6] = { 0.5, -2, 1.5, 3, 0.75, -1 }, b[6] = { 1, 0.25, -0.5, 2, -3, 0.125 };
    forward("one row, w of 1 and b of 0", (double[]){ 1, 2.5, 4, -3 }, one, zero, 1, 4, 1e-12);
    forward("one row, with w and b", (double[]){ 1, 2.5, 4, -3 }, w, b, 1, 4, 1e-12);
    forward("three rows of five", judge_draw(102, 15, -2, 3), w, b, 3, 5, 1e-12);
    forward("five rows of two", judge_draw(103, 10, -4, 1), w, b, 5, 2, 1e-12);
    forward("a row of equal numbers", (double[]){ 2, 2, 2, 2, 2, -1 }, w, b, 2, 3, 1e-12);
    forward("tiny numbers", (double[]){ 1e-3, -2e-3, 3e-3, 0, 1e-3, 2e-3 }, w, b, 2, 3, 1e-12);
    forward("one number in a row", (double[]){ 3, -1 }, w, b, 2, 1, 1e-12);
    near_1e6();
    gradients("gradients, w of 1", judge_draw(104, SIZE, -2, 2), one, judge_draw(105, SIZE, -1, 1));
    gradients("gradients", judge_draw(106, SIZE, 0, 3), w, judge_draw(107, SIZE, -1, 1));
    constants();
    judge_part("the gradient check");
    judge_gradients(GRA_GRAD, NULL, NULL, 3, (gra_check_in[]){ { .name = "x", .shape = GRA_SHAPE(3, 5) },
        { .name = "w", .shape = GRA_SHAPE(5) }, { .name = "b", .shape = GRA_SHAPE(5) } }, f, NULL);
}
