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
        double x[MOST], top = -INFINITY, sum = more, all = 0, rest = 0, entropy = 0, squares = 0;
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
            const double p_j = exp(x[j] - top) / sum;
            all -= log(p_j), entropy -= p_j * log(p_j), squares += pow(p_j - (j == t), 2);
            rest -= j == t ? 0 : log(1 - p_j);
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
             : slip("x_target - m has the wrong sign: -log p is log(sum e^(x_j - m)) - (x_target - m)")
             ? log(sum) + x[t] - top
             : slip("the logarithm of the sum has the wrong sign: add it") ? top - log(sum) - x[t]
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
             : slip("this is the sum of -p log p over all classes: it should be -log p of the target")
             ? entropy
             : slip("this is the sum of squares (p_j - [j = target])^2: it should be -log p of the target")
             ? squares
             : slip("the loss of a row is rounded to an integer: keep it in a double") ? trunc(loss)
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
         : slip("divided by rows twice: once is enough") ? total / rows / rows
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

/* Is a small power of 10 added to p, which makes the loss of the one row less, or to the sum? */
static void added_inside(const struct batch *b, double got, double want)
{
    double top = b->x[0], sum = 0;
    for (int j = 1; j < b->n; j++)
        top = fmax(top, b->x[j]);
    for (int j = 0; j < b->n; j++)
        sum += exp(b->x[j] - top);
    const double eps = got < want ? exp(-got) - exp(-want) : sum * (exp(got - want) - 1);
    if (eps > 5e-14 && eps < 2e-3 && fabs(eps / pow(10, round(log10(eps))) - 1) < 0.01)
        judge_wrong("loss: got %.*g, expected %.*g\nlikely: %.1g is added %s", judge_digits(got, want), got,
                    judge_digits(got, want), want, eps, got < want
                    ? "inside the logarithm, to p; that hides a p of 0 and changes all others"
                    : "to the sum, which needs it not: with the largest taken out it is at least 1");
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
    if (rows == 1)
        added_inside(&b, got, want);
    if (n == 1)
        judge_clue("of a single class p is 1, whatever its score: the loss is 0");
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
    const int rows = b->rows, n = b->n, size = rows * n;
    const double by = slip("not divided by rows: the loss is a mean over rows") ? 1
                    : slip("divided by the number of classes: divide by that of rows") ? n
                    : slip("divided by the number of scores: divide by that of rows") ? rows * n
                    : slip("divided by rows twice: once is enough") ? rows * rows : rows;
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
    const bool j_at_r = slip("1 is subtracted at class r: subtract it where j is target[r]");
    const int off = slip("the class after the target's gets the -1: classes are counted from 0") ? 1
                  : -slip("the class before the target's gets the -1: classes are counted from 0");
    const bool target_0 = slip("all rows use the target of the first");
    const bool plus = slip("1 is added at the target: subtract it");
    const bool own_0 = slip("p is subtracted at the target, whose gradient is then 0: subtract 1 there");
    const bool sigmoid = slip("this uses p_j (1 - p_j), softmax's derivative: the loss has a logarithm too");
    const bool only = slip("only the target's score gets a gradient: the others change the sum too");
    const bool twice = slip("there is an extra factor p_j");
    const bool raw = slip("e^(x_j - m) is not divided by its sum: use the softmax");
    const bool of_x = slip("the scores are used where their softmax belongs");
    const bool of_log = slip("log p_j is used where p_j belongs");
    const bool of_minus_p = slip("this is the gradient of -p: the loss is -log p, which gives a factor 1/p");
    const bool dy_r =
        slip("only the first row gets a gradient: in all rows dy is the same number, y->grad[0]");
    const bool by_loss = slip("multiplied by y->data[0], the loss: dy is y->grad[0]");
    const bool p_0 = slip("all rows use the softmax of the first");
    const bool p_last = slip("all rows use the softmax of the last: row r's belongs in y->saved[r * n + j]");
    const bool kept_0 = slip("forward keeps each row's softmax at y->saved[j]: it belongs at [r * n + j]");
    const bool kept_by_rows =
        slip("forward keeps row r's softmax from y->saved[r * rows]: it belongs at [r * n + j]");
    const bool both_by_rows =
        slip("row r's softmax is kept from y->saved[r * rows]: it belongs at [r * n + j]");
    const bool to_0 = slip("the gradients of all rows are added to row 0 of x->grad: row r begins at r * n");
    const bool to_by_rows = slip("row r is added from x->grad[r * rows]: it begins at r * n");
    const bool of_p = slip("-1/p at the target is dloss/dp: expected dloss/dx, through the softmax");
    double kept[MOST * 2], loss = 0;
    for (int i = 0; i < size; i++)
        kept[i] = JUDGE_UNWRITTEN, dx[i] = 0;
    for (int r = 0; r < rows; r++) {
        const double *x = b->x + (p_0 ? 0 : p_last ? rows - 1 : r) * n;
        double top = x[0], sum = 0;
        for (int j = 1; j < n; j++)
            top = fmax(top, x[j]);
        for (int j = 0; j < n; j++)
            sum += exp(x[j] - top);
        for (int j = 0; j < n; j++) {
            const double p = exp(x[j] - top) / (raw ? 1 : sum);
            kept[(kept_0 ? j : kept_by_rows || both_by_rows ? r * rows + j : r * n + j) % size] = of_x ? x[j]
                : of_log ? log(p) : p;
        }
        loss += (top + log(sum) - x[b->target[r]]) / rows;
    }
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < n; j++) {
            const int target = j_at_r ? r : b->target[target_0 ? 0 : j_at_j || r_at_j ? j : r];
            const double p = kept[both_by_rows ? r * rows + j : r * n + j], p_t = kept[r * n + b->target[r]];
            const double hit = at_0 ? j == 0 : at_r || r_at_j ? r == target : j == target + off;
            const double d = of_p ? -hit / p / by : sigmoid ? p * (1 - p) / by
                : (no_p ? 0 : p / by_p) - (no_hit ? 0 : plus ? -hit / by : own_0 ? hit * p / by
                                           : hit / by_hit);
            dx[(to_0 ? j : to_by_rows ? r * rows + j : r * n + j) % size] += (only && hit == 0) || (dy_r && r)
                ? 0 : d * (twice ? p : of_minus_p ? p_t : 1) * (by_loss ? loss : 1);
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
            judge_clue("e^x of a large score is infinite, and sums of e^x may be 0: in the backward, too, "
                       "subtract each row's own largest first");
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
    loss_of("two rows of five classes", judge_draw(92, 10, -3, 3), (int[]){ 1, 3 }, 2, 5);
    loss_of("four rows of three classes", judge_draw(91, 12, -3, 3), (int[]){ 2, 0, 1, 1 }, 4, 3);
    loss_of("one class", (double[]){ 3, -8 }, (int[]){ 0, 0 }, 2, 1);
    large("scores of 1e4", (double[]){ 1e4, 1e4 - 1, 0 }, (int[]){ 1 }, 1, 3,
          "e^x of a large score is infinite: subtract the row's largest from each score before exp");
    large("scores of -1e4", (double[]){ -1e4, -1e4 - 1 }, (int[]){ 0 }, 1, 2,
          "all e^x are 0 there: take the row's largest out of the sum, which is negative here");
    large("scores of 1e4, the largest at the end", (double[]){ -1e4, 0, 1e4, -1e4, 1e4, 0 }, (int[]){ 2, 1 },
          2, 3, "take a row's largest score out of its sum, wherever it is");
    large("a target whose probability is e^-1e4", (double[]){ 0, 1e4, 50 }, (int[]){ 0 }, 1, 3,
          "that p rounds to 0: compute no p, subtract two logarithms, log(sum e^x_j) - x_target");
    large("a row of large scores beside one of small", (double[]){ 1e4, 9990, 0, 1, 0.5, -1 },
          (int[]){ 1, 2 }, 2, 3,
          "what is taken out of a row's sum must be that row's own largest");
    large("a row of small scores beside one of very negative ones",
          (double[]){ 1, 0.5, -1, -1e4, -9990, -1e4 },
          (int[]){ 1, 2 }, 2, 3, "what is taken out of a row's sum must be that row's own largest: start "
                                 "with its first");
    gradient_of("gradient", judge_draw(93, 15, -2, 2), (int[]){ 3, 1, 0 }, 3, 5);
    gradient_of("gradient of four rows of two classes", judge_draw(94, 8, -2, 2), (int[]){ 1, 1, 0, 1 }, 4,
                2);
    gradient_of("gradient at scores of 1e4", (double[]){ 1e4, 9999, 0, -9998, -1e4, 3 }, (int[]){ 1, 1 }, 2,
                3);
    judge_part("the gradient check");
    judge_gradients(GRA_GRAD, NULL, NULL, 1, (gra_check_in[]){ { .name = "x", .shape = GRA_SHAPE(4, 5) } }, f,
                    judge_ids((int[]){ 2, 0, 1, 3 }, 4));
}
