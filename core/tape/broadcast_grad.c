/* broadcast_grad: the gradient of an operand that was broadcast to the shape of a result y. Several elements
 * of y used the same element of the operand; its gradient is the sum over these elements. */
#include "tape.h"
#include "../kern/sums.h"

/* Some dimensions of y; neighbours that are contiguous in memory are merged. */
struct dims {
    int    n;
    size_t size[GRA_MAX_DIMS], stride[GRA_MAX_DIMS];
};

static void add_dim(struct dims *d, size_t size, size_t stride)     /* from the last dimension to the first */
{
    if (d->n && stride == d->size[d->n - 1] * d->stride[d->n - 1])
        d->size[d->n - 1] *= size;
    else {
        d->size[d->n] = size;
        d->stride[d->n++] = stride;
    }
}

static size_t offset(const struct dims *d, int from, size_t i)      /* of element i of dimensions `from` on */
{
    size_t at = 0;
    for (int k = from; k < d->n; i /= d->size[k], k++)
        at += i % d->size[k] * d->stride[k];
    return at;
}

struct job {
    const real *wide;                   /* gradients of y's shape */
    real       *grad;                   /* of the operand */
    size_t      size;
    struct dims kept, summed;           /* the dimensions of y that the operand has, and the rest */
    size_t      outer;                  /* elements of `summed` without the first, innermost dimension */
    bool        fresh;                  /* grad is uninitialised */
};

static struct job job_of(gra_shape y, const gra_tensor *x, const real *wide)
{
    struct job s = { .wide = wide, .grad = x->grad, .size = x->size, .outer = 1, .fresh = x->fresh };
    size_t stride = 1;
    for (int d = 1; d <= y.ndim; d++) {
        const size_t n = (size_t)y.dim[y.ndim - d];
        const bool kept = d <= x->shape.ndim && x->shape.dim[x->shape.ndim - d] != 1;
        if (n != 1)
            add_dim(kept ? &s.kept : &s.summed, n, stride);
        stride *= n;
    }
    for (int d = 1; d < s.summed.n; d++)
        s.outer *= s.summed.size[d];
    return s;
}

/* Are neighbours in the operand also neighbours in y? Then a block of neighbours is summed side by side. */
static bool contiguous(const struct job *s) { return s->kept.n && s->kept.stride[0] == 1; }
static size_t block(const struct job *s)    { return contiguous(s) ? SUMS_WIDTH : 1; }

/* Sums the gradients of the operand's elements in these blocks. */
static void add_sums(struct job *s, size_t from, size_t to)
{
    const size_t end = to * block(s) < s->size ? to * block(s) : s->size;
    for (size_t i = from * block(s), width; i < end; i += width) {
        const size_t row = contiguous(s) ? s->kept.size[0] - i % s->kept.size[0] : 1;
        const real *g = s->wide + offset(&s->kept, 0, i);
        double sum[SUMS_WIDTH];
        width = row < end - i ? row : end - i;
        width = width < SUMS_WIDTH ? width : SUMS_WIDTH;
        memset(sum, 0, width * sizeof *sum);
        for (size_t o = 0; o < s->outer; o++)
            sum_rows(g + offset(&s->summed, 1, o), s->summed.size[0], s->summed.stride[0], width, sum);
        for (size_t j = 0; j < width; j++)
            s->grad[i + j] = (s->fresh ? 0 : s->grad[i + j]) + (real)sum[j];
    }
}

GRA_VARIANTS(add_sums_on, add_sums, struct job)

/* Runs the kernel with copies in place of the stretched inputs, from input i on; the copies' gradients have
 * y's shape. If the op overwrites fresh gradients (.overwrites_grad), these need no zeros. */
static void run(gra_tensor *y, int i, size_t cost, gra_work *const variant[GRA_ISAS])
{
    gra_machine *machine = gra_tape_machine(y->tape);
    while (i < y->nin && (!y->in[i] || !y->in[i]->grad || y->in[i]->size == y->size))
        i++;
    if (i == y->nin) {
        gra_kernel(machine, y, y->size, cost, variant);
        return;
    }
    gra_tensor *x = y->in[i], stand_in = *x;
    stand_in.size = y->size;
    stand_in.grad = gra_grad_take(y->tape, y->size);
    if (!stand_in.grad)
        return;
    stand_in.fresh = y->op->overwrites_grad;
    if (!stand_in.fresh)
        memset(stand_in.grad, 0, y->size * sizeof(real));
    y->in[i] = &stand_in;
    run(y, i + 1, cost, variant);
    y->in[i] = x;
    struct job s = job_of(y->shape, x, stand_in.grad);
    gra_share(machine, &s, (x->size + block(&s) - 1) / block(&s), y->size / x->size * block(&s),
              gra_variant(machine, add_sums_on));
    gra_grad_give_back(y->tape, y->size, stand_in.grad);
}

void gra_broadcast_kernel(gra_tensor *y, size_t cost, gra_work *const variant[GRA_ISAS])
{
    if (y->size)
        run(y, 0, cost, variant);
    else
        gra_zero_fresh(y);
}
