/* fuzz: what the targets share. A target is LLVMFuzzerTestOneInput: whatever the bytes, nothing may crash,
 * leak, or allocate more at once than 8 times their number plus 64 KiB; whatever is refused has a sentence
 * that gives the reason. libFuzzer (clang) invents the bytes; otherwise main() here reads them from the files
 * it is given. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include "../../../core/gradus.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

const char *fuzz_folder(void);          /* an empty one, made at the first call */
const char *fuzz_file(const char *name, const uint8_t *bytes, size_t n);   /* written there; its path */

/* The next part of the input, up to a line ==== or its end. */
size_t fuzz_part(const uint8_t **bytes, size_t *left, const uint8_t **part);

gra_model *fuzz_model(void);          /* a new model, of a tape that is closed already; NULL: out of memory */

void fuzz_begin(size_t n);              /* from here on the limits apply, for an input of n bytes, */
void fuzz_end(void);                    /* until here: aborts if anything is still held */
void fuzz_claim(int that, const char *what);    /* aborts with the sentence if `that` is false */
int  fuzz_complaints(void);             /* how often the programs' warn() was called since fuzz_begin */
void fuzz_told(int failed, int told);   /* claims that there is a sentence when it failed, and else none */

#endif
