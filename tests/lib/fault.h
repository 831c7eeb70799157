/* fault: counts a program's calls of the C library and makes the n-th call fail, or sends a signal at that
 * call. So a test needs no clock to make something happen at a certain moment.
 *
 * It counts the calls of the C library that may fail, and gra_begin, which a training program calls once for
 * each step, each batch of an evaluation and each generated token. Where the linker can (--wrap, ELF
 * systems), tests.mk replaces these functions by those of fault.c; elsewhere fault_wrapped() is false, the
 * tests that need faults are skipped, and an armed program says so and exits with 98. Calls that the C
 * library makes itself (malloc in fopen) are not counted.
 *
 * A program linked with fault.c is armed by the environment variable GRADUS_FAULT:
 *     write 3 ENOSPC                   its third write fails
 *     write 3 ENOSPC ever              ... and all later ones
 *     begin 60 KILL                    it is killed when its 60th gra_begin begins (or INT, TERM)
 *     begin 60 INT, rename 2 KILL      both; up to four faults, each with its own count
 *     begin 60 RUN                     the shell command GRADUS_FAULT_RUN is run, and must succeed
 * After an hour SIGALRM ends the program, so a test that hangs fails. At a normal exit,
 * GRADUS_FAULT_REPORT=FILE gets the counts, and what is still held. */
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
    FAULT_PRINT,                        /* fprintf, vprintf, fwrite, fflush; but not on stderr */
    FAULT_SYNC,                         /* fsync, ftruncate */
    FAULT_CLOSE,                        /* close, fclose: the file is closed nevertheless */
    FAULT_RENAME,
    FAULT_UNLINK,
    FAULT_MKDIR,
    FAULT_STAT,                         /* fstat, lseek, realpath */
    FAULT_FORK,
    FAULT_BEGIN,                        /* gra_begin: it does not fail */
    FAULT_CALLS
} fault_call;

/* What may happen to a call instead of an errno. The last four do not make the call fail. */
enum {
    FAULT_SHORT = -1,                   /* read and write transfer one byte */
    FAULT_END   = -2,                   /* read and write transfer none */
    FAULT_INT   = -3,
    FAULT_TERM  = -4,
    FAULT_KILL  = -5,
    FAULT_RUN   = -6
};

bool fault_wrapped(void);
long fault_count(fault_call call);      /* how often it was called */
size_t fault_largest(void);             /* most bytes requested by one call since the last fault_largest */
long fault_held(void);                  /* blocks not freed, descriptors and streams not closed */

/* From now on the n-th such call, n = 1, 2 ..., fails with that errno (or is struck in one of the ways
 * above); with `ever` all later calls do too. fault_disarm returns the number of struck calls. */
void fault_arm(fault_call call, long n, int error, bool ever);
long fault_disarm(void);

/* Until the limit is reset to 0, the program aborts with a sentence when one call requests more bytes than
 * that; sizes requested between fault_usual(true) and fault_usual(false) are exempt. */
void fault_usual(bool learn);
void fault_limit(size_t bytes);

#endif
