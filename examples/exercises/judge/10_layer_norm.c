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

/* The table of what mistakes give for y, in three parts: what x - mean is divided by, w and b, the statistics. */
struct given {
    const double *x, *w, *b;
    int           rows, n;
};

/* What x - mean is divided by, and what is. `other` says which eps the answer has, its_eps. */
static void wrong_scales(struct judge_table *m, struct given g, int r, int i, const char *other, double its_eps)
{
    const int n = g.n, at = r * n + i;
    const double *x = g.x, w = g.w[i], b = g.b[i];
    double mean, var, square = 0;
    stats(x + r * n, n, 1, &mean, &var);
    for (int k = 0; k < n; k++)
        square += x[r * n + k] * x[r * n + k] / n;
    const double c = x[at] - mean, s = sqrt(var + eps), right = c / s * w + b;
    JUDGE_SET(m, at,
        { "x - mean is not divided by sqrt(var + eps)", c * w + b },
        { "x is divided as it is: the mean is subtracted in the variance alone", x[at] / s * w + b },
        { "the mean is nowhere subtracted: x / sqrt(mean of x^2 + eps) is another norm, RMSNorm",
          x[at] / sqrt(square + eps) * w + b },
        { "divided by the root of the mean of x^2: the variance is the mean of (x - mean)^2",
          c / sqrt(square + eps) * w + b },
        { "the variance is divided by n - 1: here it is by n",
          n > 1 ? c / sqrt(var * n / (n - 1) + eps) * w + b : right },
        { "the variance is not divided by n: it is a mean", c / sqrt(var * n + eps) * w + b },
        { "divided by the variance: its square root is missing", c / (var + eps) * w + b },
        { "multiplied by sqrt(var + eps), not divided by it", c * s * w + b },
        { "the root is taken twice", c / sqrt(s) * w + b },
        { "eps is added to the root: it stands in it, sqrt(var + eps)", c / (sqrt(var) + eps) * w + b },
        { "eps is added twice: once, in the root, is wanted", c / (sqrt(var + eps) + eps) * w + b },
        { "eps is missing: sqrt(var + eps)", c / sqrt(var) * w + b },
        { other, fabs(its_eps) > 1e-2 ? right : c / sqrt(var + its_eps) * w + b });
}

static void wrong_affine(struct judge_table *m, struct given g, int r, int i)
{
    const int n = g.n, at = r * n + i;
    const double w = g.w[i], b = g.b[i];
    double mean, var;
    stats(g.x + r * n, n, 1, &mean, &var);
    const double z = (g.x[at] - mean) / sqrt(var + eps);
    JUDGE_SET(m, at,
        { "w and b are not used", z },
        { "w is not used", z + b },
        { "b is not used", z * w },
        { "b is added before w multiplies: wanted is z w + b", (z + b) * w },
        { "w and b are taken by the number of the row: they belong to columns", z * g.w[r % n] + g.b[r % n] },
        { "w and b are exchanged", z * b + w },
        { "multiplied by 1 + w: wanted is w", z * (1 + w) + b },
        { "divided by w: wanted is z w + b", z / w + b },
        { "b is subtracted: wanted is z w + b", z * w - b },
        { "b is a factor: wanted is z w + b", z * (w + b) });
}

/* The mean of (x - centre)^2 over a row of n numbers. */
static double around(const double *row, int n, double centre)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += pow(row[i] - centre, 2) / n;
    return sum;
}

/* Normalised with mean and variance of other numbers, or with wrong ones of the right numbers. run_mean, run_var:
 * the sums of those of all rows so far. */
static void wrong_statistics(struct judge_table *m, struct given g, int r, int i, double run_mean,
                             double run_var)
{
    const int n = g.n, at = r * n + i;
    const double *row = g.x + r * n, x = row[i], w = g.w[i], b = g.b[i];
    double mean, var, column_mean, column_var, all_mean, all_var, deviation = 0;
    stats(row, n, 1, &mean, &var);
    stats(g.x + i, g.rows, n, &column_mean, &column_var);
    stats(g.x, g.rows * n, 1, &all_mean, &all_var);
    for (int k = 0; k < n; k++)
        deviation += fabs(row[k] - mean) / n;
    const double c = x - mean, s = sqrt(var + eps), more = n > 1 ? mean * n / (n - 1) : mean;
    JUDGE_SET(m, at,
        { "mean and variance are those of columns: wanted are those of each row",
          (x - column_mean) / sqrt(column_var + eps) * w + b },
        { "mean and variance are those of all numbers: wanted are those of each row",
          (x - all_mean) / sqrt(all_var + eps) * w + b },
        { "the mean is not begun anew for each row",
          (x - run_mean) / sqrt(around(row, n, run_mean) + eps) * w + b },
        { "the variance is not begun anew for each row", c / sqrt(run_var + eps) * w + b },
        { "the mean is not divided by n", (x - n * mean) / sqrt(around(row, n, n * mean) + eps) * w + b },
        { "the variance is the mean of squares, here of |x - mean|", c / sqrt(deviation + eps) * w + b },
        { "the first number of the row stands where its mean should: is the sum kept?",
          (x - row[0]) / sqrt(around(row, n, row[0]) + eps) * w + b },
        { "the mean is divided by n - 1: wanted is n", (x - more) / sqrt(around(row, n, more) + eps) * w + b },
        { "the variance is that of the last number alone: the others are overwritten",
          c / sqrt(pow(row[n - 1] - mean, 2) / n + eps) * w + b },
        { "x is read by columns: row r begins at x[r * n]", (g.x[i * g.rows + r] - mean) / s * w + b });
}

static void forward(const char *part, const double *x, const double *w, const double *b, int rows, int n,
                    double tolerance)
{
    const struct given g = { x, w, b, rows, n };
    struct judge_table m = judge_table((size_t)(rows * n));
    double want[MOST], mean, var, run_mean = 0, run_var = 0;
    char other[100], clue[160];
    judge_part("%s", part);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *const in[3] = { gra_input(t, x, GRA_SHAPE(rows, n)), gra_input(t, w, GRA_SHAPE(n)),
                                gra_input(t, b, GRA_SHAPE(n)) };
    const double *got = run(t, in, (const double *const[]){ x, w, b })->data;
    stats(x, n, 1, &mean, &var);                        /* with which eps would the second number come out? */
    const double z = n > 1 ? (got[1] - b[1]) / w[1] : 0, its_eps = z != 0 ? pow((x[1] - mean) / z, 2) - var : 0;
    snprintf(other, sizeof other, "eps is %.3g: wanted is 1e-5", its_eps);
    for (int r = 0; r < rows; r++) {
        stats(x + r * n, n, 1, &mean, &var);
        run_mean += mean;
        run_var += var;
        for (int i = 0; i < n; i++) {
            want[r * n + i] = (x[r * n + i] - mean) / sqrt(var + eps) * w[i] + b[i];
            wrong_scales(&m, g, r, i, other, its_eps);
            wrong_affine(&m, g, r, i);
            wrong_statistics(&m, g, r, i, run_mean, run_var);
        }
    }
    stats(got, n, 1, &mean, &var);                      /* where w is 1 and b is 0 a row says what it lacks */
    snprintf(clue, sizeof clue, "the mean of the first row is %.6g and its variance %.6g: wanted are 0 and 1, "
             "as w is 1 and b is 0", mean, var);
    if (w[0] == 1 && (fabs(mean) > 1e-3 || fabs(var - 1) > 1e-3))
        judge_also(&m, clue, got);
    judge_numbers("y", GRA_SHAPE(rows, n), got, want, tolerance, m.mistakes);
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
            judge_wrong("y[0, %d] is %.9g, wanted %.9g\nit is right where x is small. Subtract the mean before you "
                        "square: the difference of two numbers near 1e12 has lost its digits", i, got[i],
                        (less[i] - mean) / sqrt(var + eps));
    gra_close(t);
}

enum { ROWS = 3, N = 4, SIZE = ROWS * N };

/* One number of x in the backward: r = 1 / sqrt(var + eps), z = (x - mean) r, v = dy, gi = dy w. */
struct number {
    double x, c, r, z, y, v, gi;
};

/* The means over a row: of g = dy w and of g z, the two of the formula, and those that are taken by mistake. */
struct means {
    double g, gz, gy, d, dz, wg, wgz;
};

static void look(const double *x, const double *w, const double *b, const double *dy, struct number *to,
                 struct means of[ROWS])
{
    for (int k = 0; k < ROWS; k++) {
        struct means *s = &of[k];
        double mean, var;
        stats(x + k * N, N, 1, &mean, &var);
        const double r = 1 / sqrt(var + eps);
        *s = (struct means){ 0 };
        for (int i = 0; i < N; i++, to++) {
            const double c = x[k * N + i] - mean, z = c * r, y = z * w[i] + b[i], v = dy[k * N + i];
            *to = (struct number){ x[k * N + i], c, r, z, y, v, v * w[i] };
            s->g += v * w[i] / N, s->gz += v * w[i] * z / N, s->gy += v * w[i] * y / N;
            s->d += v / N, s->dz += v * z / N;
            s->wg += v * w[k] / N, s->wgz += v * w[k] * z / N;
        }
    }
}

static void compare_b(const double *got, const struct number *of, const double *w, double before)
{
    struct judge_table m = judge_table(N);
    double want[N];
    for (int i = 0; i < N; i++) {
        double sum = 0, last = 0, by_z = 0, row = 0;
        for (int k = 0; k < ROWS; k++)
            sum += last = of[k * N + i].v, by_z += of[k * N + i].v * of[k * N + i].z;
        for (int j = 0; j < N && i < ROWS; j++)
            row += of[i * N + j].v;
        want[i] = before + sum;
        JUDGE_SET(&m, i,
            { "db is overwritten: accumulate with +=", sum },
            { "the last row alone: db is the sum over rows, and added to what is there", last },
            { "the mean over rows: wanted is the sum", before + sum / ROWS },
            { "multiplied by w: b is added after w, so its gradient is dy", before + sum * w[i] },
            { "multiplied by z: that belongs to dw", before + by_z },
            { "added at the number of the row: b has one number for each column", before + row });
    }
    judge_numbers("db", GRA_SHAPE(N), got, want, 1e-11, m.mistakes);
}

static void compare_w(const double *got, const struct number *of, const double *w, double before)
{
    struct judge_table m = judge_table(N);
    double want[N];
    for (int i = 0; i < N; i++) {
        double sum = 0, last = 0, by_x = 0, by_c = 0, by_1 = 0, by_y = 0, by_r = 0, row = 0;
        for (int k = 0; k < ROWS; k++) {
            const struct number *p = &of[k * N + i];
            sum += last = p->v * p->z;
            by_x += p->v * p->x, by_c += p->v * p->c, by_1 += p->v, by_y += p->v * p->y;
            by_r += p->v * p->z * p->r;
        }
        for (int j = 0; j < N && i < ROWS; j++)
            row += of[i * N + j].v * of[i * N + j].z;
        want[i] = before + sum;
        JUDGE_SET(&m, i,
            { "dw is overwritten: accumulate with +=", sum },
            { "the last row alone: dw is the sum over rows, and added to what is there", last },
            { "the mean over rows: wanted is the sum", before + sum / ROWS },
            { "dy x: what w multiplies is z, not x", before + by_x },
            { "dy (x - mean): what w multiplies is z, the factor r is missing", before + by_c },
            { "dy alone: what w multiplies, z, is missing", before + by_1 },
            { "dy y: what w multiplies is z", before + by_y },
            { "multiplied by w: the derivative of z w by w is z", before + sum * w[i] },
            { "a factor r too many: what w multiplies is z, in which r is", before + by_r },
            { "added at the number of the row: w has one number for each column", before + row });
    }
    judge_also(&m, "y was right, so look at the z that backward takes: is it the forward's, at its place in y->saved, "
               "and was nothing else written there?", got);
    judge_numbers("dw", GRA_SHAPE(N), got, want, 1e-11, m.mistakes);
}

/* dx = r (g - mean g - z mean gz): a term or a factor of it is missing, or too many. */
static void wrong_terms(struct judge_table *m, int at, const struct number *p, const struct means *s, double w,
                        double before)
{
    const double c = p->c, r = p->r, z = p->z, y = p->y, v = p->v, gi = p->gi;
    const double g = s->g, gz = s->gz, gy = s->gy, d = s->d, dz = s->dz;
    JUDGE_SET(m, at,
        { "dx is overwritten: accumulate with +=, for x may feed other functions", r * (gi - g - z * gz) },
        { "each x_i is taken to move its own z_i alone: mean and r of the row need it, too",
          before + r * gi },
        { "the term of the mean is missing: every z of the row has the mean, which needs x_j",
          before + r * (gi - z * gz) },
        { "the term of r is missing, or comes to 0: every z of the row has r, which needs x_j",
          before + r * (gi - g) },
        { "the factor r is missing", before + gi - g - z * gz },
        { "w is missing: the gradient of z is dy w", before + r * (v - d - z * dz) },
        { "w multiplies after the means: those are of dy w, each dy with its own w",
          before + r * w * (v - d - z * dz) },
        { "w is missing in the two means over the row: both are of g = dy w",
          before + r * (gi - d - z * dz) },
        { "the two sums over the row are not divided by n", before + r * (gi - N * g - z * N * gz) },
        { "the term of r has the wrong sign: dr/dx_j = -r^2 z_j / n", before + r * (gi - g + z * gz) },
        { "x_j - mean stands where z_j should in the term of r: a factor r is missing",
          before + r * (gi - g - c * gz) },
        { "a factor r too many in the term of r", before + r * (gi - g - r * z * gz) },
        { "y stands where z should in the term of r", before + r * (gi - g - y * gy) },
        { "the sums over the row are divided by n - 1: the forward divides by n",
          before + r * (gi - (N * g + z * N * gz) / (N - 1)) });
}

/* Another number stands in it. r0: that of the first row; run: the sums of the means of all rows so far. */
static void wrong_numbers(struct judge_table *m, int at, const struct number *p, const struct means *s,
                          double r0, const struct means *run, double before)
{
    const double x = p->x, r = p->r, z = p->z, v = p->v, gi = p->gi, run_g = run->g, run_gz = run->gz;
    const double g = s->g, gz = s->gz, d = s->d, dz = s->dz, wg = s->wg, wgz = s->wgz;
    JUDGE_SET(m, at,
        { "a factor r too many, before all terms", before + r * r * (gi - g - z * gz) },
        { "divided by r: wanted is the factor r", before + (gi - g - z * gz) / r },
        { "the term of the mean has the wrong sign", before + r * (gi + g - z * gz) },
        { "all rows have the r of the first: each has its own", before + r0 * (gi - g - z * gz) },
        { "the two sums are not begun anew for each row", before + r * (gi - run_g - z * run_gz) },
        { "w is missing in the first term: the gradient of z is dy w there, too",
          before + r * (v - g - z * gz) },
        { "the two means are exchanged: which of them comes with z_j?", before + r * (gi - gz - z * g) },
        { "the first term lacks the factor r", before + gi - r * (g + z * gz) },
        { "a factor z_j too many in the term of r", before + r * (gi - g - z * z * gz) },
        { "x_j stands where z_j should in the term of r", before + r * (gi - g - x * gz) },
        { "w is missing in the sum of the term of r: it is of g z, with g = dy w",
          before + r * (gi - g - z * dz) },
        { "w is missing in the sum of the term of the mean: it is of g = dy w",
          before + r * (gi - d - z * gz) },
        { "in the two sums w is taken by the number of the row: it belongs to columns",
          before + r * (gi - wg - z * wgz) });
}

/* The largest sums over a row of dx - want and of (dx - want) z: 0 where the term of the mean, or of r, is right. */
static void off_by(const double *dx, const double *want, const struct number *of, double *sum, double *sum_z)
{
    *sum = *sum_z = 0;
    for (int k = 0; k < ROWS; k++) {
        double mean, var, row = 0, row_z = 0, x[N];
        for (int i = 0; i < N; i++)
            x[i] = of[k * N + i].x;
        stats(x, N, 1, &mean, &var);
        for (int i = 0; i < N; i++) {
            const double off = dx[k * N + i] - want[k * N + i];
            row += off, row_z += off * (x[i] - mean) / sqrt(var);
        }
        *sum = fmax(*sum, fabs(row)), *sum_z = fmax(*sum_z, fabs(row_z));
    }
}

static void compare_x(const double *got, const struct number *of, const struct means *means, const double *w,
                      double before)
{
    struct judge_table m = judge_table(SIZE);
    struct means run = { 0 };
    double want[SIZE], sum, sum_z;
    for (int k = 0; k < ROWS; k++) {
        const struct means *s = &means[k];
        run.g += s->g, run.gz += s->gz;
        for (int i = 0; i < N; i++) {
            const int at = k * N + i;
            want[at] = before + of[at].r * (of[at].gi - s->g - of[at].z * s->gz);
            wrong_terms(&m, at, &of[at], s, w[i], before);
            wrong_numbers(&m, at, &of[at], s, of[0].r, &run, before);
        }
    }
    off_by(got, want, of, &sum, &sum_z);
    const char *clue =
        sum_z < 1e-6 ? "the sum over a row is not 0, so look at the term of the mean: the same number added to a whole "
                       "row changes no z" :
        sum < 1e-6 ? "the sum of dx z over a row is not (nearly) 0, so look at the term of r: a row that is stretched "
                     "has the same z" :
        "neither the sum over a row nor that of dx z is right: both the term of the mean and that of r, or what "
        "multiplies them, are to be looked at";
    if (sum > 1e-6 || sum_z > 1e-6)
        judge_also(&m, clue, got);
    judge_numbers("dx", GRA_SHAPE(ROWS, N), got, want, 1e-11, m.mistakes);
}

static void gradients(const char *part, const double *x, const double *w, const double *dy, double before)
{
    const double b[N] = { 0.5, -0.25, 1, 2 };
    struct number of[SIZE];
    struct means means[ROWS];
    judge_part("%s", part);
    look(x, w, b, dy, of, means);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *const in[3] = { gra_input(t, x, GRA_SHAPE(ROWS, N)), gra_input(t, w, GRA_SHAPE(N)),
                                gra_input(t, b, GRA_SHAPE(N)) };
    judge_backward(t, run(t, in, (const double *const[]){ x, w, b }), dy, 3, in, before);
    compare_b(gra_grad(in[2]), of, w, before);
    compare_w(gra_grad(in[1]), of, w, before);
    compare_x(gra_grad(in[0]), of, means, w, before);
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
    gradients("gradients of tensors used twice", judge_draw(108, SIZE, 0, 3), w, judge_draw(109, SIZE, -1, 1),
              2);
    constants();
    judge_part("the gradient check");
    judge_gradients(GRA_GRAD, NULL, NULL, 3, (gra_check_in[]){ { .name = "x", .shape = GRA_SHAPE(3, 5) },
        { .name = "w", .shape = GRA_SHAPE(5) }, { .name = "b", .shape = GRA_SHAPE(5) } }, f, NULL);
}
