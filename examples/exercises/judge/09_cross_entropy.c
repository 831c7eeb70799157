/* 09 cross_entropy: the judge. */
#include "judge.h"

enum { MOST = 12 };

/* What a loss is, row by row: log-sum-exp less the target's score, and softmax. */
static double row_loss(const double *x, int n, int target, double *p)
{
    double top = -INFINITY, sum = 0;
    for (int j = 0; j < n; j++)
        top = fmax(top, x[j]);
    for (int j = 0; j < n; j++)
        sum += p[j] = exp(x[j] - top);
    for (int j = 0; j < n; j++)
        p[j] /= sum;
    return top + log(sum) - x[target];
}

static gra_tensor *run(gra_tape *t, gra_tensor *x, const int *target, const double *data)
{
    gra_tensor *y = cross_entropy(t, x, target);
    judge_tensor(t, "loss", y, GRA_SCALAR);
    judge_made_by(y, "my_cross_entropy");
    judge_unchanged("x->data", x->data, data, x->size);
    return y;
}

static void one_row(void)
{
    judge_part("one row");
    enum { N = 4, T = 2 };
    const double x[N] = { 1, 2, -0.5, 0.25 };
    const int target = T;
    double p[N], other[N], sum = 0, all = 0, rest = 0;
    const double want = row_loss(x, N, T, p), first = row_loss(x, N, 0, other);
    for (int j = 0; j < N; j++) {
        sum += exp(x[j]), all -= log(p[j]);
        rest -= j == T ? 0 : log(1 - p[j]);
    }
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *y = run(t, gra_input(t, x, GRA_SHAPE(1, N)), &target, x);
    const double got = y->data[0], inside = exp(-got) - p[T];
    if (inside > 1e-14 && inside < 1e-3)
        judge_wrong("loss is %.9g, wanted %.9g\nit fits: about %.1g is added inside the logarithm; that hides a p of 0 and "
                    "falsifies all others", got, want, inside);
    judge_number("loss", got, want, 1e-12, JUDGE_MISTAKES(
        { "the sign: log p is negative, the loss is -log p", (double[]){ -want } },
        { "p itself: its logarithm is missing", (double[]){ p[T] } },
        { "-p: the logarithm is missing", (double[]){ -p[T] } },
        { "1 - p: wanted is -log p", (double[]){ 1 - p[T] } },
        { "(1 - p)^2: wanted is -log p", (double[]){ (1 - p[T]) * (1 - p[T]) } },
        { "the sum in the logarithm is 1 too large", (double[]){ 2 + log(1 + sum / exp(2)) - x[T] } },
        { "log(sum e^(x_j - m)) - x_target: the m that was taken out of the sum is not added again",
          (double[]){ want - 2 } },
        { "the largest score m is added twice, or subtracted from the target's score too",
          (double[]){ want + 2 } },
        { "the target's score is not subtracted: this is the log of the sum alone", (double[]){ log(sum) } },
        { "the target's score is added, not subtracted", (double[]){ log(sum) + x[T] } },
        { "the score alone: the log of the sum is missing", (double[]){ -x[T] } },
        { "the sum without its logarithm", (double[]){ sum - x[T] } },
        { "class 0 is taken in place of target[r]", (double[]){ first } },
        { "the class after the target's: classes are counted from 0", (double[]){ row_loss(x, N, T + 1, other) } },
        { "the class before the target's: classes are counted from 0", (double[]){ row_loss(x, N, T - 1, other) } },
        { "the logarithm to base 2: wanted is the natural one", (double[]){ want / log(2) } },
        { "the logarithm to base 10: wanted is the natural one", (double[]){ want / log(10) } },
        { "divided by the number of classes: the mean is over rows", (double[]){ want / N } },
        { "the sum of -log p over all classes: only the target's counts", (double[]){ all } },
        { "-log(1 - p) of the other classes is added: that is the binary cross-entropy", (double[]){ want + rest } },
        { "-log(1 - p) of the other classes is the loss: only the target's -log p counts", (double[]){ rest } },
        { "the last class is not in the sum", (double[]){ log(sum - exp(x[N - 1])) - x[T] } },
        { "the first class is not in the sum", (double[]){ log(sum - exp(x[0])) - x[T] } },
        { "the target is not in the sum", (double[]){ log(sum - exp(x[T])) - x[T] } },
        { "the target's probability is subtracted from the log of the sum: wanted is its score",
          (double[]){ log(sum) - p[T] } },
        { "-p log p: only the logarithm is wanted", (double[]){ p[T] * want } }));
    gra_close(t);
}

static void rows_of(const char *part, const double *x, const int *target, int rows, int n)
{
    judge_part("%s", part);
    double p[MOST], loss[MOST], sum = 0, all_p = 0, all_over_p = 0, same_target = 0, columns = 0, swapped[MOST], in_all = 0, of_one = 0;
    for (int r = 0; r < rows; r++) {
        sum += loss[r] = row_loss(x + r * n, n, target[r], p);
        all_p += exp(-loss[r]), all_over_p += exp(loss[r]);
        same_target += row_loss(x + r * n, n, target[0], p);
        of_one += row_loss(x, n, target[r], p);
        for (int j = 0; j < n; j++)
            swapped[j] = x[(j * rows + r) % (rows * n)], in_all += exp(x[r * n + j]);
        columns += row_loss(swapped, n, target[r], p);
    }
    double running = 0, running_loss = 0, joint = 0, shifted = 0, shifted_loss = 0, strided = 0;
    for (int r = 0; r < rows; r++) {
        for (int j = 0; j < n; j++)
            running += exp(x[r * n + j]);
        double top = -INFINITY, of_stride[MOST];
        for (int j = 0; j < n; j++)
            top = fmax(top, x[r * n + j]), of_stride[j] = x[(r * rows + j) % (rows * n)];
        for (int j = 0; j < n; j++)
            shifted += exp(x[r * n + j] - top);
        shifted_loss += top + log(shifted) - x[r * n + target[r]];
        strided += row_loss(of_stride, n, target[r], p);
        running_loss += log(running) - x[r * n + target[r]];
        joint += log(in_all) - x[r * n + target[r]];
    }
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *y = run(t, gra_input(t, x, GRA_SHAPE(rows, n)), target, x);
    judge_number("loss", y->data[0], sum / rows, 1e-12, JUDGE_MISTAKES(
        { "the sum over rows: wanted is the mean, divided by rows", (double[]){ sum } },
        { "the sum over rows is divided by the number of classes, not of rows", (double[]){ sum / n } },
        { "the sum over rows is divided by the number of all scores, not of rows", (double[]){ sum / (rows * n) } },
        { "the last row alone: the others are overwritten", (double[]){ loss[rows - 1] } },
        { "the last row alone: the others are overwritten", (double[]){ loss[rows - 1] / rows } },
        { "the logarithm of a mean: wanted is the mean of the rows' logarithms", (double[]){ -log(all_p / rows) } },
        { "the logarithm of a mean: wanted is the mean of the rows' logarithms", (double[]){ log(all_over_p / rows) } },
        { "the first row alone", (double[]){ loss[0] } },
        { "the first row alone", (double[]){ loss[0] / rows } },
        { "the last row is left out", (double[]){ (sum - loss[rows - 1]) / rows } },
        { "the first row is left out", (double[]){ (sum - loss[0]) / rows } },
        { "all rows take the target of the first", (double[]){ same_target / rows } },
        { "all rows take the scores of the first", (double[]){ of_one / rows } },
        { "x is read by columns: x[r][j] is x->data[r * n + j]", (double[]){ columns / rows } },
        { "the sum of e^x is not begun anew for each row", (double[]){ running_loss / rows } },
        { "the sum of e^x is not begun anew for each row", (double[]){ shifted_loss / rows } },
        { "row r of x begins at x->data[r * n], not at r * rows", (double[]){ strided / rows } },
        { "the sum of e^x goes over all rows: each row has a softmax of its own", (double[]){ joint / rows } }));
    gra_close(t);
}

static void large(const char *part, const double *x, const int *target, int rows, int n, const char *says)
{
    judge_part("%s", part);
    double p[MOST], sum = 0;
    for (int r = 0; r < rows; r++)
        sum += row_loss(x + r * n, n, target[r], p);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    const double got = run(t, gra_input(t, x, GRA_SHAPE(rows, n)), target, x)->data[0];
    if (!(fabs(got - sum / rows) <= 1e-12 * fmax(1, fabs(sum / rows))))
        judge_wrong("loss is %.6g, wanted %.6g\n%s", got, sum / rows, says);
    gra_close(t);
}

static void gradient(const char *part, const double *x, const int *target, int rows, int n, double dy, double before)
{
    judge_part("%s", part);
    enum { NO_DY, NO_ROWS, CLASSES, NO_ONE_HOT, ONE_HOT, ONE_HOT_WHOLE, P_WHOLE, FIRST, ONLY_TARGET, MSE, BY_P, RAW, AT_0,
           STORED, BY_ROW, DY_TWICE, LOSS, NEXT, TIMES_ROWS,
           FIRST_ROW, LAST_ROW, HIT_P, PLUS, SIGMOID,
           NO_ROW, ALL };
    double p[MOST] = { 0 }, want[MOST], m[ALL][MOST];
    double loss = 0;
    for (int r = 0; r < rows; r++)
        loss += row_loss(x + r * n, n, target[r], p) / rows;
    for (int r = 0; r < rows; r++) {
        double top = -INFINITY;
        row_loss(x + r * n, n, target[r], p);
        for (int j = 0; j < n; j++)
            top = fmax(top, x[r * n + j]);
        for (int j = 0; j < n; j++) {
            const int i = r * n + j;
            const double hit = j == target[r], d = dy * (p[j] - hit) / rows;
            want[i] = before + d;
            m[NO_DY][i] = before + (p[j] - hit) / rows;
            m[NO_ROWS][i] = before + d * rows;
            m[CLASSES][i] = before + d * rows / n;
            m[NO_ONE_HOT][i] = before + dy * p[j] / rows;
            m[ONE_HOT][i] = before - dy * hit / rows;
            m[ONE_HOT_WHOLE][i] = before + dy * (p[j] / rows - hit);
            m[P_WHOLE][i] = before + dy * (p[j] - hit / rows);
            m[FIRST][i] = before + dy * (p[j] - (j == target[0])) / rows;
            m[ONLY_TARGET][i] = before + d * hit;
            m[MSE][i] = before + d * p[j];
            m[BY_P][i] = before - dy * hit / p[j] / rows;
            m[RAW][i] = before + dy * (exp(x[i] - top) - hit) / rows;
            m[AT_0][i] = before + dy * (p[j] - (j == 0)) / rows;
            m[STORED][i] = d;
            m[BY_ROW][i] = before + dy * (p[j] - (r == target[r])) / rows;
            m[DY_TWICE][i] = before + d * dy;
            m[LOSS][i] = before + d / dy * loss;
            m[NEXT][i] = before + dy * (p[j] - (j == target[r] + 1)) / rows;
            m[TIMES_ROWS][i] = before + d * rows * rows;
            m[FIRST_ROW][i] = before + (r == 0 ? d : 0);
            m[LAST_ROW][i] = before + (r == rows - 1 ? d : 0);
            m[PLUS][i] = before + dy * (p[j] + hit) / rows;
            m[SIGMOID][i] = before + dy * p[j] * (1 - p[j]) / rows;
            m[NO_ROW][i] = before;
            m[HIT_P][i] = before + dy * (p[j] - hit * p[j]) / rows;
        }
    }
    for (int i = 0; i < rows * n; i++)
        m[NO_ROW][i % n] += want[i] - before;
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *in = gra_input(t, x, GRA_SHAPE(rows, n)), *y = run(t, in, target, x);
    judge_backward(t, y, &dy, 1, &in, before);
    judge_unchanged("x->data", in->data, x, in->size);
    const double *dx = gra_grad(in);
    bool finite = true;
    for (int i = 0; i < rows * n; i++)
        finite &= isfinite(dx[i]) != 0;
    double most = 0;
    char clue[160];
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += dx[r * n + j] - before;
        most = fabs(sum) > fabs(most) ? sum : most;
    }
    snprintf(clue, sizeof clue, "the gradient of a row sums to %.6g: wanted is 0, since the same number added to all its "
             "scores changes no p", most);
    judge_numbers("x->grad", GRA_SHAPE(rows, n), dx, want, 1e-12, JUDGE_MISTAKES(
        { "x->grad is overwritten: accumulate with +=, for x may feed other functions", m[STORED] },
        { "dy = y->grad[0] is not a factor", m[NO_DY] },
        { "not divided by rows: the loss is a mean over rows", m[NO_ROWS] },
        { "divided by the number of classes, not of rows", m[CLASSES] },
        { "softmax alone: the -1 at the target is missing", m[NO_ONE_HOT] },
        { "the target's term alone: the derivative of log(sum e^x_j), for all j, is missing", m[ONE_HOT] },
        { "the term of the target is not divided by rows, the other is", m[ONE_HOT_WHOLE] },
        { "the softmax is not divided by rows, the term of the target is", m[P_WHOLE] },
        { "all rows take the target of the first", m[FIRST] },
        { "class 0 in place of the target", m[AT_0] },
        { "1 is subtracted where r is target[r]: wanted is where j is", m[BY_ROW] },
        { "dy is a factor twice", m[DY_TWICE] },
        { "1 is added at the target: it is to be subtracted", m[PLUS] },
        { "p_j (1 - p_j) is softmax's derivative: here the logarithm comes after it", m[SIGMOID] },
        { "all rows are added to the first row of x->grad", m[NO_ROW] },
        { "y->data[0], the loss, stands where dy = y->grad[0] should", m[LOSS] },
        { "the class after the target's gets the -1: classes are counted from 0", m[NEXT] },
        { "multiplied by rows, not divided", m[TIMES_ROWS] },
        { "the first row alone gets a gradient", m[FIRST_ROW] },
        { "the last row alone gets a gradient", m[LAST_ROW] },
        { "the target's own gradient is 0: 1 is to be subtracted there, not p", m[HIT_P] },
        { "only the target's score gets a gradient: the others move the sum, too", m[ONLY_TARGET] },
        { "a factor p_j too many", m[MSE] },
        { "-1/p at the target is the derivative by p: x comes before it, through the softmax", m[BY_P] },
        { "e^(x_j - m) is not divided by its sum: wanted is the softmax", m[RAW] },
        { "e^x was taken of scores as they are: in backward, too, subtract the row's largest first",
          finite ? want : dx },
        { clue, fabs(most) > 1e-6 ? dx : want }));
    gra_close(t);
}

static const int *const targets = (const int[]){ 2, 0, 1, 3 };

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return cross_entropy(t, in[0], targets);
}

void judge_exercise(void)
{
    one_row();
    rows_of("two rows of four classes", (double[]){ 0.5, -1, 2, 0.25, 1.5, 0, -0.75, 3 }, (int[]){ 1, 3 }, 2, 4);
    rows_of("four rows of three classes", judge_draw(91, 12, -3, 3), (int[]){ 2, 0, 1, 1 }, 4, 3);
    rows_of("one class", (double[]){ 3, -8 }, (int[]){ 0, 0 }, 2, 1);
    large("scores of 1e4", (double[]){ 1e4, 1e4 - 1, 0 }, (int[]){ 1 }, 1, 3,
          "e^x was taken of scores as they are: take the row's largest out of the sum");
    large("scores of -1e4", (double[]){ -1e4, -1e4 - 1 }, (int[]){ 0 }, 1, 2,
          "all e^x are 0 there: take the row's largest out of the sum, which is negative here");
    large("a target whose probability is e^-1e4", (double[]){ 0, 1e4, 50 }, (int[]){ 0 }, 1, 3,
          "that p rounds to 0: do not form it to take its logarithm, subtract two logarithms");
    large("scores of 1e4, the largest at the end", (double[]){ -1e4, 0, 1e4, -1e4, 1e4, 0 }, (int[]){ 2, 1 }, 2, 3,
          "what is taken out of a row's sum must be its largest score, wherever that stands");
    large("a row of large scores beside one of small", (double[]){ 1e4, 9990, 0, 1, 0.5, -1 }, (int[]){ 1, 2 }, 2, 3,
          "what is taken out of a row's sum must be that row's own largest");
    large("a row of small scores beside one of very negative ones", (double[]){ 1, 0.5, -1, -1e4, -9990, -1e4 },
          (int[]){ 1, 2 }, 2, 3, "what is taken out of a row's sum must be that row's own largest: begin with its first");
    gradient("gradient", (double[]){ 0.5, -1, 2, 0.25, 1.5, 0, -0.75, 3 }, (int[]){ 2, 1 }, 2, 4, 1, 0);
    gradient("gradient of a part of a larger loss", judge_draw(92, 12, -2, 2), (int[]){ 2, 0, 1, 1 }, 4, 3, -1.5, 0);
    gradient("gradient of x used twice", judge_draw(93, 12, -2, 2), (int[]){ 3, 0, 2 }, 3, 4, 0.5, 2);
    gradient("gradient at scores of 1e4", (double[]){ 1e4, 9999, 0, 9998, -1e4, 3 }, (int[]){ 1, 1 }, 2, 3, 1, 0);
    judge_part("the gradient check");
    judge_gradients(GRA_GRAD, NULL, NULL, 1, (gra_check_in[]){ { .name = "x", .shape = GRA_SHAPE(4, 5) } }, f, NULL);
}
