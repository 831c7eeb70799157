/* The state in a checkpoint, from which train goes on: the bytes are its text, and stand in a sound file
 * under their right hash, behind which no random bytes would get. */
#include "../../examples/lib/checkpoint.h"
#include "../../examples/lib/files.h"
#include "../../examples/lib/hash.h"
#include "lib/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int save(const char *path, const uint8_t *bytes, size_t n)      /* 0: such a text can be in a file */
{
    char hash[HASH_TEXT], *state = malloc(n + 1);
    gra_model *m = gra_model_open(NULL);
    fuzz_claim(state && m, "there is memory");
    gra_model_keep_going(m, true);
    memcpy(state, bytes, n);
    state[n] = '\0';
    const gra_meta meta[] = { { "checkpoint", "1" }, { "state", state },
                              { "hash", hash_text(hash_bytes(HASH_BEGIN, state, strlen(state)), hash) } };
    const int failed = gra_save(m, path, meta, 3);
    gra_model_close(m);
    free(state);
    return failed;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char path[256], program[] = "fuzz", word[] = "--resume", folder[128];
    char *argv[] = { program, word, folder, NULL };
    snprintf(path, sizeof path, "%s/checkpoint.safetensors", fuzz_folder());
    snprintf(folder, sizeof folder, "%s", fuzz_folder());
    if (save(path, bytes, n))
        return 0;
    gra_rng rng;
    corpus text = { 0 };
    options o = options_default();
    checkpoint c = { .o = &o, .text = &text, .rng = &rng, .best = HUGE_VAL };
    fuzz_begin(n + 256);                /* and the header around it */
    o.resume = folder;
    o.data.text = malloc(4 * sizeof *o.data.text);
    fuzz_claim(o.data.text != NULL, "there is memory");
    const int how = checkpoint_options(&c, 3, argv);
    fuzz_claim((how == 0) == (fuzz_complaints() == 0), "there is a sentence when it failed, and else none");
    if (how == 0) {
        fuzz_claim(o.width % o.heads == 0 && o.batch * o.context <= 1 << 30 && c.row.step >= 0 &&
                   c.table >= 0, "what was read is in its range");
        gra_rng_from_text(&rng, c.rng_text);
        checkpoint_suits(&c);
    }
    checkpoint_close(&c);
    free(o.data.text);
    fuzz_end();
    return 0;
}
