/* 27 rms_norm: the judge. */
#include "judge.h"

/* The formula, with what a mistake changes in it; all zeros: right. */
struct form {
    bool   centred, variance, shifted;  /* the mean is subtracted; in the squares alone; above the root alone */
    bool   no_eps, outside, own_eps;    /* eps missing; added to the root; another */
    double eps;
    bool   sum, less, no_root, times, no_divide;
    bool   no_weight, one_plus;
    bool   first_dim, whole;            /* the mean is over the first dimension; over all numbers */
    bool   not_squared, divided_once;   /* the root of mean |x|; the root of mean x^2 over dim again */
    bool   inverted;                    /* root / x */
    bool   not_square, square_of_mean;  /* the mean of x in the root; its square */
    bool   whole_sum;                   /* the sum of all squares */
    bool   largest;                     /* the largest square in place of the mean */
    bool   added, weight_twice, weight_first;           /* + weight; weight^2; x weight is what is normed */
};

/* x (rows, dim), in `batch` groups of rows / batch. */
static double *normed(const double *x, const double *weight, int rows, int dim, int batch, struct form f)
{
    double *y = judge_room((size_t)(rows * dim));
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < dim; i++) {
            double square = 0, mean = 0;
            const bool all = f.whole || f.whole_sum;
            const int from = all ? 0 : r * dim, to = all ? rows * dim : (r + 1) * dim;
            int n = to - from;
            for (int j = from; j < to; j++)
                mean += x[j] / n;
            for (int j = from; j < to && f.largest; j++)
                square = fmax(square, x[j] * x[j]);
            for (int j = from; j < to && f.weight_first; j++)
                square += pow(x[j] * weight[j - from], 2) / n;
            for (int j = from; j < to && !f.largest && !f.weight_first; j++)
                square += (f.not_square ? x[j] : f.not_squared ? fabs(x[j]) :
                           pow(x[j] - (f.centred || f.variance ? mean : 0), 2)) / n;
            if (f.first_dim) {
                square = 0, n = batch;
                for (int b = 0; b < batch; b++)
                    square += pow(x[(b * (rows / batch) + r % (rows / batch)) * dim + i], 2) / batch;
            }
            square = f.square_of_mean ? mean * mean : square;
            square *= f.sum || f.whole_sum ? n : f.less && n > 1 ? (double)n / (n - 1) : 1;
            const double eps = f.no_eps ? 0 : f.own_eps ? f.eps : 1e-6;
            double s = f.outside ? sqrt(square) + eps : f.no_root ? square + eps : sqrt(square + eps);
            s = f.times ? 1 / s : f.no_divide ? 1 : f.divided_once ? s / sqrt(n) : s;
            const double z = f.inverted ? s / x[r * dim + i] : (x[r * dim + i] - (f.centred || f.shifted ? mean : 0)) / s;
            y[r * dim + i] = f.added ? z + weight[i] : z * (f.no_weight ? 1 : f.one_plus ? 1 + weight[i] :
                                                            f.weight_twice ? weight[i] * weight[i] : weight[i]);
        }
    return y;
}

static void init(void)
{
    judge_part("init makes the weight");
    struct rms_norm l = { NULL };
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_model *m = gra_model_open(t, NULL);
    rms_norm_init(&l, gra_enter(gra_root(m), "norm1"), 5);
    char has[GRA_SHAPE_TEXT];
    if (gra_model_error(m))
        judge_wrong("gradus refused: %s", gra_model_error(m));
    if (gra_param_count(m) != 1)
        judge_wrong("in the scope norm1 init made %d parameters, wanted one, norm1.weight", gra_param_count(m));
    const gra_tensor *p = gra_param_at(m, 0);
    if (strcmp(p->name, "norm1.weight"))
        judge_wrong("in the scope norm1 init made the parameter %s, wanted norm1.weight", p->name);
    if (l.weight != p)
        judge_wrong("l->weight does not point at the parameter that init made");
    if (!gra_same_shape(p->shape, GRA_SHAPE(5)))
        judge_wrong("the weight has the shape %s for dim = 5, wanted (5): one number for each column",
                    gra_shape_text(p->shape, has));
    for (int i = 0; i < 5; i++)
        if (p->data[i] != 1)
            judge_wrong("the weight begins at %g (element %d), wanted 1 throughout: the layer is then the norm alone",
                        p->data[i], i);
    gra_model_close(m);
    gra_close(t);
}

#define FORM(...) normed(x, weight, rows, dim, batch, (struct form){ __VA_ARGS__ })

static void numbers(const char *part, gra_shape shape, const double *x, const double *weight, const double *want)
{
    judge_part("%s", part);
    struct rms_norm l = { NULL };
    const int dim = shape.dim[shape.ndim - 1], batch = shape.ndim > 1 ? shape.dim[0] : 1;
    int rows = 1;
    for (int d = 0; d < shape.ndim - 1; d++)
        rows *= shape.dim[d];
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_model *m = gra_model_open(t, NULL);
    rms_norm_init(&l, gra_root(m), dim);
    memcpy(gra_param_at(m, 0)->data, weight, (size_t)dim * sizeof *weight);
    gra_tensor *in = gra_input(t, x, shape), *y = rms_norm_forward(t, &l, in);
    judge_tensor(t, "y", y, shape);
    judge_unchanged("x->data", in->data, x, in->size);
    judge_unchanged("weight->data", gra_param_at(m, 0)->data, weight, (size_t)dim);
    char other[100];                                    /* with which eps would the first number come out? */
    double square = 0;
    for (int i = 0; i < dim; i++)
        square += x[i] * x[i] / dim;
    const double eps = pow(x[0] * weight[0] / y->data[0], 2) - square;
    snprintf(other, sizeof other, "eps is %.3g: wanted is 1e-6", eps);
    judge_numbers("y", shape, y->data, want ? want : FORM(.sum = false), 1e-11, JUDGE_MISTAKES(
        { "x is handed back as it came", x },
        { "the weight is not used", FORM(.no_weight = true) },
        { "the weight is added: it is a factor", FORM(.added = true) },
        { "the weight is a factor twice", FORM(.weight_twice = true) },
        { "x is multiplied by the weight before the norm: the root is that of x alone", FORM(.weight_first = true) },
        { "the largest square stands where the mean of squares should", FORM(.largest = true) },
        { "multiplied by 1 + weight: wanted is the weight", FORM(.one_plus = true) },
        { "x times the weight: the division by the root is missing", FORM(.no_divide = true) },
        { "the mean is subtracted: that is layer norm, RMSNorm leaves it", FORM(.centred = true) },
        { "the mean is subtracted from x, above the root: RMSNorm divides x as it is", FORM(.shifted = true) },
        { "divided by the standard deviation: wanted is the root of the mean of x^2, no mean is subtracted",
          FORM(.variance = true) },
        { "divided by the root of the sum of squares: wanted is that of their mean", FORM(.sum = true) },
        { "the sum of squares is divided by dim - 1: wanted is dim", FORM(.less = true) },
        { "divided by dim twice: in the mean, and again", FORM(.divided_once = true) },
        { "divided by the mean of squares: its root is missing", FORM(.no_root = true) },
        { "multiplied by the root, not divided by it", FORM(.times = true) },
        { "the mean of |x| stands in the root: wanted is that of x^2", FORM(.not_squared = true) },
        { "eps is missing: sqrt(mean x^2 + eps)", FORM(.no_eps = true) },
        { "eps is added to the root: it stands in it, sqrt(mean x^2 + eps)", FORM(.outside = true) },
        { other, fabs(eps) < 0.01 ? FORM(.own_eps = true, .eps = eps) : FORM(.sum = false) },
        { "the mean is over the first dimension: wanted is the last, -1", FORM(.first_dim = true) },
        { "the root is divided by x, not x by the root", FORM(.inverted = true) },
        { "the mean of x stands in the root: its squares are missing", FORM(.not_square = true) },
        { "the square of the mean stands where the mean of squares should", FORM(.square_of_mean = true) },
        { "the sum of the squares of all numbers stands in the root: wanted is the mean over one row",
          FORM(.whole_sum = true) },
        { "the mean is over all numbers: wanted is one for each row, along the last dimension", FORM(.whole = true) }));
    judge_without(y, "rms_norm");
    gra_model_close(m);
    gra_close(t);
}

/* x has as many rows as columns, so that a mean without keepdim broadcasts along the wrong ones. */
static void square(void)
{
    enum { N = 4 };
    judge_part("as many rows as columns");
    struct rms_norm l = { NULL };
    const double *x = judge_draw(271, N * N, -2, 2), weight[N] = { 1, 1, 1, 1 };
    double *right = normed(x, weight, N, N, N, (struct form){ .sum = false }), columns[N * N];
    for (int r = 0; r < N; r++)
        for (int i = 0; i < N; i++)
            columns[r * N + i] = x[r * N + i] * right[i * N] / x[i * N];        /* 1 / the root of row i */
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_model *m = gra_model_open(t, NULL);
    rms_norm_init(&l, gra_root(m), N);
    const double *got = judge_tensor(t, "y", rms_norm_forward(t, &l, gra_input(t, x, GRA_SHAPE(N, N))), GRA_SHAPE(N, N));
    judge_numbers("y", GRA_SHAPE(N, N), got, right, 1e-11, JUDGE_MISTAKES(
        { "column i is divided by the root of row i: with keepdim the roots would be a column, (4, 1)", columns }));
    gra_model_close(m);
    gra_close(t);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    return rms_norm_forward(t, arg, in[0]);
}

void judge_exercise(void)
{
    init();
    /* torch.manual_seed(27); x = torch.randn(2, 3, dtype=torch.float64); w = torch.randn(3, dtype=torch.float64);
     * y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w (PyTorch 1.13). */
    numbers("PyTorch's numbers", GRA_SHAPE(2, 3), (double[]){ 0.5664487299278513, -0.549267381770685, 1.2395411391776918,
            0.8271634958174167, 1.1796385679442372, 1.9616155650284564 },
            (double[]){ -0.0884392194567039, 1.1684052127516575, -0.0408685692184805 },
            (double[]){ -0.05905237854018066, -0.7565004345107236, -0.059714838967231815, -0.05205960899540087,
            0.9808601490171518, -0.05705161903171562 });
    const double *w = judge_draw(272, 5, -2, 2);
    numbers("four rows of two", GRA_SHAPE(4, 2), judge_draw(273, 8, -2, 3), w, NULL);
    numbers("x of three dimensions", GRA_SHAPE(2, 3, 5), judge_draw(274, 30, -2, 3), w, NULL);
    square();
    numbers("x of one dimension", GRA_SHAPE(4), judge_draw(275, 4, -2, 3), w, NULL);
    numbers("rows of one number", GRA_SHAPE(3, 1), judge_draw(276, 3, 1, 3), w, NULL);
    numbers("numbers of 1e-3, and zeros", GRA_SHAPE(2, 3), (double[]){ 1e-3, -2e-3, 5e-4, 0, 0, 0 }, w, NULL);
    judge_part("gradients");
    struct rms_norm l = { NULL };
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_model *m = gra_model_open(t, NULL);
    rms_norm_init(&l, gra_root(m), 5);
    judge_gradients(GRA_GRAD, NULL, m, 1, (gra_check_in[]){ { .name = "x", .shape = GRA_SHAPE(2, 3, 5) } }, f, &l);
}
