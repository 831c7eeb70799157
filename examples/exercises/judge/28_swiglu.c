/* 28 swiglu: the judge. */
#include "judge.h"

enum { MOST = 8 };
typedef enum { SILU, SIGMOID, NONE, RELU, GELU, GELU_TANH, TANH, SOFTMAX, EXP, TURNED } kind;

/* The formula, with what a mistake changes in it; all zeros: right. */
struct form {
    kind gate;
    bool both, after, added, subtracted, gate_twice, up_twice, no_up, plus_x;
    bool up_alone, up_squared, gate_squared, up_more;
    bool again, at_the_end, of_x;        /* silu of the product, too; of the result; of x, not of the gate */
};

static double activation(kind k, double z)
{
    switch (k) {
    case SILU:    return z / (1 + exp(-z));
    case SIGMOID: return 1 / (1 + exp(-z));
    case RELU:    return fmax(z, 0);
    case GELU:    return z * 0.5 * (1 + erf(z / sqrt(2)));
    case GELU_TANH: return z * 0.5 * (1 + tanh(0.7978845608028654 * (z + 0.044715 * z * z * z)));
    case TANH:    return tanh(z);
    case SOFTMAX: return exp(z);
    case EXP:     return exp(z);
    case TURNED:  return z / (1 + exp(z));
    default:      return z;
    }
}

struct weights {
    const double *gate, *up, *down;
    int dim, hidden;
};

static double *formula(const double *x, const struct weights *w, int rows, struct form f)
{
    const int dim = w->dim, hidden = w->hidden;
    double *y = judge_room((size_t)(rows * dim)), h[MOST];
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int k = 0; k < hidden; k++) {
            double g = 0, u = 0;
            for (int i = 0; i < dim; i++) {
                g += w->gate[k * dim + i] * (f.of_x ? activation(SILU, x[r * dim + i]) : x[r * dim + i]);
                u += w->up[k * dim + i] * x[r * dim + i];
            }
            u = f.gate_twice ? g : u;
            g = f.up_twice ? u : g;
            const double a = activation(f.gate, g), b = f.both ? activation(f.gate, u) : u;
            h[k] = f.after ? activation(f.gate, g * u) : f.added ? a + b : f.subtracted ? a - b : a * (f.no_up ? 1 : b);
            h[k] = f.up_alone ? u : f.up_squared ? u * u : f.up_more ? a * u + u : f.gate_squared ? a * a : h[k];
            h[k] = f.again ? activation(SILU, h[k]) : h[k];
            sum += activation(f.gate, g);
        }
        for (int i = 0; i < dim; i++) {
            double s = f.plus_x ? x[r * dim + i] : 0;
            for (int k = 0; k < hidden; k++)
                s += w->down[i * hidden + k] * h[k] / (f.gate == SOFTMAX ? sum : 1);
            y[r * dim + i] = f.at_the_end ? activation(SILU, s) : s;
        }
    }
    return y;
}

static void open(struct swiglu *l, gra_tape **t, gra_model **m, gra_rng *rng, uint64_t seed, int dim, int hidden)
{
    memset(l, 0, sizeof *l);
    gra_manual_seed(rng, seed);
    *t = judge_tape(GRA_TRAIN, rng);
    *m = gra_model_open(*t, rng);
    swiglu_init(l, gra_enter(gra_root(*m), "ffn"), dim, hidden);
    if (gra_model_error(*m))
        judge_wrong("init: gradus refused: %s", gra_model_error(*m));
}

/* Names, shapes, order, and that the struct points at them. */
static void init(void)
{
    judge_part("init makes three weights");
    enum { DIM = 3, HIDDEN = 5 };
    static const char *const name[3] = { "ffn.gate_proj.weight", "ffn.up_proj.weight", "ffn.down_proj.weight" };
    struct swiglu l;
    gra_tape *t;
    gra_model *m;
    gra_rng rng;
    open(&l, &t, &m, &rng, 28, DIM, HIDDEN);
    const gra_tensor *const held[3] = { l.gate.weight, l.up.weight, l.down.weight };
    const gra_tensor *const biases[3] = { l.gate.bias, l.up.bias, l.down.bias };
    char has[GRA_SHAPE_TEXT], wants[GRA_SHAPE_TEXT];
    for (int i = 0; i < gra_param_count(m); i++)
        if (strstr(gra_param_at(m, i)->name, "bias"))
            judge_wrong("there is a bias, %s: wanted are Linears without", gra_param_at(m, i)->name);
    for (int i = 0; i < 3; i++) {
        const gra_tensor *p = gra_param_find(m, name[i]);
        const gra_shape want = i < 2 ? GRA_SHAPE(HIDDEN, DIM) : GRA_SHAPE(DIM, HIDDEN);
        if (!p && gra_param_count(m) == 0)
            judge_wrong("init made no parameter, wanted %s and two more", name[i]);
        if (!p)
            judge_wrong("in the scope ffn there is no parameter %s; the first that init made is %s", name[i],
                        gra_param_at(m, 0)->name);
        if (!gra_same_shape(p->shape, want))
            judge_wrong("%s has the shape %s for dim = %d and hidden = %d, wanted %s", name[i],
                        gra_shape_text(p->shape, has), DIM, HIDDEN, gra_shape_text(want, wants));
        if (held[i] != p)
            judge_wrong("the struct does not hold %s in its place: gate, up and down are each made by their own init",
                        name[i]);
        if (biases[i])
            judge_wrong("a Linear has a bias: wanted are Linears without");
    }
    for (int i = 0; i < 3; i++)
        if (strcmp(gra_param_at(m, i)->name, name[i]))
            judge_wrong("the parameter made as number %d is %s, wanted %s: in another order a seed gives other numbers",
                        i + 1, gra_param_at(m, i)->name, name[i]);
    if (gra_param_count(m) != 3)
        judge_wrong("init made %d parameters, wanted 3", gra_param_count(m));
    gra_model_close(m);
    gra_close(t);
}

/* The first numbers of the three weights from seed 28 in PyTorch 1.13. */
static const double first[3] = { 0.14724482595920563, -0.265575647354126, 0.4128328859806061 };

#define FORM(...) formula(x, &w, rows, (struct form){ __VA_ARGS__ })

static void numbers(const char *part, gra_shape shape, int hidden, const double *x, uint64_t seed, const double *want)
{
    judge_part("%s", part);
    struct swiglu l;
    gra_tape *t;
    gra_model *m;
    gra_rng rng;
    const int dim = shape.dim[shape.ndim - 1];
    int rows = 1;
    for (int d = 0; d < shape.ndim - 1; d++)
        rows *= shape.dim[d];
    open(&l, &t, &m, &rng, seed, dim, hidden);
    const struct weights w = { gra_param_find(m, "ffn.gate_proj.weight")->data,
                               gra_param_find(m, "ffn.up_proj.weight")->data,
                               gra_param_find(m, "ffn.down_proj.weight")->data, dim, hidden };
    for (int i = 0; i < 3 && want; i++)
        if (fabs(first[i] - gra_param_at(m, i)->data[0]) > 1e-8)
            judge_wrong("%s begins with %.6g, wanted %.6g, as nn.Linear does from this seed: make the Linears by\n"
                        "gra_linear_init", gra_param_at(m, i)->name, gra_param_at(m, i)->data[0], first[i]);
    const struct weights swapped = { w.up, w.gate, w.down, dim, hidden };
    gra_tensor *in = gra_input(t, x, shape), *y = swiglu_forward(t, &l, in);
    if (y && !gra_error(t) && y->shape.ndim == shape.ndim && y->shape.dim[y->shape.ndim - 1] == hidden && hidden != dim)
        judge_wrong("y has hidden = %d columns, wanted dim = %d: the third Linear, down, leads back", hidden, dim);
    judge_tensor(t, "y", y, shape);
    judge_unchanged("x->data", in->data, x, in->size);
    judge_numbers("y", shape, y->data, want ? want : FORM(.gate = SILU), want ? 1e-8 : 1e-11, JUDGE_MISTAKES(
        { "x is handed back as it came", x },
        { "gate and up are exchanged: silu belongs to the gate", formula(x, &swapped, rows, (struct form){ .gate = SILU }) },
        { "silu is missing: the gate is multiplied as it is", FORM(.gate = NONE) },
        { "sigmoid(z) stands where silu(z) = z sigmoid(z) should", FORM(.gate = SIGMOID) },
        { "relu stands where silu should", FORM(.gate = RELU) },
        { "gelu stands where silu should", FORM(.gate = GELU) },
        { "gelu stands where silu should", FORM(.gate = GELU_TANH) },
        { "tanh stands where silu should", FORM(.gate = TANH) },
        { "exp stands where silu should", FORM(.gate = EXP) },
        { "z / (1 + e^z) stands where silu(z) should: a sign", FORM(.gate = TURNED) },
        { "softmax stands where silu should", FORM(.gate = SOFTMAX) },
        { "silu is taken of gate and of up: it belongs to the gate alone", FORM(.both = true) },
        { "silu is taken of the product: it belongs to the gate alone, before", FORM(.after = true) },
        { "silu is taken of the product once more: it belongs to the gate alone", FORM(.again = true) },
        { "silu is taken of the result: it belongs to the gate alone", FORM(.gate = NONE, .at_the_end = true) },
        { "silu is taken of the result once more: it belongs to the gate alone", FORM(.at_the_end = true) },
        { "silu is taken of x, before the gate's Linear: it comes after", FORM(.gate = NONE, .of_x = true) },
        { "up is subtracted from gate: wanted is their product, element by element", FORM(.subtracted = true) },
        { "gate and up are added: wanted is their product, element by element", FORM(.added = true) },
        { "the gate is used for both factors: one is up", FORM(.gate_twice = true) },
        { "up is used for both factors: silu is taken of the gate", FORM(.up_twice = true) },
        { "the gate is not used: this is W_down W_up x", FORM(.up_alone = true) },
        { "up is multiplied by itself: wanted is silu of the gate times up", FORM(.up_squared = true) },
        { "the gate is multiplied by itself: wanted is silu of the gate times up", FORM(.gate_squared = true) },
        { "up is added to the product", FORM(.up_more = true) },
        { "up is not used: this is W_down silu(W_gate x), without a product", FORM(.no_up = true) },
        { "x is added to the result: the block that uses this layer does that", FORM(.plus_x = true) }));
    gra_model_close(m);
    gra_close(t);
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
    /* torch.manual_seed(28); g, u = Linear(3, 5, bias=False), the same; d = Linear(5, 3, bias=False); all .double();
     * y = d(torch.nn.functional.silu(g(x)) * u(x)) (PyTorch 1.13). */
    numbers("PyTorch's numbers", GRA_SHAPE(2, 3), 5, (double[]){ 0.5, -1, 2, -1.5, 0.25, 1 }, 28,
            (double[]){ -0.11170123634628443, 0.031444751831639174, 0.058199033329620314, -0.01013094886363487,
            -0.03508069646499226, 0.11618135986724365 });
    judge_part("gradients");
    struct swiglu l;
    gra_tape *t;
    gra_model *m;
    gra_rng rng;
    open(&l, &t, &m, &rng, 284, 3, 5);
    judge_gradients(GRA_GRAD, NULL, m, 1, (gra_check_in[]){ { .name = "x", .shape = GRA_SHAPE(2, 2, 3) } }, f, &l);
}
