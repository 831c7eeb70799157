/* 28 swiglu: the judge. */
#include "matrix.h"

enum { MOST = 8 };

struct input {
    const double *x, *gate, *up, *down;
    int           rows, dim, hidden;
};

static double silu(double z)
{
    return z / (1 + exp(-z));
}

/* The activation of element k of the gate g, as the answer may compute it */
static double activation(const double *g, int k, int hidden)
{
    const double z = g[k];
    double sum = 0;
    for (int i = 0; i < hidden; i++)
        sum += exp(g[i]);
    return slip("silu is missing: the gate is multiplied as it is") ? z
         : slip("the activation is sigmoid(z): expected silu(z) = z sigmoid(z)") ? 1 / (1 + exp(-z))
         : slip("the activation is relu: expected silu") ? fmax(z, 0)
         : slip("the activation is gelu: expected silu") ? z * 0.5 * (1 + erf(z / sqrt(2)))
         : slip("the activation is gelu, by tanh: expected silu")
         ? z * 0.5 * (1 + tanh(0.7978845608028654 * (z + 0.044715 * z * z * z)))
         : slip("the activation is tanh: expected silu") ? tanh(z)
         : slip("the activation is exp: expected silu") ? exp(z)
         : slip("the activation is z / (1 + e^z): in silu it is e^-z") ? z / (1 + exp(z))
         : slip("the activation is softmax: expected silu") ? exp(z) / sum
         : slip("silu is applied to the gate twice: apply it once") ? silu(silu(z))
         : slip("silu is applied to -z: apply it to the gate itself") ? silu(-z)
         : slip("silu is applied to the product: apply it to the gate alone, then multiply")
           || slip("silu is applied to the result: apply it only to the gate")
           || slip("silu is applied to x, before both Linears: apply it only after the gate's")
           || slip("silu is applied to x, before the gate's Linear: apply it after") ? z : silu(z);
}

static double product(double a, double up)
{
    const double b = slip("silu is applied to gate and up: apply it only to the gate") ? silu(up) : up;
    return slip("silu is applied to the product: apply it to the gate alone, then multiply")
           || slip("silu is applied again, to the product: apply it only to the gate") ? silu(a * b)
         : slip("up is subtracted from gate: expected their product, element by element") ? a - b
         : slip("the gate is subtracted from up: expected their product, element by element") ? b - a
         : slip("the gate is divided by up: expected their product, element by element") ? a / b
         : slip("the gate is added to the product") ? a * b + a
         : slip("gate and up are added: expected their product, element by element") ? a + b
         : slip("the gate is not used: this is W_down W_up x") ? b
         : slip("up is multiplied by itself: expected silu of the gate times up") ? b * b
         : slip("the gate is multiplied by itself: expected silu of the gate times up") ? a * a
         : slip("up is added to the product") ? a * b + b
         : slip("up is not used: this is W_down silu(W_gate x), without a product") ? a : a * b;
}

static void formula(double *y, void *arg)
{
    const struct input *in = arg;
    const int dim = in->dim, hidden = in->hidden;
    const bool same = slip("x is returned unchanged");
    const bool swapped = slip("gate and up are exchanged: silu belongs to the gate");
    const bool both = slip("silu is applied to x, before both Linears: apply it only after the gate's");
    const bool of_x = both || slip("silu is applied to x, before the gate's Linear: apply it after");
    const bool gate = slip("the gate is used for both factors: one is up") || swapped;
    const bool up = slip("up is used for both factors: one is silu of the gate") || swapped;
    for (int r = 0; r < in->rows; r++) {
        double g[MOST], u[MOST], h[MOST], of[MOST];
        const double *x = in->x + r * dim;
        for (int i = 0; i < dim; i++)
            of[i] = of_x ? silu(x[i]) : x[i];
        for (int k = 0; k < hidden; k++) {
            g[k] = mat_dot((up ? in->up : in->gate) + k * dim, up ? x : of, dim);
            u[k] = mat_dot((gate ? in->gate : in->up) + k * dim, gate || both ? of : x, dim);
        }
        for (int k = 0; k < hidden; k++)
            h[k] = product(activation(g, k, hidden), u[k]);
        for (int i = 0; i < dim; i++) {
            const double z = mat_dot(in->down + i * hidden, h, hidden);
            y[r * dim + i] = same ? x[i]
                : slip("silu is applied to the result: apply it only to the gate")
                  || slip("silu is applied again, to the result: apply it only to the gate") ? silu(z)
                : slip("x is added to the result: the block that uses this layer does that") ? z + x[i] : z;
        }
    }
}

static gra_model *opened(gra_tape **t, struct swiglu *l, uint64_t seed, int dim, int hidden)
{
    gra_model *m = judge_open(t, GRA_TRAIN, seed);
    memset(l, 0, sizeof *l);
    swiglu_init(l, gra_enter(gra_root(m), "ffn"), dim, hidden);
    if (gra_model_error(m))
        judge_wrong("init: gradus refused: %s", gra_model_error(m));
    return m;
}

static void init(void)
{
    enum { DIM = 3, HIDDEN = 5 };
    judge_part("init makes three weights, for dim = 3 and hidden = 5");
    struct swiglu l;
    gra_tape *t;
    gra_model *m = opened(&t, &l, 28, DIM, HIDDEN);
    judge_params(m, 3, (const struct judge_param[]){
        { "ffn.gate_proj.weight", GRA_SHAPE(HIDDEN, DIM), l.gate.weight },
        { "ffn.up_proj.weight", GRA_SHAPE(HIDDEN, DIM), l.up.weight },
        { "ffn.down_proj.weight", GRA_SHAPE(DIM, HIDDEN), l.down.weight } });
    judge_close(t, m);
}

/* The first numbers of the three weights from seed 28 in PyTorch 1.13. */
static const double first[3] = { 0.14724482595920563, -0.265575647354126, 0.4128328859806061 };

static void numbers(const char *part, gra_shape shape, int hidden, const double *x, uint64_t seed,
                    const double *want)
{
    judge_part("%s", part);
    struct swiglu l;
    gra_tape *t;
    const int dim = shape.dim[shape.ndim - 1];
    gra_model *m = opened(&t, &l, seed, dim, hidden);
    for (int i = 0; i < 3 && want; i++)
        if (fabs(first[i] - gra_param_at(m, i)->data[0]) > 1e-8)
            judge_wrong("%s[0]: got %.9g, expected %.9g, as in PyTorch with this seed: make the Linears with "
                        "gra_linear_init (in_features of down is hidden)", gra_param_at(m, i)->name,
                        gra_param_at(m, i)->data[0], first[i]);
    gra_tensor *in = gra_input(t, x, shape), *y = swiglu_forward(t, &l, in);
    if (y && !gra_error(t) && y->shape.ndim == shape.ndim && gra_dim(y, -1) == hidden && hidden != dim)
        judge_wrong("y: got hidden = %d columns, expected dim = %d: the third Linear, down, leads back",
                    hidden, dim);
    judge_tensor(t, "y", y, shape);
    judge_unchanged("x->data", in->data, x, in->size);
    judge_against("y", shape, y->data, 1e-11, formula, &(struct input){
        x, l.gate.weight->data, l.up.weight->data, l.down.weight->data, (int)in->size / dim, dim, hidden });
    if (want)
        judge_numbers("y", shape, y->data, want, 1e-8);
    judge_close(t, m);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    return swiglu_forward(t, arg, in[0]);
}

void judge_exercise(void)
{
    init();
    numbers("two rows", GRA_SHAPE(2, 4), 6, judge_draw(281, 8, -2, 2), 281, NULL);
    numbers("x of three dimensions", GRA_SHAPE(3, 2, 5), 4, judge_draw(282, 30, -3, 3), 282, NULL);
    numbers("hidden as large as dim, x of one row", GRA_SHAPE(1, 3), 3, judge_draw(283, 3, -4, 4), 283, NULL);
    /* torch.manual_seed(28); g, u = Linear(3, 5, bias=False), the same; d = Linear(5, 3, bias=False); all
     * .double(); y = d(torch.nn.functional.silu(g(x)) * u(x)) (PyTorch 1.13). */
    const double x[] = { 0.5, -1, 2, -1.5, 0.25, 1 };
    const double y[] = { -0.11170123634628443, 0.031444751831639174, 0.058199033329620314,
                         -0.01013094886363487, -0.03508069646499226, 0.11618135986724365 };
    numbers("PyTorch's numbers", GRA_SHAPE(2, 3), 5, x, 28, y);
    judge_part("gradients");
    struct swiglu l;
    gra_tape *t;
    gra_model *m = opened(&t, &l, 284, 3, 5);
    judge_gradients(GRA_GRAD, NULL, m, 1, &(gra_check_in){ .name = "x", .shape = GRA_SHAPE(2, 2, 3) }, f, &l);
}
