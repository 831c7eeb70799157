/* 05 mul_broadcast: the gradient of a stretched operand is a sum.
 *
 * In this and most later exercises the tape is gradus' own, and its nodes are tensors: y->data holds the
 * values and y->grad the gradient, row-major; y->in[0] and y->in[1] are the operands, with data and grad of
 * their own. An op has a forward, which fills y->data, and a backward, which computes the gradients of the
 * operands from y->grad, and adds them to what in[0]->grad and in[1]->grad already hold.
 *
 * This op multiplies two matrices element by element. If one of them has only one row, or only one column, it
 * is stretched to the size of the other, as in NumPy and PyTorch: (3, 4) times (1, 4) uses the one row three
 * times, and (3, 1) times (1, 4) stretches both, to (3, 4).
 *
 *     y_ij = a_ij b_ij          (i is 0 in an operand of one row, j is 0 in an operand of one column)
 *
 * Stretching copies nothing: several numbers of y use the same number of b. You know from exercise 03 what
 * that means for its gradient.
 *
 * `place` returns the index of the element of an operand that y_ij uses. Write forward and backward, each a
 * loop over i and j. A gradient that is not needed is NULL: test for that. And a and b may be the same
 * tensor.
 */
/* 05 mul_broadcast, solved.
 *
 * The backward is the plain product's, da += dy b and db += dy a, at the same places as in the forward.
 * Where b is stretched, place(b, i, j) is the same number for many (i, j), and += makes the sum over them:
 * "the gradient of a stretched dimension is the sum over it" is no new rule, but another case of "a value
 * used twice gets both gradients".
 *
 * If a and b are the same tensor, da and db are the same memory, and both terms are added there: d(a
 * a)/da = 2a.
 */
#include "exercises.h"

static size_t place(const gra_tensor *x, int i, int j)
{
    const int rows = x->shape.dim[0], cols = x->shape.dim[1];
    return (size_t)(rows == 1 ? 0 : i) * (size_t)cols + (size_t)(cols == 1 ? 0 : j);
}

static void forward(gra_tensor *y)
{
    const double *a = y->in[0]->data, *b = y->in[1]->data;
    const int rows = y->shape.dim[0], cols = y->shape.dim[1];
//| (void)a, (void)b, (void)rows, (void)cols, (void)place;      /* TO DO: y->data[i * cols + j] = ... */
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            y->data[i * cols + j] = a[place(y->in[0], i, j)] * b[place(y->in[1], i, j)];
}

static void backward(gra_tensor *y)
{
    const double *a = y->in[0]->data, *b = y->in[1]->data, *dy = y->grad;
    double *da = y->in[0]->grad, *db = y->in[1]->grad;          /* either may be NULL */
    const int rows = y->shape.dim[0], cols = y->shape.dim[1];
//| (void)a, (void)b, (void)dy, (void)da, (void)db, (void)rows, (void)cols;     /* TO DO */
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            const size_t at_a = place(y->in[0], i, j), at_b = place(y->in[1], i, j);
            if (da)
                da[at_a] += dy[i * cols + j] * b[at_b];
            if (db)
                db[at_b] += dy[i * cols + j] * a[at_a];
        }
}

/* Records the op: leave this as it is. */
gra_tensor *mul_broadcast(gra_tape *t, gra_tensor *a, gra_tensor *b)
{
    static const gra_op op = { .name = "my_mul", .forward = forward, .backward = backward };
    if (GRA_BAD_INPUTS(t, "my_mul", a, b))
        return gra_empty(t);
    if (a->shape.ndim != 2 || b->shape.ndim != 2)
        return gra_fail(t, "my_mul: got a %s and b %s, expected two matrices", GRA_SHAPE_OF(a),
                        GRA_SHAPE_OF(b));
    return gra_run(gra_result_broadcast(t, &op, a, b));
}
