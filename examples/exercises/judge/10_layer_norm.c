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

/* Has it a single digit, like 1e-6? */
static bool is_an_eps(double x)
{
    const double digit = x > 1e-11 && x < 2 ? pow(10, floor(log10(x * 1.001))) : 0;
    return fabs(x / digit - round(x / digit)) < 1e-6 + 1e-13 / x && fabs(x - eps) > 1e-9;
}

/* The factor of x - mean. */
static double scale(double var, double its_eps)
{
    return slip("x - mean is not divided by sqrt(var + eps)") ? 1
         : slip("divided by the variance: its square root is missing") ? 1 / (var + eps)
         : slip("multiplied by sqrt(var + eps): divide by it") ? sqrt(var + eps)
         : slip("the root is taken twice") ? 1 / sqrt(sqrt(var + eps))
         : slip("eps is added to the root: it belongs inside, sqrt(var + eps)") ? 1 / (sqrt(var) + eps)
         : slip("eps is added twice: add it once, inside the root") ? 1 / (sqrt(var + eps) + eps)
         : slip("eps is added to 1 / sqrt(var): it belongs inside, sqrt(var + eps)") ? 1 / sqrt(var) + eps
         : slip("no eps of 1e-5 is added to the variance: 1 / sqrt(var + eps)") ? 1 / sqrt(var)
         : is_an_eps(its_eps) && slip_of("eps is %.3g: it should be 1e-5", its_eps) ? 1 / sqrt(var + its_eps)
         : 1 / sqrt(var + eps);
}

static double affine(double z, const struct layer *l, int r, int i)
{
    const bool w_by_row = slip("w is not indexed by the column: z_i is multiplied by w[i]");
    const bool b_by_row = slip("b is not indexed by the column: b[i] is added");
    const bool by_row = slip("w and b are not indexed by the column: they are w[i] and b[i]");
    const double w = l->w[by_row || w_by_row ? r % l->n : i], b = l->b[by_row || b_by_row ? r % l->n : i];
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

/* What a variance is whose loop is that of the mean, too. */
static double unfinished(const double *x, int n)
{
    double mean = 0, var = 0;
    for (int i = 0; i < n; i++) {
        mean += x[i] / n;
        var += pow(x[i] - mean, 2) / n;
    }
    return var;
}

static double mean_of(const double *x, int n, double mean, double before)
{
    double whole = 0;
    for (int i = 0; i < n; i++)
        whole = trunc(whole + x[i] / n);
    return slip("the mean is not reset for each row") ? before + mean
         : slip("the mean is not divided by n") ? n * mean
         : slip("the first number of the row is used as its mean: is the sum kept?") ? x[0]
         : slip("the mean is only that of the last number: is the sum kept?") ? x[n - 1] / n
         : slip("the last number is left out of the mean") ? mean - x[n - 1] / n
         : slip("the first number is left out of the mean") ? mean - x[0] / n
         : slip("the mean is rounded to an integer: keep it in a double") ? trunc(mean)
         : slip("the sum of the mean is rounded to an integer: keep it in a double") ? whole
         : slip("the mean is divided by n - 1: it should be n") && n > 1 ? mean * n / (n - 1) : mean;
}

static double var_of(const double *x, int n, double mean, double var, double before)
{
    double absolute = 0;
    for (int k = 0; k < n; k++)
        absolute += fabs(x[k] - mean) / n;
    return slip("the variance is not reset for each row") ? before + var
         : slip("the variance is divided by n - 1: here it is divided by n") && n > 1 ? var * n / (n - 1)
         : slip("the variance is not divided by n: it is a mean") ? var * n
         : slip("this uses the mean of |x - mean|: the variance is the mean of squares") ? absolute
         : slip("the variance is that of the last number only: the others are overwritten")
         ? pow(x[n - 1] - mean, 2) / n
         : slip("the last number is left out of the variance") ? var - pow(x[n - 1] - mean, 2) / n
         : slip("the first number is left out of the variance") ? var - pow(x[0] - mean, 2) / n
         : slip("the variance is summed up with a mean that is not finished: that needs a loop of its own")
         ? unfinished(x, n) : var;
}

static void normalised(double *y, void *arg)
{
    const struct layer *l = arg;
    const int rows = l->rows, n = l->n, size = rows * n;
    const bool columns = slip("mean and variance are those of columns: use those of each row");
    const bool all = slip("mean and variance are those of all numbers: use those of each row");
    const bool mean_0 = slip("the mean is that of the first row: each row has its own, from x[r * n]");
    const bool var_0 =
        slip("the variance is of the numbers of the first row: those of row r begin at x[r * n]");
    const bool x_0 = slip("all rows use the numbers of the first: those of row r begin at x[r * n]");
    const bool by_rows = slip("row r of x is read from x[r * rows]: it begins at x[r * n]");
    const bool rms =
        slip("the mean is never subtracted: x / sqrt(mean of x^2 + eps) is another norm, RMSNorm");
    const bool plain = slip("the mean is subtracted only in the variance: subtract it from x too");
    const bool square =
        slip("divided by the root of the mean of x^2: the variance is the mean of (x - mean)^2");
    const bool by_columns = slip("x is read by columns: row r begins at x[r * n]");
    double mean = 0, var = 0;
    for (int r = 0; r < rows; r++) {
        double row[MOST], m, v;
        for (int i = 0; i < n; i++)
            row[i] = l->x[by_rows ? (r * rows + i) % size : r * n + i];
        stats(mean_0 ? l->x : row, n, 1, &m, &v);
        mean = mean_of(mean_0 ? l->x : row, n, m, mean);
        var = var_of(var_0 ? l->x : row, n, mean, around(var_0 ? l->x : row, n, 1, rms || square ? 0 : mean),
                     var);
        for (int i = 0; i < n; i++) {
            stats(columns ? l->x + i : l->x, columns ? rows : size, columns ? n : 1, &m, &v);
            m = columns || all ? m : mean, v = columns || all ? v : var;
            const double x = by_columns ? l->x[i * rows + r] : x_0 ? l->x[i] : row[i];
            y[r * n + i] = affine((rms || plain ? x : x - m) * scale(v, l->its_eps), l, r, i);
        }
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

enum { ROWS = 3, N = 5, SIZE = ROWS * N };

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
    const int begin = slip("the first row is left out: dw is the sum over all rows"),
        end = slip("this is only the first row: dw is the sum over rows") ? 1
            : ROWS - slip("the last row is left out: dw is the sum over all rows");
    const double by = slip("this is the mean over rows: it should be the sum") ? ROWS
                    : slip("divided by n: dw is the sum over rows, of dy z") ? N : 1;
    const bool dy_0 = slip("dy is read in its first row: row k begins at dy[k * n]");
    const bool columns = slip("dy is read by columns: dy of row k and column i is dy[k * n + i]");
    const bool z_0 = slip("all rows use the z of the first: row k's begins at y->saved[k * n]");
    const bool by_rows = slip("the z of row k is read from y->saved[k * rows]: it begins at [k * n]");
    const bool kept_0 = slip("forward keeps each row's z from y->saved[0]: row k's begins at [k * n]");
    const bool by_x = slip("this is dy x: what w multiplies is z");
    const bool by_c = slip("this is dy (x - mean): what w multiplies is z, the factor r is missing");
    const bool by_1 = slip("this is only dy: what w multiplies, z, is missing");
    const bool by_y = slip("this is dy y: what w multiplies is z");
    const bool by_w = slip("multiplied by w: d(z w)/dw is z");
    const bool by_r = slip("there is an extra factor r: what w multiplies is z, which contains r");
    const bool by_row = slip("added at the number of the row: w has one number for each column");
    double kept[SIZE], means[ROWS], rs[ROWS];
    for (int k = 0; k < ROWS; k++)
        look(g->x + k * N, &means[k], &rs[k], kept + k * N);
    for (int i = 0; i < SIZE && kept_0; i++)
        kept[i] = i < N ? kept[(ROWS - 1) * N + i] : JUDGE_UNWRITTEN;
    memset(dw, 0, N * sizeof *dw);
    for (int k = begin; k < end; k++)
        for (int i = 0; i < N; i++) {
            const double x = g->x[k * N + i], z = kept[z_0 ? i : by_rows ? k * ROWS + i : k * N + i];
            const double of = by_x ? x : by_c ? x - means[k] : by_1 ? 1 : by_y ? z * g->w[i] + g->b[i]
                            : by_w ? z * g->w[i] : by_r ? z * rs[k] : z;
            double *to = &dw[by_row ? k : i];
            *to = (last ? 0 : *to) + g->dy[dy_0 ? i : columns ? i * ROWS + k : k * N + i] * of / by;
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
    const bool first_by_row =
        slip("in the first term w is indexed by the number of the row: it belongs to columns");
    const bool dy_0 = slip("the first term reads dy in its first row: row k begins at dy[k * n]");
    const bool dy_0_sums = slip("the two sums read dy in its first row: row k begins at dy[k * n]");
    const bool to_0 = slip("all rows are added to the first row of dx: row k begins at dx[k * n]");
    const int to = N - slip("the last number of the row is left out of the two sums"),
        from = slip("the first number of the row is left out of the two sums");
    const bool last_g = slip("the sum in the term of the mean is only its last number: add them all");
    const bool last_gz = slip("the sum in the term of r is only its last number: add them all");
    const bool early = slip("the two sums are used before they are finished: they need a loop of their own");
    const double by = slip("the two sums over the row are not divided by n") ? 1
                    : slip("the sums over the row are divided by n - 1: the forward divides by n") ? N - 1
                    : slip("the sums over the row are divided by the number of rows: divide by n") ? ROWS : N;
    const double by_mean = slip("the sum in the term of the mean is not divided by n") ? 1 : by;
    const double by_r = slip("the sum in the term of r is not divided by n") ? 1 : by;
    const bool no_z = slip("the term of r lacks its factor z_j: dr/dx_j = -r^2 z_j / n");
    const bool no_z_sum = slip("the factor z is missing in the sum of the term of r: it is a sum of g z");
    const bool running = slip("the two sums are not reset for each row");
    const double minus_r = slip("the term of r has the wrong sign: dr/dx_j = -r^2 z_j / n") ? -1 : 1;
    const double minus_mean = slip("the term of the mean has the wrong sign") ? -1 : 1;
    const bool c_for_z =
        slip("the term of r, r z_j times the mean of g z, lacks a factor r: z is (x - mean) r");
    const bool x_for_z = slip("the term of r uses x_j instead of z_j");
    const bool x_in_sum = slip("the sum in the term of r uses x instead of z");
    const bool y_for_z = slip("the term of r uses y instead of z");
    const bool r_twice = slip("there is an extra factor r in the term of r");
    const bool r_thrice = slip("there are two extra factors r in the term of r");
    const bool w_twice = slip("all terms are multiplied by w once more: g = dy w is enough");
    const bool w_mean = slip("the term of the mean is multiplied by w once more: its sum contains w");
    const bool w_r = slip("the term of r is multiplied by w once more: its sum contains w");
    const bool z_twice = slip("there is an extra factor z_j in the term of r");
    const bool exchanged = slip("the two means are exchanged: which of them is multiplied by z_j?");
    const bool all_r =
        slip("there is an extra factor r, before all terms"), over_r = slip("divided by r: multiply by r");
    const bool first_r = slip("all rows have the r of the first: each has its own");
    const bool no_first_r = slip("the first term lacks the factor r");
    const bool only_first_r = slip("only the first term is multiplied by r: all three terms are");
    const bool last_r = slip("all rows have the r of the last: in y->saved each needs a place of its own");
    double sum = 0, sum_z = 0, r0 = 0, r_last, z_last[N], mean_last;
    look(a->x + SIZE - N, &mean_last, &r_last, z_last);
    memset(dx, 0, SIZE * sizeof *dx);
    for (int k = 0; k < ROWS; k++) {
        const double *x = a->x + k * N, *v = a->dy + k * N;
        double mean, r, z[N];
        look(x, &mean, &r, z);
        sum = running ? sum : 0, sum_z = running ? sum_z : 0, r0 = k ? r0 : r;
        double so_far[2][N];
        for (int i = 0; i < N; i++) {
            const double w = no_w || late_w || no_w_sums ? 1 : a->w[w_by_row ? k : i], y = z[i] * a->w[i]
                + a->b[i];
            const double g = i < from || i >= to ? 0 : dy_0_sums ? a->dy[i] : v[i];
            sum = (last_g ? 0 : sum) + g * (no_w_mean ? 1 : w) / by_mean;
            sum_z = (last_gz ? 0 : sum_z)
                  + g * (no_w_r ? 1 : w) * (no_z_sum ? 1 : y_for_z ? y : x_in_sum ? x[i] : z[i]) / by_r;
            so_far[0][i] = sum, so_far[1][i] = sum_z;
        }
        for (int i = 0; i < N; i++) {
            const double y = z[i] * a->w[i] + a->b[i], s = early ? so_far[0][i] : sum,
                s_z = early ? so_far[1][i] : sum_z;
            const double g = (dy_0 ? a->dy[i] : v[i])
                           * (no_w || late_w || no_w_first ? 1 : a->w[first_by_row ? k : i]);
            const double of_r = c_for_z ? x[i] - mean : x_for_z ? x[i] : y_for_z ? y : no_z ? 1
                              : z[i] * (r_twice ? r : r_thrice ? r * r : z_twice ? z[i] : 1);
            const double mean_term = minus_mean * (exchanged ? s_z : s) * (w_mean ? a->w[i] : 1);
            const double terms = (alone || no_mean ? 0 : mean_term)
                + (alone || no_r ? 0 : minus_r * of_r * (exchanged ? s : s_z) * (w_r ? a->w[i] : 1));
            const double factor = no_factor ? 1 : all_r ? r * r : over_r ? 1 / r : first_r ? r0
                                : last_r ? r_last : r;
            dx[to_0 ? i : k * N + i] += ((no_first_r ? g / r : g) - terms / (only_first_r ? r : 1)) * factor
                                      * (late_w || w_twice ? a->w[i] : 1);
        }
    }
}

/* "right", or "2 times what it should be" */
static const char *times(double by, char text[60])
{
    snprintf(text, 60, fabs(by - 1) < 1e-6 ? "right" : "%.6g times what it should be", by);
    return text;
}

/* A clue: the largest sums over a row of dx - want and of (dx - want) z are 0 where the term of the mean, or
 * of r, is right. */
static void off_by(const double *dx, struct gradients *g)
{
    double want[SIZE], off[SIZE], of_mean[SIZE], of_r[SIZE], sum = 0, sum_z = 0, apart = 0, a, b;
    char share[2][60];
    gradient_x(want, g);
    for (int k = 0; k < ROWS; k++) {
        double mean, r, z[N], row = 0, row_z = 0;
        look(g->x + k * N, &mean, &r, z);
        for (int i = 0; i < N; i++)
            apart = fmax(apart, fabs(dx[k * N + i] * want[k * N] - dx[k * N] * want[k * N + i]));
        double m_g = 0, m_gz = 0;
        for (int i = 0; i < N; i++)
            m_g += g->dy[k * N + i] * g->w[i] / N, m_gz += g->dy[k * N + i] * g->w[i] * z[i] / N;
        for (int i = 0; i < N; i++) {
            off[k * N + i] = g->dy[k * N + i] * g->w[i] * r - dx[k * N + i];
            of_mean[k * N + i] = r * m_g, of_r[k * N + i] = r * z[i] * m_gz;
        }
        for (int i = 0; i < N; i++)
            row += dx[k * N + i] - want[k * N + i], row_z += (dx[k * N + i] - want[k * N + i]) * z[i];
        sum = fmax(sum, fabs(row)), sum_z = fmax(sum_z, fabs(row_z));
    }
    if (apart < 1e-9)
        judge_clue("in each row it is one factor times what is expected: is r that of the forward?");
    if (judge_combination(off, of_mean, of_r, SIZE, &a, &b))
        judge_clue("the term of the mean is %s, that of r is %s%s", times(a, share[0]), times(b, share[1]),
                   fabs(b - 0.5) < 1e-6 ? " (is a 2 missing, as of d(z^2) = 2 z dz?)" : "");
    if (sum_z < 1e-6)
        judge_clue("the sum over a row is not 0, so look at the term of the mean: adding one number to a "
                   "whole row does not change z");
    if (sum < 1e-6)
        judge_clue("the sum of dx z over a row is not (nearly) 0, so look at the term of r: scaling a row "
                   "does not change z");
    judge_clue("neither the sum over a row nor that of dx z is right: look at both the term of the mean and "
               "that of r, or at what multiplies them");
}

/* Is some row's r past the end of y->saved, or where a z was? */
static void places(const gra_tensor *y, const double *x)
{
    enum { ROOM = SIZE + 2 * ROWS };
    double mean, r[ROWS], z[SIZE];
    int kept = 0;
    for (int k = 0; k < ROWS; k++)
        look(x + k * N, &mean, &r[k], z + k * N);
    for (int i = 0; i < SIZE; i++)
        kept += fabs(y->saved[i] - z[i]) < 1e-9;
    for (int at = 0; at < ROOM + SIZE; at++)
        for (int k = 0; k < ROWS; k++)
            if (fabs(y->saved[at] - r[k]) > 1e-12)
                continue;
            else if (at >= ROOM)
                judge_wrong("the r of row %d was written to y->saved[%d], past its end: after n z for each "
                            "row there is room for 2 numbers for each row, from y->saved[rows * n]", k, at);
            else if (at < SIZE && kept >= SIZE - ROWS)
                judge_wrong("the r of row %d was written to y->saved[%d], where the z of row %d and column "
                            "%d was kept: keep r after all z", k, at, at / N, at % N);
}

static void gradients(const char *part, const double *x, const double *w, const double *dy)
{
    const double b[N] = { 0.5, -0.25, 1, 2, -1.5 };
    struct gradients g = { x, w, b, dy };
    judge_part("%s", part);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *const in[3] = { gra_input(t, x, GRA_SHAPE(ROWS, N)), gra_input(t, w, GRA_SHAPE(N)),
                                gra_input(t, b, GRA_SHAPE(N)) };
    gra_tensor *y = run(t, in, (const double *const[]){ x, w, b });
    places(y, x);
    judge_backward(t, y, dy, 3, in, 0);
    judge_clue("y is right, and dw[i] is the sum over rows k of dy[k * n + i] times the z there: look at "
               "these indices, and at the z that backward uses");
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
        judge_part("no crash where %s is a constant, whose grad is NULL", name[c]);
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
    forward("one row, w of 1 and b of 0", (double[]){ 3, 6.5, 9, -2 }, one, zero, 1, 4, 1e-12);
    forward("one row, with w and b", (double[]){ 3, 6.5, 9, -2 }, w, b, 1, 4, 1e-12);
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
