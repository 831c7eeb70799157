/* 38 conv1d: the judge. */
#include "answer.h"

static void length(const struct judge_call *c)
{
    for (int s = 0; s < c->size[0]; s++)
        c->out[0][s] = conv1d_length(&(struct conv1d){ 1, 1, c->ids[1][s], c->ids[2][s], c->ids[3][s] },
                                     c->ids[0][s]);
}

static const struct judge_answer places = {
    .sizes = { "s many" }, .telling = { 20 }, .call = length,
    .in = { "int length[s] in 0..12  # length", "int kernel[s] in 1..6  # kernel",
            "int stride[s] in 1..4  # stride", "int padding[s] in 0..3  # padding" },
    .out = { "m[s]" }, .lines =
        "room[s] = length[s] + 2 * padding[s] - kernel[s]\n"
        "m[s] = [room[s] < 0] ? 0 : floor(room[s] / stride[s]) + 1\n", .special = {
        { "the division is rounded up, but the rest at the end is too short for a place: round down",
          "m[s] = [room[s] < 0] ? 0 : floor((room[s] + stride[s] - 1) / stride[s]) + 1" } } };

#define HOW (&(struct conv1d){ c->size[1], c->size[0], c->size[2], c->ids[4][0], c->ids[5][0] })
CALLS(forward, conv1d(HOW, c->in[0], c->in[1], c->in[2], c->out[0], c->size[4]))
CALLS(backward, conv1d_backward(HOW, c->in[0], c->in[1], c->in[3], c->out[2], c->out[1], c->out[0],
      c->size[4]))

#define CONV .sizes = { "o out", "c in", "k kernel", "t m", "i length" }, .telling = { 2, 3, 4, 5, 11 }, \
    .in = { "x[c,i]", "w[o,c,k]", "b[o]", "dy[o,t]", "int stride in 2..2", "int padding in 1..1" }
#define AT "at[t,k] = t * stride + k - padding                  # the place in x\n"
#define INSIDE "[at[t,k] >= 0] * [at[t,k] < length]"

static const struct judge_answer conv = {
    CONV, .call = forward, .out = { "y[o,t]" }, .lines = AT
        "y[o,t] = b[o] + sum(c, sum(k, " INSIDE " * w[o,c,k] * x[c,at[t,k]]))\n", .special = {
        { "the kernel is reversed: multiply w[k] by x[t stride + k - padding]",
          "y[o,t] = b[o] + sum(c, sum(k, " INSIDE " * w[o,c,kernel - 1 - k] * x[c,at[t,k]]))" },
        { "the kernel is spread out: its numbers should be 1 apart, and its places stride apart",
          "at[t,k] = t + k * stride - padding" } } };

static const struct judge_answer back = {
    CONV, .call = backward, .out = { "db[o] +=", "dw[o,c,k] +=", "dx[c,i] +=" }, .lines = AT
        "db[o] = db0[o] + sum(t, dy[o,t])\n"
        "dw[o,c,k] = dw0[o,c,k] + sum(t, " INSIDE " * dy[o,t] * x[c,at[t,k]])\n"
        "dx[c,i] = dx0[c,i] + sum(o, sum(t, sum(k, [at[t,k] = i] * dy[o,t] * w[o,c,k])))\n", .special = {
        { "the kernel is reversed: let each product w x add dy w to the gradient of its own x",
          "dx[c,i] = dx0[c,i]"
          " + sum(o, sum(t, sum(k, [at[t,k] = i] * dy[o,t] * w[o,c,kernel - 1 - k])))" } } };

/* The numbers of PyTorch's conv1d. */
static void torch(void)
{
    static const double x[] = { -0.5, 0.75, -0.25, 1, 0, -1, 0.25, -0.75, 0.5, -0.5, 0.75, -0.25 };
    static const double w[] = { 0, -0.5, 0.375, -0.125, -0.625, 0.25, -0.25, 0.625, 0.125, -0.375, 0.5, 0,
                                -0.5, 0.375, -0.125, -0.625, 0.25, -0.25 }, b[] = { 0.5, -1, 0.25 };
    static const double y[] = { 0.6875, 0.65625, -0.34375, -1.09375, -0.6875, -0.8125, 0.21875, 0.375,
                                0.4375 };
    double *got = judge_room(9);
    judge_part("PyTorch's numbers");
    conv1d(&(struct conv1d){ 2, 3, 3, 2, 1 }, x, w, b, got, 6);
    judge_numbers("y", GRA_SHAPE(3, 3), got, y, 1e-12);
}

static void both(const char *part, struct conv1d c, int length_of_x, bool held)
{
    const double stride = c.stride, padding = c.padding, zero[64] = { 0 };
    const int m = (length_of_x + 2 * c.padding - c.kernel) / c.stride + 1;
    struct judge_case k = CASE(part, { c.out, c.in, c.kernel, m, length_of_x },
                               .in = { [4] = &stride, &padding });
    judge_case(&conv, k);
    for (int i = 0; i < 3 && !held; i++)
        k.held[i] = zero;
    judge_case(&back, k);
}

void judge_exercise(void)
{
    const double n[] = { 4, 4, 5, 5, 10, 3, 3, 6 }, k[] = { 3, 3, 3, 2, 4, 5, 5, 6 };
    const double s[] = { 1, 2, 2, 3, 3, 1, 2, 2 }, p[] = { 1, 1, 0, 0, 2, 0, 1, 0 };
    judge_case(&places, (struct judge_case)CASE("conv1d_length", { 8 }, .in = { n, k, s, p }));
    judge_case(&places, (struct judge_case)CASE("conv1d_length, other sizes", { 20 }));
    both("one channel", (struct conv1d){ 1, 1, 3, 1, 0 }, 7, false);
    both("several channels", (struct conv1d){ 2, 3, 2, 1, 0 }, 6, false);
    both("padding", (struct conv1d){ 2, 3, 4, 1, 2 }, 5, false);
    both("stride", (struct conv1d){ 3, 2, 2, 3, 0 }, 10, false);
    both("stride and padding, gradients not 0 before", (struct conv1d){ 2, 4, 3, 2, 1 }, 8, true);
    both("a kernel of one number", (struct conv1d){ 2, 2, 1, 2, 1 }, 5, true);
    torch();
}
