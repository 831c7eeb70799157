/* 05: the next-token model on one screen.
 *
 *     make && build/examples/05_next_token
 *
 * What you will learn: a GPT reads a row of tokens and predicts, at each position, the token that
 * follows; its loss is the mean of -log(probability of the token that did follow); writing is
 * predicting again and again. Here a token is a character, and its id is the ASCII code. The text is so short
 * that the model learns it by heart: to know what comes after "sells sea sh" the model must look back.
 * train.c has the same loop for a text of your own.
 */
#include "../layers/gpt.h"

static const char text[] =
    "She sells sea shells by the sea shore.\n"
    "The shells she sells are sea shells, I'm sure.\n"
    "For if she sells sea shells by the sea shore,\n"
    "then I'm sure she sells sea shore shells.\n\n";

enum { LENGTH = sizeof text - 1, VOCAB = 128, CONTEXT = 64, BATCH = 8, STEPS = 400 };

int main(void)
{
    gra_rng rng;
    gra_manual_seed(&rng, 1);
    gra_tape *t = gra_open(0);                                              /* a thread for each core */
    gra_model *model = gra_model_open(t, &rng);
    struct gra_gpt gpt;
    gra_gpt_init(&gpt, gra_root(model), &(gra_gpt_config){
        .vocab_size = VOCAB, .context_length = CONTEXT, .emb_dim = 32, .n_heads = 4, .n_layers = 2,
        .bias = true, .init = GRA_INIT_GPT2 });
    gra_adamw adamw;
    gra_adamw_init(&adamw, model, NULL);                /* lr is set in each step */
    printf("%zu parameters, %d characters\n", gra_param_values(model), LENGTH);

    int ids[BATCH * CONTEXT], next[BATCH * CONTEXT];
    for (int step = 1; step <= STEPS; step++) {
        for (int b = 0; b < BATCH; b++) {
            int from = (int)gra_randint(&rng, LENGTH);  /* past its end the text starts over */
            for (int i = 0; i < CONTEXT; i++) {
                ids[b * CONTEXT + i] = text[(from + i) % LENGTH];
                next[b * CONTEXT + i] = text[(from + i + 1) % LENGTH];
            }
        }
        gra_begin(t, GRA_TRAIN, &rng);
        gra_tensor *logits = gra_gpt_forward(t, &gpt, ids, BATCH, CONTEXT); /* (batch, time, vocab) */
        gra_tensor *loss = gra_cross_entropy(t, logits, next);
        gra_zero_grad(model);
        gra_backward(t, loss);
        gra_clip_grad_norm(model, 1);
        adamw.lr = gra_warmup_cosine(step, 20, STEPS, 1e-2, 1e-3);
        gra_adamw_step(&adamw);
        if (step == 1 || step % 50 == 0)
            printf("step %3d   loss %.4f\n", step, gra_item(loss));
    }

    const char *prompt = "The shells she sells";                            /* the model continues it */
    int written[LENGTH], n = 0;
    for (; prompt[n]; n++)
        written[n] = prompt[n];
    while (n < LENGTH) {
        int time = n < CONTEXT ? n : CONTEXT;                               /* the model sees no more */
        gra_begin(t, GRA_EVAL, NULL);
        gra_tensor *logits = gra_gpt_forward(t, &gpt, written + n - time, 1, time);
        const gra_real *last = logits->data + (time - 1) * VOCAB;           /* logits of the next token */
        int best = 0;
        for (int id = 1; id < VOCAB; id++)
            if (last[id] > last[best])
                best = id;
        written[n++] = best;
    }
    printf("\n");
    for (int i = 0; i < n; i++)
        putchar(written[i]);
    gra_model_close(model);
    gra_close(t);
}

/* Try: STEPS = 100. The model has learnt what words are made of, but stutters: sels, selsea, shells s.
 * Try: CONTEXT = 4. The model repeats one line: it cannot see which line it is in. */
