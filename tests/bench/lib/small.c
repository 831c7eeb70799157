/* small: what the tape itself costs, seen where there is next to nothing to compute. One thread.
 *
 * The perceptron is 2-16-16-1 with ReLU, one sample, squared error; its step is zero_grad, forward,
 * backward and SGD. */
#include "bench.h"
#include "../../../layers/layers.h"

struct small {
    gra_tape   *tape;
    gra_model  *model;
    gra_tensor *a, *b;                  /* 4 x 4 */
    struct gra_linear layer[3];
    gra_sgd     opt;
};

static gra_tensor *perceptron(struct small *s)
{
    gra_tape *t = s->tape;
    gra_tensor *x = gra_constant(t, (gra_real[]){ 1, -2 }, GRA_SHAPE(1, 2));
    x = gra_relu(t, gra_linear_forward(t, &s->layer[0], x));
    x = gra_relu(t, gra_linear_forward(t, &s->layer[1], x));
    return gra_linear_forward(t, &s->layer[2], x);
}

static void forward(void *arg)
{
    struct small *s = arg;
    gra_begin(s->tape, GRA_EVAL, NULL);
    perceptron(s);
}

static void step(void *arg)
{
    struct small *s = arg;
    gra_begin(s->tape, GRA_TRAIN, NULL);
    gra_tensor *loss = gra_mse_loss(s->tape, perceptron(s), gra_full(s->tape, 1, GRA_SHAPE(1, 1)));
    gra_zero_grad(s->model);
    gra_backward(s->tape, loss);
    gra_sgd_step(&s->opt);
}

static void add(void *arg)
{
    struct small *s = arg;
    gra_begin(s->tape, GRA_GRAD, NULL);
    gra_add(s->tape, s->a, s->b);
}

static void add_back(void *arg)
{
    struct small *s = arg;
    gra_begin(s->tape, GRA_GRAD, NULL);
    gra_backward(s->tape, gra_sum(s->tape, gra_add(s->tape, s->a, s->b)));
}

static void matmul(void *arg)
{
    struct small *s = arg;
    gra_begin(s->tape, GRA_GRAD, NULL);
    gra_matmul(s->tape, s->a, s->b);
}

static void matmul_back(void *arg)
{
    struct small *s = arg;
    gra_begin(s->tape, GRA_GRAD, NULL);
    gra_backward(s->tape, gra_sum(s->tape, gra_matmul(s->tape, s->a, s->b)));
}

static const struct row {
    const char *name;
    void      (*run)(void *arg);
} rows[] = {
    { "perceptron 2-16-16-1, forward", forward },
    { "perceptron 2-16-16-1, step", step },
    { "4 x 4 add, recorded", add },
    { "4 x 4 add, sum, backward", add_back },
    { "4 x 4 matmul, recorded", matmul },
    { "4 x 4 matmul, sum, backward", matmul_back },
};

void bench_small(const bench *b)
{
    static const int width[] = { 2, 16, 16, 1 };
    const column c[] = { { "what", "what", NULL, 36, TEXT }, { "us", "microseconds", NULL, 14, 3 } };
    struct small s = { .tape = need(gra_open(1)) };
    gra_rng rng;
    gra_manual_seed(&rng, 1);
    s.model = need(gra_model_open(s.tape, &rng));
    s.a = gra_param(gra_root(s.model), "a", gra_init_normal(0, 1), GRA_SHAPE(4, 4));
    s.b = gra_param(gra_root(s.model), "b", gra_init_normal(0, 1), GRA_SHAPE(4, 4));
    gra_model *net = need(gra_model_open(s.tape, &rng));
    for (int i = 0; i < 3; i++)
        gra_linear_init(&s.layer[i], gra_enter(gra_root(net), "%d", i), width[i], width[i + 1], true);
    gra_model *all = s.model;
    s.model = net;
    gra_sgd_init(&s.opt, net, NULL);
    s.opt.lr = 1e-4;
    table t = table_begin(b, "small", "what the tape itself costs, on one thread", 2, c);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        table_text(&t, "%s", rows[i].name);
        table_number(&t, 1e6 * time_of(b->seconds, rows[i].run, &s));
    }
    gra_model_close(net);
    gra_model_close(all);
    gra_close(s.tape);
}
