/* A page in double, written in a locale with a decimal comma if one is installed:  double PAGE.html
 * The program prints the loss, and fails if the page changed a gradient, or if a gradient is wrong. */
#include "examples/look/look.h"
#include <locale.h>
#include <math.h>
#include <string.h>
int main(int argc, char **argv)
{
    static const gra_real far[3][4] = { { 1.5e308, -1.5e308, 1.5e308, -1.5e308 }, { 5e-324, -5e-324, 0, 0 },
                                        { 1, (gra_real)NAN, 2, 3 } };
    gra_real value[100];
    setlocale(LC_ALL, "de_DE.UTF-8");
    for (int i = 0; i < 100; i++)
        value[i] = (gra_real)i / 3;
    gra_tape *t = gra_open(1);
    gra_keep_grads(t, true);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *x = gra_name(gra_input(t, value, GRA_SHAPE(10, 10)), "x");
    for (int i = 0; i < 3; i++)
        gra_sum(t, gra_tanh(t, gra_name(gra_input(t, far[i], GRA_SHAPE(4)), "far %d", i)));
    gra_tensor *twice = gra_mul(t, x, x), *flat = gra_reshape(t, twice, GRA_SHAPE(100));
    gra_tensor *joined = gra_add(t, gra_mul(t, flat, gra_reshape(t, x, GRA_SHAPE(100))),
                                 gra_reshape(t, twice, GRA_SHAPE(100)));
    gra_backward(t, gra_name(gra_scale(t, gra_add(t, gra_mean(t, x), gra_mean(t, joined)), 0.7), "loss"));
    gra_real before[100];
    memcpy(before, gra_grad(x), sizeof before);
    int failed = look_write(t, argv[argc - 1]) || memcmp(before, gra_grad(x), sizeof before) != 0;
    for (int i = 0; i < 100; i++)       /* the mean of x + x^3 + x^2 */
        failed |= fabs(before[i] - 0.007 * (1 + 3 * value[i] * value[i] + 2 * value[i])) > 1e-12;
    setlocale(LC_ALL, "C");
    printf("loss = %.17g\n", gra_node_at(t, gra_node_count(t) - 1)->data[0]);
    gra_close(t);
    return failed;
}
