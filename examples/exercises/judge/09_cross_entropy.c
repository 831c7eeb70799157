/* 09 cross_entropy: the judge. */
#include "judge.h"

enum { MOST = 12 };

struct batch {
    const double *x;
    const int    *target;
    int           rows, n;
};

/* The mean over rows of log(sum of e^x_j) - x_target. */
static void batch_loss(double *out, void *arg)
{
    const struct batch *b = arg;
    const int rows = b->rows, n = b->n, size = rows * n;
    const bool next = slip("this is the class after the target's: classes are counted from 0");
    const bool previous = slip("this is the class before the target's: classes are counted from 0");
    const bool class_0 = slip("class 0, or class r, is used instead of target[r]");
    const bool target_0 = slip("all rows use the target of the first");
    const bool row_0 = slip("all rows use the scores of the first");
    const bool columns = slip("x is read by columns: x[r][j] is x->data[r * n + j]");
    const bool by_rows = slip("row r of x is read from r * rows: it begins at x->data[r * n]");
    const bool running = slip("the sum of e^x is not reset for each row");
    const bool running_m = slip("the sum of e^(x - m) is not reset for each row");
    const bool joint = slip("the sum of e^x runs over all rows: each row has a softmax of its own");
    const int from = slip("the first class is not in the sum"),
        to = n - slip("the last class is not in the sum");
    const bool no_target = slip("the target is not in the sum");
    const int more = slip("the sum in the logarithm is 1 too large");
    double total = 0, all_p = 0, all_over_p = 0, so_far = 0, so_far_m = 0, in_all = 0, first = 0, last = 0;
    for (int i = 0; i < size; i++)
        in_all += exp(b->x[i]);
    for (int r = 0; r < rows; r++) {
        double x[MOST], top = -INFINITY, sum = more, all = 0, rest = 0;
        const int own = b->target[target_0 ? 0 : r], t = next ? (own + 1) % n : previous ? (own + n - 1) % n
                      : class_0 ? 0 : own;
        for (int j = 0; j < n; j++) {
            x[j] = b->x[row_0 ? j : columns ? (j * rows + r) % size : by_rows ? (r * rows + j) % size
                        : r * n + j];
            top = fmax(top, x[j]);
        }
        for (int j = from; j < to; j++)
            sum += no_target && j == t ? 0 : exp(x[j] - top);
        so_far += sum * exp(top), so_far_m += sum;
        sum = running ? so_far * exp(-top) : running_m ? so_far_m : joint ? in_all * exp(-top) : sum;
        const double p = exp(x[t] - top) / sum, loss = top + log(sum) - x[t];
        for (int j = 0; j < n; j++) {
            all -= log(exp(x[j] - top) / sum);
            rest -= j == t ? 0 : log(1 - exp(x[j] - top) / sum);
        }
        last = slip("the sign is wrong: log p is negative, the loss is -log p") ? -loss
             : slip("this is p itself: its logarithm is missing") ? p
             : slip("this is -p: the logarithm is missing") ? -p
             : slip("this is 1 - p: it should be -log p") ? 1 - p
             : slip("this is (1 - p)^2: it should be -log p") ? (1 - p) * (1 - p)
             : slip("this is log(sum e^(x_j - m)) - x_target: the m that was taken out of the sum is not "
                    "added again")
             ? loss - top
             : slip("the largest score m is added twice, or subtracted from the target's score too")
             ? loss + top
             : slip("the largest score m is subtracted: add it") ? loss - 2 * top
             : slip("the target's score is not subtracted: this is only the log of the sum") ? loss + x[t]
             : slip("the target's score is added: subtract it") ? loss + 2 * x[t]
             : slip("this is only the score: the log of the sum is missing") ? -x[t]
             : slip("this is the sum without its logarithm") ? sum * exp(top) - x[t]
             : slip("the sum of e^(x_j - m) is used without its logarithm") ? top + sum - x[t]
             : slip("the target's score is read in the first row of x: row r begins at x->data[r * n]")
             ? top + log(sum) - b->x[t]
             : slip("this is the logarithm to base 2: it should be the natural one") ? loss / log(2)
             : slip("this is the logarithm to base 10: it should be the natural one") ? loss / log(10)
             : slip("the logarithm of the sum is to base 2: it should be the natural one")
             ? top + log2(sum) - x[t]
             : slip("the logarithm of the sum is to base 10: it should be the natural one")
             ? top + log10(sum) - x[t]
             : slip("this is the sum of -log p over all classes: only the target's counts") ? all
             : slip("-log(1 - p) of the other classes is added: that is the binary cross-entropy")
             ? loss + rest
             : slip("this is -log(1 - p) of the other classes: only the target's -log p counts") ? rest
             : slip("the target's probability is subtracted from the log of the sum: subtract its score")
             ? loss + x[t] - p
             : slip("this is -p log p: it should be -log p") ? p * loss : loss;
        first = r ? first : last;
        total += last, all_p += p, all_over_p += 1 / p;
    }
    *out = slip("this is the sum over rows: it should be the mean, divided by rows") ? total
         : slip("divided by the number of classes: the mean is over rows") ? total / n
         : slip("divided by the number of scores: the mean is over rows") ? total / size
         : slip("only the last row is there: the others are overwritten") ? last
         : slip("only the last row is there, divided by rows: the others are overwritten") ? last / rows
         : slip("this is the logarithm of a mean: it should be the mean of the rows' logarithms")
         ? -log(all_p / rows)
         : slip("this is the logarithm of the mean of 1 / p: it should be the mean of logarithms")
         ? log(all_over_p / rows)
         : slip("only the first row is there") ? first : slip("only the first row is there, divided by rows")
         ? first / rows
         : slip("the last row is left out") ? (total - last) / rows
         : slip("the first row is left out") ? (total - first) / rows : total / rows;
}

static gra_tensor *run(gra_tape *t, gra_tensor *x, const int *target, const double *data)
{
    gra_tensor *y = cross_entropy(t, x, target);
    judge_tensor(t, "loss", y, GRA_SCALAR);
    judge_made_by(y, "my_cross_entropy");
    judge_unchanged("x->data", x->data, data, x->size);
    return y;
}

static void loss_of(const char *part, const double *x, const int *targets, int rows, int n)
{
    const int *target = judge_ids(targets, (size_t)rows);
    struct batch b = { x, target, rows, n };
    judge_part("%s", part);
    double want;
    batch_loss(&want, &b);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    const double got = run(t, gra_input(t, x, GRA_SHAPE(rows, n)), target, x)->data[0];
    const double inside = exp(-got) - exp(-want);
    if (rows == 1 && inside > 1e-14 && inside < 1e-3)
        judge_wrong("loss: got %.*g, expected %.*g\nit fits: about %.1g is added inside the logarithm; that "
                    "hides a p of 0 and falsifies all others", judge_digits(got, want), got,
                    judge_digits(got, want), want, inside);
    judge_against("loss", GRA_SHAPE(1), &got, 1e-12, batch_loss, &b);
    gra_close(t);
}

static void large(const char *part, const double *x, const int *targets, int rows, int n, const char *says)
{
    const int *target = judge_ids(targets, (size_t)rows);
    struct batch b = { x, target, rows, n };
    judge_part("%s", part);
    double want;
    batch_loss(&want, &b);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    const double got = run(t, gra_input(t, x, GRA_SHAPE(rows, n)), target, x)->data[0];
    if (!(fabs(got - want) <= 1e-12 * fmax(1, fabs(want))))
        judge_wrong("loss: got %.*g, expected %.*g\n%s", judge_digits(got, want), got,
                    judge_digits(got, want), want, says);
    gra_close(t);
}

/* dx = (p - [j = target]) / rows, where dy is 1. */
static void gradient(double *dx, void *arg)
{
    const struct batch *b = arg;
    const int rows = b->rows, n = b->n;
    const double by = slip("not divided by rows: the loss is a mean over rows") ? 1
                    : slip("divided by the number of classes: divide by that of rows") ? n : rows;
    const double by_p = slip("the softmax is not divided by rows, only the target's term is") ? 1 : by;
    const double by_hit = slip("the target's term is not divided by rows, only the softmax is") ? 1 : by;
    const bool no_hit = slip("this is only the softmax: the -1 at the target is missing");
    const bool no_p =
        slip("this is only the target's term: the derivative of log(sum e^x_j), for all j, is missing");
    const bool at_0 = slip("this uses class 0 instead of the target");
    const bool at_r = slip("1 is subtracted where r is target[r]: subtract it where j is target[r]");
    const bool j_at_j =
        slip("j was compared with target[j]: target has a number for each row, so it is j == target[r]");
    const bool r_at_j =
        slip("r was compared with target[j]: target has a number for each row, so it is j == target[r]");
    const bool next = slip("the class after the target's gets the -1: classes are counted from 0");
    const bool target_0 = slip("all rows use the target of the first");
    const bool plus = slip("1 is added at the target: subtract it");
    const bool own_0 = slip("p is subtracted at the target, whose gradient is then 0: subtract 1 there");
    const bool sigmoid = slip("this uses p_j (1 - p_j), softmax's derivative: the loss has a logarithm too");
    const bool only = slip("only the target's score gets a gradient: the others change the sum too");
    const bool twice = slip("there is an extra factor p_j");
    const bool raw = slip("e^(x_j - m) is not divided by its sum: use the softmax");
    const bool dy_r = slip("y->grad[r] was read: the loss is one number, and so is y->grad");
    const bool p_0 = slip("all rows use the softmax of the first");
    const bool of_p = slip("-1/p at the target is dloss/dp: expected dloss/dx, through the softmax");
    for (int r = 0; r < rows; r++) {
        const double *x = b->x + (p_0 ? 0 : r * n);
        double top = x[0], sum = 0;
        for (int j = 1; j < n; j++)
            top = fmax(top, x[j]);
        for (int j = 0; j < n; j++)
            sum += exp(x[j] - top);
        for (int j = 0; j < n; j++) {
            const int target = b->target[target_0 ? 0 : j_at_j || r_at_j ? j : r];
            const double p = exp(x[j] - top) / (raw ? 1 : sum);
            const double hit = at_0 ? j == 0 : at_r || r_at_j ? r == target : next ? j == target + 1
                             : j == target;
            const double d = of_p ? -hit / p / by : sigmoid ? p * (1 - p) / by
                : (no_p ? 0 : p / by_p) - (no_hit ? 0 : plus ? -hit / by : own_0 ? hit * p / by
                                           : hit / by_hit);
            dx[r * n + j] = (only && hit == 0) || (dy_r && r) ? 0 : d * (twice ? p : 1);
        }
    }
}

static void gradient_of(const char *part, const double *x, const int *targets, int rows, int n)
{
    const int *target = judge_ids(targets, (size_t)rows);
    struct batch b = { x, target, rows, n };
    judge_part("%s", part);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *in = gra_input(t, x, GRA_SHAPE(rows, n)), *y = run(t, in, target, x);
    judge_backward(t, y, (double[]){ 1 }, 1, &in, 0);
    judge_unchanged("x->data", in->data, x, in->size);
    const double *dx = gra_grad(in);
    double most = 0;
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += dx[r * n + j];
        most = fabs(sum) > fabs(most) ? sum : most;
        if (!isfinite(sum))
            judge_clue("e^x of a large score is infinite: in the backward, too, subtract the row's largest "
                       "first");
    }
    if (fabs(most) > 1e-6)
        judge_clue("the gradient of a row sums to %.6g: it should be 0, as adding one number to all its "
                   "scores does not change p", most);
    judge_against("x->grad", GRA_SHAPE(rows, n), dx, 1e-12, gradient, &b);
    gra_close(t);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    return cross_entropy(t, in[0], arg);
}

void judge_exercise(void)
{
    loss_of("one row", (double[]){ 1, 2, -0.5, 0.25 }, (int[]){ 2 }, 1, 4);
    loss_of("two rows of four classes", (double[]){ 0.5, -1, 2, 0.25, 1.5, 0, -0.75, 3 }, (int[]){ 1, 3 }, 2,
            4);
    loss_of("four rows of three classes", judge_draw(91, 12, -3, 3), (int[]){ 2, 0, 1, 1 }, 4, 3);
    loss_of("one class", (double[]){ 3, -8 }, (int[]){ 0, 0 }, 2, 1);
    large("scores of 1e4", (double[]){ 1e4, 1e4 - 1, 0 }, (int[]){ 1 }, 1, 3,
          "e^x of a large score is infinite: take the row's largest out of the sum");
    large("scores of -1e4", (double[]){ -1e4, -1e4 - 1 }, (int[]){ 0 }, 1, 2,
          "all e^x are 0 there: take the row's largest out of the sum, which is negative here");
    large("a target whose probability is e^-1e4", (double[]){ 0, 1e4, 50 }, (int[]){ 0 }, 1, 3,
          "that p rounds to 0: do not take its logarithm, subtract two logarithms");
    large("scores of 1e4, the largest at the end", (double[]){ -1e4, 0, 1e4, -1e4, 1e4, 0 }, (int[]){ 2, 1 },
          2, 3, "take a row's largest score out of its sum, wherever it is");
    large("a row of large scores beside one of small", (double[]){ 1e4, 9990, 0, 1, 0.5, -1 },
          (int[]){ 1, 2 }, 2, 3,
          "what is taken out of a row's sum must be that row's own largest");
    large("a row of small scores beside one of very negative ones",
          (double[]){ 1, 0.5, -1, -1e4, -9990, -1e4 },
          (int[]){ 1, 2 }, 2, 3, "what is taken out of a row's sum must be that row's own largest: start "
                                 "with its first");
    gradient_of("gradient", (double[]){ 0.5, -1, 2, 0.25, 1.5, 0, -0.75, 3 }, (int[]){ 2, 1 }, 2, 4);
    gradient_of("gradient of three rows", judge_draw(93, 12, -2, 2), (int[]){ 3, 0, 2 }, 3, 4);
    gradient_of("gradient at scores of 1e4", (double[]){ 1e4, 9999, 0, 9998, -1e4, 3 }, (int[]){ 1, 1 }, 2,
                3);
    judge_part("the gradient check");
    judge_gradients(GRA_GRAD, NULL, NULL, 1, (gra_check_in[]){ { .name = "x", .shape = GRA_SHAPE(4, 5) } }, f,
                    judge_ids((int[]){ 2, 0, 1, 3 }, 4));
}
