/* 11 gelu: the judge. */
#include "judge.h"

enum { N = 12 };
static const double pi = 3.14159265358979323846;

struct numbers {
    const double *x;
    int           n;
};

/* P = (1 + erf(x / sqrt(2))) / 2 */
static double P_of(double x)
{
    const double inside = slip("this uses erf(x) instead of erf(x / sqrt(2))") ? x
        : slip("x is multiplied by sqrt(2) in erf: divide by it") ? x * sqrt(2)
        : slip("x is divided by 2 in erf: divide by sqrt(2)") ? x / 2 : x / sqrt(2);
    const double e = slip("erf is divided by sqrt(2): divide x by it, inside erf") ? erf(x) / sqrt(2)
                   : erf(inside);
    const double cubic = sqrt(2 / pi) * (x + 0.044715 * x * x * x), p = exp(-x * x / 2) / sqrt(2 * pi);
    return slip("the half is missing: P = (1 + erf) / 2") ? 1 + e
        : slip("the 1 is missing: P = (1 + erf) / 2") ? e / 2
        : slip("the 1 and the half are missing: P = (1 + erf) / 2") ? e
        : slip("the half multiplies only erf: P = (1 + erf) / 2") ? 1 + e / 2
        : slip("the half multiplies only the 1: P = (1 + erf) / 2") ? 0.5 + e
        : slip("this uses 1 - P instead of P: a sign is wrong, or erfc is used instead of erf") ? (1 - e) / 2
        : slip("this is x p(x), with the density: P is the probability, computed with erf") ? p
        : slip("this is the approximation with tanh: use erf") ? (1 + tanh(cubic)) / 2
        : slip("this is x sigmoid(x), SiLU") ? 1 / (1 + exp(-x))
        : slip("this is x sigmoid(1.702 x), an approximation: use erf") ? 1 / (1 + exp(-1.702 * x))
        : slip("this is relu") ? x > 0
        : slip("negative x give 0, as in relu: they should give a little less than 0") && x < 0 ? 0
        : slip("positive x pass unchanged, as in relu: they should give a little less") && x > 0 ? 1
        : slip("this uses (1 + erfc) / 2, which is 1 - erf / 2: P = (1 + erf) / 2") ? 1 - e / 2 : (1 + e) / 2;
}

static void reference(double *y, void *arg)
{
    const struct numbers *in = arg;
    for (int i = 0; i < in->n; i++) {
        const double x = in->x[i], P = P_of(x);
        y[i] = slip("this is only P(x): the factor x is missing") ? P
             : slip("it is 0 throughout: in C 1 / 2 is the integer 0, so write 0.5") ? 0
             : slip("there is an extra factor x") ? x * x * P : x * P;
    }
}

/* P(x) + x p(x), where dy is 1 */
static void gradient(double *dx, void *arg)
{
    const struct numbers *in = arg;
    for (int i = 0; i < in->n; i++) {
        const double y = in->x[i] * P_of(in->x[i]);
        const double x = slip("this is the derivative at y: x is y->in[0]->data") ? y : in->x[i];
        const double P = P_of(x);
        const double e = slip("the exponent of p(x) is -x^2: it should be -x^2 / 2") ? exp(-x * x)
            : slip("the exponent of p(x) is x^2 / 2: it should be -x^2 / 2") ? exp(x * x / 2)
            : slip("the exponent of p(x) is -x / 2: it should be -x^2 / 2") ? exp(-x / 2)
            : slip("the exponent of p(x) is -x^2 / 4: it should be -x^2 / 2") ? exp(-x * x / 4)
            : slip("the exponent of p(x) is 0: in C 1 / 2 is the integer 0, so write -x * x / 2") ? 1
            : exp(-x * x / 2);
        const double p = slip("P (1 - P) is used for P': it is that of the logistic function, here P' is the "
                              "density p(x)") ? P * (1 - P)
            : slip("P(x) is used for P': its derivative is the density p(x)") ? P
            : slip("-x p(x), the derivative of p, is used for p(x)") ? -x * e / sqrt(2 * pi)
            : slip("p(x) is not divided by sqrt(2 pi)") ? e
            : slip("p(x) is divided by sqrt(pi): divide by sqrt(2 pi)") ? e / sqrt(pi)
            : slip("p(x) is divided by 2 pi: divide by its root") ? e / (2 * pi)
            : e / sqrt(2 * pi);
        dx[i] = slip("this is only P(x): the product rule has a second term, x p(x)") ? P
            : slip("this is only x p(x): the product rule has another term, P(x), which is missing or 0")
            ? x * p
            : slip("this is the derivative of relu") ? x > 0
            : slip("negative x get no gradient, as in relu: they should get dy (P + x p)") && x < 0 ? 0
            : slip("both terms are multiplied by x: the gradient is dy (P + x p)") ? x * (P + x * p)
            : slip("P(x) and x p(x) are multiplied: add them") ? x * P * p
            : slip("the factor x is in the wrong term: it should be P + x p") ? x * P + p
            : slip("y is used for P(x) in the first term: it should be P + x p") ? y + x * p
            : slip("the factor x is missing in the second term, x p(x)") ? P + p
            : slip("this is only p(x), the derivative of P: y is x P(x), a product") ? p
            : slip("there is an extra factor x in the second term, x p(x)") ? P + x * x * p
            : slip("the second term, x p(x), is subtracted: add it") ? P - x * p
            : slip("the second term is y p(x): it should be x p(x)") ? P + y * p : P + x * p;
    }
}

static gra_tensor *run(gra_tape *t, gra_tensor *in, const double *x)
{
    gra_tensor *y = gelu(t, in);
    judge_tensor(t, "y", y, in->shape);
    judge_made_by(y, "my_gelu");
    judge_unchanged("x->data", in->data, x, in->size);
    return y;
}

static void forward(const char *part, const double *x, int n)
{
    judge_part("%s", part);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    const gra_tensor *y = run(t, gra_input(t, x, GRA_SHAPE(n)), x);
    judge_against("y", GRA_SHAPE(n), y->data, 1e-12, reference, &(struct numbers){ x, n });
    gra_close(t);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return gelu(t, in[0]);
}

void judge_exercise(void)
{
    const double far[6] = { 0, -0.0, 30, -30, 1e4, -1e4 }, dy[6] = { 1, 1, 1, 1, 1, 1 };
    const double some[6] = { 1.25, -0.9, 0.5, 2, -3, 0.1 };
    double P[6], xp[6], xe[6], a, b;
    forward("some x", some, 5);
    forward("twelve x", judge_draw(111, N, -4, 4), N);
    forward("0, and far from it", far, 6);
    judge_part("gradient of some x");
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *in = gra_input(t, some, GRA_SHAPE(6));
    judge_backward(t, run(t, in, some), dy, 1, &in, 0);
    for (int i = 0; i < 6; i++)
        P[i] = P_of(some[i]), xp[i] = some[i] * exp(-some[i] * some[i] / 2) / sqrt(2 * pi),
        xe[i] = some[i] * exp(-some[i] * some[i]);
    if (judge_combination(gra_grad(in), P, xp, 6, &a, &b))
        judge_clue("dx / dy is %.9g P(x) + %.9g x p(x): expected P(x) + x p(x)%s", a, b,
                   fabs(b - pi * sqrt(pi)) < 1e-6 ? " (in C, / sqrt(2) * pi multiplies by pi)" : "");
    if (judge_combination(gra_grad(in), P, xe, 6, &a, &b))
        judge_clue("dx / dy is %.9g P(x) + %.9g x e^(-x^2): the density is e^(-x^2 / 2) / sqrt(2 pi)", a, b);
    judge_against("dx", GRA_SHAPE(6), gra_grad(in), 1e-11, gradient, &(struct numbers){ some, 6 });
    gra_close(t);
    judge_part("the gradient check");
    judge_gradients(GRA_GRAD, NULL, NULL, 1, (gra_check_in[]){ { .name = "x", .shape = GRA_SHAPE(3, 7) } }, f,
                    NULL);
    judge_part("gradient at 0, and far from it");
    t = judge_tape(GRA_GRAD, NULL);
    in = gra_input(t, far, GRA_SHAPE(6));
    judge_backward(t, run(t, in, far), dy, 1, &in, 0);
    if (gra_grad(in)[0] != gra_grad(in)[0] && gra_grad(in)[2] == 1)
        judge_clue("nan where x is 0: y / x is 0/0 there, so if it is used for P(x), compute P again");
    judge_numbers("dx", GRA_SHAPE(6), gra_grad(in), (double[]){ 0.5, 0.5, 1, 0, 1, 0 }, 1e-12);
    gra_close(t);
}
