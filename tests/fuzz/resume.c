/* The state in a checkpoint, from which train goes on: the bytes are its text, and stand in a sound file, behind
 * which no random bytes would get. */
#include "../../examples/lib/checkpoint.h"
#include "lib/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int save(const char *path, const uint8_t *bytes, size_t n)      /* 0: such a text can be in a file */
{
    char *state = malloc(n + 1);
    gra_model *m = fuzz_model();
    fuzz_claim(state && m, "there is memory");
    gra_model_keep_going(m, true);
    memcpy(state, bytes, n);
    state[n] = '\0';
    const gra_meta meta[] = { { "checkpoint", "2" }, { "state", state } };
    const int failed = gra_save(m, path, meta, 2);
    gra_model_close(m);
    free(state);
    return failed;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char path[256], folder[128];
    snprintf(path, sizeof path, "%s/checkpoint.safetensors", fuzz_folder());
    snprintf(folder, sizeof folder, "%s", fuzz_folder());
    if (save(path, bytes, n))
        return 0;
    training t = { .o = options_default(), .best = HUGE_VAL };
    checkpoint c = { 0 };
    fuzz_begin(n + 256);                /* and the header around it */
    t.o.out = t.o.resume = folder;
    int failed = checkpoint_open(&c, &t) || checkpoint_files(&c, &t.o.data) || options_settle(&t.o);
    fuzz_claim(!failed == (fuzz_complaints() == 0), "there is a sentence when it failed, and else none");
    if (!failed) {
        fuzz_claim(t.o.width % t.o.heads == 0 && t.o.batch * t.o.context <= 1 << 30 && t.step >= 0 &&
                   t.step <= t.o.steps, "what was read is in its range");
        gra_rng_from_text(&t.rng, c.rng);
    }
    checkpoint_close(&c);
    free(t.o.data.text);
    fuzz_end();
    return 0;
}
