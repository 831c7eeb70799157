/* The safetensors reader, with any bytes as a file, which is inspected and then loaded into a model: the
 * whole file is loaded, or the model is unchanged and has an error. */
#include "../../core/op.h"
#include "lib/fuzz.h"

static gra_model *model;

/* Sets every value to -7; returns whether all were -7 before. */
static bool reset(void)
{
    const real seven = -7;
    bool were = true;
    for (int i = 0; i < gra_param_count(model); i++)
        for (size_t j = 0; j < gra_param_at(model, i)->size; j++) {
            real *x = &gra_param_at(model, i)->data[j];
            were = were && memcmp(x, &seven, sizeof *x) == 0;
            *x = seven;
        }
    return were;
}

/* Calls every function that inspects a file. */
static void look_into(gra_file *f)
{
    real values[64];
    for (int i = 0; i < gra_file_count(f); i++) {
        const gra_file_tensor *x = gra_file_at(f, i);
        fuzz_claim(x && gra_file_find(f, x->name) == x, "a tensor is found by its name");
        fuzz_claim(x->begin <= x->end, "a tensor has its bytes in the file");
        if (x->size <= 64)
            gra_file_read(f, x, values);
    }
    fuzz_claim(!gra_file_at(f, -1) && !gra_file_at(f, gra_file_count(f)), "there is no tensor out of range");
    gra_file_find(f, "");
    gra_file_meta(f, "format");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (!model) {
        model = fuzz_model();
        gra_param(gra_enter(gra_root(model), "b"), "w", gra_init_zeros(), GRA_SHAPE(2, 3));
        gra_param(gra_root(model), "a", gra_init_zeros(), GRA_SHAPE(2));
        gra_param(gra_root(model), "c", gra_init_zeros(), GRA_SCALAR);
    }
    const char *path = fuzz_file("model.safetensors", bytes, n);
    reset();
    fuzz_begin(n);
    gra_file *f = gra_file_open(path);
    const bool opened = !gra_file_error(f);
    look_into(f);
    gra_file_close(f);
    const int status = gra_load(model, path);
    fuzz_end();
    const char *why = gra_model_error(model);
    fuzz_claim(status == 0 || status == -1, "the status is 0 or -1");
    fuzz_told(status, why != NULL);
    fuzz_claim(status != 0 || opened, "what cannot be opened cannot be loaded");
    fuzz_claim(status == 0 || reset(), "a file that is refused changes nothing");
    return 0;
}
