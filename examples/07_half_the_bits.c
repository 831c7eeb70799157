/* 07: half the bits: products of bfloat16 numbers.
 *
 *     make && build/examples/07_half_the_bits
 *
 * What you will learn: a bfloat16 is the upper half of a float. It has a float's exponents, so nothing new
 * overflows and no loss needs to be scaled, but a mantissa of 8 bits instead of 24. A processor with an
 * instruction for bfloat16 multiplies twice as many numbers at a time. A model learns just as well from
 * products of factors that are rounded to bfloat16, because the errors of many factors are independent and
 * gradients are noisy anyway; but sums, parameters and anything that must be precise stay float.
 */
#include "../layers/gpt.h"
#include <math.h>
#include <string.h>
#include <time.h>

/* ---- what it is ---- */

/* The nearest bfloat16. If two are equally near, the last bit of the result is 0. (NaN is not treated
 * here.) */
static float bfloat16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void show_numbers(void)
{
    static const float x[] = { 1, 1.0f / 3, 3.14159265f, 256, 257, 1e30f, 1e-30f };
    printf("       float      bfloat16   error\n");
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        printf("%12.7g  %12.7g  %5.2f %%\n", (double)x[i], (double)bfloat16(x[i]),
               100 * fabs((double)bfloat16(x[i]) / (double)x[i] - 1));
}

/* ---- a product ---- */

/* The root mean square of c - a b, divided by the root mean square of a b, for a (64, k) and b (k, 64). */
static double product_error(gra_tape *t, gra_number number, int k)
{
    enum { N = 64 };
    static gra_real a[N * 4096], b[4096 * N];
    gra_rng rng;
    gra_manual_seed(&rng, 1);
    gra_randn(&rng, a, (size_t)(N * k));
    gra_randn(&rng, b, (size_t)(k * N));
    gra_products(t, number);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *c = gra_matmul(t, gra_constant(t, a, GRA_SHAPE(N, k)), gra_constant(t, b, GRA_SHAPE(k, N)));
    double error = 0, size = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double exact = 0;
            for (int p = 0; p < k; p++)
                exact += (double)a[i * k + p] * (double)b[p * N + j];
            error += pow((double)c->data[i * N + j] - exact, 2);
            size += exact * exact;
        }
    return sqrt(error / size);
}

/* ---- a training ---- */

static const char text[] = "She sells sea shells by the sea shore.\n"
                           "The shells she sells are sea shells, I'm sure.\n"
                           "For if she sells sea shells by the sea shore,\n"
                           "then I'm sure she sells sea shore shells.\n\n";

enum { LENGTH = sizeof text - 1, VOCAB = 128, CONTEXT = 64, BATCH = 4, WIDTH = 64, STEPS = 160, EVERY = 20 };

/* Writes the loss after every EVERY steps; returns the seconds that all steps took. */
static double train(gra_tape *t, gra_number number, double loss_after[STEPS / EVERY])
{
    gra_rng rng;
    gra_manual_seed(&rng, 1);
    gra_model *model = gra_model_open(t, &rng);
    struct gra_gpt gpt;
    gra_gpt_init(&gpt, gra_root(model), &(gra_gpt_config){
        .vocab_size = VOCAB, .context_length = CONTEXT, .emb_dim = WIDTH, .n_heads = 2, .n_layers = 2,
        .bias = true, .init = GRA_INIT_GPT2 });
    gra_adamw adamw;                                    /* its numbers, and the parameters, are floats */
    gra_adamw_init(&adamw, model, NULL);
    gra_products(t, number);                            /* from the next gra_begin on */
    const clock_t begun = clock();
    int ids[BATCH * CONTEXT], next[BATCH * CONTEXT];
    for (int step = 1; step <= STEPS; step++) {
        for (int b = 0; b < BATCH; b++) {
            int from = (int)gra_randint(&rng, LENGTH);
            for (int i = 0; i < CONTEXT; i++) {
                ids[b * CONTEXT + i] = text[(from + i) % LENGTH];
                next[b * CONTEXT + i] = text[(from + i + 1) % LENGTH];
            }
        }
        gra_begin(t, GRA_TRAIN, &rng);
        gra_tensor *loss = gra_cross_entropy(t, gra_gpt_forward(t, &gpt, ids, BATCH, CONTEXT), next);
        gra_zero_grad(model);
        gra_backward(t, loss);
        gra_clip_grad_norm(model, 1);
        adamw.lr = gra_warmup_cosine(step, 20, STEPS, 1e-2, 1e-3);
        gra_adamw_step(&adamw);
        if (step % EVERY == 0)
            loss_after[step / EVERY - 1] = gra_item(loss);
    }
    gra_model_close(model);
    return (double)(clock() - begun) / CLOCKS_PER_SEC;
}

static void show_losses(const double *a, const double *b)
{
    printf("step   float   bfloat16\n");
    for (int i = 0; i < STEPS / EVERY; i++)
        printf("%4d  %6.3f     %6.3f\n", (i + 1) * EVERY, a[i], b[i]);
}

/* ---- where it fails ---- */

/* 4096 ones, added one after the other in bfloat16. */
static float sum_of_ones(void)
{
    float sum = 0;
    for (int i = 0; i < 4096; i++)
        sum = bfloat16(sum + 1);
    return sum;
}

int main(void)
{
    gra_tape *t = gra_open(1);
    printf("A number and the nearest bfloat16:\n\n");
    show_numbers();

    gra_keep_going(t, true);                            /* an error does not abort */
    if (gra_products(t, GRA_BF16)) {
        printf("\nThis processor has no instruction for products of bfloat16 numbers. To see the\n"
               "rest without it, slowly: GRADUS_ISA=base+bf16 build/examples/07_half_the_bits\n");
        gra_close(t);
        return 0;
    }
    gra_keep_going(t, false);

    printf("\nThe relative error of a matrix product whose sums have k terms:\n\n");
    printf("   k     float   bfloat16\n");
    for (int k = 64; k <= 4096; k *= 8)
        printf("%4d  %8.1g  %8.2g\n", k, product_error(t, GRA_FLOAT, k), product_error(t, GRA_BF16, k));
    printf("\nThe factors are off by up to 0.4 %% each, but in both directions: the error of a\n"
           "sum grows as the sum itself does, whatever k is. Each sum is a float.\n");

    printf("\nThe losses of one training run, with products of floats and of bfloat16 numbers:\n\n");
    double a[STEPS / EVERY], b[STEPS / EVERY];
    const double seconds = train(t, GRA_FLOAT, a), seconds16 = train(t, GRA_BF16, b);
    show_losses(a, b);
    printf("\n%.2f seconds and %.2f: %.2f times as fast\n", seconds, seconds16, seconds / seconds16);

    printf("\nWhere it fails, and why parameters, gradients and sums stay float:\n\n");
    printf("1 - 0.001, an update smaller than half of the last bit:  %g\n", (double)bfloat16(1 - 0.001f));
    printf("4096 ones, added one after the other:                    %g\n", (double)sum_of_ones());
    gra_close(t);
}

/* Try: 300 ones in place of 4096, in sum_of_ones(). The sum stops at 256 all the same: 257 needs 9 bits.
 * Try: 1 - 0.01f in place of 1 - 0.001f, in main(). The nearest number of 8 bits to 0.99 is 0.988281. */
