/* 03 used_twice: the judge. */
#include "judge.h"
#include <math.h>

/* What is known when a gradient is compared: the forward, the right gradients of u and v, and what another
 * use of x and w has added to theirs. */
struct given {
    double x, w, u, v, dloss, du, dv, held_x, held_w;
    bool   adds;                        /* is what u->grad held kept? */
};

/* What a line passes on; as a mistake, another product of a gradient and a slope. */
static double passed_on(const struct given *g, const char *line, double right)
{
    static const char *const name[] = { "x", "w", "u", "v", "dloss", "the loss" },
                      *const of[] = { "dloss", "u->grad", "v->grad", "1" };
    const double value[] = { g->x, g->w, g->u, g->v, g->dloss, g->u * g->v },
        gradient[] = { g->dloss, g->du, g->dv, 1 };
    if (slip_of("the contribution of the line %s was added twice", line))
        return 2 * right;
    if (slip_of("the contribution of the line %s was halved", line))
        return right / 2;
    if (slip_of("the contribution of the line %s has the wrong sign", line))
        return -right;
    for (int i = 0; i < 6; i++)
        if (slip_of("the contribution of the line %s was multiplied by %s", line, name[i]))
            return right * value[i];
    for (int i = 0; i < 4; i++)
        if (slip_of("the contribution of the line %s is divided by %s: multiply", line, name[i]))
            return right / value[i] / value[i];
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 4; k++)
            if (fabs(gradient[k] * value[i] - right) > 1e-9 && strcmp(of[k], "dloss") &&
                slip_of("the contribution of the line %s was computed as %s times %s", line, of[k], name[i]))
                return gradient[k] * value[i];
    return right;
}

static void of_v(double *out, void *arg)
{
    const struct given *g = arg;
    *out = slip("the factor dloss is missing: the gradient of the loss is not always 1") ? g->u
         : slip("v is used: d(u v)/dv is u") ? g->dloss * g->v
         : slip("multiplied by the loss: multiply by dloss") ? g->u * g->v * g->u
         : slip("this is the data instead of its gradient") ? g->v
         : slip("u + v is used: d(u v)/dv is u") ? g->dloss * (g->u + g->v)
         : passed_on(g, "loss = u v", g->dv);
}

static void of_u(double *out, void *arg)
{
    const struct given *g = arg;
    const double d = slip("the factor dloss is missing: the gradient of the loss is not always 1") ? 1
                   : g->dloss;
    const double from_v = slip("the contribution of v = u + x is missing, or 0, as v->grad was not yet set")
                        ? 0
        : slip("dloss is added: v = u + x passes on v->grad") ? d
        : slip("v = u + x passes on v's gradient times u: the slope of a sum is 1")
        ? d * g->u * g->u : d * g->u;
    const double from_loss =
        slip(g->adds ? "the contribution of loss = u v is missing"
                     : "the contribution of loss = u v was overwritten by =: use +=") ? 0
        : slip("u is used: d(u v)/du is v") ? d * g->u : d * g->v;
    *out = passed_on(g, "loss = u v", from_loss);
    *out += passed_on(g, "v = u + x", from_v);
}

static const char too_early[] =
    "u = x w passed on u->grad before v had added to it: go from the last line to the first";

static void of_w(double *out, void *arg)
{
    const struct given *g = arg;
    const double held = slip("what another use of w had added is lost: never set it, only use +=") ? 0
        : slip("what another use of w had added is multiplied by dloss too: only what is added here has "
               "that factor") ? g->dloss * g->held_w : g->held_w;
    const double du = slip(too_early) ? g->dloss * g->v
                    : slip("this uses u->data instead of u->grad") ? g->u : g->du;
    const double part = slip("w is used: d(x w)/dw is x") ? du * g->w
        : slip("this is only the slope x: multiply it by u->grad") ? g->x
        : slip("u->grad is passed on without d(x w)/dw, which is x") ? du
        : slip("nothing was added to w->grad") ? 0 : du * g->x;
    const double from_v = slip("w is not in v = u + x: w->grad gets nothing from there") ? g->dv : 0;
    *out = held + from_v + passed_on(g, "u = x w", part);
}

static void of_x(double *out, void *arg)
{
    const struct given *g = arg;
    const double held = slip("what another use of x had added is lost: never set it, only use +=") ? 0
        : slip("what another use of x had added is multiplied by dloss too: only what is added here has "
               "that factor") ? g->dloss * g->held_x : g->held_x;
    const double from_v = slip("the contribution of v = u + x is missing: x is used there too") ? 0
        : slip("v = u + x passes u->grad on to x: it should pass v->grad") ? g->du
        : slip("v = u + x passes dloss on to x: it should pass v->grad") ? g->dloss
        : slip("v = u + x passes v->grad times x on to x: the slope of a sum is 1")
        ? g->dv * g->x : g->dv;
    const double from_u = slip("the contribution of u = x w is missing") ? 0
        : slip(too_early) ? g->dloss * g->v * g->w
        : slip("x is used: d(x w)/dx is w") ? g->du * g->x
        : slip("u->grad is passed on without d(x w)/dx, which is w") ? g->du
        : slip("u = x w passes on v->grad: it should pass on u->grad") ? g->dv * g->w : g->du * g->w;
    const bool only_u = slip("only the contribution of u = x w is there: = overwrote the rest, use +=");
    const bool only_v = slip("only the contribution of v = u + x is there: = overwrote the rest, use +=");
    const bool twice = slip("dloss is a factor once more: u->grad and v->grad have it already");
    double added = only_u ? 0 : passed_on(g, "v = u + x", from_v);
    added += only_v ? 0 : passed_on(g, "u = x w", from_u);
    *out = (only_u || only_v ? 0 : held) + (twice ? g->dloss * added : added);
}

/* The gradient of x and w where they are one value. */
static void of_both(double *out, void *arg)
{
    const struct given *g = arg;
    const double held = slip("what another use of it had added is lost: never set it, only use +=") ? 0
                      : g->held_x;
    const double to_x = g->dv + g->du * g->w, to_w = g->du * g->x;
    *out = slip("only x's gradient is there: w's is overwritten by =, or left out where w is x: add both, "
                "with +=")
         ? held + to_x
         : slip("only w's gradient is there: x's is overwritten by =, or left out where w is x: add both, "
                "with +=")
         ? held + to_w
         : slip("this is half of it: x and w being one value needs no special case")
         ? (held + to_x + to_w) / 2
         : slip("this is twice as much: x and w being one value needs no special case")
         ? 2 * (held + to_x + to_w) : held + to_x + to_w;
}

static void one(const char *part, double x, double w, double dloss, double dx, double dw, bool same)
{
    struct value vx = { x, dx }, vw = { w, dw }, vu = { JUDGE_UNWRITTEN, 0 }, vv = vu;
    const double u = x * w, v = u + x, dv = dloss * u, du = dloss * v + dv;
    struct given g = { x, w, u, v, dloss, du, dv, dx, dw, true };
    struct value cx = vx, cw = vw, cu = { 0, 1 }, cv = vv;
    judge_part("%s", part);
    const double loss = used_twice(&vx, same ? &vx : &vw, &vu, &vv, dloss);
    used_twice(&cx, same ? &cx : &cw, &cu, &cv, dloss);         /* the same, where u->grad is 1 at first */
    g.adds = cu.grad != vu.grad;
    if (!(fabs(loss - u * v) <= 1e-9) || !(fabs(vu.data - u) <= 1e-9) || !(fabs(vv.data - v) <= 1e-9))
        judge_wrong("got u = %.12g, v = %.12g and loss = %.12g, expected %.12g, %.12g and %.12g:\nthe "
                    "forward is given, leave it unchanged", vu.data, vv.data, loss, u, v, u * v);
    if (vx.data != x || vw.data != w)
        judge_wrong("the data of x or w was changed: add only to the gradients");
    judge_against("v->grad", GRA_SHAPE(1), &vv.grad, 1e-10, of_v, &g);
    judge_against("u->grad", GRA_SHAPE(1), &vu.grad, 1e-10, of_u, &g);
    if (same) {
        judge_against("gradient of x and w, which are one value", GRA_SHAPE(1), &vx.grad, 1e-10, of_both, &g);
        return;
    }
    judge_against("w->grad", GRA_SHAPE(1), &vw.grad, 1e-10, of_w, &g);
    judge_against("x->grad", GRA_SHAPE(1), &vx.grad, 1e-10, of_x, &g);
}

void judge_exercise(void)
{
    const double *d = judge_draw(31, 4, 0.5, 1.5);
    one("x = 1.37, w = 0.643, dloss = 2.29, x->grad = 0.25, w->grad = -1.75", 1.37, 0.643, 2.29, 0.25, -1.75,
        false);
    one("x = -1.5, w = 0.45, dloss = 1, their gradients 0", -1.5, 0.45, 1, 0, 0, false);
    one("dloss = -0.3", 1.2, -0.4, -0.3, 0.7, 0.4, false);
    one("other numbers", d[0], d[1], d[2], -0.5, 1.2, false);
    one("x and w are one value, of gradient 0", 1.3, 1.3, 0.8, 0, 0, true);
    one("x and w are one value, with a gradient", d[3], d[3], -0.6, 2.25, 2.25, true);
}
