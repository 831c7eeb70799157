/* written.h: finds places that `make new-op`, `make new-layer` and `make new-optimizer` leave to be filled
 * in. Their templates mark each such place with a sentence: "softsign: forward is still the template's: write
 * it". */
#ifndef TESTS_WRITTEN_H
#define TESTS_WRITTEN_H

/* Fails the test if there are such sentences, and prints each after its file and line. For each NAME.c in the
 * folder, these are all sentences in NAME.c, and those in the two other files that begin with NAME. */
void expect_written(const char *folder, const char *header, const char *test);

#endif
