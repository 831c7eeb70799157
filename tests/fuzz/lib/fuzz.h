/* fuzz: code that the targets share. A target is LLVMFuzzerTestOneInput: whatever the n bytes, nothing may
 * crash, leak, or allocate more than 8 n + 64 KiB bytes at once, and each refusal has a sentence that gives
 * the reason. libFuzzer (clang) invents the bytes; otherwise main() here reads them from the files in its
 * arguments. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include "../../../core/gradus.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

const char *fuzz_folder(void);          /* an empty folder, made at the first call */
const char *fuzz_file(const char *name, const uint8_t *bytes, size_t n);   /* written there; its path */

/* The next part of the input, up to a line ==== or the end. */
size_t fuzz_part(const uint8_t **bytes, size_t *left, const uint8_t **part);

gra_model *fuzz_model(void);          /* a new model of a closed tape; NULL: out of memory */

void fuzz_begin(size_t n);              /* from here on the limits apply, for an input of n bytes, */
void fuzz_end(void);                    /* up to here: aborts if anything is still held */
void fuzz_claim(int that, const char *what);    /* aborts with the sentence if `that` is false */
int  fuzz_complaints(void);             /* the number of calls of the programs' warn() since fuzz_begin */
void fuzz_told(int failed, int told);   /* demands a sentence after a failure, and none otherwise */

#endif
