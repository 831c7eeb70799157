/* What a run leaves, as generate takes it up: config.tsv, vocab.tsv and model.safetensors, with a line ====
 * between them. The model that config.tsv asks for is made only where the parameters' file has its size. */
#include "../../examples/lib/run.h"
#include "lib/fuzz.h"

static void load(const options *o, const vocabulary *v)
{
    gra_rng rng;
    gra_manual_seed(&rng, 1);
    gra_model *m = gra_model_open(&rng);
    fuzz_claim(m != NULL, "there is memory");
    gra_model_keep_going(m, true);
    gra_gpt gpt;
    const gra_gpt_config config = options_model(o, v->size);
    gra_gpt_init(&gpt, gra_root(m), &config);
    const int before = fuzz_complaints();
    if (!gra_model_error(m)) {
        const int failed = run_load(fuzz_folder(), m);
        fuzz_claim(!failed == (fuzz_complaints() == before), "there is a sentence when it failed, and else none");
    }
    gra_model_close(m);
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

    options o = options_default();
    vocabulary v;
    fuzz_begin(all);
    const int failed = run_read(fuzz_folder(), &o, &v) || run_fits(fuzz_folder(), &o, &v);
    fuzz_claim(!failed == (fuzz_complaints() == 0), "there is a sentence when it failed, and else none");
    if (!failed)
        load(&o, &v);
    fuzz_end();
    return 0;
}
