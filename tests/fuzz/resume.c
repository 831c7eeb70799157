/* The flags in a checkpoint that train resumes: the bytes are the text of the flags in an otherwise valid
 * file. (Random bytes would never form such a file.) */
#include "../../examples/lib/checkpoint.h"
#include "lib/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int save(const char *path, const uint8_t *bytes, size_t n)      /* 0: a file can contain this text */
{
    char *state = malloc(n + 1);
    gra_model *m = fuzz_model();
    fuzz_claim(state && m, "there is memory");
    memcpy(state, bytes, n);
    state[n] = '\0';
    const gra_meta meta[] = { { "checkpoint", "4" }, { "flags", state }, { "step", "3" },
                              { "best_val_loss", "inf" }, { "since_best", "0" } };
    const int failed = gra_save(m, path, meta, 5);
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
    fuzz_begin(n + 256);                /* with the header around it */
    t.o.out = t.o.resume = folder;
    const int failed = checkpoint_read_options(&t);
    fuzz_told(failed, fuzz_complaints());
    if (!failed)
        fuzz_claim(t.o.width % t.o.heads == 0 && t.o.batch * t.o.context * t.o.accumulate <= 1 << 30 &&
                   t.step >= 0 && t.step <= t.o.steps, "what was read is in its range");
    free(t.kept);
    fuzz_end();
    return 0;
}
