/* dropout: in GRA_TRAIN y = x / (1 - p) with probability 1 - p, else 0 (Srivastava et al. 2014);
 * dx += dy times the same factor. In the other modes y is x itself.
 *
 * The mask is PyTorch's: one number of the generator starts a stream x_0, x_1 = a x_0 mod m, ...,
 * and element i is kept where x_i is below a limit. So the mask is not stored: backward draws it
 * again, and each chunk of work skips ahead to its own place in the stream. */
#include "../op.h"

struct args {
    uint32_t start, limit;
    real     kept;                                  /* 1 / (1 - p) */
};

/* The stream in LANES streams side by side, element i + LANES being a^LANES x_i mod m: a step of
 * all lanes is a vector operation. m = 2^31 - 1, so 2^31 is 1 mod m, and the remainder of a product
 * is its high and low 31 bits added. */
enum { LANES = 16 };
static const uint32_t m = 2147483647;

static inline void step_lanes(uint32_t *lane, uint32_t multiplier)
{
    for (int j = 0; j < LANES; j++) {
        uint64_t product = (uint64_t)lane[j] * multiplier;
        uint32_t sum = (uint32_t)(product >> 31) + (uint32_t)(product & m);
        lane[j] = sum < m ? sum : sum - m;
    }
}

/* to[i] = (add ? to[i] : 0) + x[i] factor_i for i in [from, end). */
static inline void mask(const struct args *drop, const real *x, real *to, size_t from, size_t end, bool add)
{
    uint32_t lane[LANES], multiplier = gra_bernoulli_skip(1, LANES);
    lane[0] = gra_bernoulli_skip(drop->start, from);
    for (int j = 1; j < LANES; j++)
        lane[j] = gra_bernoulli_next(lane[j - 1]);

    size_t i = from;
    for (; i + LANES <= end; i += LANES, step_lanes(lane, multiplier))
        for (int j = 0; j < LANES; j++) {
            real value = x[i + (size_t)j] * (lane[j] < drop->limit ? drop->kept : 0);
            to[i + (size_t)j] = add ? to[i + (size_t)j] + value : value;
        }
    for (int j = 0; i < end; i++, j++) {
        real value = x[i] * (lane[j] < drop->limit ? drop->kept : 0);
        to[i] = add ? to[i] + value : value;
    }
}

static void forward(gra_tensor *y, size_t from, size_t to)
{
    mask(y->args, y->in[0]->data, y->data, from, to, false);
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    mask(y->args, y->grad, y->in[0]->grad, from, to, true);
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
    if (!gra_tape_rng(t))
        return gra_fail(t, "dropout: there is no generator: hand one to gra_begin(t, GRA_TRAIN, &rng)");

    gra_tensor *y = gra_result_like(t, &op, x);
    *(struct args *)y->args = (struct args){
        .start = gra_bernoulli_start(gra_tape_rng(t)),
        .limit = gra_bernoulli_limit(p),
        .kept  = 1 / (real)(1 - p),
    };
    return gra_run(y);
}
