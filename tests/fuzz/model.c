/* A model's file, as generate reads it: any bytes. What the file is like is found out first, then a model of that kind
 * is made and loaded. */
#include "../../layers/layers.h"
#include "lib/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const char *path = fuzz_file("model.safetensors", bytes, n);
    fuzz_begin(n);
    gra_model *m = fuzz_model();
    fuzz_claim(m != NULL, "there is memory");
    gra_model_keep_going(m, true);
    struct gra_gpt gpt;
    gra_gpt_config config;
    int failed = gra_gpt_read_config(m, path, 0, &config);
    fuzz_claim(!failed == !gra_model_error(m), "there is a sentence when it failed, and else none");
    if (!failed) {
        gra_gpt_init(&gpt, gra_root(m), &config);
        failed = gra_model_error(m) || gra_gpt_load(m, &gpt, path);
        fuzz_claim(!failed == !gra_model_error(m), "there is a sentence when loading failed, and else none");
    }
    gra_model_close(m);
    fuzz_end();
    return 0;
}
