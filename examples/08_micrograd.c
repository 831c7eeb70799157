/* 08: micrograd's demo, digit for digit: an MLP 2-16-16-1 that separates two moons by a margin.
 *
 *     make && build/examples/08_micrograd
 *
 * The notebook demo.ipynb of Andrej Karpathy's micrograd (2020) computes number by number in Python, in
 * double. Its data come from NumPy's seed 1337, and its weights from Python's seed 1337. The same seeds give
 * the same losses here, with whole matrices: the notebook prints 0.8958441028683222 at step 0, and
 * 0.010978370135492717 at step 99. */
#include "core/gradus.h"
#include <math.h>

enum { N = 100, HIDDEN = 16, STEPS = 100 };

/* sklearn.datasets.make_moons(100, noise=0.1), after np.random.seed(1337) */
static void moons(gra_real *x, gra_real *label)
{
    double noise[2 * N];
    int order[N];
    gra_rng numpy;
    gra_manual_seed(&numpy, 1337);
    for (int i = 0; i < N; i++)
        order[i] = i;
    for (int i = N - 1; i > 0; i--) {                   /* RandomState.shuffle: draws until j <= i */
        uint32_t mask = 127, j;
        while (mask >> 1 >= (uint32_t)i)
            mask >>= 1;
        do
            j = gra_random(&numpy) & mask;
        while (j > (uint32_t)i);
        const int kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    gra_numpy_normal(&numpy, noise, 2 * N, 0, 0.1);
    for (int i = 0; i < N; i++) {
        const bool upper = order[i] < N / 2;
        const double a = acos(-1) * (order[i] % (N / 2)) / (N / 2 - 1);
        x[2 * i] = (gra_real)((upper ? cos(a) : 1 - cos(a)) + noise[2 * i]);
        x[2 * i + 1] = (gra_real)((upper ? sin(a) : 1 - sin(a) - 0.5) + noise[2 * i + 1]);
        label[i] = upper ? -1 : 1;
    }
}

int main(void)
{
    static const int in[3] = { 2, HIDDEN, HIDDEN }, out[3] = { HIDDEN, HIDDEN, 1 };
    gra_real x[2 * N], label[N];
    gra_tensor *w[3], *b[3];
    gra_rng python;
    moons(x, label);
    gra_python_seed(&python, 1337);
    gra_tape *t = gra_open(1);
    gra_model *model = gra_model_open(t, NULL);
    for (int l = 0; l < 3; l++) {
        double u[HIDDEN * HIDDEN];
        gra_scope s = gra_enter(gra_root(model), "layers.%d", l);
        w[l] = gra_param(s, "weight", gra_init_zeros(), GRA_SHAPE(out[l], in[l]));
        b[l] = gra_param(s, "bias", gra_init_zeros(), GRA_SHAPE(out[l]));
        gra_numpy_random(&python, u, w[l]->size);       /* random.uniform(-1, 1) */
        for (size_t i = 0; i < w[l]->size; i++)
            w[l]->data[i] = (gra_real)(-1 + 2 * u[i]);
    }
    printf("%zu parameters\n", gra_param_values(model));

    gra_sgd sgd;
    gra_sgd_init(&sgd, model, NULL);
    for (int step = 0; step < STEPS; step++) {
        gra_begin(t, GRA_TRAIN, NULL);
        gra_tensor *h = gra_constant(t, x, GRA_SHAPE(N, 2)), *y = gra_constant(t, label, GRA_SHAPE(N, 1));
        for (int l = 0; l < 3; l++) {
            h = gra_linear(t, h, w[l], b[l]);
            h = l < 2 ? gra_relu(t, h) : h;
        }
        gra_tensor *loss = gra_mean(t, gra_relu(t, gra_add_scalar(t, gra_neg(t, gra_mul(t, y, h)), 1)));
        for (int i = 0; i < gra_param_count(model); i++)
            loss = gra_add(t, loss, gra_scale(t, gra_sum(t, gra_pow(t, gra_param_at(model, i), 2)), 1e-4));
        int right = 0;
        for (int i = 0; i < N; i++)
            right += (label[i] > 0) == (h->data[i] > 0);
        gra_zero_grad(model);
        gra_backward(t, loss);
        sgd.lr = 1 - 0.9 * step / STEPS;
        gra_sgd_step(&sgd);
        if (step % 11 == 0)
            printf("step %2d  loss %.15f  accuracy %d%%\n", step, gra_item(loss), right);
    }
    gra_model_close(model);
    gra_close(t);
    return 0;
}
