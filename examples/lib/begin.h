/* begin: what a program does before all else, so that its files hold nothing but what is meant for them, and
 * a sentence says what could not be written. */
#ifndef EXAMPLES_BEGIN_H
#define EXAMPLES_BEGIN_H

/* Opens what is closed of the standard input, output and error, read-only and empty: a file that the program
 * opens later cannot become its standard output then, and printing still fails. And a file that grows beyond
 * the limit of its size (ulimit -f) is a write that fails, no longer a signal that ends the program. */
void begin_program(void);

#endif
