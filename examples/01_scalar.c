/* 01: y = a b + c and its gradients, one number each.
 *
 *     make && build/examples/01_scalar
 *
 * What you will learn: a tape records what you compute, and gra_backward walks it from the last record to the
 * first and leaves dy/dx in each x. You will also see what dy/dx means. In PyTorch this is requires_grad=True
 * and y.backward().
 */
#include "../core/gradus.h"

static double gradient(const gra_tensor *x)
{
    return (double)gra_grad(x)[0];
}

/* d(ab + c)/da = b, d(ab + c)/db = a, d(ab + c)/dc = 1. */
static void first(gra_tape *t)
{
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *a = gra_scalar(t, 2), *b = gra_scalar(t, -3), *c = gra_scalar(t, 10);
    gra_tensor *y = gra_add(t, gra_mul(t, a, b), c);
    gra_backward(t, y);
    printf("a = 2, b = -3, c = 10\n");
    printf("y = ab + c = %g\n", gra_item(y));
    printf("dy/da = %g, dy/db = %g, dy/dc = %g\n\n", gradient(a), gradient(b), gradient(c));
}

/* A value may feed several ops: its gradient is the sum of the ops' contributions. This is the
 * expression on micrograd's first page (Karpathy 2020), where g = 24.704, dg/da = 138.834 and dg/db
 * = 645.577. */
static gra_tensor *expression(gra_tape *t, gra_tensor *a, gra_tensor *b)
{
    gra_tensor *plus  = gra_relu(t, gra_add(t, b, a));
    gra_tensor *minus = gra_relu(t, gra_sub(t, b, a));
    gra_tensor *one   = gra_name(gra_full(t, 1, GRA_SCALAR), "one");           /* a constant */
    gra_tensor *c = gra_add(t, a, b);
    gra_tensor *d = gra_add(t, gra_mul(t, a, b), gra_pow(t, b, 3));         /* ab + b^3 */
    c = gra_add(t, c, gra_add(t, c, one));                                  /* c += c + 1 */
    c = gra_add(t, c, gra_sub(t, gra_add(t, one, c), a));                   /* c += 1 + c - a */
    d = gra_add(t, d, gra_add(t, gra_scale(t, d, 2), plus));                /* d += 2d + relu(b + a) */
    d = gra_add(t, d, gra_add(t, gra_scale(t, d, 3), minus));               /* d += 3d + relu(b - a) */
    gra_tensor *e = gra_pow(t, gra_sub(t, c, d), 2);                        /* (c - d)^2 */
    return gra_add(t, gra_scale(t, e, 0.5), gra_scale(t, gra_pow(t, e, -1), 10));       /* e/2 + 10/e */
}

/* Prints the tape: each op with its inputs, its value and its gradient. Read it downwards for the values and
 * upwards for the gradients. */
static void shared(gra_tape *t)
{
    gra_keep_grads(t, true);
    gra_begin(t, GRA_GRAD, NULL);                                           /* forget the previous step */
    gra_tensor *a = gra_name(gra_scalar(t, -4), "a"), *b = gra_name(gra_scalar(t, 2), "b");
    gra_tensor *g = gra_name(expression(t, a, b), "g");
    gra_backward(t, g);
    printf("micrograd's expression at a = -4, b = 2\n");
    printf("g = %.3f, dg/da = %.3f, dg/db = %.3f\n\n", gra_item(g), gradient(a), gradient(b));
    gra_print_tape(t);
    printf("\n");
}

/* What a gradient means: if a changes by a small h, g changes by about dg/da h. So a backward can be checked
 * from outside, by differences; gra_check does that for whole models, in double. In float, which has 7
 * digits, rounding spoils the difference when h is small, as the last lines show. */
static void nudge(gra_tape *t)
{
    printf("       h   (g(a + h) - g(a - h)) / 2h\n");
    for (double h = 0.1; h > 5e-6; h /= 10) {
        gra_begin(t, GRA_EVAL, NULL);                                       /* record nothing */
        double up   = gra_item(expression(t, gra_scalar(t, -4 + h), gra_scalar(t, 2)));
        double down = gra_item(expression(t, gra_scalar(t, -4 - h), gra_scalar(t, 2)));
        printf("%8.5f   %.3f\n", h, (up - down) / (2 * h));
    }
}

int main(void)
{
    gra_tape *t = gra_open(1);                          /* one thread; 0: one for each core */
    first(t);
    shared(t);
    nudge(t);
    gra_close(t);                                       /* frees all tensors too */
}

/* Try: c = -10 in first(). y changes by 20, but no gradient does: none of them depends on c.
 * Try: b = 0 there. Then dy/da, which is b, is 0: a change of a does not move y. */
