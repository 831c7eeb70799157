/* fault: see fault.h. For a function f, the linker turns calls of f into calls of our __wrap_f, and our calls
 * of __real_f into calls of f. */
#define _XOPEN_SOURCE 700               /* realpath */
#include "fault.h"
#include "core/gradus.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FAULTS = 4 };                    /* armed at once, at most */

static atomic_long   calls[FAULT_CALLS], held;
static atomic_size_t limit, largest;

enum { USUAL = 8, LARGE = 64 << 10 };
static atomic_bool learning;
static size_t      usual[USUAL];        /* sizes of more than LARGE bytes that are always requested */
static atomic_int  usuals;

static atomic_int armed;                /* number of the faults below */
static struct fault {
    fault_call  call;
    long        n;
    int         error;
    bool        ever;
    atomic_long seen, struck;
} faults[FAULTS];

long fault_count(fault_call call) { return atomic_load(&calls[call]); }
long fault_held(void)             { return atomic_load(&held); }
size_t fault_largest(void)        { return atomic_exchange(&largest, 0); }

void fault_usual(bool learn)
{
    atomic_store(&learning, learn);
}

void fault_limit(size_t bytes)
{
    atomic_store(&limit, bytes);
}

static void add(fault_call call, long n, int error, bool ever)
{
    struct fault *f = &faults[atomic_load(&armed)];
    f->call = call;
    f->n = n;
    f->error = error;
    f->ever = ever;
    atomic_store(&f->seen, 0);
    atomic_store(&f->struck, 0);
    atomic_fetch_add(&armed, 1);
}

void fault_arm(fault_call call, long n, int error, bool ever)
{
    atomic_store(&armed, 0);
    add(call, n, error, ever);
}

long fault_disarm(void)
{
    long struck = 0;
    for (int i = atomic_exchange(&armed, 0); i-- > 0;)
        struck += atomic_load(&faults[i].struck);
    return struck;
}

#ifdef GRADUS_WRAP
bool fault_wrapped(void) { return true; }

static void run_command(void)
{
    const char *command = getenv("GRADUS_FAULT_RUN");
    if (command && system(command) == 0)
        return;
    fprintf(stderr, "fault: GRADUS_FAULT_RUN failed: %s\n", command ? command : "it is not set");
    _exit(99);
}

/* Strikes a call: returns 0, or the errno with which the call must fail. */
static int strike(int error)
{
    switch (error) {
    case FAULT_INT:  raise(SIGINT); return 0;
    case FAULT_TERM: raise(SIGTERM); return 0;
    case FAULT_KILL: raise(SIGKILL); return 0;
    case FAULT_RUN:  run_command(); return 0;
    default:         return error;
    }
}

/* Counts a call: returns 0, or the errno with which the call must fail. */
static int strikes(fault_call call)
{
    int error = 0;
    atomic_fetch_add(&calls[call], 1);
    for (int i = 0; i < atomic_load(&armed); i++) {
        struct fault *f = &faults[i];
        if (f->call != call)
            continue;
        const long seen = atomic_fetch_add(&f->seen, 1) + 1;
        if (seen != f->n && !(f->ever && seen > f->n))
            continue;
        atomic_fetch_add(&f->struck, 1);
        const int what = strike(f->error);
        error = error ? error : what;
    }
    return error;
}

static bool fails(fault_call call)
{
    const int error = strikes(call);
    if (error)
        errno = error;
    return error != 0;
}

static void *hold(void *p)
{
    if (p)
        atomic_fetch_add(&held, 1);
    return p;
}

static int hold_fd(int fd)
{
    if (fd >= 0)
        atomic_fetch_add(&held, 1);
    return fd;
}

/* INSTEAD_OF defines the function that is called instead of `name`. FAILING defines one that returns `failed`
 * when its call is struck, and otherwise what `name` returns, counted as held (hold, hold_fd) or not
 * (as_it_is). */
#define INSTEAD_OF(type, name, ...)                                                                      \
    type __real_##name(__VA_ARGS__);                                                                      \
    type __wrap_##name(__VA_ARGS__);                                                                      \
    type __wrap_##name(__VA_ARGS__)
#define FAILING(type, name, parameters, is_struck, failed, keep, arguments)                               \
    type __real_##name parameters;                                                                        \
    type __wrap_##name parameters;                                                                        \
    type __wrap_##name parameters { return is_struck ? failed : keep(__real_##name arguments); }
#define as_it_is(x) x

/* ---- memory ---- */

static bool is_usual(size_t bytes)
{
    for (int i = 0; i < atomic_load(&usuals); i++)
        if (usual[i] == bytes)
            return true;
    return false;
}

static bool no_memory(size_t bytes)
{
    if (bytes > LARGE && atomic_load(&learning) && !is_usual(bytes) && atomic_load(&usuals) < USUAL)
        usual[atomic_fetch_add(&usuals, 1)] = bytes;
    const size_t most = atomic_load(&limit);
    for (size_t seen = atomic_load(&largest); bytes > seen;)
        if (atomic_compare_exchange_weak(&largest, &seen, bytes))
            break;
    if (most && bytes > most && !is_usual(bytes)) {
        fprintf(stderr, "fault: got a request for %zu bytes, expected at most %zu\n", bytes, most);
        abort();
    }
    return fails(FAULT_ALLOC);
}

static size_t product(size_t n, size_t size)
{
    return size && n > SIZE_MAX / size ? SIZE_MAX : n * size;
}

FAILING(void *, malloc, (size_t size), no_memory(size), NULL, hold, (size))
FAILING(void *, calloc, (size_t n, size_t size), no_memory(product(n, size)), NULL, hold, (n, size))
FAILING(void *, aligned_alloc, (size_t at, size_t size), no_memory(size), NULL, hold, (at, size))
FAILING(char *, strdup, (const char *s), no_memory(strlen(s) + 1), NULL, hold, (s))

INSTEAD_OF(void *, realloc, void *p, size_t size)
{
    if (no_memory(size))
        return NULL;
    void *grown = __real_realloc(p, size);
    return p ? grown : hold(grown);
}

INSTEAD_OF(void, free, void *p)
{
    if (p)
        atomic_fetch_sub(&held, 1);
    __real_free(p);
}

INSTEAD_OF(int, pthread_create, pthread_t *thread, const pthread_attr_t *how, void *(*f)(void *), void *arg)
{
    const int error = strikes(FAULT_THREAD);
    return error ? error : __real_pthread_create(thread, how, f, arg);
}

/* ---- descriptors ---- */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    if (fails(FAULT_OPEN))
        return -1;
    if (!(flags & O_CREAT))
        return hold_fd(__real_open(path, flags));
    va_list args;
    va_start(args, flags);
    const int fd = __real_open(path, flags, va_arg(args, int));
    va_end(args);
    return hold_fd(fd);
}

/* The number of bytes, out of n, to transfer; -1: fail with errno. */
static ssize_t cut(fault_call call, size_t n)
{
    const int error = strikes(call);
    if (error > 0)
        errno = error;
    return error > 0 ? -1 : error == FAULT_END ? 0 : error == FAULT_SHORT && n > 1 ? 1 : (ssize_t)n;
}

/* TRANSFER defines the function that is called instead of `name`, which transfers `now` of n bytes. */
#define TRANSFER(name, call, parameters, arguments)                                                       \
    ssize_t __real_##name parameters;                                                                     \
    ssize_t __wrap_##name parameters;                                                                     \
    ssize_t __wrap_##name parameters                                                                      \
    {                                                                                                     \
        const ssize_t now = cut(call, n);                                                                 \
        return now <= 0 ? now : __real_##name arguments;                                                  \
    }
TRANSFER(read, FAULT_READ, (int fd, void *to, size_t n), (fd, to, (size_t)now))
TRANSFER(pread, FAULT_READ, (int fd, void *to, size_t n, off_t at), (fd, to, (size_t)now, at))
TRANSFER(write, FAULT_WRITE, (int fd, const void *from, size_t n), (fd, from, (size_t)now))

FAILING(int, fsync, (int fd), fails(FAULT_SYNC), -1, as_it_is, (fd))
FAILING(int, ftruncate, (int fd, off_t length), fails(FAULT_SYNC), -1, as_it_is, (fd, length))
FAILING(int, fstat, (int fd, struct stat *about), fails(FAULT_STAT), -1, as_it_is, (fd, about))
FAILING(off_t, lseek, (int fd, off_t to, int whence), fails(FAULT_STAT), -1, as_it_is, (fd, to, whence))

INSTEAD_OF(int, close, int fd)
{
    const int error = strikes(FAULT_CLOSE), status = __real_close(fd);
    if (status == 0)
        atomic_fetch_sub(&held, 1);
    if (error)
        errno = error;
    return error ? -1 : status;
}

/* ---- names ---- */

FAILING(pid_t, fork, (void), fails(FAULT_FORK), -1, as_it_is, ())
FAILING(int, rename, (const char *from, const char *to), fails(FAULT_RENAME), -1, as_it_is, (from, to))
FAILING(int, unlink, (const char *path), fails(FAULT_UNLINK), -1, as_it_is, (path))
FAILING(int, mkdir, (const char *path, mode_t mode), fails(FAULT_MKDIR), -1, as_it_is, (path, mode))
FAILING(DIR *, opendir, (const char *path), fails(FAULT_OPEN), NULL, hold, (path))

INSTEAD_OF(char *, realpath, const char *path, char *resolved)
{
    if (fails(FAULT_STAT))
        return NULL;
    char *full = __real_realpath(path, resolved);
    return resolved ? full : hold(full);
}

INSTEAD_OF(int, closedir, DIR *dir)
{
    atomic_fetch_sub(&held, 1);
    return __real_closedir(dir);
}

/* ---- streams ---- */

static bool no_print(FILE *f)
{
    return f != stderr && fails(FAULT_PRINT);
}

FAILING(FILE *, fopen, (const char *path, const char *mode), fails(FAULT_OPEN), NULL, hold, (path, mode))
FAILING(FILE *, fdopen, (int fd, const char *mode), fails(FAULT_OPEN), NULL, as_it_is, (fd, mode))
FAILING(FILE *, tmpfile, (void), fails(FAULT_OPEN), NULL, hold, ())
FAILING(int, fflush, (FILE *f), no_print(f), EOF, as_it_is, (f))
FAILING(size_t, fwrite, (const void *from, size_t size, size_t n, FILE *f), no_print(f), 0, as_it_is,
        (from, size, n, f))
FAILING(int, vprintf, (const char *format, va_list args), no_print(stdout), -1, as_it_is, (format, args))

INSTEAD_OF(int, fclose, FILE *f)
{
    const int error = strikes(FAULT_CLOSE), status = __real_fclose(f);
    atomic_fetch_sub(&held, 1);
    if (error)
        errno = error;
    return error ? EOF : status;
}

int __wrap_fprintf(FILE *f, const char *format, ...);
int __wrap_fprintf(FILE *f, const char *format, ...)
{
    if (no_print(f))
        return -1;
    va_list args;
    va_start(args, format);
    const int n = vfprintf(f, format, args);
    va_end(args);
    return n;
}

/* ---- moments ---- */

INSTEAD_OF(void, gra_begin, gra_tape *t, gra_mode mode, gra_rng *rng)
{
    strikes(FAULT_BEGIN);
    __real_gra_begin(t, mode, rng);
}

/* ---- armed from the environment ---- */

static const char *const call_name[FAULT_CALLS] = {
    "alloc", "thread", "open", "read", "write", "print", "sync", "close", "rename", "unlink", "mkdir", "stat",
    "fork", "begin",
};

static const struct {
    const char *name;
    int         error;
} errors[] = {
    { "ENOMEM", ENOMEM }, { "EAGAIN", EAGAIN }, { "EIO", EIO },     { "ENOSPC", ENOSPC },
    { "EINTR", EINTR },
    { "EMFILE", EMFILE }, { "EACCES", EACCES }, { "EROFS", EROFS }, { "SHORT", FAULT_SHORT },
    { "END", FAULT_END },
    { "INT", FAULT_INT }, { "TERM", FAULT_TERM }, { "KILL", FAULT_KILL }, { "RUN", FAULT_RUN },
};

/* Adds the fault at the beginning of a wish; false: the wish does not begin with a fault. */
static bool add_wish(const char *wish)
{
    char call[16], error[16], ever[8] = "";
    long n;
    int c = 0;
    size_t e = 0;
    if (atomic_load(&armed) == FAULTS ||
        sscanf(wish, " %15[a-z] %ld %15[A-Z] %7[a-z]", call, &n, error, ever) < 3)
        return false;
    while (c < FAULT_CALLS && strcmp(call_name[c], call) != 0)
        c++;
    while (e < sizeof errors / sizeof *errors && strcmp(errors[e].name, error) != 0)
        e++;
    if (c == FAULT_CALLS || e == sizeof errors / sizeof *errors)
        return false;
    add((fault_call)c, n, errors[e].error, strcmp(ever, "ever") == 0);
    return true;
}

__attribute__((constructor)) static void arm_from_environment(void)
{
    const char *wishes = getenv("GRADUS_FAULT");
    for (const char *wish = wishes; wish && *wish; wish += *wish == ',') {
        if (!add_wish(wish)) {
            fprintf(stderr,
                    "fault: got GRADUS_FAULT='%s', expected a call, its number and an errno or other event, "
                    "at most %d times, separated by commas\n", wishes, (int)FAULTS);
            _exit(99);
        }
        wish += strcspn(wish, ",");
    }
    if (wishes && *wishes) {
        signal(SIGINT, SIG_DFL);        /* background processes of a shell start with SIGINT ignored */
        alarm(3600);                    /* ends a program that hangs: far longer than the slowest needs */
    }
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("GRADUS_FAULT_REPORT");
    const long struck = fault_disarm(), left = fault_held();
    FILE *f = path ? __real_fopen(path, "w") : NULL;
    if (!f)
        return;
    fprintf(f, "struck %ld\nheld %ld\n", struck, left);
    for (int i = 0; i < FAULT_CALLS; i++)
        fprintf(f, "%s %ld\n", call_name[i], fault_count((fault_call)i));
    __real_fclose(f);
}
#else
bool fault_wrapped(void) { return false; }

__attribute__((constructor)) static void say_so(void)
{
    const char *wishes = getenv("GRADUS_FAULT");
    if (!wishes || !*wishes)
        return;
    fprintf(stderr, "fault: got GRADUS_FAULT='%s', but this linker cannot wrap functions\n", wishes);
    _exit(98);
}
#endif
