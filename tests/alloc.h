/* alloc.h: how often malloc and its like were called. Where the linker can put our counters in their
 * place (--wrap, ELF systems); elsewhere alloc_counted() is false and the tests that ask are left out. */
#ifndef TESTS_ALLOC_H
#define TESTS_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

bool   alloc_counted(void);
long   alloc_calls(void);
size_t alloc_largest(void);             /* the most bytes that one call has asked for, since this was asked last */

#endif
