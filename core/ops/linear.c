/* linear: y = x w^T + b, x (rows, in), w (out, in), b (out).
 * dx += dy w, dw += dy^T x, db += sum of dy's rows. */
#include "../tape/tape.h"
#include "../kern/gemm.h"
#include "../kern/sums.h"
#include "../kern/widen.h"

/* x as one matrix, (rows, columns), whose columns are the last dimension. `values` is x's data or
 * gradient. */
static gra_mat matrix(const gra_tensor *x, real *values)
{
    size_t rows = 1;
    for (int d = 0; d < x->shape.ndim - 1; d++)
        rows *= (size_t)x->shape.dim[d];
    return gra_mat_of(values, (int)rows, gra_dim(x, -1));
}

/* gra_gemm(machine, a, b, c, accumulate) computes c = a b, or c += a b if accumulate is true; gra_gemm_bias
 * computes c = a b + bias. A transpose is a view of the same values (kernel.h, "matrices"). */
static void forward(gra_tensor *y)
{
    gra_machine *machine = gra_tape_machine(y->tape);
    const gra_tensor *x = y->in[0], *w = y->in[1], *b = y->in[2];
    const real *bias = b ? b->data : NULL;
    if (w->panels)                      /* y = x w^T + b */
        gra_panels_linear(machine, matrix(x, x->data), w->panels, bias, matrix(y, y->data));
    else
        gra_gemm_bias(machine, matrix(x, x->data), gra_mat_transpose(matrix(w, w->data)), bias,
                      matrix(y, y->data));
}

static void add_rows(gra_tensor *y);                                            /* db += sum of dy's rows */

/* Adds to dx and dw, or overwrites them where they are uninitialised (fresh). */
static void backward(gra_tensor *y)
{
    gra_machine *machine = gra_tape_machine(y->tape);
    const gra_tensor *x = y->in[0], *w = y->in[1], *b = y->in[2];
    const gra_mat dy = matrix(y, y->grad);
    if (b && b->fresh)                  /* add_rows only adds */
        gra_zero_fresh(y);
    if (x->grad)                                                                /* dx += dy w */
        gra_gemm(machine, dy, matrix(w, w->data), matrix(x, x->grad), !x->fresh);
    if (w->grad)                                                                /* dw += dy^T x */
        gra_gemm(machine, gra_mat_transpose(dy), matrix(x, x->data), matrix(w, w->grad), !w->fresh);
    if (b && b->grad && y->size)
        add_rows(y);
}

enum { COLUMNS = SUMS_WIDTH };          /* of dy, summed at a time: rows are read sequentially */

static void add_columns(gra_tensor *y, size_t from, size_t to)  /* to db, in blocks of columns */
{
    const size_t out = y->in[2]->size, rows = y->size / out;
    for (size_t j = from * COLUMNS, width; j < out && j < to * COLUMNS; j += width) {
        double sum[COLUMNS];
        width = out - j < COLUMNS ? out - j : COLUMNS;
        memset(sum, 0, width * sizeof *sum);
        sum_rows(y->grad + j, rows, out, width, sum);
        for (size_t i = 0; i < width; i++)
            y->in[2]->grad[j + i] += (real)sum[i];
    }
}

GRA_KERNEL(add_rows, add_columns, y, (y->in[2]->size + COLUMNS - 1) / COLUMNS,
           y->size / y->in[2]->size * COLUMNS)

gra_tensor *gra_linear(gra_tape *t, gra_tensor *x, gra_tensor *w, gra_tensor *b)
{
    static const gra_op op = { .name = "linear", .forward = forward, .backward = backward,
                               .overwrites_grad = true, .reads_no_result = true,
                               .reads_panels = 1u << 1 };
    if (GRA_BAD_INPUTS(t, "linear", x, w, b ? b : w))
        return gra_empty(t);
    if (w->shape.ndim != 2)
        return gra_fail(t, "linear: got weight %s, expected (out, in)", GRA_SHAPE_OF(w));
    if (x->shape.ndim < 1 || gra_dim(x, -1) != w->shape.dim[1])
        return gra_fail(t, "linear: got x %s for weight %s, expected (..., %d)", GRA_SHAPE_OF(x),
                        GRA_SHAPE_OF(w), w->shape.dim[1]);
    if (b && (b->shape.ndim != 1 || b->shape.dim[0] != w->shape.dim[0]))
        return gra_fail(t, "linear: got bias %s for weight %s, expected (%d)", GRA_SHAPE_OF(b),
                        GRA_SHAPE_OF(w), w->shape.dim[0]);
    gra_shape shape = x->shape;                     /* (..., in) -> (..., out) */
    shape.dim[shape.ndim - 1] = w->shape.dim[0];
    return gra_run(gra_result(t, &op, shape, x, w, b));
}
