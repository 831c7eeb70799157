/* Prints the constants of each op that has some, as a page shows them: "scale by 0.1;pow 3;...". */
#include "core/op.h"
#define OF(dims) gra_input(t, value, dims)
int main(void)
{
    static gra_real value[24];
    gra_rng rng;
    gra_tape *t = gra_open(1);
    gra_manual_seed(&rng, 1);
    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *x = OF(GRA_SHAPE(2, 3, 4)), *w = OF(GRA_SHAPE(4, 4)), *one = OF(GRA_SHAPE(1, 5));
    gra_tensor *y[] = { gra_scale(t, x, 0.1), gra_add_scalar(t, x, -3), gra_pow(t, x, 3),
        gra_clamp(t, x, 0, 6), gra_slice(t, x, -1, 1, -1), gra_sum(t, x), gra_sum_dim(t, x, 1, false),
        gra_sum(t, one), gra_sum_dim(t, one, 1, true), gra_max(t, x), gra_min_dim(t, x, 0, true),
        gra_var_dim(t, x, 2, 1, true), gra_transpose(t, x, 1, 2), gra_matmul(t, w, w),
        gra_matmul_nt(t, w, w), gra_dropout(t, x, 0.25), gra_layer_norm(t, x, NULL, NULL, 1e-5),
        gra_rms_norm(t, x, NULL, 1e-6), gra_concat(t, 2, (gra_tensor *[]){ x, x }, 2),
        gra_masked_fill(t, x, x, -1), gra_mean(t, x), gra_exp(t, x), x };
    for (size_t i = 0; i < sizeof y / sizeof *y; i++)
        printf("%s %s;", y[i]->op ? y[i]->op->name : "", gra_args_text(y[i], (char[GRA_ARGS_TEXT]){ 0 }));
    gra_close(t);
    return 0;
}
