/* The page of lesson 01's expression, and some of its numbers:  scalar PAGE.html */
#include "examples/look/look.h"
static gra_tensor *expression(gra_tape *t, gra_tensor *a, gra_tensor *b)
{
    gra_tensor *plus  = gra_name(gra_relu(t, gra_add(t, b, a)), "relu(b + a)");
    gra_tensor *minus = gra_name(gra_relu(t, gra_sub(t, b, a)), "relu(b - a)");
    gra_tensor *one   = gra_name(gra_full(t, 1, GRA_SCALAR), "1");
    gra_tensor *c = gra_name(gra_add(t, a, b), "c = a + b");
    gra_tensor *d = gra_name(gra_add(t, gra_mul(t, a, b), gra_pow(t, b, 3)), "d = ab + b^3");
    c = gra_name(gra_add(t, c, gra_add(t, c, one)), "c += c + 1");
    c = gra_name(gra_add(t, c, gra_sub(t, gra_add(t, one, c), a)), "c += 1 + c - a");
    d = gra_name(gra_add(t, d, gra_add(t, gra_scale(t, d, 2), plus)), "d += 2d + relu(b + a)");
    d = gra_name(gra_add(t, d, gra_add(t, gra_scale(t, d, 3), minus)), "d += 3d + relu(b - a)");
    gra_tensor *e = gra_name(gra_pow(t, gra_sub(t, c, d), 2), "e = (c - d)^2");
    return gra_name(gra_add(t, gra_scale(t, e, 0.5), gra_scale(t, gra_pow(t, e, -1), 10)), "g = e/2 + 10/e");
}

static void show(const char *what, gra_real x)
{
    char text[OUT_REAL];
    printf("%s = %s\n", what, out_real_text(x, text));
}
int main(int argc, char **argv)
{
    gra_tape *t = gra_open(1);
    gra_keep_grads(t, true);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *a = gra_name(gra_scalar(t, -4), "a"), *b = gra_name(gra_scalar(t, 2), "b");
    gra_tensor *g = expression(t, a, b);
    gra_backward(t, g);
    const int failed = look_write(t, argv[argc - 1]);
    show("g", g->data[0]);
    show("dg/da", gra_grad(a)[0]);
    show("dg/db", gra_grad(b)[0]);
    gra_close(t);
    return failed ? 1 : 0;
}
