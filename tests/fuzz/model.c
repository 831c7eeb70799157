/* Any bytes as a model's file, and as the index of its shards, one of which is such a file. The files are
 * read as in generate. The index ends at a line ====. */
#include "../../examples/import/import.h"
#include "lib/fuzz.h"

static void import(const char *path, size_t n)
{
    fuzz_begin(n);
    gra_model *m = fuzz_model();
    fuzz_claim(m != NULL, "there is memory");
    struct gra_gpt gpt;
    char why[IMPORT_WHY] = "";
    const int failed = import_gpt(&gpt, gra_root(m), path, 0, 0, why);
    fuzz_told(failed, *why);
    gra_model_close(m);
    fuzz_end();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const uint8_t *index;
    size_t left = n;
    import(fuzz_file("model.safetensors", bytes, n), n);
    const size_t m = fuzz_part(&bytes, &left, &index);
    fuzz_file("a.safetensors", bytes, left);
    import(fuzz_file("model.safetensors.index.json", index, m), n);
    return 0;
}
