/* tensor: makes the leaves of the graph (inputs and constants), and reads single values. */
#include "tape.h"

static gra_tensor *copied(gra_tape *t, const char *name, const real *data, gra_shape shape, bool grad)
{
    gra_tensor *x = gra_leaf(t, name, shape, NULL);
    if (x->size && !data)
        return gra_fail(t, "%s: got NULL for the data, expected the %zu values of %s", name, x->size,
                        GRA_SHAPE_OF(x));
    if (x->size)
        memcpy(x->data, data, x->size * sizeof(real));
    x->requires_grad = grad && x->size && t->mode != GRA_EVAL;
    return x;
}

gra_tensor *gra_input(gra_tape *t, const real *data, gra_shape shape)
{
    return copied(t, "gra_input", data, shape, true);
}

gra_tensor *gra_scalar(gra_tape *t, double value)
{
    const real v = (real)value;
    return copied(t, "gra_scalar", &v, GRA_SCALAR, true);
}

gra_tensor *gra_constant(gra_tape *t, const real *data, gra_shape shape)
{
    return copied(t, "gra_constant", data, shape, false);
}

gra_tensor *gra_borrow(gra_tape *t, real *data, gra_shape shape)
{
    if (!data)
        return gra_fail(t, "gra_borrow: got NULL for the data, expected the values of the tensor");
    return gra_leaf(t, "gra_borrow", shape, data);
}

static gra_tensor *filled(gra_tape *t, const char *name, double value, gra_shape shape)
{
    gra_tensor *x = gra_leaf(t, name, shape, NULL);
    for (size_t i = 0; i < x->size; i++)
        x->data[i] = (real)value;
    return x;
}

gra_tensor *gra_full(gra_tape *t, double value, gra_shape shape)
{
    return filled(t, "gra_full", value, shape);
}

static gra_tensor *drawn(gra_tape *t, const char *name, gra_rng *g, gra_shape shape,
                         void (*draw)(gra_rng *g, real *x, size_t n))
{
    gra_tensor *x = gra_leaf(t, name, shape, NULL);
    if (x == &t->empty || !gra_need_generator(t, name, g, "&rng"))
        return &t->empty;
    draw(g, x->data, x->size);
    return x;
}

gra_tensor *gra_constant_rand(gra_tape *t, gra_rng *g, gra_shape shape)
{
    return drawn(t, "gra_constant_rand", g, shape, gra_rand);
}

gra_tensor *gra_constant_randn(gra_tape *t, gra_rng *g, gra_shape shape)
{
    return drawn(t, "gra_constant_randn", g, shape, gra_randn);
}

gra_tensor *gra_zeros(gra_tape *t, gra_shape shape) { return filled(t, "gra_zeros", 0, shape); }
gra_tensor *gra_ones(gra_tape *t, gra_shape shape)  { return filled(t, "gra_ones", 1, shape); }

gra_tensor *gra_arange(gra_tape *t, int n)
{
    gra_tensor *x = gra_leaf(t, "gra_arange", GRA_SHAPE(n), NULL);
    for (size_t i = 0; i < x->size; i++)
        x->data[i] = (real)i;
    return x;
}

gra_tensor *gra_detach(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "detach", .view = true };
    gra_tensor *y = gra_result_like(t, &op, x);
    y->requires_grad = false;           /* the sweep ends here */
    y->base = NULL;                     /* and the gradient is not shared */
    return gra_run(y);
}

double gra_item(const gra_tensor *x)
{
    if (!x || gra_is_stale(x, __func__) || !gra_has_values(x->tape, x, __func__))
        return (double)NAN;
    if (x->size == 1)
        return (double)x->data[0];
    if (x->tape)
        gra_fail(x->tape, "gra_item: got x %s with %zu values, expected one value", GRA_SHAPE_OF(x), x->size);
    return (double)NAN;
}
