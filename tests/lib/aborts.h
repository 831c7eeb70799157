/* aborts: errors that no tape or model can keep, so the program prints a sentence and aborts. */
#ifndef TESTS_ABORTS_H
#define TESTS_ABORTS_H

#include <stddef.h>

/* Runs f in a child process: returns its waitpid status, and in `said` its output to stderr. */
int said_in_a_child(void (*f)(void), char *said, size_t room);

/* In a child process, f must print "gradus: sentence" to stderr and abort. */
void expect_abort(void (*f)(void), const char *sentence);
void expect_abort_ending(void (*f)(void), const char *end);     /* only the end of the sentence counts */

#endif
