/* 03 used_twice: the judge. */
#include "answer.h"

static void call(const struct judge_call *c)
{
    double *const *out = c->out;
    struct value x = { c->in[0][0], out[6][0] }, w = { c->in[1][0], out[5][0] };
    struct value u = { JUDGE_UNWRITTEN, 0 }, v = u;
    out[2][0] = used_twice(&x, &w, &u, &v, c->in[2][0]);
    out[0][0] = u.data, out[1][0] = v.data, out[3][0] = v.grad, out[4][0] = u.grad;
    out[5][0] = w.grad, out[6][0] = x.grad;
    if (x.data != c->in[0][0] || w.data != c->in[1][0])
        judge_wrong("the data of x or w was changed: add only to the gradients");
}

static const struct judge_answer answer = {
    .call = call, .in = { "x in 0.5..1.5", "w in 0.4..2", "dloss in 0.3..2" },
    .out = { "u", "v", "loss", "dv", "du", "dw +=", "dx +=" }, .lines =
        "u = x * w\n"
        "v = u + x\n"
        "loss = u * v\n\n"
        "dv = dloss * u\n"
        "du = dloss * v + dv\n\n"
        "dw = dw0 + du * x\n"
        "dx = dx0 + dv + du * w\n", .special = {
        { "u = x w passed on u->grad before v had added to it: go from the last line to the first",
          "dw = dw0 + dloss * v * x\ndx = dx0 + dv + dloss * v * w" },
        { "only the contribution of u = x w is left: = overwrote the rest, so use +=",
          "dw = du * x\ndx = du * w" },
        { "only the contribution of v = u + x is left: = overwrote the rest, so use +=",
          "du = dv\ndx = dv" } } };

static void one_value(const char *part, double x, double dloss, double held)
{
    const double u = x * x, dv = dloss * u, du = dloss * (u + x) + dv;
    struct value both = { x, held }, vu = { 0, 0 }, vv = { 0, 0 };
    judge_part("%s", part);
    used_twice(&both, &both, &vu, &vv, dloss);
    judge_clue("if x and w differ, both gradients are right: let each += add to the same grad, without a "
               "test for x == w");
    judge_numbers("gradient of x and w, which are one value", GRA_SHAPE(1), &both.grad,
                  &(double){ held + dv + 2 * du * x }, 1e-10);
}

void judge_exercise(void)
{
    const double x[] = { 1.37, -1.5 }, w[] = { 0.643, 0.45 }, dloss[] = { 2.29, -0.3 };
    const double dx[] = { 0.25, 0 }, dw[] = { -1.75, 0 };
    CASES(&answer,
        CASE("x = 1.37, w = 0.643, dloss = 2.29, x->grad = 0.25, w->grad = -1.75", { 0 },
             .in = { x, w, dloss }, .held = { [5] = dw, [6] = dx }),
        CASE("x = -1.5, w = 0.45, dloss = -0.3, their gradients 0", { 0 }, .in = { x + 1, w + 1, dloss + 1 },
             .held = { [5] = dw + 1, [6] = dx + 1 }),
        CASE("other numbers", { 0 }));
    one_value("x and w are one value, of gradient 0", 1.3, 0.8, 0);
    one_value("x and w are one value, with a gradient", 0.9, -0.6, 2.25);
}
