/* zero_grad: g = 0, for all gradients. */
#include "../model/model.h"

static void zero(gra_chunk *s, size_t from, size_t to)
{
    memset(s->p->grad + from, 0, (to - from) * sizeof(real));
}

GRA_PARAM_KERNEL(zero_all, zero, 1)

void gra_zero_grad(gra_model *m)
{
    gra_need_model(m, __func__);
    zero_all(m, NULL, NULL);
}
