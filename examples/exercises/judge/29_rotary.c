/* 29 rotary: the judge. */
#include "judge.h"
#include <math.h>
#include <string.h>

enum slip {
    NEIGHBOURS = 1, BACKWARDS, NO_MINUS, BOTH_MINUS, FIRST_1, LESS_1, LESS_MINUS_2, BY_HALF, LESS_2,
    LESS_4, BASE_1000, BASE_100000, NO_BASE, BY_BATCH, EXCHANGED, OWN, STILL, STILL_1, STILL_2, SIN_COS,
    ONE_TURN, ANGLES_NEXT, ANGLES_GO_ON, DEGREES, PAIR_1, IN_PLACE, COS_ALL, MIRRORED, BACK, AS_IT_CAME
};

static const char *const says[] = { "",
    [NEIGHBOURS] = "neighbours 2i and 2i + 1 are paired; here i is paired with i + dim/2",
    [BACKWARDS] = "turned the other way round: the signs of the two sines are exchanged",
    [NO_MINUS] = "the sine is added in both lines: the first one wants a minus",
    [BOTH_MINUS] = "the sine is subtracted in both lines: the second one wants a plus",
    [FIRST_1] = "the first position is 0, not 1",
    [LESS_1] = "the exponent is 2i / dim, not i / dim",
    [LESS_MINUS_2] = "the exponent is 2i / dim; i runs over pairs, not in steps of two",
    [BY_HALF] = "the exponent is 2i / dim, with dim the whole width, not its half",
    [LESS_2] = "all pairs have the same angle, m: the division by 10000^(2i / dim) is missing, or that power "
               "is 1 (2 * i / dim is 0 in C where all are int)",
    [LESS_4] = "pair i is divided by 10000^(2i / dim), not multiplied",
    [BASE_1000] = "the base is 10000, not 1000",
    [BASE_100000] = "the base is 10000, not 100000",
    [NO_BASE] = "theta is m / (10000 * 2i / dim) here: 10000 is raised to a power, not multiplied",
    [BY_BATCH] = "the position is taken from the first dimension; time is the last but one",
    [EXCHANGED] = "position m and pair i are exchanged in theta",
    [OWN] = "each number is added to its own number, times the sine: it wants its partner's",
    [STILL] = "only the cosine's part is there: the partner's, times the sine, is missing",
    [STILL_1] = "the first half is wrong: its sine's part is missing",
    [STILL_2] = "the second half is wrong: its sine's part is missing",
    [SIN_COS] = "sine and cosine are exchanged: a number itself wants the cosine, its partner the sine",
    [ONE_TURN] = "only the first half is turned: the second is as it came",
    [ANGLES_NEXT] = "i and i + dim/2 are paired, but the angles are laid out for neighbours 2i, 2i + 1",
    [ANGLES_GO_ON] = "the angles of the second half go on with i = dim/2 and so on: both numbers of a pair have one angle",
    [DEGREES] = "theta is in radians already: here it was taken for degrees",
    [PAIR_1] = "the first pair is i = 0, not 1",
    [IN_PLACE] = "the second line uses the first half's new numbers: it wants the old ones",
    [COS_ALL] = "the partner is multiplied by the cosine, too: it wants the sine",
    [MIRRORED] = "i is paired with dim - 1 - i: its partner is i + dim/2",
    [BACK] = "the halves were put back in exchanged order",
    [AS_IT_CAME] = "x is handed back as it came: nothing is turned", NULL };

struct input {
    const double *x;
    int           batch, time, dim;
};

#define HAS(s) ((slips >> (s) & 1) != 0)

static double angle(uint64_t slips, const struct input *in, int b, int m, int i)
{
    const double two = HAS(LESS_1) ? 1 : HAS(LESS_MINUS_2) ? 4 : HAS(LESS_2) ? 0 : HAS(LESS_4) ? -2 : 2;
    const double position = (HAS(BY_BATCH) ? b : HAS(EXCHANGED) ? i : m) + HAS(FIRST_1);
    const double pair = (HAS(EXCHANGED) ? m : i) + HAS(PAIR_1);
    const double exponent = two * pair / (HAS(BY_HALF) ? in->dim / 2 : in->dim);
    const double base = HAS(BASE_1000) ? 1e3 : HAS(BASE_100000) ? 1e5 : 1e4;
    return position / (HAS(NO_BASE) ? base * exponent : pow(base, exponent)) * (HAS(DEGREES) ? acos(-1) / 180 : 1)
         * (HAS(BACKWARDS) ? -1 : 1);
}

static void turned(uint64_t slips, double *y, void *arg)
{
    const struct input *in = arg;
    const double *x = in->x;
    const int dim = in->dim, half = dim / 2;
    for (int b = 0; b < in->batch; b++)
        for (int m = 0; m < in->time; m++)
            for (int i = 0; i < half; i++) {
                const int row = (b * in->time + m) * dim, p = row + (HAS(NEIGHBOURS) ? 2 * i : i);
                const int q = HAS(NEIGHBOURS) ? p + 1 : HAS(MIRRORED) ? row + dim - 1 - i : p + half;
                const int to_p = HAS(BACK) ? q : p, to_q = HAS(BACK) ? p : q;
                for (int k = 0; k < 2; k++) {           /* the two lines */
                    const int own = k ? q : p, other = k ? p : q;
                    const double theta = angle(slips, in, b, m, HAS(ANGLES_NEXT) ? (k ? i + half : i) / 2
                                                                : HAS(ANGLES_GO_ON) && k ? i + half : i);
                    const double c = HAS(SIN_COS) ? sin(theta) : cos(theta);
                    const double s = HAS(SIN_COS) ? cos(theta) : sin(theta);
                    const bool minus = k ? HAS(BOTH_MINUS) : !HAS(NO_MINUS);
                    const bool still = HAS(STILL) || HAS(k ? STILL_2 : STILL_1);
                    const double partner = HAS(OWN) ? x[own] : k && HAS(IN_PLACE) ? y[to_p] : x[other];
                    y[k ? to_q : to_p] = HAS(AS_IT_CAME) || (k && HAS(ONE_TURN)) ? x[own]
                                       : x[own] * c + (still ? 0 : minus ? -partner : partner) * (HAS(COS_ALL) ? c : s);
                }
            }
}

/* How the answer's y is made from x, at the first place where that is wrong: it is linear, so a 1 in one column
 * shows that column's factors. "" where all are right. */
static void factors(char *text, size_t room)
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
    text[0] = 0;
    for (int at = 0; at < TIME * DIM && !text[0]; at++) {
        const int m = at / DIM, c = at % DIM, i = c % HALF, partner = (c + HALF) % DIM;
        const double theta = m / pow(10000, 2.0 * i / DIM), a = cos(theta), b = c < HALF ? -sin(theta) : sin(theta);
        for (int other = 0; other < DIM && !text[0]; other++)
            if (other != c && other != partner && fabs(by[other][at]) > 1e-9)
                snprintf(text, room, "with dim %d, at position %d, x_%d has a share in y_%d, which is made from x_%d "
                         "and x_%d alone", DIM, m, other, c, i, i + HALF);
        if (!text[0] && (fabs(by[c][at] - a) > 1e-9 || fabs(by[partner][at] - b) > 1e-9))
            snprintf(text, room, "with dim %d, at position %d, theta of pair %d is %.4g; your y_%d is %.4g x_%d %+.4g "
                     "x_%d, wanted are the factors cos(theta) = %.4g and %ssin(theta) = %.4g", DIM, m, i, theta, c,
                     by[c][at], c, by[partner][at], partner, a, c < HALF ? "-" : "", b);
    }
}

static void numbers(const char *part, uint64_t seed, int batch, int time, int dim)
{
    judge_part("%s", part);
    struct input in = { judge_draw(seed, (size_t)(batch * time * dim), -2, 2), batch, time, dim };
    const gra_shape shape = batch > 1 ? GRA_SHAPE(batch, time, dim) : GRA_SHAPE(time, dim);
    char otherwise[300];
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    const double *y = judge_tensor(t, "y", rotary(t, gra_input(t, in.x, shape)), shape);
    factors(otherwise, sizeof otherwise);
    judge_slips("y", shape, y, 1e-9, says, turned, &in, otherwise[0] ? otherwise : NULL);
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
    numbers("three pairs, four positions", 2, 1, 4, 6);
    numbers("one pair, three positions", 1, 1, 3, 2);
    torch_numbers();
    numbers("a batch of three texts", 3, 3, 5, 8);
    numbers("many positions", 4, 1, 70, 4);
    judge_part("gradient");
    const gra_check_in x = { .name = "x", .shape = GRA_SHAPE(2, 3, 4) };
    judge_gradients(GRA_GRAD, NULL, NULL, 1, &x, f, NULL);
}
