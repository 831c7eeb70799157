/* linear: y = x w^T + b, x (rows, in), w (out, in), b (out).
 * dx += dy w, dw += dy^T x, db += sum of dy's rows. */
#include "../internal.h"

struct sizes {
    int rows, in, out;
};

static struct sizes sizes_of(const gra_tensor *y)
{
    int in = gra_dim(y->in[1], 1), out = gra_dim(y->in[1], 0);
    return (struct sizes){ out ? (int)(y->size / (size_t)out) : 0, in, out };
}

enum { COLUMNS = 256 };                 /* of dy, summed at a time: enough to read its rows in a stream */

static void sum_rows(gra_tensor *y, size_t from, size_t to) /* db += the rows of dy, in blocks of columns */
{
    const size_t out = y->in[2]->size, rows = y->size / out;
    const size_t begin = from * COLUMNS, end = to * COLUMNS < out ? to * COLUMNS : out;
    const real *dy = y->grad;
    real *db = y->in[2]->grad;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = begin; j < end; j++)
            db[j] += dy[i * out + j];
}

GRA_KERNEL(sum_rows_all, sum_rows, y, (y->in[2]->size + COLUMNS - 1) / COLUMNS,
           y->size / y->in[2]->size * COLUMNS)

static void forward(gra_tensor *y)
{
    const struct sizes s = sizes_of(y);
    gra_gemm_bias(gra_tape_machine(y->tape), s.rows, s.out, s.in, (gra_mat){ y->in[0]->data, s.in, 1 },
                  (gra_mat){ y->in[1]->data, 1, s.in }, y->in[2] ? y->in[2]->data : NULL, y->data, s.out);
}

static void backward(gra_tensor *y)
{
    const struct sizes s = sizes_of(y);
    gra_tensor *x = y->in[0], *w = y->in[1], *b = y->in[2];
    /* b is no parameter: sum_rows accumulates, so zero it */
    if (b && b->fresh)
        gra_zero_fresh(y);
    if (x->grad)
        gra_gemm(gra_tape_machine(y->tape), s.rows, s.in, s.out, (gra_mat){ y->grad, s.out, 1 },
                 (gra_mat){ w->data, s.in, 1 }, x->grad, s.in, !x->fresh);
    if (w->grad)
        gra_gemm(gra_tape_machine(y->tape), s.out, s.in, s.rows, (gra_mat){ y->grad, 1, s.out },
                 (gra_mat){ x->data, s.in, 1 }, w->grad, s.in, !w->fresh);
    if (b && b->grad && y->size)
        sum_rows_all(y);
}

gra_tensor *gra_linear(gra_tape *t, gra_tensor *x, gra_tensor *w, gra_tensor *b)
{
    static const gra_op op = { .name = "linear", .forward = forward, .backward = backward, .stores = true };
    if (GRA_REFUSES(t, "linear", x, w, b ? b : w))
        return gra_empty(t);
    if (w->shape.ndim != 2)
        return gra_fail(t, "linear: the weight is %s, wanted (out, in)", GRA_SHAPE_OF(w));
    if (x->shape.ndim < 1 || gra_dim(x, -1) != w->shape.dim[1])
        return gra_fail(t, "linear: x is %s but the weight is %s: the last size of x must be %d",
                        GRA_SHAPE_OF(x), GRA_SHAPE_OF(w), w->shape.dim[1]);
    if (b && (b->shape.ndim != 1 || b->shape.dim[0] != w->shape.dim[0]))
        return gra_fail(t, "linear: the bias is %s but the weight is %s: wanted (%d)", GRA_SHAPE_OF(b),
                        GRA_SHAPE_OF(w), w->shape.dim[0]);
    gra_shape shape = x->shape;                     /* (..., in) -> (..., out) */
    shape.dim[shape.ndim - 1] = w->shape.dim[0];
    return gra_run(gra_result(t, &op, shape, x, w, b));
}
