/* What a run leaves, as generate takes it up: config.tsv, vocab.tsv and model.safetensors, with a line ====
 * between them. The model that config.tsv asks for is made only where the parameters' file has its size. */
#include "../../examples/lib/trained.h"
#include "../../examples/lib/say.h"
#include "lib/fuzz.h"

static int take_up(gra_model *m)
{
    options o = options_default();
    vocabulary v;
    bool learnt;
    char path[256];
    snprintf(path, sizeof path, "%s/model.safetensors", fuzz_folder());
    if (trained_model(m, fuzz_folder(), path, &learnt) || trained_read(fuzz_folder(), &o, &v) || trained_fits(m, path, &o, &v))
        return -1;
    struct gra_gpt gpt;
    gra_gpt_config config = options_model(&o, v.size);
    config.init = GRA_INIT_ZEROS;
    gra_gpt_init(&gpt, gra_root(m), &config);
    return gra_model_error(m) ? complain("%s", gra_model_error(m)), -1 : trained_load(path, m);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const uint8_t *part;
    const size_t all = n;
    size_t size = fuzz_part(&bytes, &n, &part);
    fuzz_file("config.tsv", part, size);
    size = fuzz_part(&bytes, &n, &part);
    fuzz_file("vocab.tsv", part, size);
    fuzz_file("model.safetensors", bytes, n);

    fuzz_begin(all);
    gra_model *m = fuzz_model();
    fuzz_claim(m != NULL, "there is memory");
    gra_model_keep_going(m, true);
    const int failed = take_up(m);
    fuzz_claim(!failed == (fuzz_complaints() == 0), "there is a sentence when it failed, and else none");
    gra_model_close(m);
    fuzz_end();
    return 0;
}
