/* 29 rotary: the judge. */
#include "judge.h"
#include <math.h>
#include <string.h>

struct input {
    const double *x;
    int           batch, time, dim;
};

/* theta of pair i at position m of the text b. */
static double angle(const struct input *in, int b, int m, int i)
{
    const bool exchanged = in->dim > 2 && slip("position m and pair i are exchanged in theta");
    const int position = slip("positions are counted from 1: the first is 0") ? m + 1
        : in->batch > 1 && slip("the position is that of the first dimension: time is the last but one") ? b
        : exchanged ? i : m;
    const int pair = slip("pairs are counted from 1: the first is i = 0") ? i + 1 : exchanged ? m : i;
    const double exponent = pair / (double)in->dim
        * (slip("the power is 10000^(i / dim), or 100^(2i / dim): it should be 10000^(2i / dim)") ? 1
           : slip("the exponent is 4i / dim, or 2i / (dim/2): it should be 2i / dim") ? 4
           : slip("the exponent is 2i / (dim - 2): it should be 2i / dim") && in->dim > 2
           ? 2. * in->dim / (in->dim - 2)
           : slip("all pairs have the same angle, m: the division by 10000^(2i / dim) is missing, or that "
                  "power is 1 (in C, 2 * i / dim is 0 if all are int)") ? 0
           : slip("m is multiplied by 10000^(2i / dim): divide by it") ? -2 : 2)
        + (slip("the exponent is (2i + 1) / dim: it should be 2i / dim") ? 1. / in->dim : 0);
    const double base = slip("the base is 1000: it should be 10000")
        ? 1e3 : slip("the base is 100000: it should be 10000") ? 1e5 : 1e4;
    const double theta = position
        / (slip("theta is m / (10000 * 2i / dim): it should be m / 10000^(2i / dim)") ? base * exponent
           : pow(base, exponent));
    return slip("theta is multiplied by 2 pi: it is in radians as it is") ? theta * 2 * acos(-1)
         : slip("the position m is missing: it is multiplied by 1 / 10000^(2i / dim)") ? pow(base, -exponent)
         : slip("m is divided too, by time: theta is m / 10000^(2i / dim)") ? theta / in->time
         : slip("m is within the power: divide m by 10000^(2i / dim)") ? pow(position / base, exponent)
         : slip("theta was converted from degrees: it is already in radians") ? theta * acos(-1) / 180
         : slip("turned the other way round: exchange the signs of the two sines") ? -theta : theta;
}

/* theta of number j of position m, in a table laid out otherwise. */
static double misplaced(const struct input *in, int m, int j, bool kept)
{
    const int at = m * in->dim + j;
    const struct input first = { in->x, 1, 5, 6 };
    return kept ? (at < 30 ? angle(&first, 0, at / 6, at % 6 % 3) : 0)
                : angle(in, 0, at % in->time, at / in->time % (in->dim / 2));
}

/* y[to] and y[to_other] of the pair of numbers x[first] and x[second], which are turned by theta[0] and
 * theta[1]. */
static void turn(double *y, const double *x, int first, int second, int to, int to_other,
                 const double *theta, bool unset)
{
    const bool no_minus = slip("the sine is added in both lines: the first one needs a minus");
    const bool both_minus = slip("the sine is subtracted in both lines: the second one needs a plus");
    const bool own_twice = slip("each number uses its own value, times the sine: it needs its partner's");
    const bool joined = slip("the halves are joined as (first, -second): join (-second, first)");
    const bool plain = slip("x itself is multiplied by the sine: multiply (-second half, first half) by it");
    const bool still = slip("only the cosine term is there: the partner's, times the sine, is missing");
    const bool still_1 = slip("the first half is wrong: its sine term is missing");
    const bool still_2 = slip("the second half is wrong: its sine term is missing");
    const bool exchanged =
        slip("sine and cosine are exchanged: a number itself needs the cosine, its partner the sine");
    const bool one_turn = slip("only the first half is turned: the second is unchanged");
    const bool in_place = slip("the second line uses the first half's new numbers: it needs the old ones");
    const bool own_1 = slip("y_i uses x_i twice: its sine belongs to x_(i + dim/2)");
    const bool own_2 = slip("y_(i + dim/2) uses x_(i + dim/2) twice: its sine belongs to x_i");
    const bool cosines = slip("the partner is multiplied by the cosine too: it needs the sine");
    const bool nothing = slip("x is returned unchanged: nothing is turned");
    for (int line = 0; line < 2; line++) {
        const double own = x[line ? second : first], other = x[line ? first : second];
        const bool own_sine = own_twice || joined || plain || (line ? own_2 : own_1);
        const double partner = own_sine ? own : line && in_place ? y[to] : other;
        const bool no_c = unset || (line && slip("the cosines of the second half were never set"));
        const bool no_s = unset || (line && slip("the sines of the second half were never set"));
        const double c = no_c ? JUDGE_UNWRITTEN : exchanged ? sin(theta[line]) : cos(theta[line]);
        const double s = no_s ? JUDGE_UNWRITTEN
                       : exchanged ? cos(theta[line]) : cosines ? c : sin(theta[line]);
        const bool minus = line ? both_minus || joined : !no_minus && !joined && !plain;
        const double sine = still || (line ? still_2 : still_1) ? 0 : minus ? -s : s;
        y[line ? to_other : to] = nothing || (line && one_turn) ? own : own * c + partner * sine;
    }
}

static void turned(double *y, void *arg)
{
    const struct input *in = arg;
    const int dim = in->dim, half = dim / 2;
    const bool neighbours = slip("neighbours 2i and 2i + 1 are paired: pair i with i + dim/2");
    const bool mirrored = slip("i is paired with dim - 1 - i: its partner is i + dim/2");
    const bool back = slip("the halves were put back in exchanged order");
    const bool next =
        slip("i and i + dim/2 are paired, but the angles are laid out for neighbours 2i, 2i + 1");
    const bool go_on = slip("the angles of the second half continue with i = dim/2: both numbers of a pair "
                            "must have the same angle");
    const bool turned_table =
        slip("a table of angles is laid out as (dim, time): number j of position m is at [m * dim + j]");
    const bool no_0 = slip("the angles of position 0 were never set: the loop over m begins at 0");
    const bool no_pair = slip("the angles of pair 0 were never set: the loop over i begins at 0");
    const bool kept = in->dim != 6
        && slip("the cosines and sines are those of the first x, of another size: each x has its own");
    for (int m = 0; m < in->batch * in->time; m++)
        for (int i = 0; i < half; i++) {
            const int row = m * dim, p = row + (neighbours ? 2 * i : i);
            const int q = neighbours ? p + 1 : mirrored ? row + dim - 1 - i : p + half;
            const int b = m / in->time, at = m % in->time;
            const double first = kept || turned_table ? misplaced(in, at, i, kept)
                               : angle(in, b, at, next ? i / 2 : i);
            const double second = kept || turned_table ? misplaced(in, at, i + half, kept)
                : next || go_on ? angle(in, b, at, next ? (i + half) / 2 : i + half) : first;
            turn(y, in->x, p, q, back ? q : p, back ? p : q, (const double[]){ first, second },
                 (no_0 && at == 0) || (no_pair && i == 0));
        }
}

/* A clue: how the answer's y depends on x, at the first place where that is wrong. It is linear, so a 1 in
 * one column shows that column's factors. */
static void factors(void)
{
    enum { TIME = 3, DIM = 6, HALF = DIM / 2 };
    double by[DIM][TIME * DIM];                         /* of column c, in each y */
    const gra_shape shape = GRA_SHAPE(TIME, DIM);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    for (int c = 0; c < DIM; c++) {
        double x[TIME * DIM] = { 0 };
        for (int m = 0; m < TIME; m++)
            x[m * DIM + c] = 1;
        gra_begin(t, GRA_GRAD, NULL);
        memcpy(by[c], judge_tensor(t, "y", rotary(t, gra_input(t, x, shape)), shape), sizeof by[c]);
    }
    gra_close(t);
    for (int at = 0; at < TIME * DIM; at++) {
        const int m = at / DIM, c = at % DIM, i = c % HALF, partner = (c + HALF) % DIM;
        const double theta = m / pow(10000, 2.0 * i / DIM), a = cos(theta), b = c < HALF ? -sin(theta)
                           : sin(theta);
        for (int other = 0; other < DIM; other++)
            if (other != c && other != partner && fabs(by[other][at]) > 1e-9)
                judge_clue("with dim %d, at position %d, x_%d contributes to y_%d, which depends only on "
                           "x_%d and x_%d", DIM, m, other, c, i, i + HALF);
        if (fabs(by[c][at] - a) > 1e-9 || fabs(by[partner][at] - b) > 1e-9)
            judge_clue("with dim %d, at position %d, theta of pair %d is %.9g; your y_%d is %.9g x_%d %+.9g "
                       "x_%d, expected the factors cos(theta) = %.9g and %ssin(theta) = %.9g", DIM, m, i,
                           theta, c, by[c][at], c, by[partner][at], partner, a, c < HALF ? "-" : "", b);
    }
}

/* Does gradus refuse what the answer does with an x of this shape? */
static bool refused(gra_shape shape)
{
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    rotary(t, gra_zeros(t, shape));
    const bool error = gra_error(t);
    gra_close(t);
    return error;
}

/* If only x of two, or only x of three dimensions is refused, time or dim is taken from the wrong one. */
static void of_any_dimensions(const gra_tape *t)
{
    const bool two = gra_error(t) && refused(GRA_SHAPE(5, 6));
    const bool three = gra_error(t) && refused(GRA_SHAPE(3, 5, 6));
    if (two != three)
        judge_wrong("y: gradus refused: %s\nso it is if x is %s, but not if it is %s: time is dimension -2 "
                    "of x, and dim is -1, however many x has", gra_error(t), two ? "(5, 6)" : "(3, 5, 6)",
                    two ? "(3, 5, 6)" : "(5, 6)");
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return rotary(t, in[0]);
}

/* gra_check watches the ends of all memory of a step, also of what the answer gets by gra_alloc. */
static void memory(void)
{
    gra_check_report report;
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_check(t, &(gra_check_options){ .nin = 1, .f = f,
                  .in = &(gra_check_in){ .name = "x", .shape = GRA_SHAPE(3, 4) } }, &report);
    if (strstr(report.text, "f itself"))
        judge_wrong("memory of gra_alloc was written past an end: ask for sizeof(double) bytes for each "
                    "number; a table (time, dim) has numbers 0 to time * dim - 1");
    gra_close(t);
}

static void numbers(const char *part, uint64_t seed, int batch, int time, int dim)
{
    judge_part("%s", part);
    struct input in = { judge_draw(seed, (size_t)(batch * time * dim), -2, 2), batch, time, dim };
    const gra_shape shape = batch > 1 ? GRA_SHAPE(batch, time, dim) : GRA_SHAPE(time, dim);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *x = gra_input(t, in.x, shape);
    gra_tensor *made = rotary(t, x);
    of_any_dimensions(t);
    const double *y = judge_tensor(t, "y", made, shape);
    memory();
    judge_unchanged("x->data", x->data, in.x, x->size);
    factors();
    judge_against("y", shape, y, 1e-9, turned, &in);
    gra_close(t);
}

/* What LLaMA's rotary gives for x = arange(8) / 8 - 0.4, shape (2, 4), by torch.float64:
 * inv = 1 / 10000 ** (torch.arange(0, 4, 2) / 4); a = torch.outer(torch.arange(2), inv); a = torch.cat((a,
 * a), -1)
 *     y = x * a.cos() + torch.cat((-x[..., 2:], x[..., :2]), -1) * a.sin() */
static void torch_numbers(void)
{
    const double x[8] = { -0.4, -0.275, -0.15, -0.025, 0.1, 0.225, 0.35, 0.475 };
    const double want[8] = { -0.4, -0.275, -0.15, -0.025, -0.2404846141, 0.2202388293, 0.2732529055,
                             0.4772262127 };
    judge_part("LLaMA's numbers, by PyTorch");
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    const gra_shape shape = GRA_SHAPE(2, 4);
    judge_numbers("y", shape, judge_tensor(t, "y", rotary(t, gra_input(t, x, shape)), shape), want, 1e-7);
    gra_close(t);
}

void judge_exercise(void)
{
    numbers("three pairs, five positions", 2, 1, 5, 6);
    numbers("one pair, seven positions", 1, 1, 7, 2);
    torch_numbers();
    numbers("a batch of three texts", 3, 3, 5, 8);
    numbers("many positions", 4, 1, 70, 4);
    judge_part("gradient");
    const gra_check_in x = { .name = "x", .shape = GRA_SHAPE(2, 3, 4) };
    judge_gradients(GRA_GRAD, NULL, NULL, 1, &x, f, NULL);
}
