/* written.h: finds what `make new-op`, `make new-layer` and `make new-optimizer` leave to be written. Their
 * templates mark each such place with a sentence: "softsign: forward is still the template's: write it". */
#ifndef TESTS_WRITTEN_H
#define TESTS_WRITTEN_H

/* Fails the test with these sentences, each after its file and line, if there are any: for each NAME.c in the
 * folder, all that it contains, and those in the other two files that begin with NAME. */
void expect_written(const char *folder, const char *header, const char *test);

#endif
