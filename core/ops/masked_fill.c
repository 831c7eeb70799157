/* masked_fill: y = value where mask is not 0, else x; the mask broadcasts to x. dx += dy where the
 * mask is 0; no gradient flows into the mask. */
#include "../kernel.h"

struct args {
    double value;
};

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data, *mask = y->in[1]->data;
    const real value = (real)((const struct args *)y->args)->value;
    for (gra_walk w = gra_walk_begin(y->shape, y->in[0]->shape, y->in[1]->shape, from, to); w.n;
         gra_walk_next(&w))
        for (size_t i = 0; i < w.n; i++)
            y->data[w.y + i] = mask[w.b + i * w.step_b] == 0 ? x[w.y + i] : value;  /* x is shaped like y */
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const real *mask = y->in[1]->data, *dy = y->grad;
    real *dx = y->in[0]->grad;
    if (!dx)
        return;
    for (gra_walk w = gra_walk_begin(y->shape, y->in[0]->shape, y->in[1]->shape, from, to); w.n;
         gra_walk_next(&w))
        for (size_t i = 0; i < w.n; i++)
            dx[w.y + i] += mask[w.b + i * w.step_b] == 0 ? dy[w.y + i] : 0;
}

GRA_KERNEL(forward_all, forward, y, y->size, 2)
GRA_KERNEL(backward_all, backward, y, y->size, 2)

gra_tensor *gra_masked_fill(gra_tape *t, gra_tensor *x, gra_tensor *mask, double value)
{
    static const gra_op op = { .name = "masked_fill", .forward = forward_all, .backward = backward_all,
                               .args = sizeof(struct args), .args_text = "with %g", .may_make_inf = true };
    if (GRA_BAD_INPUTS(t, "masked_fill", x, mask))
        return gra_empty(t);
    gra_shape shape;
    if (!gra_broadcast(x->shape, mask->shape, &shape) || !gra_same_shape(shape, x->shape))
        return gra_fail(t, "masked_fill: got mask %s for x %s, expected one that broadcasts to x",
                        GRA_SHAPE_OF(mask), GRA_SHAPE_OF(x));
    gra_tensor *y = gra_result(t, &op, x->shape, x, mask);
    *(struct args *)y->args = (struct args){ value };
    return gra_run(y);
}
