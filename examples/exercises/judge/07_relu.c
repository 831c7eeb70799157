/* 07 relu: the judge. */
#include "answer.h"
#include <math.h>

MAKES(f, my_relu(t, in[0]))

/* OF: the indices of x. */
#define RELU(OF, ...) { .sizes = { __VA_ARGS__ }, .telling = { 5, 4, 3 }, .f = f, .op = "my_relu", \
    .in = { "x" OF }, .out = { "y" OF }, \
    .lines = "y" OF " = max(x" OF ", 0)\n\n" "dx" OF " = dy" OF " * [x" OF " > 0]\n", .special = { \
        { "negative numbers become positive, but should become 0", "y" OF " = abs(x" OF ")" }, \
        { "this is 1 where x is positive, but should be x itself", "y" OF " = [x" OF " > 0]" }, \
        { "negative numbers are multiplied by %, but should become 0", \
          "y" OF " = 0.01 * min(x" OF ", 0) + max(x" OF ", 0)" }, \
        { "numbers above % are cut, but should pass", "y" OF " = min(6, max(x" OF ", 0))" }, \
        { "this is max(x, %), but should be max(x, 0)", "y" OF " = max(1, x" OF ")" }, \
        { "half of dy passes where x is 0, but the gradient should be 0 there", \
          "dx" OF " = dy" OF " * ([x" OF " > 0] + [x" OF " = 0] / 2)" } } }
static const struct judge_answer line = RELU("[i]", "i n"), block = RELU("[i,j,k]", "i n", "j m", "k p");

static void checked(const struct judge_call *c)
{
    for (int k = 0; k < c->size[0]; k++)
        c->out[0][k] = can_be_checked(c->in[0][k], c->in[1][k]);
}

static const struct judge_answer condition = {
    .sizes = { "k many" }, .telling = { 12 }, .call = checked, .in = { "x[k] in -1..1", "h[k] in 0.1..0.9" },
    .out = { "can_be_checked[k]" }, .lines = "can_be_checked[k] = [abs(x[k]) >= h[k]]\n", .special = {
        { "this is false for all x to the right of the kink, but relu is a straight line there too",
          "can_be_checked[k] = [x[k] <= -h[k]]" },
        { "this is false only at x = 0, but near 0, too, the points are on both sides of the kink",
          "can_be_checked[k] = [x[k] != 0]" },
        { "this is always true, but should be false where x - h and x + h are on both sides of the kink",
          "can_be_checked[k] = 1" },
        { "this asks for 2h between x and the kink: h is enough",
          "can_be_checked[k] = [abs(x[k]) >= 2 * h[k]]" },
        { "this is true at 0, where the difference is 1/2 for every h, but the gradient is 0",
          "can_be_checked[k] = max([x[k] = 0], [abs(x[k]) >= h[k]])" } } };

/* Runs forward once more, with guards in the memory past y's end. */
static void ends(const double *x, int n)
{
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    judge_part("no more numbers than y has");
    gra_tensor *in = gra_input(t, x, GRA_SHAPE(n)), again = *my_relu(t, in);
    again.data = judge_room((size_t)n);
    again.op->forward(&again);
    judge_guarded("y", again.data, (size_t)n);
    gra_close(t);
}

void judge_exercise(void)
{
    static const double positive[] = { 0.5, 2, 3.25 }, negative[] = { -0.5 };
    static const double kinked[] = { -2, 3, -0.5, 0.25, 0, 1.75, -1e-12, 1e-12, -7, 0, 12, 1.5 };
    static const double x[] = { 2, -2, 0, 0.03, -0.03, 0.25, -0.25, 0.3, -0.45, 1e-5, 1.75, -1.75 };
    static const double h[] = { 0.1, 0.1, 0.1, 0.1, 0.1, 0.25, 0.25, 0.25, 0.25, 1e-6, 2, 2 };
    CASES(&line,
        CASE("positive numbers", { 3 }, .in = { positive }),
        CASE("both signs, and 0", { 12 }, .in = { kinked }),
        CASE("one negative number", { 1 }, .in = { negative }));
    ends(positive, 3);
    CASES(&line,
        CASE("gradient of both signs, and where x is 0", { 12 }, .in = { kinked }, .gradients = true),
        CASE("gradient", { 12 }, .gradients = true));
    CASES(&block,
        CASE("x of three dimensions", { 2, 3, 4 }, .gradients = true,
            .says = "x may have any shape: y->size is the number of its elements"));
    judge_end(&block);
    for (int k = 0; k < 12; k++) {
        const double up = fmax(x[k] + h[k], 0), down = fmax(x[k] - h[k], 0);
        char part[60];
        snprintf(part, sizeof part, "can_be_checked(%g, %g)", x[k], h[k]);
        if (can_be_checked(x[k], h[k]) != (fabs(x[k]) >= h[k])) {
            judge_clue("relu(%g) is %g and relu(%g) is %g, the difference over 2h is %g, and the gradient "
                       "at %g is %d", x[k] + h[k], up, x[k] - h[k], down,
                       (up - down) / (2 * h[k]), x[k], x[k] > 0);
            judge_case(&condition, (struct judge_case)CASE(part, { 12 }, .in = { x, h }));
        }
        judge_part("%s", part);
    }
}
