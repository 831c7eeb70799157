/* 29 rotary: the judge. */
#include "judge.h"
#include <math.h>

/* The formula, with what a mistake changes in it; all zeros: right. */
struct form {
    bool   neighbours;                  /* pairs 2i and 2i + 1 */
    bool   backwards;                   /* turned by -theta */
    int    first;                       /* position of the first row */
    double less;                        /* taken from the 2 in the exponent 2i / dim */
    bool   base_1000;
    bool   by_half;                     /* the exponent is over dim/2 */
    bool   no_minus;                    /* x sin is added in both lines */
    bool   by_batch;                    /* the angle grows along the first dimension */
    bool   own;                         /* each number is multiplied by its own sine */
    bool   still;                       /* the sine's part is left out */
};

static double *turned(const double *x, int batch, int time, int dim, struct form f)
{
    double *y = judge_room((size_t)(batch * time * dim));
    for (int b = 0; b < batch; b++)
        for (int m = 0; m < time; m++)
            for (int i = 0; i < dim / 2; i++) {
                const int p = (b * time + m) * dim + (f.neighbours ? 2 * i : i);
                const int q = f.neighbours ? p + 1 : p + dim / 2;
                const double exponent = (2 - f.less) * i / (f.by_half ? dim / 2 : dim);
                const double theta = ((f.by_batch ? b : m) + f.first) / pow(f.base_1000 ? 1000 : 10000, exponent);
                const double c = cos(theta), s = f.still ? 0 : f.backwards ? -sin(theta) : sin(theta);
                y[p] = x[p] * c + (f.no_minus || f.own ? 1 : -1) * x[f.own ? p : q] * s;
                y[q] = x[q] * c + x[f.own ? q : p] * s;
            }
    return y;
}

#define FORM(...) turned(x, batch, time, dim, (struct form){ __VA_ARGS__ })

static void numbers(const char *part, uint64_t seed, int batch, int time, int dim)
{
    judge_part("%s", part);
    const double *x = judge_draw(seed, (size_t)(batch * time * dim), -2, 2);
    const gra_shape shape = batch > 1 ? GRA_SHAPE(batch, time, dim) : GRA_SHAPE(time, dim);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    const double *y = judge_tensor(t, "y", rotary(t, gra_input(t, x, shape)), shape);
    judge_numbers("y", shape, y, turned(x, batch, time, dim, (struct form){ .first = 0 }), 1e-9, JUDGE_MISTAKES(
        { "x is handed back as it came: nothing is turned", x },
        { "neighbours 2i and 2i + 1 are paired; here i is paired with i + dim/2", FORM(.neighbours = true) },
        { "turned the other way round: the signs of the two sines are exchanged", FORM(.backwards = true) },
        { "the sine is added in both lines: the first one wants a minus", FORM(.no_minus = true) },
        { "the first position is 0, not 1", FORM(.first = 1) },
        { "the exponent is 2i / dim, not i / dim", FORM(.less = 1) },
        { "the exponent is 2i / dim; i runs over pairs, not in steps of two", FORM(.less = -2) },
        { "the exponent is 2i / dim, with dim the whole width, not its half", FORM(.by_half = true) },
        { "all pairs have the same angle, m: the division by 10000^(2i / dim) is missing", FORM(.less = 2) },
        { "pair i is divided by 10000^(2i / dim), not multiplied", FORM(.less = 4) },
        { "the base is 10000, not 1000", FORM(.base_1000 = true) },
        { "the position is taken from the first dimension; time is the last but one", FORM(.by_batch = true) },
        { "each number is added to its own number, times the sine: it wants its partner's", FORM(.own = true) },
        { "only the cosine's part is there: the partner's, times the sine, is missing", FORM(.still = true) }));
    gra_close(t);
}

/* What LLaMA's rotary gives for x = arange(8) / 8 - 0.4, shape (2, 4), by torch.float64:
 *     inv = 1 / 10000 ** (torch.arange(0, 4, 2) / 4); a = torch.outer(torch.arange(2), inv); a = torch.cat((a, a), -1)
 *     y = x * a.cos() + torch.cat((-x[..., 2:], x[..., :2]), -1) * a.sin() */
static void torch_numbers(void)
{
    const double x[8] = { -0.4, -0.275, -0.15, -0.025, 0.1, 0.225, 0.35, 0.475 };
    const double want[8] = { -0.4, -0.275, -0.15, -0.025, -0.2404846141, 0.2202388293, 0.2732529055, 0.4772262127 };
    judge_part("LLaMA's numbers, by PyTorch");
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    const gra_shape shape = GRA_SHAPE(2, 4);
    judge_numbers("y", shape, judge_tensor(t, "y", rotary(t, gra_input(t, x, shape)), shape), want, 1e-7, NULL);
    gra_close(t);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return rotary(t, in[0]);
}

void judge_exercise(void)
{
    numbers("one pair, three positions", 1, 1, 3, 2);
    numbers("three pairs, four positions", 2, 1, 4, 6);
    torch_numbers();
    numbers("a batch of three texts", 3, 3, 5, 8);
    numbers("many positions", 4, 1, 70, 4);
    judge_part("gradient");
    const gra_check_in x = { .name = "x", .shape = GRA_SHAPE(2, 3, 4) };
    judge_gradients(GRA_GRAD, NULL, NULL, 1, &x, f, NULL);
}
