/* fault: the calls of the C library that may fail, counted and made to fail.
 *
 * The Makefile puts the functions of fault.c in their place where the linker can (--wrap, ELF systems);
 * elsewhere fault_wrapped() is false, and the tests that ask are left out. Calls that the C library makes
 * by itself (fopen's own malloc) are not seen. A program linked with fault.c arms itself from its
 * environment: GRADUS_FAULT="write 3 ENOSPC" fails its third write, "write 3 ENOSPC ever" those after it
 * too; GRADUS_FAULT_REPORT=FILE is told at the end what was held and what was called. */
#ifndef TESTS_FAULT_H
#define TESTS_FAULT_H

#include <stdbool.h>
#include <stddef.h>

typedef enum fault_call {
    FAULT_ALLOC,                        /* malloc, calloc, realloc, aligned_alloc, strdup, strndup */
    FAULT_THREAD,                       /* pthread_create */
    FAULT_OPEN,                         /* open, fopen, open_memstream, opendir */
    FAULT_READ,                         /* read, pread */
    FAULT_WRITE,
    FAULT_PRINT,                        /* fprintf, vprintf, fwrite, fflush; on stderr they are left alone */
    FAULT_SYNC,                         /* fsync, ftruncate */
    FAULT_CLOSE,                        /* close, fclose: what was open is closed even so */
    FAULT_RENAME,                       /* rename, link */
    FAULT_UNLINK,
    FAULT_MKDIR,
    FAULT_STAT,                         /* fstat, lseek, realpath */
    FAULT_CALLS
} fault_call;

enum { FAULT_SHORT = -1, FAULT_END = -2 };      /* read and write: one byte is taken; none is */

bool fault_wrapped(void);
long fault_count(fault_call call);      /* how often it was called */
size_t fault_largest(void);             /* the most bytes that one call has asked for, since this was asked last */
long fault_held(void);                  /* blocks, descriptors and streams that nobody has given back */

/* From now on the n-th such call, n = 1, 2 ..., fails with that errno (or is cut short), and with `ever`
 * all after it. Disarming says how many failed. */
void fault_arm(fault_call call, long n, int error, bool ever);
long fault_disarm(void);

/* Until 0 is given again: who asks for more than that many bytes at once is told off, and aborted; but for
 * asking for exactly `but` bytes. */
void fault_limit(size_t bytes, size_t but);

#endif
