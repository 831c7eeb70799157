/* A tokenizer of merges: merges.txt, or tokenizer.json if it begins with a brace; vocab.json, unless empty;
 * and a text, separated by lines ====. What is read, or learnt, encodes and decodes any text. */
#include "../../examples/lib/tokenizer/tokenizer.h"
#include "lib/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void round_trip(const tokenizer *k, const uint8_t *text, size_t n)
{
    uint16_t *ids = malloc((n + 1) * sizeof *ids);
    int *back = malloc((n + 1) * sizeof *back);
    size_t size;
    fuzz_claim(ids && back, "there is memory");
    const ptrdiff_t m = tokenizer_encode(k, (const char *)text, n, ids);
    fuzz_claim(m >= 0 && m <= (ptrdiff_t)n, "any text has tokens, no more than bytes");
    for (ptrdiff_t i = 0; i < m; i++) {
        fuzz_claim(ids[i] < k->size, "a token is one of the vocabulary");
        back[i] = ids[i];
    }
    char *decoded = tokenizer_decode(k, back, (size_t)m, &size);
    fuzz_claim(decoded && size == n && memcmp(decoded, text, n) == 0, "decoded, it is the text");
    free(decoded);
    free(back);
    free(ids);
}

static void write_part(const char *name, const uint8_t *bytes, size_t n)
{
    const char *path = fuzz_file(name, bytes, n);
    if (n == 0)
        unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const uint8_t *merges, *vocab;
    const size_t all = n, n_merges = fuzz_part(&bytes, &n, &merges), n_vocab = fuzz_part(&bytes, &n, &vocab);
    bytes = n ? bytes : (const uint8_t *)"";
    const bool json = n_merges > 0 && merges[0] == '{';
    write_part("tokenizer.json", merges, json ? n_merges : 0);
    write_part("merges.txt", merges, json ? 0 : n_merges);
    write_part("vocab.json", vocab, json ? 0 : n_vocab);
    tokenizer k = { 0 };
    fuzz_begin(4 * all + (1 << 16));    /* a tokenizer has at least 256 tokens */
    const int failed = tokenizer_read(&k, fuzz_folder());
    fuzz_told(failed < 0, fuzz_complaints());
    bool whole = !failed;               /* it has a token for each byte */
    for (int b = 0; b < 256; b++)
        whole = whole && k.id[b] >= 0;
    if (whole)
        round_trip(&k, bytes, n);
    tokenizer_free(&k);
    const int before = fuzz_complaints(), short_text = tokenizer_train(&k, (const char *)bytes, n, 300);
    fuzz_told(short_text < 0, fuzz_complaints() > before);
    if (!short_text)
        round_trip(&k, bytes, n);
    tokenizer_free(&k);
    fuzz_end();
    return 0;
}
