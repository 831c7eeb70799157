/* A model's vocabulary: vocab.tsv, and a prompt to encode, separated by a line ====. */
#include "../../examples/lib/tokenizer/tokenizer.h"
#include "lib/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void encode(const tokenizer *k, const uint8_t *prompt, size_t n)
{
    uint16_t *ids = malloc((n + 1) * sizeof *ids);
    fuzz_claim(ids != NULL, "there is memory");
    const int before = fuzz_complaints();
    const ptrdiff_t size = tokenizer_encode(k, (const char *)prompt, n, ids);
    fuzz_told(size < 0, fuzz_complaints() > before);
    for (ptrdiff_t i = 0; i < size; i++) {
        size_t length;
        const char *bytes = tokenizer_bytes(k, ids[i], &length);
        fuzz_claim(length == 1 && (uint8_t)*bytes == prompt[i], "a token stands for its byte");
    }
    free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const uint8_t *part;
    const size_t all = n, size = fuzz_part(&bytes, &n, &part);
    tokenizer k;
    fuzz_file("vocab.tsv", part, size);
    fuzz_begin(all);
    const int failed = tokenizer_read(&k, fuzz_folder());
    fuzz_told(failed, fuzz_complaints());
    if (!failed) {
        fuzz_claim(k.size >= 1 && k.size <= 256, "what was read is in its range");
        encode(&k, bytes, n);
    }
    tokenizer_free(&k);
    fuzz_end();
    return 0;
}
