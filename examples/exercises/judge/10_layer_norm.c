/* 10 layer_norm: the judge. */
#include "judge.h"

enum { MOST = 20 };
static const double eps = 1e-5;

/* Of n numbers that stand `step` apart. */
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

static void forward(const char *part, const double *x, const double *w, const double *b, int rows, int n,
                    double tolerance)
{
    judge_part("%s", part);
    enum { CENTRE, NOT_CENTRED, RMS, RMS_CENTRED, LESS, SUM, NO_ROOT, OUTSIDE, NO_EPS, NO_W, NO_B, B_FIRST, W_ROW,
           SWAPPED, COLUMNS, WHOLE, W_PLUS_1, MEAN_RUNS, VAR_RUNS, ROOT_ONLY, NO_RESULT, TIMES, MEAN_SUM, ABS,
           W_AND_B, READ_COLUMNS, FOURTH, FROM_FIRST, MEAN_LESS, W_DIVIDES, B_MINUS, VAR_LAST, EPS, ALL };
    double want[MOST], m[ALL][MOST], mean, var, all_mean, all_var, run_mean = 0, run_var = 0;
    stats(x, rows * n, 1, &all_mean, &all_var);
    for (int r = 0; r < rows; r++) {
        stats(x + r * n, n, 1, &mean, &var);
        double square = 0, around_run = 0, around_sum = 0, deviation = 0, around_first = 0, around_less = 0;
        const double first = x[r * n], more = n > 1 ? mean * n / (n - 1) : mean;
        run_mean += mean;
        run_var += var;
        for (int i = 0; i < n; i++) {
            square += x[r * n + i] * x[r * n + i] / n;
            around_run += pow(x[r * n + i] - run_mean, 2) / n;
            around_first += pow(x[r * n + i] - first, 2) / n;
            around_less += pow(x[r * n + i] - more, 2) / n;
            around_sum += pow(x[r * n + i] - n * mean, 2) / n;
            deviation += fabs(x[r * n + i] - mean) / n;
        }
        for (int i = 0; i < n; i++) {
            const int at = r * n + i;
            const double c = x[at] - mean, s = sqrt(var + eps), z = c / s;
            double column_mean, column_var;
            stats(x + i, rows, n, &column_mean, &column_var);
            want[at] = z * w[i] + b[i];
            m[CENTRE][at] = c * w[i] + b[i];
            m[NOT_CENTRED][at] = x[at] / s * w[i] + b[i];
            m[RMS][at] = x[at] / sqrt(square + eps) * w[i] + b[i];
            m[RMS_CENTRED][at] = c / sqrt(square + eps) * w[i] + b[i];
            m[LESS][at] = n > 1 ? c / sqrt(var * n / (n - 1) + eps) * w[i] + b[i] : want[at];
            m[SUM][at] = c / sqrt(var * n + eps) * w[i] + b[i];
            m[NO_ROOT][at] = c / (var + eps) * w[i] + b[i];
            m[OUTSIDE][at] = c / (sqrt(var) + eps) * w[i] + b[i];
            m[NO_EPS][at] = c / sqrt(var) * w[i] + b[i];
            m[NO_W][at] = z + b[i];
            m[NO_B][at] = z * w[i];
            m[B_FIRST][at] = (z + b[i]) * w[i];
            m[W_ROW][at] = z * w[r % n] + b[r % n];
            m[SWAPPED][at] = z * b[i] + w[i];
            m[COLUMNS][at] = (x[at] - column_mean) / sqrt(column_var + eps) * w[i] + b[i];
            m[WHOLE][at] = (x[at] - all_mean) / sqrt(all_var + eps) * w[i] + b[i];
            m[W_PLUS_1][at] = z * (1 + w[i]) + b[i];
            m[MEAN_RUNS][at] = (x[at] - run_mean) / sqrt(around_run + eps) * w[i] + b[i];
            m[VAR_RUNS][at] = c / sqrt(run_var + eps) * w[i] + b[i];
            m[ROOT_ONLY][at] = c / (sqrt(var + eps) + eps) * w[i] + b[i];
            m[NO_RESULT][at] = z;
            m[TIMES][at] = c * s * w[i] + b[i];
            m[FOURTH][at] = c / sqrt(s) * w[i] + b[i];
            m[FROM_FIRST][at] = (x[at] - first) / sqrt(around_first + eps) * w[i] + b[i];
            m[MEAN_LESS][at] = (x[at] - more) / sqrt(around_less + eps) * w[i] + b[i];
            m[W_DIVIDES][at] = z / w[i] + b[i];
            m[B_MINUS][at] = z * w[i] - b[i];
            m[VAR_LAST][at] = c / sqrt(pow(x[r * n + n - 1] - mean, 2) / n + eps) * w[i] + b[i];
            m[MEAN_SUM][at] = (x[at] - n * mean) / sqrt(around_sum + eps) * w[i] + b[i];
            m[ABS][at] = c / sqrt(deviation + eps) * w[i] + b[i];
            m[W_AND_B][at] = z * (w[i] + b[i]);
            m[READ_COLUMNS][at] = (x[i * rows + r] - mean) / s * w[i] + b[i];
        }
    }
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *const in[3] = { gra_input(t, x, GRA_SHAPE(rows, n)), gra_input(t, w, GRA_SHAPE(n)),
                                gra_input(t, b, GRA_SHAPE(n)) };
    const double *got = run(t, in, (const double *const[]){ x, w, b })->data;
    stats(x, n, 1, &mean, &var);
    char other[100] = "";                               /* with which eps would the second number come out? */
    stats(x, n, 1, &mean, &var);
    const double z = n > 1 ? (got[1] - b[1]) / w[1] : 0, its_eps = z != 0 ? pow((x[1] - mean) / z, 2) - var : 0;
    snprintf(other, sizeof other, "eps is %.3g: wanted is 1e-5", its_eps);
    for (int r = 0; r < rows; r++) {
        stats(x + r * n, n, 1, &mean, &var);
        for (int i = 0; i < n; i++)
            m[EPS][r * n + i] = fabs(its_eps) > 1e-2 ? want[r * n + i] :
                                (x[r * n + i] - mean) / sqrt(var + its_eps) * w[i] + b[i];
    }
    char clue[160];                                     /* where w is 1 and b is 0 a row says what it lacks */
    stats(got, n, 1, &mean, &var);
    snprintf(clue, sizeof clue, "the mean of the first row is %.6g and its variance %.6g: wanted are 0 and 1, as w is 1 "
             "and b is 0", mean, var);
    const bool plain = w[0] == 1 && (fabs(mean) > 1e-3 || fabs(var - 1) > 1e-3);
    judge_numbers("y", GRA_SHAPE(rows, n), got, want, tolerance, JUDGE_MISTAKES(
        { "x - mean is not divided by sqrt(var + eps)", m[CENTRE] },
        { "x is divided as it is: the mean is subtracted in the variance alone", m[NOT_CENTRED] },
        { "the mean is nowhere subtracted: x / sqrt(mean of x^2 + eps) is another norm, RMSNorm", m[RMS] },
        { "divided by the root of the mean of x^2: the variance is the mean of (x - mean)^2", m[RMS_CENTRED] },
        { "the variance is divided by n - 1: here it is by n", m[LESS] },
        { "the variance is not divided by n: it is a mean", m[SUM] },
        { "divided by the variance: its square root is missing", m[NO_ROOT] },
        { "multiplied by sqrt(var + eps), not divided by it", m[TIMES] },
        { "eps is added to the root: it stands in it, sqrt(var + eps)", m[OUTSIDE] },
        { "eps is added twice: once, in the root, is wanted", m[ROOT_ONLY] },
        { "eps is missing: sqrt(var + eps)", m[NO_EPS] },
        { other, m[EPS] },
        { "w and b are not used", m[NO_RESULT] },
        { "w is not used", m[NO_W] },
        { "b is not used", m[NO_B] },
        { "b is added before w multiplies: wanted is z w + b", m[B_FIRST] },
        { "w and b are taken by the number of the row: they belong to columns", m[W_ROW] },
        { "w and b are exchanged", m[SWAPPED] },
        { "multiplied by 1 + w: wanted is w", m[W_PLUS_1] },
        { "mean and variance are those of columns: wanted are those of each row", m[COLUMNS] },
        { "mean and variance are those of all numbers: wanted are those of each row", m[WHOLE] },
        { "the mean is not begun anew for each row", m[MEAN_RUNS] },
        { "the variance is not begun anew for each row", m[VAR_RUNS] },
        { "the mean is not divided by n", m[MEAN_SUM] },
        { "the variance is the mean of squares, here of |x - mean|", m[ABS] },
        { "the root is taken twice", m[FOURTH] },
        { "the first number of the row stands where its mean should: is the sum kept?", m[FROM_FIRST] },
        { "the mean is divided by n - 1: wanted is n", m[MEAN_LESS] },
        { "divided by w: wanted is z w + b", m[W_DIVIDES] },
        { "b is subtracted: wanted is z w + b", m[B_MINUS] },
        { "the variance is that of the last number alone: the others are overwritten", m[VAR_LAST] },
        { "b is a factor: wanted is z w + b", m[W_AND_B] },
        { "x is read by columns: row r begins at x[r * n]", m[READ_COLUMNS] },
        { clue, plain ? got : want }));
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
            judge_wrong("y[0, %d] is %.9g, wanted %.9g\nit is right where x is small. Subtract the mean before you square: "
                        "the difference of two numbers near 1e12 has lost its digits", i, got[i],
                        (less[i] - mean) / sqrt(var + eps));
    gra_close(t);
}

enum { ROWS = 3, N = 4, SIZE = ROWS * N };

static void gradients(const char *part, const double *x, const double *w, const double *dy, double before)
{
    judge_part("%s", part);
    enum { NO_G, NO_GZ, NEITHER, NO_R, NO_W, SUMS, PLUS, CENTRED, WITH_Y, LESS, W_OUT, R2, STORED, W_MEANS, R_SQUARED,
           OVER_R, PLUS_G, ROW_0, RUN, GZ_NO_W, G_NO_W, W_ROW,
           FIRST_NO_W, EXCHANGED, FIRST_NO_R, Z_SQUARED, WITH_X, ALL };
    enum { W_X, W_DY, W_Y, W_LAST, W_MEAN, W_STORED, W_W, W_CENTRED, W_BY_ROW, W_R, W_ALL };
    enum { B_LAST, B_MEAN, B_W, B_STORED, B_Z, B_BY_ROW, B_ALL };
    const double b[N] = { 0.5, -0.25, 1, 2 };
    double want[SIZE], want_w[N], want_b[N], m[ALL][SIZE], mw[W_ALL][N], mb[B_ALL][N], r0 = 0;
    double run_g = 0, run_gz = 0;
    for (int i = 0; i < N; i++) {
        want_w[i] = want_b[i] = before;
        mw[W_X][i] = mw[W_DY][i] = mw[W_Y][i] = mw[W_MEAN][i] = mw[W_W][i] = before;
        mw[W_CENTRED][i] = mw[W_BY_ROW][i] = mw[W_R][i] = before;
        mb[B_MEAN][i] = mb[B_W][i] = mb[B_Z][i] = mb[B_BY_ROW][i] = before;
        mw[W_STORED][i] = mb[B_STORED][i] = 0;
    }
    for (int k = 0; k < ROWS; k++) {
        double mean, var, g = 0, gz = 0, gy = 0, d = 0, dz = 0, wg = 0, wgz = 0;
        stats(x + k * N, N, 1, &mean, &var);
        const double r = 1 / sqrt(var + eps);
        r0 = k ? r0 : r;
        for (int i = 0; i < N; i++) {
            const double z = (x[k * N + i] - mean) * r, v = dy[k * N + i];
            g += v * w[i] / N, gz += v * w[i] * z / N, gy += v * w[i] * (z * w[i] + b[i]) / N;
            d += v / N, dz += v * z / N;
            wg += v * w[k] / N, wgz += v * w[k] * z / N;
        }
        run_g += g, run_gz += gz;
        for (int i = 0; i < N; i++) {
            const int at = k * N + i;
            const double c = x[at] - mean, z = c * r, y = z * w[i] + b[i], v = dy[at], gi = v * w[i];
            want[at] = before + r * (gi - g - z * gz);
            m[NO_G][at] = before + r * (gi - z * gz);
            m[NO_GZ][at] = before + r * (gi - g);
            m[NEITHER][at] = before + r * gi;
            m[NO_R][at] = before + gi - g - z * gz;
            m[NO_W][at] = before + r * (v - d - z * dz);
            m[SUMS][at] = before + r * (gi - N * g - z * N * gz);
            m[PLUS][at] = before + r * (gi - g + z * gz);
            m[CENTRED][at] = before + r * (gi - g - c * gz);
            m[WITH_Y][at] = before + r * (gi - g - y * gy);
            m[LESS][at] = before + r * (gi - (N * g + z * N * gz) / (N - 1));
            m[W_OUT][at] = before + r * w[i] * (v - d - z * dz);
            m[W_MEANS][at] = before + r * (gi - d - z * dz);
            m[R2][at] = before + r * (gi - g - r * z * gz);
            m[STORED][at] = r * (gi - g - z * gz);
            m[R_SQUARED][at] = before + r * r * (gi - g - z * gz);
            m[OVER_R][at] = before + (gi - g - z * gz) / r;
            m[PLUS_G][at] = before + r * (gi + g - z * gz);
            m[ROW_0][at] = before + r0 * (gi - g - z * gz);
            m[RUN][at] = before + r * (gi - run_g - z * run_gz);
            m[GZ_NO_W][at] = before + r * (gi - g - z * dz);
            m[G_NO_W][at] = before + r * (gi - d - z * gz);
            m[FIRST_NO_W][at] = before + r * (v - g - z * gz);
            m[EXCHANGED][at] = before + r * (gi - gz - z * g);
            m[FIRST_NO_R][at] = before + gi - r * (g + z * gz);
            m[Z_SQUARED][at] = before + r * (gi - g - z * z * gz);
            m[WITH_X][at] = before + r * (gi - g - x[at] * gz);
            m[W_ROW][at] = before + r * (gi - wg - z * wgz);
            want_w[i] += v * z, want_b[i] += v;
            mw[W_X][i] += v * x[at], mw[W_DY][i] += v, mw[W_Y][i] += v * y, mw[W_MEAN][i] += v * z / ROWS;
            mw[W_W][i] += gi * z, mw[W_STORED][i] += v * z, mw[W_LAST][i] = v * z, mw[W_CENTRED][i] += v * c;
            mw[W_BY_ROW][k] += v * z, mw[W_R][i] += v * z * r, mb[B_BY_ROW][k] += v;
            mb[B_MEAN][i] += v / ROWS, mb[B_W][i] += gi, mb[B_STORED][i] += v, mb[B_LAST][i] = v, mb[B_Z][i] += v * z;
        }
    }
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *const in[3] = { gra_input(t, x, GRA_SHAPE(ROWS, N)), gra_input(t, w, GRA_SHAPE(N)),
                                gra_input(t, b, GRA_SHAPE(N)) };
    judge_backward(t, run(t, in, (const double *const[]){ x, w, b }), dy, 3, in, before);
    judge_numbers("db", GRA_SHAPE(N), gra_grad(in[2]), want_b, 1e-11, JUDGE_MISTAKES(
        { "db is overwritten: accumulate with +=", mb[B_STORED] },
        { "the last row alone: db is the sum over rows, and added to what is there", mb[B_LAST] },
        { "the mean over rows: wanted is the sum", mb[B_MEAN] },
        { "multiplied by w: b is added after w, so its gradient is dy", mb[B_W] },
        { "multiplied by z: that belongs to dw", mb[B_Z] },
        { "added at the number of the row: b has one number for each column", mb[B_BY_ROW] }));
    judge_numbers("dw", GRA_SHAPE(N), gra_grad(in[1]), want_w, 1e-11, JUDGE_MISTAKES(
        { "dw is overwritten: accumulate with +=", mw[W_STORED] },
        { "the last row alone: dw is the sum over rows, and added to what is there", mw[W_LAST] },
        { "the mean over rows: wanted is the sum", mw[W_MEAN] },
        { "dy x: what w multiplies is z, not x", mw[W_X] },
        { "dy (x - mean): what w multiplies is z, the factor r is missing", mw[W_CENTRED] },
        { "dy alone: what w multiplies, z, is missing", mw[W_DY] },
        { "dy y: what w multiplies is z", mw[W_Y] },
        { "multiplied by w: the derivative of z w by w is z", mw[W_W] },
        { "a factor r too many: what w multiplies is z, in which r is", mw[W_R] },
        { "added at the number of the row: w has one number for each column", mw[W_BY_ROW] },
        { "y was right, so look at the z that backward takes: is it the forward's, at its place in y->saved, and was "
          "nothing else written there?", gra_grad(in[1]) }));
    double most = 0, most_z = 0;                        /* of each row the sums of dx and dx z are 0 */
    for (int k = 0; k < ROWS; k++) {
        double mean, var, sum = 0, sum_z = 0;
        stats(x + k * N, N, 1, &mean, &var);
        for (int i = 0; i < N; i++) {
            const double off = gra_grad(in[0])[k * N + i] - want[k * N + i];
            sum += off, sum_z += off * (x[k * N + i] - mean) / sqrt(var);
        }
        most = fmax(most, fabs(sum)), most_z = fmax(most_z, fabs(sum_z));
    }
    const char *clue = most_z < 1e-6 ? "the sum over a row is not 0, so look at the term of the mean: the same number "
        "added to a whole row changes no z" : most < 1e-6 ? "the sum of dx z over a row is not (nearly) 0, so look at the "
        "term of r: a row that is stretched has the same z" : "neither the sum over a row nor that of dx z is right: both "
        "the term of the mean and that of r, or what multiplies them, are to be looked at";
    judge_numbers("dx", GRA_SHAPE(ROWS, N), gra_grad(in[0]), want, 1e-11, JUDGE_MISTAKES(
        { "dx is overwritten: accumulate with +=, for x may feed other functions", m[STORED] },
        { "each x_i is taken to move its own z_i alone: mean and r of the row need it, too", m[NEITHER] },
        { "the term of the mean is missing: every z of the row has the mean, which needs x_j", m[NO_G] },
        { "the term of r is missing, or comes to 0: every z of the row has r, which needs x_j", m[NO_GZ] },
        { "the factor r is missing", m[NO_R] },
        { "w is missing: the gradient of z is dy w", m[NO_W] },
        { "w multiplies after the means: those are of dy w, each dy with its own w", m[W_OUT] },
        { "w is missing in the two means over the row: both are of g = dy w", m[W_MEANS] },
        { "the two sums over the row are not divided by n", m[SUMS] },
        { "the term of r has the wrong sign: dr/dx_j = -r^2 z_j / n", m[PLUS] },
        { "x_j - mean stands where z_j should in the term of r: a factor r is missing", m[CENTRED] },
        { "a factor r too many in the term of r", m[R2] },
        { "y stands where z should in the term of r", m[WITH_Y] },
        { "the sums over the row are divided by n - 1: the forward divides by n", m[LESS] },
        { "a factor r too many, before all terms", m[R_SQUARED] },
        { "divided by r: wanted is the factor r", m[OVER_R] },
        { "the term of the mean has the wrong sign", m[PLUS_G] },
        { "all rows have the r of the first: each has its own", m[ROW_0] },
        { "the two sums are not begun anew for each row", m[RUN] },
        { "w is missing in the first term: the gradient of z is dy w there, too", m[FIRST_NO_W] },
        { "the two means are exchanged: which of them comes with z_j?", m[EXCHANGED] },
        { "the first term lacks the factor r", m[FIRST_NO_R] },
        { "a factor z_j too many in the term of r", m[Z_SQUARED] },
        { "x_j stands where z_j should in the term of r", m[WITH_X] },
        { "w is missing in the sum of the term of r: it is of g z, with g = dy w", m[GZ_NO_W] },
        { "w is missing in the sum of the term of the mean: it is of g = dy w", m[G_NO_W] },
        { "in the two sums w is taken by the number of the row: it belongs to columns", m[W_ROW] },
        { clue, most > 1e-6 || most_z > 1e-6 ? gra_grad(in[0]) : want }));
    gra_close(t);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return layer_norm(t, in[0], in[1], in[2]);
}

/* Without one of the three gradients, which is NULL then. */
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
    forward("one row, w of 1 and b of 0", (double[]){ 1, 2, 4, -3 }, one, zero, 1, 4, 1e-12);
    forward("one row, with w and b", (double[]){ 1, 2, 4, -3 }, w, b, 1, 4, 1e-12);
    forward("three rows of five", judge_draw(102, 15, -2, 3), w, b, 3, 5, 1e-12);
    forward("five rows of two", judge_draw(103, 10, -4, 1), w, b, 5, 2, 1e-12);
    forward("a row of equal numbers", (double[]){ 2, 2, 2, 2, 2, -1 }, w, b, 2, 3, 1e-12);
    forward("tiny numbers", (double[]){ 1e-3, -2e-3, 3e-3, 0, 1e-3, 2e-3 }, w, b, 2, 3, 1e-12);
    forward("one number in a row", (double[]){ 3, -1 }, w, b, 2, 1, 1e-12);
    near_1e6();
    gradients("gradients, w of 1", judge_draw(104, SIZE, -2, 2), one, judge_draw(105, SIZE, -1, 1), 0);
    gradients("gradients", judge_draw(106, SIZE, 0, 3), w, judge_draw(107, SIZE, -1, 1), 0);
    gradients("gradients of tensors used twice", judge_draw(108, SIZE, 0, 3), w, judge_draw(109, SIZE, -1, 1), 2);
    constants();
    judge_part("the gradient check");
    judge_gradients(GRA_GRAD, NULL, NULL, 3, (gra_check_in[]){ { .name = "x", .shape = GRA_SHAPE(3, 5) },
        { .name = "w", .shape = GRA_SHAPE(5) }, { .name = "b", .shape = GRA_SHAPE(5) } }, f, NULL);
}
