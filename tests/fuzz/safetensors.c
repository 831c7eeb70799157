/* The safetensors reader: any bytes as a file, loaded into a model. It is loaded whole, or the model is as
 * it was and there is a sentence. */
#include "../../core/op.h"
#include "lib/fuzz.h"

static gra_model *model;

static void fill(real x)
{
    for (int i = 0; i < gra_param_count(model); i++)
        for (size_t j = 0; j < gra_param_at(model, i)->size; j++)
            gra_param_at(model, i)->data[j] = x;
}

static bool untouched(real x)
{
    for (int i = 0; i < gra_param_count(model); i++)
        for (size_t j = 0; j < gra_param_at(model, i)->size; j++)
            if (gra_param_at(model, i)->data[j] < x || gra_param_at(model, i)->data[j] > x)
                return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (!model) {
        model = gra_model_open(NULL);
        gra_model_keep_going(model, true);
        gra_param(gra_enter(gra_root(model), "b"), "w", gra_zeros(), GRA_DIMS(2, 3));
        gra_param(gra_root(model), "a", gra_zeros(), GRA_DIMS(2));
        gra_param(gra_root(model), "c", gra_zeros(), 0, NULL);
    }
    const char *path = fuzz_file("model.safetensors", bytes, n);
    fill(-7);
    fuzz_begin(n);
    const int status = gra_load(model, path);
    fuzz_end();
    const char *why = gra_model_error(model);
    fuzz_claim(status == 0 || status == -1, "the status is 0 or -1");
    fuzz_claim((status == 0) == !why, "there is a sentence when it failed, and else none");
    fuzz_claim(status == 0 || untouched(-7), "a file that is refused changes nothing");
    return 0;
}
