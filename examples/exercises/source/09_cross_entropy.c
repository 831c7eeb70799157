/* 09 cross_entropy: the cost of a wrong prediction.
 *
 * Each row of x holds the scores of n classes (of the tokens that may come next), and target[r] is the right
 * class (the token that did come). The loss is the mean over the rows of -log p, where p is the probability
 * that softmax gives to the target:
 *
 *     loss = 1/rows  sum over r of  -log(e^x[r][target] / sum over j of e^x[r][j])
 *
 * Computed literally, this formula fails for scores of 1e4: e^1e4 is infinite, and a p of e^-1e4 is rounded
 * to 0, which has no logarithm, although the loss itself is a modest number. Rewrite the fraction before you
 * compute: the logarithm of a quotient is a difference, and log(sum e^x_j) = m + log(sum e^(x_j - m)) for any
 * m (why?).
 *
 * This is an op again. forward reads x->data, which is row-major (x[r][j] is x->data[r * n + j]), and stores
 * a single number, the loss, in y->data. backward finds the gradient of the loss in y->grad (one number, dy:
 * this loss may be part of a larger one) and adds to x->grad, which has the shape of x:
 *
 *     x->grad[r * n + j] += dy dloss/dx[r][j]
 *
 * Find dloss/dx[r][j] on paper; it is one of the simplest in this course. y->data is uninitialised at first.
 * y->saved has room for as many numbers as x has: if you like, keep there in forward what backward needs.
 */
/* 09 cross_entropy, solved.
 *
 * -log(e^x_t / sum e^x_j) = log(sum e^x_j) - x_t, and with e^m taken out of the sum, m + log(sum
 * e^(x_j - m)) - x_t. With the row's largest score as m no exponent is above 0, and the sum is at least 1:
 * its logarithm is always finite.
 *
 * The derivative of log(sum e^x_j) with respect to x_j is e^x_j / sum e^x = softmax_j; the derivative of -x_t
 * is -1 for j = t, else 0. So
 *
 *     dloss/dx[r][j] = (softmax(x[r])_j - [j = target[r]]) / rows
 *
 * the prediction minus the truth. This gradient is never infinite, which is why softmax and logarithm are one
 * op. The mean gives the 1/rows, and all of it is multiplied by dy (the chain rule).
 */
#include "exercises.h"

struct args {
    const int *target;                                  /* for each row, 0 ... n - 1 */
};

static size_t saved(const gra_tensor *y)
{
    return y->in[0]->size;
}

static void forward(gra_tensor *y)
{
    const gra_tensor *x = y->in[0];
    const int *target = ((struct args *)y->args)->target, rows = x->shape.dim[0], n = x->shape.dim[1];
//| (void)target, (void)rows, (void)n;                  /* TO DO: y->data[0] = ... */
    double loss = 0;
    for (int r = 0; r < rows; r++) {
        const double *row = x->data + r * n;
        double *p = y->saved + r * n, top = row[0], sum = 0;
        for (int j = 1; j < n; j++)
            top = fmax(top, row[j]);
        for (int j = 0; j < n; j++) {
            p[j] = exp(row[j] - top);
            sum += p[j];
        }
        for (int j = 0; j < n; j++)
            p[j] /= sum;                                /* the softmax, for backward */
        loss += top + log(sum) - row[target[r]];
    }
    y->data[0] = loss / rows;
}

static void backward(gra_tensor *y)
{
    gra_tensor *x = y->in[0];
    const int *target = ((struct args *)y->args)->target, rows = x->shape.dim[0], n = x->shape.dim[1];
//| (void)target, (void)rows, (void)n;                  /* TO DO: x->grad[r * n + j] += ... */
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < n; j++) {
            const double one_hot = j == target[r];
            x->grad[r * n + j] += y->grad[0] * (y->saved[r * n + j] - one_hot) / rows;
        }
}

/* Records the op: leave this as it is. */
gra_tensor *cross_entropy(gra_tape *t, gra_tensor *x, const int *target)
{
    static const gra_op op = { .name = "my_cross_entropy", .forward = forward, .backward = backward,
                               .saved = saved, .args = sizeof(struct args) };
    gra_tensor *y = gra_result(t, &op, GRA_SCALAR, x);
    ((struct args *)y->args)->target = target;
    return gra_run(y);
}
