/* 03 used_twice: the judge. */
#include "judge.h"
#include <math.h>

/* Gradients of a wrong walk. Of each of the six terms: is it there? */
struct terms {
    double u_of_loss, v_of_loss, u_of_v, x_of_v, x_of_u, w_of_u;
};
enum { U, V, X, W, ALL };

/* What each of the four gets by a walk in the right order, each term times its factor. */
static void walk(const struct terms *f, double x, double w, double d, double *got)
{
    const double u = x * w, v = u + x;
    got[V] = f->v_of_loss * d * u;
    got[U] = f->u_of_loss * d * v + f->u_of_v * got[V];
    got[X] = f->x_of_v * got[V] + f->x_of_u * got[U] * w;
    got[W] = f->w_of_u * got[U] * x;
}

/* Says if the part of one line is another product, or a sum, of a gradient and a slope. before: what another use left,
 * which may be gone too. */
static void other_factor(char *text, size_t room, double got, double want, double before, const double term[2],
                         const char *const line[2], const double value[6], const double gradient[4])
{
    static const char *const name[] = { "x", "w", "u", "v", "dloss", "the loss", "2", "1", "-1" },
                      *const of[] = { "dloss", "u->grad", "v->grad", "1", "" };
    text[0] = 0;
    for (int k = 0; k < 2 && line[k]; k++)
        for (int g = 5; g-- > 0;)                               /* 4: the part as it should be, times something */
            for (int i = 0; i < 9; i++)
                for (int kind = 0; kind < 4 && !text[0]; kind++) {
                    const double slope = i < 6 ? value[i] : i == 6 ? 2 : i == 7 ? 1 : -1;
                    const double d = g == 4 ? term[k] : gradient[g], part = kind & 1 ? d + slope : d * slope;
                    if (fabs(got - (want - term[k] + part - (kind & 2 ? before : 0))) > 1e-10)
                        continue;
                    if (g == 4 && !(kind & 1))
                        snprintf(text, room, "the part of the line %s came in %s%s", line[k], i == 6 ? "twice" : i == 8 ?
                                 "with the wrong sign" : "times ", i == 6 || i == 8 ? "" : name[i]);
                    else if (g < 4)
                        snprintf(text, room, "the part of the line %s came in as %s %s %s", line[k], of[g],
                                 kind & 1 ? "+" : "times", name[i]);
                }
}

static void one(const char *part, double x, double w, double dloss, double dx, double dw, bool same)
{
    struct value vx = { x, dx }, vw = { w, dw }, vu = { JUDGE_UNWRITTEN, 0 }, vv = vu;
    const double u = x * w, v = u + x, held[] = { dx, same ? dx : dw };
    double right[ALL], half[ALL], plain[ALL];
    judge_part("%s", part);
    walk(&(struct terms){ 1, 1, 1, 1, 1, 1 }, x, w, dloss, right);
    walk(&(struct terms){ 1, 1, 1, 1, 1, 1 }, x, w, 1, plain);
    walk(&(struct terms){ 1, 1, 0, 1, 1, 1 }, x, w, dloss, half);
    const double stored_u = right[V], x_by_u = right[U] * w, w_by_u = right[U] * x;
    const double value[] = { x, w, u, v, dloss, u * v }, gradient[] = { dloss, right[U], right[V], 1 },
                 of_u[] = { dloss * v, right[V] }, of_v[2] = { right[V] },
                 of_x[] = { right[V], x_by_u }, of_w[2] = { w_by_u };
    char other[100];

    const double loss = used_twice(&vx, same ? &vx : &vw, &vu, &vv, dloss);
    if (!(fabs(loss - u * v) <= 1e-9) || !(fabs(vu.data - u) <= 1e-9) || !(fabs(vv.data - v) <= 1e-9))
        judge_wrong("u is %.6g, v is %.6g and the loss %.6g, but %.6g, %.6g and %.6g are right:\n"
                    "the forward was right as it stood, leave it", vu.data, vv.data, loss, u, v, u * v);
    if (vx.data != x || vw.data != w)
        judge_wrong("x or w itself was changed: only the gradients are to be added to");
    other_factor(other, sizeof other, vv.grad, right[V], 0, of_v,
                 (const char *[]){ "loss = u v", NULL }, value, gradient);
    judge_number("v->grad", vv.grad, right[V], 1e-10, JUDGE_MISTAKES(
        { "the factor dloss is missing: the gradient of the loss is not always 1", &plain[V] },
        { "the slope of u v by v is u, not v", &(double){ dloss * v } },
        { "multiplied by the loss: by dloss", &(double){ u * v * u } },
        { "the data, not its gradient", &v },
        { "the slope of u v by v is u, not u + v", &(double){ dloss * (u + v) } },
        { other, other[0] ? &vv.grad : &right[V] }));
    other_factor(other, sizeof other, vu.grad, right[U], 0, of_u,
                 (const char *[]){ "loss = u v", "v = u + x" }, value, gradient);
    judge_number("u->grad", vu.grad, right[U], 1e-10, JUDGE_MISTAKES(
        { "the factor dloss is missing: the gradient of the loss is not always 1", &plain[U] },
        { "the part that comes by way of v = u + x is missing", &half[U] },
        { "only the part that comes by way of v = u + x is there: the one of loss = u v is missing, or was "
          "overwritten by = where += is wanted", &stored_u },
        { "the slope of u v by u is v, not u", &(double){ dloss * u + right[V] } },
        { "v->grad is added before it was found: first loss = u v, then v = u + x", &half[U] },
        { "dloss is added where v->grad is wanted: v = u + x hands on v's gradient",
          &(double){ dloss * v + dloss } },
        { "v = u + x hands on v's gradient as it is, not times u: the slope of a sum is 1",
          &(double){ dloss * v + right[V] * u } },
        { other, other[0] ? &vu.grad : &right[U] }));
    if (same) {
        static const char says[] = "one of the two gradients overwrites the other: += for both";
        const double both = held[0] + right[X] + right[W];
        judge_number("gradient of x and w, one value:", vx.grad, both, 1e-10, JUDGE_MISTAKES(
            { says, &right[X] }, { says, &(double){ held[0] + right[X] } },
            { says, &right[W] }, { says, &(double){ held[0] + right[W] } },
            { "half of it: x and w need no case of their own where they are one value", &(double){ both / 2 } },
            { "twice of it: x and w need no case of their own where they are one value", &(double){ 2 * both } }));
        return;
    }
    other_factor(other, sizeof other, vw.grad, held[1] + right[W], held[1], of_w,
                 (const char *[]){ "u = x w", NULL }, value, gradient);
    judge_number("w->grad", vw.grad, held[1] + right[W], 1e-10, JUDGE_MISTAKES(
        { "what another use of w had left there is lost: += in place of =", &right[W] },
        { "u = x w handed on u->grad before the part by way of v had come in: go through the lines from the "
          "last to the first", &(double){ held[1] + half[W] } },
        { "u = x w handed on u->grad before the part by way of v had come in, and by = in place of +=",
          &half[W] },
        { "the slope of x w by w is x, not w", &(double){ held[1] + right[U] * w } },
        { "the slope x alone: it is to be multiplied by u->grad", &(double){ held[1] + x } },
        { "u->grad is handed on without the slope of x w by w, which is x", &(double){ held[1] + right[U] } },
        { "u->data was taken where u->grad is wanted", &(double){ held[1] + u * x } },
        { "v = u + x has no w in it: nothing comes to w from there",
          &(double){ held[1] + right[V] + right[W] } },
        { "nothing has come to w", &held[1] },
        { other, other[0] ? &vw.grad : &vw.data }));
    other_factor(other, sizeof other, vx.grad, held[0] + right[X], held[0], of_x,
                 (const char *[]){ "v = u + x", "u = x w" }, value, gradient);
    judge_number("x->grad", vx.grad, held[0] + right[X], 1e-10, JUDGE_MISTAKES(
        { "what another use of x had left there is lost: += in place of =", &right[X] },
        { "the part by way of v = u + x is missing: x is used there too", &(double){ held[0] + x_by_u } },
        { "the part by way of u = x w is missing", &(double){ held[0] + right[V] } },
        { "only the part by way of u = x w is there: = overwrote the rest, where += is wanted", &x_by_u },
        { "only the part by way of v = u + x is there: = overwrote the rest, where += is wanted", &right[V] },
        { "u = x w handed on u->grad before the part by way of v had come in: go through the lines from the "
          "last to the first", &(double){ held[0] + half[X] } },
        { "the slope of x w by x is w, not x", &(double){ held[0] + right[V] + right[U] * x } },
        { "v = u + x gives x the gradient of v, not of u", &(double){ held[0] + right[U] + x_by_u } },
        { "v = u + x gives x the gradient of v, not dloss", &(double){ held[0] + dloss + x_by_u } },
        { "v = u + x gives x the gradient of v as it is, not times x: the slope of a sum is 1",
          &(double){ held[0] + right[V] * x + x_by_u } },
        { "u->grad is handed on without the slope of x w by x, which is w",
          &(double){ held[0] + right[V] + right[U] } },
        { "u = x w hands on the gradient of u, not of v", &(double){ held[0] + right[V] + right[V] * w } },
        { "nothing has come to x", &held[0] },
        { other, other[0] ? &vx.grad : &vx.data }));
}

void judge_exercise(void)
{
    const double *d = judge_draw(31, 4, 0.5, 1.5);
    one("x = 1.3, w = -0.7, dloss = 2.5", 1.3, -0.7, 2.5, 0, 0, false);
    one("x = -1.5, w = 0.45, dloss = 1", -1.5, 0.45, 1, 0, 0, false);
    one("dloss = -0.3", 1.2, -0.4, -0.3, 0, 0, false);
    one("x and w have gradients from other uses", d[0], d[1], d[2], 0.25, -1.75, false);
    one("x and w are one value, of gradient 0", 1.3, 1.3, 0.8, 0, 0, true);
    one("x and w are one value, with a gradient", d[3], d[3], -0.6, 2.25, 2.25, true);
}
