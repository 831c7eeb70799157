/* The .npy reader, with any bytes as a file. Loaded values must survive saving and loading again. */
#include "../../core/op.h"
#include "lib/fuzz.h"

#include <stdlib.h>

static gra_tape *t;

static void there_and_back(const gra_tensor *x)
{
    char path[256];
    snprintf(path, sizeof path, "%s/again.npy", fuzz_folder());
    fuzz_claim(gra_save_npy(path, x) == 0, "what was loaded can be saved");
    const gra_tensor *y = gra_load_npy(t, path);
    fuzz_claim(!gra_error(t) && gra_same_shape(x->shape, y->shape), "what was saved has its shape");
    fuzz_claim(memcmp(x->data, y->data, x->size * sizeof(real)) == 0, "what was saved has its bits");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static unsigned loaded;
    const char *path = fuzz_file("x.npy", bytes, n);
    fuzz_begin(n);
    t = gra_open(1);
    fuzz_claim(t != NULL, "there is memory");
    gra_keep_going(t, true);
    gra_begin(t, GRA_GRAD, NULL);
    const gra_tensor *x = gra_load_npy(t, path);
    if (!gra_error(t) && loaded++ % 64 == 0)    /* not every time: fsync takes long */
        there_and_back(x);
    gra_begin(t, GRA_GRAD, NULL);
    free(gra_load_npy_ints(t, path, &(gra_shape){ 0 }));
    gra_close(t);
    fuzz_end();
    return 0;
}
