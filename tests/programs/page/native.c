/* The values and gradients of d = a*b + b^3; g = tanh(d/10 - c), as in page/expression.mjs:  native A B C */
#include "core/gradus.h"
#include <stdlib.h>
int main(int argc, char **argv)
{
    gra_tape *t = gra_open(1);
    gra_keep_grads(t, true);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *a = gra_scalar(t, strtod(argv[1], NULL)), *b = gra_scalar(t, strtod(argv[2], NULL));
    gra_tensor *c = gra_scalar(t, strtod(argv[argc - 1], NULL));
    gra_tensor *d = gra_add(t, gra_mul(t, a, b), gra_pow(t, b, 3));
    gra_tensor *g = gra_tanh(t, gra_sub(t, gra_div(t, d, gra_full(t, 10, GRA_SCALAR)), c));
    gra_backward(t, g);
    const gra_tensor *all[] = { a, b, c, d, g };
    for (int i = 0; i < 5; i++)
        printf("%c \"%c\": %.17g, \"d%c\": %.17g", i ? ',' : '{', "abcdg"[i], gra_item(all[i]), "abcdg"[i],
               gra_grad(all[i])[0]);
    printf(" }\n");
    gra_close(t);
}
