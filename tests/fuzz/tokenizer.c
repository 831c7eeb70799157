/* A tokenizer: merges.txt, or tokenizer.json if it begins with a brace; vocab.json, or vocab.tsv if it does
 * not begin with a brace; and a text, separated by lines ====. Each part may be empty. A tokenizer that was
 * read or learnt encodes and decodes any text for which it has tokens. */
#include "../../examples/lib/tokenizer/tokenizer.h"
#include "lib/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void round_trip(const tokenizer *k, const uint8_t *text, size_t n, bool whole)
{
    uint16_t *ids = malloc((n + 1) * sizeof *ids);
    int *back = malloc((n + 1) * sizeof *back);
    size_t size;
    fuzz_claim(ids && back, "there is memory");
    const int before = fuzz_complaints();
    const ptrdiff_t m = tokenizer_encode(k, (const char *)text, n, ids);
    fuzz_told(m < 0, fuzz_complaints() > before);
    fuzz_claim(m <= (ptrdiff_t)n && (m >= 0 || !whole), "any text has tokens, no more than bytes");
    for (ptrdiff_t i = 0; i < m; i++) {
        fuzz_claim(ids[i] < k->size, "a token is one of the vocabulary");
        back[i] = ids[i];
    }
    char *decoded = m < 0 ? NULL : tokenizer_decode(k, back, (size_t)m, &size);
    fuzz_claim(m < 0 || (decoded && size == n && memcmp(decoded, text, n) == 0), "decoded, it is the text");
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
    const bool tsv = n_vocab > 0 && vocab[0] != '{';
    write_part("vocab.json", vocab, json || tsv ? 0 : n_vocab);
    write_part("vocab.tsv", vocab, tsv ? n_vocab : 0);
    tokenizer k = { 0 };
    fuzz_begin(4 * all + (1 << 16));    /* a tokenizer has at least 256 tokens */
    const int failed = tokenizer_read(&k, fuzz_folder());
    fuzz_told(failed < 0, fuzz_complaints());
    bool whole = true;                  /* it has a token for each byte */
    for (int b = 0; b < 256 && !failed; b++)
        whole = whole && k.id[b] >= 0;
    if (!failed)
        round_trip(&k, bytes, n, whole);
    tokenizer_free(&k);
    const int before = fuzz_complaints(), short_text = tokenizer_train(&k, (const char *)bytes, n, 300);
    fuzz_told(short_text < 0, fuzz_complaints() > before);
    if (!short_text)
        round_trip(&k, bytes, n, true);
    tokenizer_free(&k);
    fuzz_end();
    return 0;
}
