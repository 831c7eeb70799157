/* dropout: in GRA_TRAIN y = x / (1 - p) with probability 1 - p, else 0 (Srivastava et al. 2014);
 * dx += dy times the same factor. In the other modes y is x itself. kern/mask.h draws the mask. */
#include "../kernel.h"
#include "../kern/mask.h"
#include "../tape/tape.h"

struct args {
    double       p;
    mask_stream *mask;                              /* where it begins; lanes are neighbouring elements, */
    uint32_t    *tiles;                             /* and the numbers drawn from it */
};

static size_t tiles(const gra_tensor *y)
{
    return (y->size + MASK_TILE - 1) / MASK_TILE;
}

/* to = factor x, or to += factor x, for the elements of a tile. */
static void apply(const gra_tensor *y, size_t tile, const real *x, real *to, bool add)
{
    const struct args *s = y->args;
    const uint32_t *bits = s->tiles + tile * MASK_LANES;
    const real kept = s->mask->kept;
    const size_t begin = tile * MASK_TILE, n = y->size - begin < MASK_TILE ? y->size - begin : MASK_TILE;
    const size_t whole = n / MASK_LANES * MASK_LANES;
    x += begin;
    to += begin;
    for (size_t i = 0; i < whole; i += MASK_LANES)
        for (size_t l = 0; l < MASK_LANES; l++) {
            const real value = x[i + l] * mask_factor(bits[l], (int)(i / MASK_LANES), kept);
            to[i + l] = add ? to[i + l] + value : value;
        }
    for (size_t i = whole; i < n; i++) {
        const real value = x[i] * mask_factor(bits[i % MASK_LANES], (int)(i / MASK_LANES), kept);
        to[i] = add ? to[i] + value : value;
    }
}

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const struct args *s = y->args;
    mask_stream mask = mask_skip(s->mask, from * MASK_TILE);
    for (size_t tile = from; tile < to; tile++) {
        mask_draw(&mask, MASK_STEPS, s->tiles + tile * MASK_LANES);
        apply(y, tile, y->in[0]->data, y->data, false);
    }
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    for (size_t tile = from; tile < to; tile++)
        apply(y, tile, y->grad, y->in[0]->grad, !y->in[0]->fresh);
}

GRA_KERNEL(forward_all, forward, y, tiles(y), 4 * MASK_TILE)
GRA_KERNEL(backward_all, backward, y, tiles(y), 2 * MASK_TILE)

gra_tensor *gra_dropout(gra_tape *t, gra_tensor *x, double p)
{
    static const gra_op op = { .name = "dropout", .forward = forward_all, .backward = backward_all,
                               .args = sizeof(struct args), .args_text = "p %g", .overwrites_grad = true,
                               .reads_no_inputs = true, .reads_no_result = true };
    if (GRA_BAD_INPUTS(t, "dropout", x))
        return gra_empty(t);
    if (!(p >= 0 && p <= 1))
        return gra_fail(t, "dropout: got p %g, expected a probability, 0 <= p <= 1", p);
    if (p > 0 && gra_tape_mode(t) == GRA_GRAD)
        gra_tape_no_dropout(t);
    if (gra_tape_mode(t) != GRA_TRAIN || p == 0 || x->size == 0)
        return x;
    if (p == 1)                                     /* as in PyTorch, no number is drawn */
        return gra_scale(t, x, 0);
    if (!gra_need_rng(t, "dropout"))
        return gra_empty(t);

    gra_tensor *y = gra_result_like(t, &op, x);
    struct args *s = y->args;
    s->p = p;
    s->mask = gra_alloc(t, sizeof *s->mask);
    s->tiles = gra_alloc(t, mask_bytes(tiles(y)));
    if (s->mask)
        *s->mask = mask_begin(gra_tape_rng(t), p, 1, MASK_LANES);
    return gra_run(y);
}
