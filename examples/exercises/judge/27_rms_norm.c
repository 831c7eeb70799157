/* 27 rms_norm: the judge. */
#include "judge.h"

struct input {
    const double *x, *weight;               /* x (rows, dim), in `batch` groups of rows */
    int           rows, dim, batch;
    double        eps;                      /* with which the answer's first number would be right */
};

/* What x[r, i] is divided by. */
static double root_of(const struct input *in, int r, int i, double *mean)
{
    const int dim = in->dim, each = in->rows / in->batch;
    const bool first = slip("the mean is over the first dimension: expected the last, -1");
    const bool middle = each > 1 && slip("the mean is over dimension 1: expected the last, -1");
    const bool all = slip("the mean is over all numbers: expected one for each row, over the last dimension");
    const int group = r / each * each * dim;
    const double *x = in->x + (first ? r % each * dim + i : middle ? group + i : all ? 0 : r * dim);
    const int n = first ? in->batch : middle ? each : all ? in->rows * dim : dim;
    const int step = first ? each * dim : middle ? dim : 1;
    const bool of_weighted =
        slip("x is multiplied by the weight before the norm: normalise x, then multiply by the weight");
    const bool most = slip("the largest square is in the root: expected the mean of squares");
    const bool centred = slip("the mean is subtracted: that is layer norm, not RMSNorm")
        || slip("divided by the standard deviation: expected the root of the mean of x^2");
    const bool absolute = slip("divided by the mean of |x|: expected the root of the mean of x^2");
    const bool size = slip("the mean of |x| is in the root: expected that of x^2") || absolute;
    const bool plain = slip("the mean of x is in the root: its squares are missing");
    double square = 0;
    *mean = 0;
    for (int k = 0; k < n; k++)
        *mean += x[k * step] / n;
    for (int k = 0; k < n; k++) {
        const double z = x[k * step] * (of_weighted ? in->weight[k % dim] : 1) - (centred ? *mean : 0);
        square = most ? fmax(square, z * z) : square + (size ? fabs(z) : plain ? z : z * z) / n;
    }
    square = slip("the mean of squares is 0 (in C, 1 / n is 0 for an int n > 1)") ? 0
           : slip("the sum of squares is divided by the number of rows: expected dim")
           ? square * n / in->rows
           : slip("the square of the mean is in the root: expected the mean of squares") ? *mean * *mean
           : slip("divided by the root of the sum of squares: expected that of their mean") ? square * n
           : each > 1 && slip("the sum of squares is divided by the size of dimension 1: expected that of -1")
           ? square * n / each
           : slip("the sum of squares is divided by dim - 1: expected dim") && n > 1 ? square * n / (n - 1)
           : square;
    const bool own = in->rows > 1 && isfinite(in->eps) && fabs(in->eps) < 2;
    const double eps = slip("eps is missing: sqrt(mean x^2 + eps)") ? 0
                     : own && fabs(in->eps - 1e-6) > 1e-10 && slip_of("eps is %.3g: expected 1e-06", in->eps)
                     ? in->eps : 1e-6;
    return slip("x times the weight: the division by the root is missing") ? 1
         : slip("divided by the mean of squares, the root times itself: divide by it once") ? square + eps
         : absolute ? square
         : slip("multiplied by the root: divide by it") ? 1 / sqrt(square + eps)
         : slip("eps is added to the root: it belongs inside, sqrt(mean x^2 + eps)") ? sqrt(square) + eps
         : slip("divided by dim twice: in the mean, and again") ? sqrt((square + eps) / n)
         : sqrt(square + eps);
}

static void normed(double *out, void *arg)
{
    const struct input *in = arg;
    const bool same = slip("x is returned unchanged");
    const bool column = in->rows == in->dim
        && slip("column i is divided by the root of row i: keepdim makes the roots a column, (rows, 1)");
    for (int at = 0; at < in->rows * in->dim; at++) {
        const int i = at % in->dim, r = column ? i : at / in->dim;
        double mean, root = root_of(in, r, i, &mean), x = in->x[at], w = in->weight[i];
        x -= slip("the mean is subtracted: that is layer norm, not RMSNorm")
          || slip("the mean is subtracted from x, but not inside the root: RMSNorm divides x itself")
          ? mean : 0;
        const double z = slip("the root is divided by x: divide x by the root") ? root / x : x / root;
        out[at] = same ? x : slip("the weight is not used") ? z
                : slip("the weight is added: multiply by it") ? z + w
                : slip("divided by the weight: multiply by it") ? z / w
                : slip("x is missing: this is the weight divided by the root") ? w / root
                : slip("x is added to the result: the block that uses this layer does that")
                ? in->x[at] + z * w
                : slip("multiplied by the weight twice") ? z * w * w
                : slip("multiplied by 1 + weight: expected the weight") ? z * (1 + w) : z * w;
    }
}

static void init(void)
{
    judge_part("init makes the weight, for dim = 5");
    struct rms_norm l = { NULL };
    gra_tape *t;
    gra_model *m = judge_open(&t, GRA_GRAD, 27);
    rms_norm_init(&l, gra_enter(gra_root(m), "norm1"), 5);
    judge_params(m, 1, &(struct judge_param){ "norm1.weight", GRA_SHAPE(5), l.weight });
    if (!l.weight)
        judge_wrong("l->weight is still NULL: store there what gra_param returns");
    for (int i = 0; i < 5; i++)
        if (l.weight->data[i] != 1)
            judge_wrong("weight[%d]: got %.*g, expected 1: a norm begins with weights of 1, by "
                        "gra_init_ones()",
                        i, judge_digits(l.weight->data[i], 1), l.weight->data[i]);
    judge_close(t, m);
}

static void numbers(const char *part, gra_shape shape, const double *x, const double *weight,
                    const double *want)
{
    judge_part("%s", part);
    struct rms_norm l = { NULL };
    const int dim = shape.dim[shape.ndim - 1];
    gra_tape *t;
    gra_model *m = judge_open(&t, GRA_GRAD, 27);
    rms_norm_init(&l, gra_root(m), dim);
    memcpy(gra_param_at(m, 0)->data, weight, (size_t)dim * sizeof *weight);
    gra_tensor *in = gra_input(t, x, shape), *y = rms_norm_forward(t, &l, in);
    judge_tensor(t, "y", y, shape);
    judge_unchanged("x->data", in->data, x, in->size);
    judge_unchanged("weight->data", gra_param_at(m, 0)->data, weight, (size_t)dim);
    double square = 0;
    for (int i = 0; i < dim; i++)
        square += x[i] * x[i] / dim;
    judge_against("y", shape, y->data, 1e-11, normed,
                  &(struct input){ x, weight, (int)in->size / dim, dim, shape.ndim > 1 ? shape.dim[0] : 1,
                                   pow(x[0] * weight[0] / y->data[0], 2) - square });
    if (want)
        judge_numbers("y", shape, y->data, want, 1e-11);
    judge_without(y, "rms_norm");
    judge_close(t, m);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    return rms_norm_forward(t, arg, in[0]);
}

void judge_exercise(void)
{
    init();
    /* torch.manual_seed(27); x, w = torch.randn(2, 3, dtype=torch.float64), torch.randn(3,
     * dtype=torch.float64) y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w (PyTorch 1.13). */
    const double torch_x[] = { 0.5664487299278513, -0.549267381770685, 1.2395411391776918, 0.8271634958174167,
                               1.1796385679442372, 1.9616155650284564 };
    const double torch_w[] = { -0.0884392194567039, 1.1684052127516575, -0.0408685692184805 };
    const double torch_y[] = { -0.05905237854018066, -0.7565004345107236, -0.059714838967231815,
                               -0.05205960899540087, 0.9808601490171518, -0.05705161903171562 };
    const double *w = judge_draw(272, 5, -2, 2), ones[] = { 1, 1, 1, 1 };
    numbers("five rows of three", GRA_SHAPE(5, 3), judge_draw(273, 15, -2, 3), w, NULL);
    numbers("PyTorch's numbers", GRA_SHAPE(2, 3), torch_x, torch_w, torch_y);
    numbers("x of three dimensions", GRA_SHAPE(2, 3, 5), judge_draw(274, 30, -2, 3), w, NULL);
    numbers("as many rows as columns", GRA_SHAPE(4, 4), judge_draw(271, 16, -2, 2), ones, NULL);
    numbers("x of one dimension", GRA_SHAPE(4), judge_draw(275, 4, -2, 3), w, NULL);
    numbers("rows of one number", GRA_SHAPE(3, 1), judge_draw(276, 3, 1, 3), w, NULL);
    numbers("numbers of 1e-3, and zeros", GRA_SHAPE(2, 3), (double[]){ 1e-3, -2e-3, 5e-4, 0, 0, 0 }, w, NULL);
    judge_part("gradients");
    struct rms_norm l = { NULL };
    gra_tape *t;
    gra_model *m = judge_open(&t, GRA_GRAD, 27);
    rms_norm_init(&l, gra_root(m), 5);
    judge_gradients(GRA_GRAD, NULL, m, 1, &(gra_check_in){ .name = "x", .shape = GRA_SHAPE(2, 3, 5) }, f, &l);
}
