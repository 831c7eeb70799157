/* A model's vocabulary: vocab.tsv, and a prompt to encode, separated by a line ====. */
#include "../../examples/lib/text.h"
#include "lib/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void encode(const vocabulary *v, const uint8_t *prompt, size_t n)
{
    int *ids = malloc((n + 1) * sizeof *ids);
    fuzz_claim(ids != NULL, "there is memory");
    const int before = fuzz_complaints(), failed = vocabulary_encode(v, (const char *)prompt, n, ids);
    fuzz_claim(!failed == (fuzz_complaints() == before), "there is a sentence when it failed, and else none");
    for (size_t i = 0; !failed && i < n; i++)
        fuzz_claim(ids[i] >= 0 && ids[i] < v->size && v->byte[ids[i]] == prompt[i],
                   "a token stands for its byte");
    free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const uint8_t *part;
    const size_t all = n;
    const size_t size = fuzz_part(&bytes, &n, &part);
    const char *path = fuzz_file("vocab.tsv", part, size);
    vocabulary v;
    fuzz_begin(all);
    const int failed = vocabulary_read(&v, path);
    fuzz_claim(!failed == (fuzz_complaints() == 0), "there is a sentence when it failed, and else none");
    if (!failed) {
        fuzz_claim(v.size >= 1 && v.size <= 256, "what was read is in its range");
        encode(&v, bytes, n);
    }
    fuzz_end();
    return 0;
}
