/* 11 gelu: the judge. */
#include "judge.h"

enum { N = 12 };
static const double pi = 3.14159265358979323846;

static double below(double x)    { return 0.5 * (1 + erf(x / sqrt(2))); }
static double density(double x)  { return exp(-x * x / 2) / sqrt(2 * pi); }
static double sigmoid(double x)  { return 1 / (1 + exp(-x)); }
static double by_tanh(double x)  { return 0.5 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x))); }

/* x, P and p of one element, what was in dx, and its dy; a mistake is a function of these. */
struct at {
    double x, P, p, before, dy;
};
typedef double mistaken(struct at a);

static double right_y(struct at a)   { return a.x * a.P; }
static double only_p(struct at a)    { return a.P; }
static double tanh_y(struct at a)    { return a.x * by_tanh(a.x); }
static double no_root(struct at a)   { return a.x * 0.5 * (1 + erf(a.x)); }
static double times_root(struct at a) { return a.x * 0.5 * (1 + erf(a.x * sqrt(2))); }
static double over_2(struct at a)    { return a.x * 0.5 * (1 + erf(a.x / 2)); }
static double no_half(struct at a)   { return 2 * a.x * a.P; }
static double no_one(struct at a)    { return a.x * 0.5 * erf(a.x / sqrt(2)); }
static double erf_alone(struct at a) { return a.x * erf(a.x / sqrt(2)); }
static double half_one(struct at a)  { return a.x * (1 + 0.5 * erf(a.x / sqrt(2))); }
static double half_erf(struct at a)  { return a.x * (0.5 + erf(a.x / sqrt(2))); }
static double silu(struct at a)      { return a.x * sigmoid(a.x); }
static double quick(struct at a)     { return a.x * sigmoid(1.702 * a.x); }
static double relu(struct at a)      { return fmax(a.x, 0); }
static double erfc_y(struct at a)    { return a.x * (1 - a.P); }
static double density_y(struct at a) { return a.x * a.p; }

static double squared(struct at a)   { return a.x * a.x * a.P; }
static double cut(struct at a)       { return a.x < 0 ? 0 : a.x * a.P; }
static double root_out(struct at a)  { return a.x * 0.5 * (1 + erf(a.x) / sqrt(2)); }
static double zero(struct at a)      { return 0 * a.x; }

static double right(struct at a)     { return a.before + a.dy * (a.P + a.x * a.p); }
static double stored(struct at a)    { return right(a) - a.before; }
static double no_dy(struct at a)     { return a.before + a.P + a.x * a.p; }
static double first(struct at a)     { return a.before + a.dy * a.P; }
static double second(struct at a)    { return a.before + a.dy * a.x * a.p; }
static double no_x(struct at a)      { return a.before + a.dy * (a.P + a.p); }
static double alone(struct at a)     { return a.before + a.dy * a.p; }
static double minus(struct at a)     { return a.before + a.dy * (a.P - a.x * a.p); }
static double no_norm(struct at a)   { return a.before + a.dy * (a.P + a.x * a.p * sqrt(2 * pi)); }
static double norm_pi(struct at a)   { return a.before + a.dy * (a.P + a.x * a.p * sqrt(2)); }
static double norm_2pi(struct at a)  { return a.before + a.dy * (a.P + a.x * a.p / sqrt(2 * pi)); }
static double no_2(struct at a)      { return a.before + a.dy * (a.P + a.x * exp(-a.x * a.x) / sqrt(2 * pi)); }
static double plus_sq(struct at a)   { return a.before + a.dy * (a.P + a.x * exp(a.x * a.x / 2) / sqrt(2 * pi)); }
static double not_sq(struct at a)    { return a.before + a.dy * (a.P + a.x * exp(-a.x / 2) / sqrt(2 * pi)); }
static double erf_slope(struct at a) { return a.before + a.dy * (a.P + a.x * a.p * 2); }
static double erf_chain(struct at a) { return a.before + a.dy * (a.P + a.x * exp(-a.x * a.x / 2) / sqrt(pi)); }
static double at_y(struct at a)      { return a.before + a.dy * (below(right_y(a)) + right_y(a) * density(right_y(a))); }
static double y_slope(struct at a)   { return a.before + a.dy * (right_y(a) + a.x * a.p); }
static double dy_one(struct at a)    { return a.before + a.dy * a.P + a.x * a.p; }
static double of_relu(struct at a)   { return a.before + a.dy * (a.x > 0); }
static double doubled(struct at a)   { return a.before + 2 * a.dy * a.P * a.x * a.p; }
static double product(struct at a)   { return a.before + a.dy * a.P * a.x * a.p; }
static double int_half(struct at a)  { return a.before + a.dy * (a.P + a.x / sqrt(2 * pi)); }
static double root_2_pi(struct at a) { return a.before + a.dy * (a.P + a.x * exp(-a.x * a.x / 2) / (sqrt(2) * pi)); }
static double times_2pi(struct at a) { return a.before + a.dy * (a.P + a.x * exp(-a.x * a.x / 2) * sqrt(2 * pi)); }
static double root_2(struct at a)    { return a.before + a.dy * (a.P + a.x * exp(-a.x * a.x / 2) / sqrt(2) * pi); }
static double abs_x(struct at a)     { return a.before + a.dy * (a.P + a.x * exp(-fabs(a.x) / 2) / sqrt(2 * pi)); }
static double dy_plus(struct at a)   { return a.before + a.dy + a.P + a.x * a.p; }
static double dy_alone(struct at a)  { return a.before + a.dy; }
static double dy_y(struct at a)      { return a.before + a.dy * a.x * a.P; }
static double x_twice(struct at a)   { return a.before + a.dy * (a.P + a.x * a.x * a.p); }
static double P_twice(struct at a)   { return a.before + a.dy * (2 * a.P + a.x * a.p); }
static double P_minus(struct at a)   { return a.before + a.dy * (1 - a.P + a.x * a.p); }
static double P_on_both(struct at a) { return a.before + a.dy * a.P * (1 + a.x * a.p); }
static double exchanged(struct at a) { return a.before + a.dy * (a.x * a.P + a.p); }
static double y_for_x(struct at a)   { return a.before + a.dy * (a.P + right_y(a) * a.p); }
static double of_silu(struct at a)
{
    return a.before + a.dy * sigmoid(a.x) * (1 + a.x * (1 - sigmoid(a.x)));
}
static double of_tanh(struct at a)
{
    const double th = 2 * by_tanh(a.x) - 1;
    return a.before + a.dy * ((1 + th) / 2 + a.x / 2 * (1 - th * th) * sqrt(2 / pi) * (1 + 3 * 0.044715 * a.x * a.x));
}

static const struct { const char *says; mistaken *f; } of_y[] = {
    { "this is P(x) alone: the factor x is missing", only_p },
    { "this is x p(x), with the density: P is the probability, made of erf", density_y },
    { "this is the approximation by tanh: wanted is the one by erf", tanh_y },
    { "erf(x) stands where erf(x / sqrt(2)) should", no_root },
    { "x is multiplied by sqrt(2) in erf, not divided", times_root },
    { "x is divided by 2 in erf: wanted is sqrt(2)", over_2 },
    { "the half is missing: P = (1 + erf) / 2", no_half },
    { "the 1 is missing: P = (1 + erf) / 2", no_one },
    { "the 1 and the half are missing: P = (1 + erf) / 2", erf_alone },
    { "the half multiplies erf alone, not the 1: P = (1 + erf) / 2", half_one },
    { "the half multiplies the 1 alone, not erf: P = (1 + erf) / 2", half_erf },
    { "1 - P stands where P should: a sign, or erfc for erf", erfc_y },
    { "this is x sigmoid(x), SiLU", silu },
    { "this is x sigmoid(1.702 x), an approximation: wanted is the one by erf", quick },
    { "this is relu", relu },
    { "erf is divided by sqrt(2): wanted is erf of x / sqrt(2)", root_out },
    { "a factor x too many", squared },
    { "negative x give 0, as with relu: here they give a little less than 0", cut },
    { "0 throughout: if you wrote 1 / 2, in C that is the integer 0; 0.5 is a half", zero } };

static const struct { const char *says; mistaken *f; } of_dx[] = {
    { "dx is overwritten: accumulate with +=, for x may feed other functions", stored },
    { "dy is not a factor: the derivative alone is added", no_dy },
    { "this is dy P(x): the product rule's other term, of the derivative of P, is missing", first },
    { "this is dy x p(x): the product rule's other term, of the derivative of x, is missing", second },
    { "this is dy p(x), the derivative of P: the product rule has two terms", alone },
    { "the second term lacks its factor x: the product rule, (x P)' = P + ...", no_x },
    { "the two factors' derivatives are multiplied: the product rule adds two terms", product },
    { "the two factors' derivatives are multiplied: the product rule adds two terms", doubled },
    { "the second term has the wrong sign", minus },
    { "the density is not divided by sqrt(2 pi)", no_norm },
    { "the density is divided by sqrt(pi): wanted is sqrt(2 pi)", norm_pi },
    { "the density is divided by 2 pi: wanted is sqrt(2 pi)", norm_2pi },
    { "e^(-x^2) stands where e^(-x^2 / 2) should", no_2 },
    { "e^(x^2 / 2) stands where e^(-x^2 / 2) should: a sign (in C, -x*x is -(x*x), but pow(-x, 2) is x*x)", plus_sq },
    { "e^(-x / 2) stands where e^(-x^2 / 2) should", not_sq },
    { "the second term is twice what it should be: the half of P belongs to its derivative, too", erf_slope },
    { "the second term is too large by sqrt(2): the derivative of erf(x / sqrt(2)) has a factor 1 / sqrt(2)", erf_chain },
    { "the derivative is taken at y: wanted is x", at_y },
    { "the first term is x P(x): it is the derivative of x, 1, times P(x)", y_slope },
    { "the factor x stands in the wrong term: each term has the derivative of one factor", exchanged },
    { "P multiplies both terms: the second has the derivative of P in its place", P_on_both },
    { "the root is of 2 alone: the density is divided by sqrt(2 pi)", root_2_pi },
    { "the root is of 2 alone, and pi a factor: the density is divided by sqrt(2 pi)", root_2 },
    { "the density is multiplied by sqrt(2 pi), not divided by it", times_2pi },
    { "e^(-|x| / 2) stands where e^(-x^2 / 2) should", abs_x },
    { "dy is added to the derivative: it multiplies it", dy_plus },
    { "this is dy alone: the derivative by which it is to be multiplied is missing", dy_alone },
    { "dy is multiplied by y: wanted is the derivative of y by x", dy_y },
    { "a factor x too many in the second term", x_twice },
    { "the first term is twice what it should be: the half of P is missing", P_twice },
    { "1 - P(x) stands where P(x) should in the first term: a sign, or erfc for erf", P_minus },
    { "y stands where x should in the second term", y_for_x },
    { "e^(-x^2 / 2) is 1 throughout: if you wrote 1 / 2, in C that is the integer 0", int_half },
    { "this is the derivative of x sigmoid(x), SiLU", of_silu },
    { "dy multiplies the first term alone: it multiplies both", dy_one },
    { "this is the derivative of relu", of_relu },
    { "this is the derivative of the approximation by tanh", of_tanh } };

enum { MOST = 48 };

static void judge(const char *part, const double *x, int n, const double *dy, double before)
{
    judge_part("%s", part);
    static double want[N], numbers[MOST][N];
    struct judge_mistake m[MOST + 1] = { { NULL, NULL } };
    const int mistakes = (int)(dy ? sizeof of_dx / sizeof *of_dx : sizeof of_y / sizeof *of_y);
    for (int i = 0; i < n; i++) {
        const struct at a = { x[i], below(x[i]), density(x[i]), before, dy ? dy[i] : 0 };
        want[i] = dy ? right(a) : right_y(a);
        for (int k = 0; k < mistakes; k++) {
            numbers[k][i] = dy ? of_dx[k].f(a) : of_y[k].f(a);
            m[k] = (struct judge_mistake){ dy ? of_dx[k].says : of_y[k].says, numbers[k] };
        }
    }
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *in = gra_input(t, x, GRA_SHAPE(n)), *y = gelu(t, in);
    judge_tensor(t, "y", y, GRA_SHAPE(n));
    judge_made_by(y, "my_gelu");
    judge_unchanged("x->data", in->data, x, (size_t)n);
    if (dy) {
        judge_backward(t, y, dy, 1, &in, before);
        judge_unchanged("x->data", in->data, x, (size_t)n);
        judge_numbers("dx", GRA_SHAPE(n), gra_grad(in), want, 1e-12, m);
    } else
        judge_numbers("y", GRA_SHAPE(n), y->data, want, 1e-12, m);
    gra_close(t);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return gelu(t, in[0]);
}

void judge_exercise(void)
{
    const double far[6] = { 0, -0.0, 30, -30, 1e4, -1e4 }, ones[N] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    judge("some x", (double[]){ 1, -1, 0.5, 2, -3 }, 5, NULL, 0);
    judge("twelve x", judge_draw(111, N, -4, 4), N, NULL, 0);
    judge("0, and far from it", far, 6, NULL, 0);
    judge("gradient, dy of 1", (double[]){ 1, -1, 0.5, 2, -1.5 }, 5, ones, 0);
    judge("gradient", judge_draw(112, N, -3, 3), N, judge_draw(113, N, -2, 2), 0);
    judge("gradient of x used twice", judge_draw(114, N, -3, 3), N, judge_draw(115, N, -2, 2), 2);
    judge("gradient at 0, and far from it", far, 6, ones, 0);
    judge_part("the gradient check");
    judge_gradients(GRA_GRAD, NULL, NULL, 1, (gra_check_in[]){ { .name = "x", .shape = GRA_SHAPE(3, 7) } }, f, NULL);
}
