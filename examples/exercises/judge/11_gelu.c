/* 11 gelu: the judge. */
#include "judge.h"

enum { N = 12 };
static const double pi = 3.14159265358979323846;

struct numbers {
    const double *x;
    int           n;
};

/* x P(x), with P = (1 + erf(x / sqrt(2))) / 2. */
static double right_gelu(double x)
{
    const double inside = slip("this uses erf(x) instead of erf(x / sqrt(2))") ? x
        : slip("x is multiplied by sqrt(2) in erf, not divided") ? x * sqrt(2)
        : slip("x is divided by 2 in erf: divide by sqrt(2)") ? x / 2 : x / sqrt(2);
    const double e = slip("erf is divided by sqrt(2): divide x by it, inside erf") ? erf(x) / sqrt(2)
                   : erf(inside);
    const double cubic = sqrt(2 / pi) * (x + 0.044715 * x * x * x), p = exp(-x * x / 2) / sqrt(2 * pi);
    const double P = slip("the half is missing: P = (1 + erf) / 2") ? 1 + e
        : slip("the 1 is missing: P = (1 + erf) / 2") ? e / 2
        : slip("the 1 and the half are missing: P = (1 + erf) / 2") ? e
        : slip("the half multiplies only erf, not the 1: P = (1 + erf) / 2") ? 1 + e / 2
        : slip("the half multiplies only the 1, not erf: P = (1 + erf) / 2") ? 0.5 + e
        : slip("this uses 1 - P instead of P: a sign is wrong, or erfc is used instead of erf") ? (1 - e) / 2
        : slip("this is x p(x), with the density: P is the probability, computed with erf") ? p
        : slip("this is the approximation with tanh: use erf") ? (1 + tanh(cubic)) / 2
        : slip("this is x sigmoid(x), SiLU") ? 1 / (1 + exp(-x))
        : slip("this is x sigmoid(1.702 x), an approximation: use erf") ? 1 / (1 + exp(-1.702 * x))
        : slip("this is relu") ? x > 0
        : slip("negative x give 0, as in relu: they should give a little less than 0") && x < 0 ? 0
        : slip("it is 0 throughout: in C 1 / 2 is the integer 0, so write 0.5") ? 0 : (1 + e) / 2;
    return slip("this is only P(x): the factor x is missing") ? P
         : slip("there is an extra factor x") ? x * x * P : x * P;
}

static void reference(double *y, void *arg)
{
    const struct numbers *in = arg;
    for (int i = 0; i < in->n; i++)
        y[i] = right_gelu(in->x[i]);
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
    forward("some x", (double[]){ 1, -1, 0.5, 2, -3 }, 5);
    forward("twelve x", judge_draw(111, N, -4, 4), N);
    forward("0, and far from it", far, 6);
    judge_part("the gradient check");
    judge_gradients(GRA_GRAD, NULL, NULL, 1, (gra_check_in[]){ { .name = "x", .shape = GRA_SHAPE(3, 7) } }, f,
                    NULL);
    judge_part("gradient at 0, and far from it");
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *in = gra_input(t, far, GRA_SHAPE(6));
    judge_backward(t, run(t, in, far), dy, 1, &in, 0);
    judge_numbers("dx", GRA_SHAPE(6), gra_grad(in), (double[]){ 0.5, 0.5, 1, 0, 1, 0 }, 1e-12);
    gra_close(t);
}
