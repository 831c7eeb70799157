/* 29 rotary: the judge. In the formula dim is two dimensions: the two halves, and the pairs. */
#include "answer.h"

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    const int *n = ((const struct judge_call *)arg)->size, dim = 2 * n[3];
    const gra_shape shape = n[0] > 1 ? GRA_SHAPE(n[0], n[1], dim) : GRA_SHAPE(n[1], dim);
    gra_tensor *y = rotary(t, gra_reshape(t, in[0], shape));
    if (gra_error(t))
        judge_wrong("y: gradus refused: %s\nx has %d dimensions here: time is dimension -2 of x, and dim is "
                    "-1, however many x has", gra_error(t), shape.ndim);
    judge_tensor(t, "y", y, shape);
    return gra_reshape(t, y, in[0]->shape);
}

static const struct judge_answer answer = {
    .sizes = { "b batch", "m time", "s two", "i half", "j dim" }, .telling = { 3, 5, 2, 4, 8 }, .f = f,
    .in = { "x[b,m,s,i]" }, .out = { "y[b,m,s,i]" }, .lines =
        "x_i[b,m,i] = x[b,m,0,i]                             # x_i\n"
        "x_o[b,m,i] = x[b,m,1,i]                             # x_(i+dim/2)\n"
        "theta[m,i] = m / 10000^(2 * i / dim)                # theta\n"
        "y_i[b,m,i] = x_i[b,m,i] * cos(theta[m,i]) - x_o[b,m,i] * sin(theta[m,i])  # y_i\n"
        "y_o[b,m,i] = x_o[b,m,i] * cos(theta[m,i]) + x_i[b,m,i] * sin(theta[m,i])  # y_(i+dim/2)\n"
        "y[b,m,s,i] = [s = 0] ? y_i[b,m,i] : y_o[b,m,i]\n", .special = {
        { "the pairs are rotated the other way round: exchange the signs of the two sines",
          "theta[m,i] = -m / 10000^(2 * i / dim)" },
        { "all pairs have the same angle, m: the division by 10000^(2i / dim) is missing, or that power is "
          "1 (in C, 2 * i / dim is 0 if all are int)", "theta[m,i] = m" },
        { "x itself is multiplied by the sine: multiply (-second half, first half) by it",
          "y_i[b,m,i] = x_i[b,m,i] * (cos(theta[m,i]) + sin(theta[m,i]))\n"
          "y_o[b,m,i] = x_o[b,m,i] * (cos(theta[m,i]) + sin(theta[m,i]))" },
        { "the halves are joined as (first, -second): join (-second, first)",
          "y_i[b,m,i] = x_i[b,m,i] * (cos(theta[m,i]) + sin(theta[m,i]))\n"
          "y_o[b,m,i] = x_o[b,m,i] * (cos(theta[m,i]) - sin(theta[m,i]))" },
        { "neighbours 2i and 2i + 1 are paired: pair i with i + dim/2",
          "x_i[b,m,i] = x[b,m,0,2 * i]\nx_o[b,m,i] = x[b,m,0,2 * i + 1]\n"
          "y[b,m,s,i] = [i + half * s = 2 * floor((i + half * s) / 2)] ? y_i[b,m,floor((i + half * s) / 2)] "
          ": y_o[b,m,floor((i + half * s) / 2)]" } } };

MAKES(alone, rotary(t, in[0]))

/* gra_check watches the ends of all memory of a step, also of what the answer gets by gra_alloc. */
static void memory(void)
{
    gra_check_report report;
    judge_part("the ends of memory");
    gra_check(judge_tape(GRA_GRAD, NULL), &(gra_check_options){ .nin = 1, .f = alone,
              .in = &(gra_check_in){ .name = "x", .shape = GRA_SHAPE(3, 4) } }, &report);
    if (strstr(report.text, "f itself"))
        judge_wrong("memory of gra_alloc was written past an end: ask for sizeof(double) bytes for each "
                    "number; a table (time, dim) has numbers 0 to time * dim - 1");
}

void judge_exercise(void)
{
    memory();
    CASES(&answer,
        CASE("three pairs, five positions", { 1, 5, 2, 3, 6 }, .tolerance = 1e-9),
        CASE("one pair, seven positions", { 1, 7, 2, 1, 2 }, .tolerance = 1e-9),
        CASE("a batch of three texts", { 3, 5, 2, 4, 8 }, .tolerance = 1e-9),
        CASE("many positions", { 1, 70, 2, 2, 4 }, .tolerance = 1e-9));
    judge_end(&answer);
}
