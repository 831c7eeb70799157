/* 24 warmup_cosine: the judge. A case is a run of steps, from the first. */
#include "answer.h"

static void call(const struct judge_call *c)
{
    for (int s = 0; s < c->size[0]; s++)
        c->out[0][s] = warmup_cosine(c->ids[0][s], c->ids[1][0], c->ids[2][0], c->in[3][0], c->in[4][0]);
}

static const struct judge_answer answer = {
    .sizes = { "s many" }, .telling = { 40 }, .call = call,
    .in = { "int step[s] in 0..32", "int warmup in 4..9", "int steps in 17..28", "lr in 0.5..2",
            "min_lr in 0.1..0.3" }, .out = { "rate[s]" }, .lines =
        "up[s] = lr * (step[s] + 1) / warmup                 # the warm-up\n"
        "x[s] = (step[s] - warmup) / (steps - warmup)\n"
        "fall[s] = min_lr + (lr - min_lr) * (1 + cos(pi * x[s])) / 2   # the fall\n"
        "rate[s] = [step[s] < warmup] ? up[s] : [step[s] < steps] ? fall[s] : min_lr\n", .special = {
        { "x is the fraction of all steps, but should be 0 in step `warmup`", "x[s] = step[s] / steps" },
        { "after the last step the rate follows the cosine and rises again: let it stay at min_lr",
          "rate[s] = [step[s] < warmup] ? up[s] : fall[s]" } } };

static void run(const char *part, int first, int last, double warmup, double steps, double lr, double min_lr)
{
    double step[40];
    for (int s = first; s <= last; s++)
        step[s - first] = s;
    judge_case(&answer, (struct judge_case)CASE(part, { last - first + 1 },
               .in = { step, &warmup, &steps, &lr, &min_lr }, .tolerance = 3e-6));
}

void judge_exercise(void)
{
    run("the warm-up", 0, 4, 5, 28, 0.8, 0.1);
    run("the fall", 5, 27, 5, 28, 0.8, 0.1);
    run("after the last step", 28, 36, 5, 28, 0.8, 0.1);
    run("no warm-up", 0, 12, 0, 11, 3, 0.3);
    run("warm-up to the end", 0, 9, 7, 7, 2, 0.5);
    run("a warm-up of one step", 0, 8, 1, 6, 1, 0);
}
