/* fault: counts a program's calls of the C library, and at the n-th makes something happen: the call fails,
 * or a signal comes. So a test that wants something to happen at a certain moment needs no clock.
 *
 * Counted are the calls of the C library that may fail, and gra_begin: a program that trains calls it once
 * for each step, each batch of an evaluation and each token it writes. tests.mk puts the functions of fault.c
 * in their place where the linker can (--wrap, ELF systems); elsewhere fault_wrapped() is false, the tests
 * that ask are left out, and a program that is armed says so and ends with 98. Calls that the C library makes
 * by itself (fopen's own malloc) are not seen.
 *
 * A program linked with fault.c arms itself from its environment, GRADUS_FAULT:
 *     write 3 ENOSPC                   its third write fails
 *     write 3 ENOSPC ever              ... and those after it
 *     begin 60 KILL                    it is killed as its 60th gra_begin begins (or INT, TERM)
 *     begin 60 INT, rename 2 KILL      both; up to four, each with a count of its own
 *     begin 60 RUN                     the shell command GRADUS_FAULT_RUN runs to its end, and must succeed
 * After an hour SIGALRM ends it, so that a test of what never ends fails and does not hang.
 * GRADUS_FAULT_REPORT=FILE is told at a normal end what was held and what was called. */
#ifndef TESTS_FAULT_H
#define TESTS_FAULT_H

#include <stdbool.h>
#include <stddef.h>

typedef enum fault_call {
    FAULT_ALLOC,                        /* malloc, calloc, realloc, aligned_alloc, strdup */
    FAULT_THREAD,                       /* pthread_create */
    FAULT_OPEN,                         /* open, fopen, fdopen, opendir */
    FAULT_READ,                         /* read, pread */
    FAULT_WRITE,
    FAULT_PRINT,                        /* fprintf, vprintf, fwrite, fflush; on stderr they are left alone */
    FAULT_SYNC,                         /* fsync, ftruncate */
    FAULT_CLOSE,                        /* close, fclose: what was open is closed even so */
    FAULT_RENAME,
    FAULT_UNLINK,
    FAULT_MKDIR,
    FAULT_STAT,                         /* fstat, lseek, realpath */
    FAULT_BEGIN,                        /* gra_begin: it does not fail */
    FAULT_CALLS
} fault_call;

/* What may happen to a call besides an errno. The last four do not make it fail. */
enum {
    FAULT_SHORT = -1,                   /* read and write: one byte is taken */
    FAULT_END   = -2,                   /* read and write: none is */
    FAULT_INT   = -3,
    FAULT_TERM  = -4,
    FAULT_KILL  = -5,
    FAULT_RUN   = -6
};

bool fault_wrapped(void);
long fault_count(fault_call call);      /* how often it was called */
size_t fault_largest(void);        /* the most bytes that one call has asked for, since this was asked last */
long fault_held(void);                  /* blocks, descriptors and streams that nobody has given back */

/* From now on the n-th such call, n = 1, 2 ..., fails with that errno (or one of the above happens to it),
 * and with `ever` all after it. Disarming says how many were struck. */
void fault_arm(fault_call call, long n, int error, bool ever);
long fault_disarm(void);

/* From now on, until the limit is 0 again, the program aborts with a sentence when one call asks for more
 * than that many bytes. Exempt are sizes that were asked for between fault_usual(true) and
 * fault_usual(false). */
void fault_usual(bool learn);
void fault_limit(size_t bytes);

#endif
