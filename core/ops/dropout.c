/* dropout: in GRA_TRAIN y = x / (1 - p) with probability 1 - p, else 0 (Srivastava et al. 2014);
 * dx += dy times the same factor. In the other modes y is x itself. The mask: kern/mask.h. */
#include "../op.h"
#include "../kern/mask.h"

struct args {
    gra_mask mask;
};

static void forward(gra_tensor *y, size_t from, size_t to)
{
    mask_apply(((const struct args *)y->args)->mask, y->in[0]->data, y->data, from, to, false);
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    mask_apply(((const struct args *)y->args)->mask, y->grad, y->in[0]->grad, from, to, true);
}

GRA_KERNEL(forward, y->size, 4)
GRA_KERNEL(backward, y->size, 4)

gra_tensor *gra_dropout(gra_tape *t, gra_tensor *x, double p)
{
    static const gra_op op = { .name = "dropout", .forward = forward_all, .backward = backward_all,
                               .args = sizeof(struct args) };
    if (GRA_REFUSES(t, "dropout", x))
        return gra_empty(t);
    if (!(p >= 0 && p <= 1))
        return gra_fail(t, "dropout: p is %g: wanted a probability, 0 <= p <= 1", p);
    if (gra_tape_mode(t) != GRA_TRAIN || p == 0 || x->size == 0)
        return x;
    if (p == 1)                                     /* as in PyTorch, without drawing a number */
        return gra_scale(t, x, 0);
    if (!gra_can_draw(t, "dropout"))
        return gra_empty(t);

    gra_tensor *y = gra_result_like(t, &op, x);
    *(struct args *)y->args = (struct args){ mask_begin(gra_tape_rng(t), p) };
    return gra_run(y);
}
