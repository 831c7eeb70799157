/* begin: what a program does first, so that its files contain only what is meant for them and a failed write
 * is reported. */
#ifndef EXAMPLES_BEGIN_H
#define EXAMPLES_BEGIN_H

/* Opens those of standard input, output and error that are closed, read-only on /dev/null: so no file that is
 * opened later becomes the standard output, and printing still fails. And ignores SIGXFSZ: writing past the
 * file size limit (ulimit -f) fails instead of killing the program. On Windows, \ in argv[0] becomes /. */
void begin_program(char **argv);

#endif
