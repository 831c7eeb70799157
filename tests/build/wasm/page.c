/* The page's training run as a native program, for the sanitizers:  page TEXT FLAGS DIR [change]
 * It trains in slices, does everything that a page does in between, and writes loss.tsv and
 * model.safetensors. Then it loads damaged models, and starts over. With `change` it only trains, and changes
 * rate and batch. */
#include "examples/page/broken.h"
#include "examples/page/page_run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int well, const char *what)
{
    if (well)
        return;
    fprintf(stderr, "%s: %s\n", what, page_why());
    exit(1);
}

static void write_file(const char *folder, const char *name, const void *bytes, size_t n)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    must(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0, path);
}

static void between(int step)
{
    must(page_news() != NULL, "news");
    must(page_look(step / 2, "She sells sea") != NULL, "look");
    must(strstr(page_look(step, "z\xff"), "\"page\":null") != NULL, "a prompt that the model does not know");
    must(page_write(step / 2, "She", 9, 0.8, 3, 0.9, step) != NULL, "write");
    must(page_save() != NULL && page_vocab_tsv() != NULL, "save");
}

/* A damaged model is refused, or loaded with other values. */
static void damage(void)
{
    const int size = page_saved_size();
    unsigned char *good = malloc((size_t)size);
    must(good != NULL && page_save() != NULL, "save");
    memcpy(good, page_save(), (size_t)size);
    for (int n = 0; n < size; n += n < 2000 ? 37 : 4099) {
        unsigned char *cut = malloc((size_t)n + !n);    /* of exact size, to detect reads past the end */
        memcpy(cut, good, (size_t)n);
        must(page_load(cut, n) == -1, "a model that was cut");
        free(cut);
    }
    unsigned seed = 1;
    for (int i = 0; i < 200; i++) {
        seed = seed * 1664525u + 1013904223u;
        unsigned char *byte = good + (seed >> 8) % (i < 150 ? 2000u : (unsigned)size), was = *byte;
        *byte ^= (unsigned char)(1 + seed % 255);
        if (page_load(good, size) == 0)
            must(page_look(0, "She") != NULL, "look");
        *byte = was;
    }
    must(page_load(good, size) == 0, "the model as it was");
    free(good);
}

/* With nothing ablated, the loss is that of the GPT. */
static void whole(void)
{
    const int ids[] = { 1, 4, 1, 3, 0, 2 };
    gra_rng rng;
    struct gra_gpt g;
    gra_manual_seed(&rng, 1);
    gra_tape *t = gra_open(1);
    gra_model *m = gra_model_open(t, &rng);
    gra_gpt_init(&g, gra_root(m), &(gra_gpt_config){ .vocab_size = 5, .context_length = 3, .emb_dim = 8,
                 .n_heads = 2, .n_layers = 2, .bias = true, .drop_rate = 0.5 });
    const gra_rng before = rng;
    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *x = gra_gpt_forward(t, &g, ids, 2, 3);
    rng = before;
    gra_tensor *y = broken_forward(t, &g, 0, ids, 2, 3);
    must(memcmp(x->data, y->data, x->size * sizeof *x->data) == 0, "broken_forward with nothing left out");
    gra_model_close(m);
    gra_close(t);
}

static void write_files(const char *folder)
{
    const char *table = page_loss_tsv();
    write_file(folder, "loss.tsv", table, strlen(table));
    const unsigned char *model = page_save();
    write_file(folder, "model.safetensors", model, (size_t)page_saved_size());
}

int main(int argc, char **argv)
{
    static char text[100000];
    FILE *f = argc > 3 ? fopen(argv[1], "rb") : NULL;
    must(f != NULL, "page TEXT FLAGS DIR");
    whole();
    const int n = (int)fread(text, 1, sizeof text, f);
    fclose(f);
    must(page_train(1) == -1 && !page_news() && page_load(NULL, 0) == -1, "no run");
    must(page_open(argv[2], text, n, 0) == 0, "open");
    if (argc > 4) {                                     /* like page.mjs's change() */
        must(page_train(100) == 100 && page_change(0.003, 4) == 0 && page_train(5000) > 0, "change");
        write_files(argv[3]);
        return 0;
    }
    for (int step = 0, now; (now = page_train(7)) != 0; between(step += now))
        must(now > 0, "train");
    write_files(argv[3]);
    damage();
    for (int broken = 0; broken <= BROKEN_BITS; broken++) {
        must(page_open("--heads 3", text, n, 0) == -1, "3 heads for a width of 128");
        must(page_open(argv[2], text, n, broken) == 0 && page_train(3) == 3, "open");
        between(2);
    }
    must(page_open("--help", text, n, 0) == -1, "help");        /* this closes the last run */
    return 0;
}
