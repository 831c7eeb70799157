/* kill: ends the program, as the task manager would, at its n-th call of the functions that the linker
 * redirects here (--wrap). n is in GRADUS_KILL. Or it keeps the file GRADUS_HOLD open, to block its
 * replacement. */
#include "core/base/system.h"
#include "core/gradus.h"

__declspec(dllimport) int TerminateProcess(void *process, unsigned status);

static void count(void)
{
    static int calls;
    const char *n = getenv("GRADUS_KILL");
    if (n && ++calls == atoi(n))
        TerminateProcess((void *)-1, 9);        /* this process */
}

#define COUNTED(type, name, parameters, arguments)                                                       \
    type __real_##name parameters;                                                                       \
    type __wrap_##name parameters;                                                                       \
    type __wrap_##name parameters { count(); return __real_##name arguments; }
COUNTED(ssize_t, gra_write, (int fd, const void *from, size_t n), (fd, from, n))
COUNTED(int, gra_rename, (const char *from, const char *to), (from, to))
COUNTED(int, gra_stat, (const char *path, struct gra_stat *s), (path, s))
COUNTED(double, gra_clip_grad_norm, (gra_model *m, double most), (m, most))

__attribute__((constructor)) static void hold(void)
{
    const char *path = getenv("GRADUS_HOLD");
    if (path)
        open(path, O_RDONLY);
}
