/* 06 matmul: the matrix product.
 *
 * A model spends nearly all its time in this op. a is (m, k), b is (k, n), and y is (m, n):
 *
 *     y_ij = sum over p of a_ip b_pj
 *
 * The backward needs no matrix calculus, only what you already know: y_ij is a sum of products. Each product
 * gives a_ip the gradient dy_ij b_pj, and b_pj the gradient dy_ij a_ip. So
 *
 *     da_ip = sum over all uses of a_ip of dy_ij b_pj               (which index is summed over?)
 *     db_pj = sum over all uses of b_pj of dy_ij a_ip
 *
 * Both gradients are matrix products. The shapes show which matrices are multiplied, and what must be
 * transposed: da is (m, k), like a, and dy is (m, n).
 *
 * All matrices are row-major: a_ip is a[i * k + p]. Write forward and backward as three nested loops each, or
 * four. Accumulate (+=); a gradient that is not needed is NULL.
 */
/* 06 matmul, solved.
 *
 * a_ip is used by every y_ij of row i, once for each j, so its gradient is a sum over j; b_pj is used once
 * for each i:
 *
 *     da_ip = sum over j of dy_ij b_pj          da = dy b^T          (m, n) (n, k)
 *     db_pj = sum over i of a_ip dy_ij          db = a^T dy          (k, m) (m, n)
 *
 * The shapes leave no other choice: an (m, n) and a (k, n) give an (m, k) only if b is transposed. The code
 * transposes nothing: it has the loops of the forward, and each innermost step adds to both gradients of one
 * product.
 */
#include "exercises.h"

static void forward(gra_tensor *y)
{
    const double *a = y->in[0]->data, *b = y->in[1]->data;
    const int m = y->shape.dim[0], n = y->shape.dim[1], k = y->in[0]->shape.dim[1];
//| (void)a, (void)b, (void)m, (void)n, (void)k;                /* TO DO: y->data[i * n + j] = ... */
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int p = 0; p < k; p++)
                sum += a[i * k + p] * b[p * n + j];
            y->data[i * n + j] = sum;
        }
}

static void backward(gra_tensor *y)
{
    const double *a = y->in[0]->data, *b = y->in[1]->data, *dy = y->grad;
    double *da = y->in[0]->grad, *db = y->in[1]->grad;          /* either may be NULL */
    const int m = y->shape.dim[0], n = y->shape.dim[1], k = y->in[0]->shape.dim[1];
//| (void)a, (void)b, (void)dy, (void)da, (void)db, (void)m, (void)n, (void)k;          /* TO DO */
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int p = 0; p < k; p++) {
                if (da)
                    da[i * k + p] += dy[i * n + j] * b[p * n + j];
                if (db)
                    db[p * n + j] += a[i * k + p] * dy[i * n + j];
            }
}

/* Records the op: leave this as it is. */
gra_tensor *matmul(gra_tape *t, gra_tensor *a, gra_tensor *b)
{
    static const gra_op op = { .name = "my_matmul", .forward = forward, .backward = backward };
    if (GRA_BAD_INPUTS(t, "my_matmul", a, b))
        return gra_empty(t);
    if (a->shape.ndim != 2 || b->shape.ndim != 2 || a->shape.dim[1] != b->shape.dim[0])
        return gra_fail(t, "my_matmul: got a %s and b %s, expected (m, k) and (k, n)", GRA_SHAPE_OF(a),
                        GRA_SHAPE_OF(b));
    return gra_run(gra_result(t, &op, GRA_SHAPE(a->shape.dim[0], b->shape.dim[1]), a, b));
}
