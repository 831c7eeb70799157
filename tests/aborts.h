/* aborts: what ends the program with a sentence, because nobody can hold it. */
#ifndef TESTS_ABORTS_H
#define TESTS_ABORTS_H

/* f, in a process of its own, must print "gradus: sentence" to stderr and abort. */
void expect_abort(void (*f)(void), const char *sentence);
void expect_abort_ending(void (*f)(void), const char *end);     /* a sentence that ends so */

#endif
