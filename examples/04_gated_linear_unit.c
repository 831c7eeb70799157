/* 04: a layer of your own: the gated linear unit (Dauphin et al. 2017).
 *
 *     y = (x W_a^T + b_a) * sigmoid(x W_g^T + b_g)        x (..., in) -> y (..., out)
 *
 *     make && build/examples/04_gated_linear_unit
 *
 * What you will learn: a layer is a struct that points at its parameters, an init that makes them
 * in a scope (which gives them their names) and a forward that is written in ops. There is nothing
 * to register, to free or to differentiate. gra_check checks every gradient, then the layer learns
 * something that a Linear cannot. (The check requires double precision: this program is compiled
 * with -DGRADUS_DOUBLE.)
 */
#include "../layers/layers.h"

/* ---- the layer ------------------------------------------------------------------------------- */

typedef struct glu {
    struct gra_linear value, gate;
} glu;

static void glu_init(glu *l, gra_scope scope, int in_features, int out_features)
{
    gra_linear_init(&l->value, gra_enter(scope, "value"), in_features, out_features, true);
    gra_linear_init(&l->gate, gra_enter(scope, "gate"), in_features, out_features, true);
}

static gra_tensor *glu_forward(gra_tape *t, const glu *l, gra_tensor *x)
{
    gra_tensor *value = gra_linear_forward(t, &l->value, x);                /* (..., out) */
    gra_tensor *gate  = gra_linear_forward(t, &l->gate, x);                 /* (..., out) */
    return gra_mul(t, value, gra_sigmoid(t, gate));
}

/* ---- its gradients --------------------------------------------------------------------------- */

static gra_tensor *checked(gra_tape *t, gra_tensor **in, void *l)
{
    return glu_forward(t, l, in[0]);
}

/* Compares every element of x and of each parameter of the model. */
static int check(gra_tape *t, gra_rng *rng)
{
    gra_model *model = gra_model_open(t, rng);
    glu l;
    glu_init(&l, gra_enter(gra_root(model), "glu"), 5, 3);
    for (int i = 0; i < gra_param_count(model); i++) {
        const gra_tensor *p = gra_param_at(model, i);
        printf("%-16s (%d", p->name, p->shape.dim[0]);
        for (int d = 1; d < p->shape.ndim; d++)
            printf(", %d", p->shape.dim[d]);
        printf(")\n");
    }
    const gra_check_in x = { .name = "x", .shape = GRA_SHAPE(2, 3, 5) };
    gra_check_report report;
    int result = gra_check(t, &(gra_check_options){ .model = model, .nin = 1, .in = &x, .f = checked,
                           .arg = &l }, &report);
    printf("%s\n\n", report.text);
    gra_model_close(model);
    return result;
}

/* ---- a task: a switch ------------------------------------------------------------------------ */

/* The input is two numbers: a signal, and a switch that is 0 or 1. The output should be the signal if the
 * switch is on, else 0. That is the product of the two numbers. No linear function computes it: the best one
 * always lets half of the signal through. */
enum { BATCH = 64, STEPS = 500 };

static void draw(gra_rng *rng, gra_real *x, gra_real *y)
{
    gra_randn(rng, y, BATCH);                                               /* the signals */
    for (int i = 0; i < BATCH; i++) {
        x[2 * i] = y[i];
        x[2 * i + 1] = (gra_real)gra_randint(rng, 2);
        y[i] *= x[2 * i + 1];
    }
}

static gra_tensor *linear(gra_tape *t, gra_tensor **in, void *l)
{
    return gra_linear_forward(t, l, in[0]);
}

/* Trains one layer and returns the final loss: the mean over the last 50 steps. */
static double train(gra_tape *t, gra_rng *rng, gra_model *model, gra_check_fn *layer, void *l)
{
    gra_real x[2 * BATCH], y[BATCH];
    double left = 0;
    gra_adamw adamw;
    gra_adamw_init(&adamw, model, NULL);
    adamw.lr = 0.05;
    adamw.weight_decay = 0;                             /* the default, 0.01, shrinks the weights */
    for (int step = 1; step <= STEPS; step++) {
        draw(rng, x, y);
        gra_begin(t, GRA_TRAIN, rng);                   /* forgets the previous step's tensors */
        gra_tensor *in = gra_constant(t, x, GRA_SHAPE(BATCH, 2));
        gra_tensor *loss = gra_mse_loss(t, layer(t, &in, l), gra_constant(t, y, GRA_SHAPE(BATCH, 1)));
        gra_zero_grad(model);
        gra_backward(t, loss);
        gra_adamw_step(&adamw);
        if (step > STEPS - 50)
            left += gra_item(loss) / 50;
        if (step == 1 || step % 100 == 0)
            printf("  step %3d   loss %.5f\n", step, gra_item(loss));
    }
    return left;
}

/* Prints what becomes of the signal 1 with the switch off and on. */
static void show(gra_tape *t, gra_check_fn *layer, void *l)
{
    gra_begin(t, GRA_EVAL, NULL);
    gra_tensor *x = gra_constant(t, (gra_real[]){ 1, 0, 1, 1 }, GRA_SHAPE(2, 2));
    gra_tensor *y = layer(t, &x, l);
    printf("  the signal 1 comes out as %.3f when switched off, %.3f when on\n", (double)y->data[0],
           (double)y->data[1]);
}

int main(void)
{
    gra_rng rng;
    gra_manual_seed(&rng, 123);
    gra_tape *t = gra_open(1);
    int wrong = check(t, &rng);
    if (!wrong) {
        gra_model *plain = gra_model_open(t, &rng), *gated = gra_model_open(t, &rng);
        struct gra_linear line;
        glu gate;
        gra_linear_init(&line, gra_root(plain), 2, 1, true);
        glu_init(&gate, gra_root(gated), 2, 1);

        printf("Linear(2, 1)\n");
        double line_left = train(t, &rng, plain, linear, &line);
        show(t, linear, &line);
        printf("\ngated linear unit\n");
        double gate_left = train(t, &rng, gated, checked, &gate);
        show(t, checked, &gate);
        printf("\nloss left: Linear %.5f, gated %.5f\n", line_left, gate_left);
        gra_model_close(plain);
        gra_model_close(gated);
    }
    gra_close(t);
    return wrong ? 1 : 0;
}

/* Try: gra_tanh in place of gra_sigmoid. The layer still learns: off is closer to 0, but on farther from 1.
 * Try: a batch of 4. The loss jumps about, and ends higher: the gradient is a noisy estimate. */
