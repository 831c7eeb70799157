/* examples: the expression of lesson 01, and the model of lesson 05 while it learns. */
#include "examples.h"
#include "../lib/message.h"
#include "../lib/step.h"
#include "../lib/training.h"
#include "look.h"
#include "look_model.h"
#include <errno.h>
#include <math.h>
#include <string.h>

/* ---- 01: micrograd's expression ---------------------------------------------------------------------- */

/* The expression of the lesson, with names. */
static gra_tensor *expression(gra_tape *t, gra_tensor *a, gra_tensor *b)
{
    gra_tensor *plus  = gra_name(gra_relu(t, gra_add(t, b, a)), "relu(b + a)");
    gra_tensor *minus = gra_name(gra_relu(t, gra_sub(t, b, a)), "relu(b - a)");
    gra_tensor *one   = gra_name(gra_full(t, 1, GRA_SCALAR), "1");
    gra_tensor *c = gra_name(gra_add(t, a, b), "c = a + b");
    gra_tensor *d = gra_name(gra_add(t, gra_mul(t, a, b), gra_pow(t, b, 3)), "d = ab + b^3");
    c = gra_name(gra_add(t, c, gra_add(t, c, one)), "c += c + 1");
    c = gra_name(gra_add(t, c, gra_sub(t, gra_add(t, one, c), a)), "c += 1 + c - a");
    d = gra_name(gra_add(t, d, gra_add(t, gra_scale(t, d, 2), plus)), "d += 2d + relu(b + a)");
    d = gra_name(gra_add(t, d, gra_add(t, gra_scale(t, d, 3), minus)), "d += 3d + relu(b - a)");
    gra_tensor *e = gra_name(gra_pow(t, gra_sub(t, c, d), 2), "e = (c - d)^2");
    return gra_name(gra_add(t, gra_scale(t, e, 0.5), gra_scale(t, gra_pow(t, e, -1), 10)), "g = e/2 + 10/e");
}

static void say_real(const char *what, gra_real x)
{
    char text[OUT_REAL];
    say("%s = %s\n", what, out_real_text(x, text));
}

static int compute(gra_tape *t, const char *path)
{
    gra_keep_going(t, true);
    gra_keep_grads(t, true);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *a = gra_name(gra_scalar(t, -4), "a"), *b = gra_name(gra_scalar(t, 2), "b");
    gra_tensor *g = expression(t, a, b);
    if (gra_backward(t, g))
        return warn("%s", gra_error(t));
    if (look_write_with(t, path, &(look_more){
        .title = "micrograd's expression at a = -4, b = 2",
        .about = "Every value, and the derivative of g with respect to it, as in examples/01_scalar.c." }))
        return warn("cannot write %s: %s", path, strerror(errno));
    say_real("g", g->data[0]);
    say_real("dg/da", gra_grad(a)[0]);
    say_real("dg/db", gra_grad(b)[0]);
    return 0;
}

int example_scalar(const char *path)
{
    gra_tape *t = gra_open(1);
    const int failed = t ? compute(t, path) : warn("out of memory");
    gra_close(t);
    return failed;
}

/* ---- 05: the next-token model ------------------------------------------------------------------------ */

static const char text[] =
    "She sells sea shells by the sea shore.\n"
    "The shells she sells are sea shells, I'm sure.\n"
    "For if she sells sea shells by the sea shore,\n"
    "then I'm sure she sells sea shore shells.\n\n";

enum { LENGTH = sizeof text - 1, VOCAB = 128, CONTEXT = 64, BATCH = 8, STEPS = 400 };

/* A token is an ASCII code. */
static int ascii(tokenizer *k)
{
    char codes[VOCAB];
    for (int i = 0; i < VOCAB; i++)
        codes[i] = (char)i;
    return tokenizer_of_bytes(k, codes, VOCAB);
}

static double learn(gra_tape *t, gra_model *model, const struct gra_gpt *gpt, gra_adamw *adamw, gra_rng *rng,
                    int step)
{
    int ids[BATCH * CONTEXT], next[BATCH * CONTEXT];
    for (int b = 0; b < BATCH; b++) {
        const int from = (int)gra_randint(rng, LENGTH);         /* past its end the text starts over */
        for (int i = 0; i < CONTEXT; i++) {
            ids[b * CONTEXT + i] = text[(from + i) % LENGTH];
            next[b * CONTEXT + i] = text[(from + i + 1) % LENGTH];
        }
    }
    const batch all = { .rows = BATCH, .time = CONTEXT, .ids = ids, .next = next };
    gra_zero_grad(model);
    const double loss = step_backward(t, rng, gra_gpt_forward, gpt, &all, 1);
    gra_clip_grad_norm(model, 1);
    adamw->lr = gra_warmup_cosine(step, 20, STEPS, 1e-2, 1e-3);
    gra_adamw_step(adamw);
    return loss;
}

static bool is_shown(int step)          /* more often early, when more changes */
{
    return step % 100 == 0 || (step <= 100 && step % 20 == 0);
}

static int teach(gra_tape *t, gra_model *model, gra_rng *rng, const char *path)
{
    struct gra_gpt gpt;
    gra_gpt_init(&gpt, gra_root(model), &(gra_gpt_config){
        .vocab_size = VOCAB, .context_length = CONTEXT, .emb_dim = 32, .n_heads = 4, .n_layers = 2,
        .bias = true, .init = GRA_INIT_GPT2 });
    gra_adamw adamw;
    if (gra_adamw_init(&adamw, model, NULL))
        return warn("%s", gra_model_error(model));
    tokenizer tokens;
    if (ascii(&tokens))
        return -1;
    int ids[22];
    for (int i = 0; i < 22; i++)
        ids[i] = "The shells she sells a"[i];
    look_model m = { .tape = t, .gpt = &gpt, .tokens = &tokens, .ids = ids, .n = 22 };
    int failed = model_state(&m, 0);
    for (int step = 1; step <= STEPS && !failed; step++) {
        model_loss(&m, step, learn(t, model, &gpt, &adamw, rng, step), (double)NAN);
        if (gra_error(t))
            failed = warn("%s", gra_error(t));
        else if (is_shown(step) && step < STEPS)
            failed = model_state(&m, step);
    }
    failed = failed || model_page(&m, model, STEPS, path, "the next-token model of lesson 05",
        "Two layers of four heads, trained for 400 steps on four lines of text (examples/05_next_token.c).");
    model_free(&m);
    tokenizer_free(&tokens);
    return failed ? -1 : 0;
}

int example_next_token(const char *path)
{
    gra_rng rng;
    gra_tape *t;
    gra_model *model;
    gra_manual_seed(&rng, 1);
    const int failed = open_model(&t, &model, &rng, 0) || teach(t, model, &rng, path);
    gra_model_close(model);
    gra_close(t);
    return failed ? -1 : 0;
}
