/* The .npy reader: any bytes as a file. What is loaded comes back the same when it is saved and loaded
 * again. */
#include "../../core/op.h"
#include "lib/fuzz.h"

static gra_model *opened(void)
{
    gra_model *m = fuzz_model();
    fuzz_claim(m != NULL, "there is memory");
    gra_model_keep_going(m, true);
    return m;
}

static void there_and_back(gra_model *m, const gra_tensor *x)
{
    char path[256];
    snprintf(path, sizeof path, "%s/again.npy", fuzz_folder());
    fuzz_claim(gra_save_npy(m, path, x) == 0, "what was loaded can be saved");
    const gra_tensor *y = gra_load_npy(m, path);
    fuzz_claim(y && gra_same_shape(x->shape, y->shape), "what was saved has its shape");
    fuzz_claim(memcmp(x->data, y->data, x->size * sizeof(real)) == 0, "what was saved has its bits");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static unsigned loaded;
    const char *path = fuzz_file("x.npy", bytes, n);
    fuzz_begin(n);
    gra_model *m = opened();
    const gra_tensor *x = gra_load_npy(m, path);
    fuzz_claim(!x == (gra_model_error(m) != NULL), "there is a sentence when it failed, and else none");
    if (x && loaded++ % 64 == 0)        /* not each: bringing a file to the disk takes its time */
        there_and_back(m, x);
    gra_model_close(m);
    fuzz_end();
    return 0;
}
