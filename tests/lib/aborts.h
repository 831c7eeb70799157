/* aborts: what ends the program with a sentence, because nobody can hold it. */
#ifndef TESTS_ABORTS_H
#define TESTS_ABORTS_H

#include <stddef.h>

/* f in a process of its own: its status as waitpid gives it, and what it printed to stderr. */
int said_in_a_child(void (*f)(void), char *said, size_t room);

/* f, in a process of its own, must print "gradus: sentence" to stderr and abort. */
void expect_abort(void (*f)(void), const char *sentence);
void expect_abort_ending(void (*f)(void), const char *end);     /* a sentence that ends so */

#endif
