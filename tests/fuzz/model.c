/* Any bytes as a model's file, as generate reads it. */
#include "../../examples/import/import.h"
#include "lib/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const char *path = fuzz_file("model.safetensors", bytes, n);
    fuzz_begin(n);
    gra_model *m = fuzz_model();
    fuzz_claim(m != NULL, "there is memory");
    struct gra_gpt gpt;
    char why[IMPORT_WHY] = "";
    const int failed = import_gpt(&gpt, gra_root(m), path, 0, 0, why);
    fuzz_told(failed, *why);
    gra_model_close(m);
    fuzz_end();
    return 0;
}
