/* begin: what a program does first. It makes sure that files contain only their own text, and that a failed
 * write is reported. */
#ifndef EXAMPLES_BEGIN_H
#define EXAMPLES_BEGIN_H

/* If standard input, output or error is closed, opens it read-only on /dev/null: so no file that is opened
 * later becomes the standard output, and printing still fails. Also ignores SIGXFSZ: writing past the file
 * size limit (ulimit -f) fails instead of killing the program. On Windows, \ in argv[0] becomes /. */
void begin_program(char **argv);

#endif
