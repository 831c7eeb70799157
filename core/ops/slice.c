/* slice: y = x[..., start:end, ...] along dimension d; dx[..., start:end, ...] += dy. */
#include "../kernel.h"
#include "ops.h"

struct args {
    int start, end, d;
};

/* Around d, x is (outer, n, inner) and y (outer, end - start, inner): for each o, row o of y is one
 * piece of row o of x. */
struct piece {
    size_t outer, begin, size, of;                  /* of: the row size of x */
};

static struct piece piece_of(const gra_tensor *y)
{
    const struct args *a = y->args;
    gra_dim_split x = gra_split_dim(y->in[0]->shape, a->d);
    return (struct piece){ .outer = x.outer, .begin = (size_t)a->start * x.inner,
                           .size = (size_t)y->shape.dim[a->d] * x.inner, .of = x.n * x.inner };
}

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const struct piece p = piece_of(y);
    for (size_t o = from; o < to; o++)
        memcpy(y->data + o * p.size, y->in[0]->data + o * p.of + p.begin, p.size * sizeof(real));
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const struct piece p = piece_of(y);
    for (size_t o = from; o < to; o++) {
        const real *dy = y->grad + o * p.size;
        real *dx = y->in[0]->grad + o * p.of + p.begin;
        for (size_t i = 0; i < p.size; i++)
            dx[i] += dy[i];
    }
}

GRA_KERNEL(forward_all, forward, y, y->size ? piece_of(y).outer : 0, piece_of(y).size)
GRA_KERNEL(backward_all, backward, y, y->size ? piece_of(y).outer : 0, 2 * piece_of(y).size)

gra_tensor *gra_slice(gra_tape *t, gra_tensor *x, int d, int start, int end)
{
    static const gra_op op = { .name = "slice", .forward = forward_all, .backward = backward_all,
                               .args = sizeof(struct args), .args_text = "%d:%d in dimension %d" };
    const int dim = op_dim(t, "slice", x, d);
    if (dim < 0)
        return gra_empty(t);
    int n = x->shape.dim[dim], first = start < 0 ? start + n : start, last = end < 0 ? end + n : end;
    if (first < 0 || first > last || last > n)
        return gra_fail(t, "slice: got %d:%d in dimension %d of a tensor %s, expected a range within its "
                        "%d entries", start, end, d, GRA_SHAPE_OF(x), n);
    gra_shape shape = x->shape;
    shape.dim[dim] = last - first;
    gra_tensor *y = gra_result(t, &op, shape, x);
    *(struct args *)y->args = (struct args){ first, last, dim };
    return gra_run(y);
}
