/* child: runs a piece of work in a process of its own, whose peak memory is that of the work. */
#include "bench.h"
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

double peak_mib(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return (double)NAN;
#if defined(__APPLE__)
    return (double)usage.ru_maxrss / 1048576;           /* bytes */
#else
    return (double)usage.ru_maxrss / 1024;              /* KiB */
#endif
}

/* A pipe transfers this few bytes in one piece. */
void in_child(void (*f)(const void *arg, double *result), const void *arg, int n, double *result, double *mib)
{
    enum { MOST = 16 };
    double sent[MOST + 1];
    const size_t bytes = ((size_t)n + 1) * sizeof *sent;
    int ends[2], status = 0;
    bool sound = n <= MOST && pipe(ends) == 0;
    fflush(stdout);
    pid_t child = sound ? fork() : -1;
    if (child == 0) {
        close(ends[0]);
        f(arg, sent);
        fflush(stdout);
        sent[n] = peak_mib();
        _exit(write(ends[1], sent, bytes) == (ssize_t)bytes ? 0 : 1);
    }
    if (sound) {
        close(ends[1]);
        sound = child > 0 && read(ends[0], sent, bytes) == (ssize_t)bytes;
        close(ends[0]);
    }
    if (child > 0 && (waitpid(child, &status, 0) != child || status != 0))
        sound = false;
    for (int i = 0; i < n; i++)
        result[i] = sound ? sent[i] : (double)NAN;
    *mib = sound ? sent[n] : (double)NAN;
}
